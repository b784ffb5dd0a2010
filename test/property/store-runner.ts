import { isDeepStrictEqual } from 'node:util';
import { openStore } from '../../src/open-store.ts';
import { jsonCodec } from '../../src/store/codecs.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createReferenceModel, type ModelWatch, type ReferenceModel } from '../../src/testing/model.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import { PlimsollError } from '../../src/types/errors.ts';
import type { Key } from '../../src/types/revision.ts';
import type { Compare, Operation, Store, TxnRequest, Watch, WatchOptions } from '../../src/types/store.ts';
import type { Expect, Program, Step, TxnSketch } from './store-program.ts';

/** What came of one call: an answer or an error, in a form that can be compared. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

interface OpenWatch {
  readonly watch: Watch<unknown, Key>;
  readonly model: ModelWatch<unknown, Key>;
  readonly abort: AbortController;
  /** A `next()` under way. */
  reading: { outcome: Outcome | undefined } | undefined;
}

interface OpenPage {
  readonly request: object;
  readonly token: string;
  readonly modelToken: string;
}

/** How often each thing happened; `mark` is given `kind:detail`. */
export type Coverage = (mark: string) => void;

/** Store and model differ, or the store broke an invariant. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

/** Runs one program on the store and on the model, step by step. Rejects with a {@link Mismatch}. */
export async function runProgram(program: Program, mark: Coverage): Promise<void> {
  const { settings, steps } = program;
  const clock = createVirtualClock();
  const store = await openStore<unknown, Key>({
    clock,
    random: createSeededRandom(1),
    keys: settings.keys,
    ...(settings.values === 'json' ? { codec: jsonCodec() } : {}),
    ...(settings.values === 'trusted' ? { values: 'trusted' } : {}),
    ...(settings.retentionEvents === undefined ? {} : { retention: { events: settings.retentionEvents } }),
  });
  const model = createReferenceModel<unknown, Key>({
    ...(settings.values === 'json' ? { codec: jsonCodec() } : {}),
    ...(settings.retentionEvents === undefined ? {} : { retention: { events: settings.retentionEvents } }),
  });
  const run = new Run(store, model, clock, mark);
  mark(`keys:${settings.keys}`);
  mark(`values:${settings.values}`);
  for (const [index, step] of steps.entries()) {
    try {
      await run.step(step);
    } catch (error) {
      if (error instanceof Mismatch) error.message = `step ${index}: ${error.message}`;
      throw error;
    }
  }
  await run.finish();
}

class Run {
  readonly #store: Store<unknown, Key>;
  readonly #model: ReferenceModel<unknown, Key>;
  readonly #clock: VirtualClock;
  readonly #mark: Coverage;
  #watches: OpenWatch[] = [];
  #pages: OpenPage[] = [];

  constructor(store: Store<unknown, Key>, model: ReferenceModel<unknown, Key>, clock: VirtualClock, mark: Coverage) {
    this.#store = store;
    this.#model = model;
    this.#clock = clock;
    this.#mark = mark;
  }

  async step(step: Step): Promise<void> {
    this.#mark(`op:${step.op}`);
    await this.#perform(step);
    await this.#deliver();
    this.#same('revision', this.#store.revision, this.#model.revision);
    this.#same('compactRevision', this.#store.compactRevision, this.#model.compactRevision);
    for (const { watch, model } of this.#watches)
      this.#same('progress', watch.progressRevision, model.progressRevision);
  }

  /** The invariants that need the whole program: invariants 2, 3 and 5 of docs/spec/store.md. */
  async finish(): Promise<void> {
    const before = this.#store.stats();
    await this.#checkHistory();
    this.#same('stats after reads', this.#store.stats().storedVersions, before.storedVersions);
    this.#same('keys', before.keys, this.#model.range({ prefix: this.#all }).count);
    if (this.#model.compactRevision < this.#model.revision) {
      await this.#store.compact(this.#store.revision);
      this.#model.compact(this.#model.revision);
    }
    await this.#deliver();
    while (await this.#clock.advanceToNext());
    await this.#checkHistory();
    this.#checkFootprint();
    for (const one of this.#watches) if (one.reading === undefined) this.#startRead(one);
    await this.#deliver();
    const reason = await outcomeOf(async () => {
      const waiting = this.#watches.filter(({ reading }) => reading !== undefined);
      await this.#store.close();
      await settle();
      for (const { reading } of waiting) {
        const outcome = reading?.outcome ?? { value: undefined };
        this.#same('read of a closed store', 'error' in outcome && (outcome.error as Error).name, 'ClosedError');
      }
      this.#store.get(this.#all);
    });
    this.#same('closed store', comparable(reason), { class: 'ClosedError', name: 'ClosedError', code: 'CLOSED' });
  }

  get #all(): Key {
    return this.#store.identity !== '' && this.#isBytes() ? new Uint8Array(0) : '';
  }

  #isBytes(): boolean {
    return 'error' in outcome(() => this.#store.get('x'));
  }

  async #perform(step: Step): Promise<void> {
    const [store, model] = [this.#store, this.#model];
    switch (step.op) {
      case 'put': {
        const options = { ...this.#expect(step.expect, step.key), prevKv: step.prevKv };
        return this.#compareAsync(step.op, store.put(step.key, step.value, options), () =>
          model.put(step.key, step.value, options),
        );
      }
      case 'delete': {
        const options = { ...this.#expect(step.expect, step.range), prevKv: step.prevKv };
        return this.#compareAsync(step.op, store.delete(step.range, options), () => model.delete(step.range, options));
      }
      case 'txn': {
        const request = this.#transaction(step.request);
        return this.#compareAsync(step.op, store.txn(request), () => model.txn(request));
      }
      case 'get': {
        const options = this.#at('revision', step.back);
        return this.#compare(
          step.op,
          outcome(() => store.get(step.key, options)),
          outcome(() => model.get(step.key, options)),
        );
      }
      case 'range':
        return this.#range({ ...step.request, ...this.#at('revision', step.back) }, undefined);
      case 'page': {
        const page = this.#pages[step.pick % Math.max(this.#pages.length, 1)];
        if (page === undefined) return;
        return this.#range({ ...(step.other ?? page.request), limit: 2, ...this.#at('revision', step.back) }, page);
      }
      case 'watch':
        return this.#open(step);
      case 'compact': {
        const revision = model.revision - step.back;
        return this.#compareAsync(step.op, store.compact(revision), () => model.compact(revision));
      }
      case 'tick':
        await this.#clock.advanceToNext();
        return;
      default:
        return this.#touchWatch(step);
    }
  }

  async #touchWatch(step: Extract<Step, { op: 'read' | 'return' | 'abort' }>): Promise<void> {
    const index = step.pick % Math.max(this.#watches.length, 1);
    const one = this.#watches[index];
    if (one === undefined) return;
    if (step.op === 'read') {
      for (const reader of step.all === true ? this.#watches : [one]) {
        if (reader.reading === undefined) this.#startRead(reader);
      }
      return;
    }
    if (step.op === 'abort') {
      const reason = new Error('enough');
      one.abort.abort(reason);
      one.model.abort(reason);
      return;
    }
    one.model.close();
    await one.watch.return();
    await this.#deliver();
    this.#watches = this.#watches.filter((other) => other !== one);
  }

  #startRead(one: OpenWatch): void {
    const reading: OpenWatch['reading'] = { outcome: undefined };
    one.reading = reading;
    one.watch.next().then(
      (value) => {
        reading.outcome = { value };
      },
      (error: unknown) => {
        reading.outcome = { error };
      },
    );
  }

  /** Whoever reads must have got by now what the model has for it, and nothing else. */
  async #deliver(): Promise<void> {
    if (!this.#watches.some(({ reading }) => reading !== undefined)) return;
    await settle();
    for (const one of this.#watches) {
      if (one.reading === undefined) continue;
      const expected = outcome(() => one.model.next());
      const isNothing = 'value' in expected && expected.value === undefined;
      if (isNothing && !one.model.isDone) {
        this.#same('a read that has to wait', one.reading.outcome, undefined);
        continue;
      }
      const actual = one.reading.outcome;
      if (actual === undefined) throw new Mismatch(`a watch gives nothing, the model ${show(expected)}`);
      if ('error' in expected) this.#compare('watch', actual, expected);
      else if (isNothing) this.#same('a read after the end', actual, { value: { value: undefined, done: true } });
      else this.#batch(actual, expected.value as object);
      one.reading = undefined;
    }
  }

  #batch(actual: Outcome, expected: object): void {
    this.#same('batch', actual, { value: { value: expected, done: false } });
    this.#mark(`batch:${'span' in expected ? 'span' : 'initial' in expected ? 'initial' : 'ordinary'}`);
    const { events } = expected as { events: readonly { type: string; prevKv?: unknown }[] };
    for (const event of events) this.#mark(`event:${event.type}${event.prevKv === undefined ? '' : '+prevKv'}`);
  }

  #open(step: Extract<Step, { op: 'watch' }>): void {
    const abort = new AbortController();
    const options: WatchOptions = { ...step.options, ...this.#at('fromRevision', step.back) };
    for (const [name, value] of Object.entries(step.options)) this.#mark(`watch.${name}:${String(value)}`);
    const actual = outcome(() => this.#store.watch(step.range, { ...options, signal: abort.signal }));
    const expected = outcome(() => this.#model.watch(step.range, options));
    if ('value' in actual && 'value' in expected) {
      const watch = actual.value as OpenWatch['watch'];
      this.#watches.push({ watch, model: expected.value as OpenWatch['model'], abort, reading: undefined });
      if (options.fromRevision !== undefined && options.fromRevision > this.#model.revision)
        this.#mark('watch.start:future');
      return;
    }
    this.#compare('open watch', actual, expected);
  }

  #range(request: object, page: OpenPage | undefined): void {
    const ask = (token: string | undefined) => ({ ...request, ...(token === undefined ? {} : { continue: token }) });
    const actual = outcome(() => this.#store.range(ask(page?.token) as never));
    const expected = outcome(() => this.#model.range(ask(page?.modelToken) as never));
    const token = takeToken(actual);
    const modelToken = takeToken(expected);
    this.#compare(page === undefined ? 'range' : 'page', actual, expected);
    this.#same('has a next page', token === undefined, modelToken === undefined);
    for (const name of ['keysOnly', 'countOnly'] as const) if (name in request) this.#mark(`range.${name}`);
    if (token === undefined || modelToken === undefined) return;
    this.#mark('range.more');
    this.#pages = [...this.#pages.slice(-4), { request: page?.request ?? request, token, modelToken }];
  }

  /** Lists at each readable revision, and a replay from the oldest on (invariants 4 and 5). */
  async #checkHistory(): Promise<void> {
    const range = { prefix: this.#all };
    const [from, to] = [Math.max(this.#model.compactRevision, 1), this.#model.revision];
    for (let revision = from; revision <= to; revision++) {
      const list = this.#store.range({ ...range, revision });
      this.#same(`list@${revision}`, list.kvs, this.#model.range({ ...range, revision }).kvs);
    }
    const state = new Map(this.#store.range({ ...range, revision: from }).kvs.map((kv) => [String(kv.key), kv]));
    const watch = this.#store.watch(range, { fromRevision: from + 1 });
    while (watch.progressRevision < to) {
      const { value } = await watch.next();
      for (const { type, kv } of value?.events ?? []) {
        if (type === 'put') state.set(String(kv.key), kv);
        else state.delete(String(kv.key));
      }
    }
    await watch.return();
    const list = this.#store.range(range).kvs;
    this.#same('size of list + replay', state.size, list.length);
    for (const kv of list) this.#same('list + replay', state.get(String(kv.key)), kv);
  }

  /** After full compaction nothing is stored but live keys and what happened exactly at the low watermark. */
  #checkFootprint(): void {
    const { keys, storedVersions, logEntries } = this.#store.stats();
    const revision = this.#model.revision;
    const inLog = revision === 1 ? 0 : logEntries;
    if (storedVersions > keys + inLog) throw new Mismatch(`${storedVersions} versions for ${keys} keys, log ${inLog}`);
    const watch = this.#model.watch({ prefix: this.#all }, { fromRevision: Math.max(revision, 1) });
    this.#same('log entries', logEntries, watch.next()?.events.length ?? 0);
  }

  #at(name: 'revision' | 'fromRevision', back: number | undefined): object {
    return back === undefined ? {} : { [name]: this.#model.revision - back };
  }

  #expect(expect: Expect, range: unknown): { expect?: { modRevision: number } } {
    if (expect === 'nothing') return {};
    const isKey = typeof range === 'string' || range instanceof Uint8Array;
    const current = isKey && range.length > 0 ? (this.#model.get(range)?.modRevision ?? 0) : 0;
    this.#mark(`expect:${expect}`);
    return { expect: { modRevision: expect === 'absent' ? 0 : expect === 'current' ? current : current + 1 } };
  }

  #transaction(sketch: TxnSketch): TxnRequest<unknown, Key> {
    const compare = sketch.compare.map(({ back, ...rest }) => {
      this.#mark(`compare:${String(rest.target)}`);
      return back === undefined ? rest : { ...rest, value: this.#model.revision - (back as number) };
    });
    const operations = (list: TxnSketch['then']) => list as unknown as readonly Operation<unknown, Key>[];
    return {
      compare: compare as unknown as readonly Compare<unknown, Key>[],
      then: operations(sketch.then),
      else: operations(sketch.else),
    };
  }

  async #compareAsync(what: string, actual: Promise<unknown>, expected: () => unknown): Promise<void> {
    const modelOutcome = outcome(expected);
    this.#compare(what, await outcomeOf(() => actual), modelOutcome);
    if (what === 'txn' && 'value' in modelOutcome) {
      this.#mark(`txn:${(modelOutcome.value as { succeeded: boolean }).succeeded ? 'then' : 'else'}`);
    }
  }

  #compare(what: string, actual: Outcome, expected: Outcome): void {
    const [left, right] = [comparable(actual), comparable(expected)];
    if ('error' in expected) this.#mark(`error:${(right as { class: string }).class}`);
    this.#same(what, left, right);
  }

  #same(what: string, actual: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(actual, expected)) {
      throw new Mismatch(`${what}: the store gives ${show(actual)}, expected is ${show(expected)}`);
    }
  }
}

function outcome(fn: () => unknown): Outcome {
  try {
    return { value: fn() };
  } catch (error) {
    return { error };
  }
}

async function outcomeOf(fn: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await fn() };
  } catch (error) {
    return { error };
  }
}

/** An error by class, code and facts, an answer as it is. Messages are for the tables of the unit tests. */
function comparable(one: Outcome): unknown {
  if (!('error' in one)) return one;
  const { error } = one;
  if (!(error instanceof Error)) return { thrown: error };
  return { class: error.constructor.name, ...(error instanceof PlimsollError ? { ...error } : {}) };
}

function takeToken(one: Outcome): string | undefined {
  if (!('value' in one)) return undefined;
  const { continue: token, ...rest } = one.value as { continue?: string };
  Object.assign(one, { value: rest });
  return token;
}

/** Long enough for every promise chain of the store; nothing there waits for a timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await undefined;
}

export function show(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Uint8Array) return `bytes ${[...part].join(' ')}`;
    if (part instanceof Error) return `${part.name}: ${part.message}`;
    return part;
  });
}
