import { type OpenStoreOptions, openStore } from '../../src/open-store.ts';
import { jsonCodec } from '../../src/store/codecs.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createReferenceModel, type ReferenceModel } from '../../src/testing/model.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Clock } from '../../src/types/clock.ts';
import type { Key } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';
import { checkFootprint, checkHistory } from './store-invariants.ts';
import { Handles } from './store-leases.ts';
import { checkSame, comparable, Mismatch, type Outcome, outcome, outcomeOf, settle } from './store-outcome.ts';
import type { Expect, Program, Settings, Step } from './store-program.ts';
import { SketchReader } from './store-sketch.ts';
import { type Coverage, OpenWatches } from './store-watches.ts';
import { WRONG_CALLS } from './store-wrong.ts';

interface OpenPage {
  readonly request: object;
  readonly token: string;
  readonly modelToken: string;
}

/** Runs one program on the store and on the model, step by step. Rejects with a {@link Mismatch}. */
export async function runProgram(program: Program, mark: Coverage): Promise<void> {
  const { settings, steps } = program;
  const run = await Run.open(settings, mark);
  for (const name of ['keys', 'values', 'timers'] as const) mark(`${name}:${settings[name]}`);
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
  readonly #settings: Settings;
  readonly #virtual: VirtualClock;
  readonly #clock: Clock;
  readonly #model: ReferenceModel<unknown, Key>;
  readonly #mark: Coverage;
  readonly #watches: OpenWatches;
  readonly #handles: Handles;
  #store: Store<unknown, Key>;
  #pages: OpenPage[] = [];
  /** How far time has passed without a timer running. */
  #lateMs = 0;
  /** Time has passed and nobody has called the store since: what is due is still to happen. */
  #isDue = false;
  /** The step was a `next()`, which has to find by itself what is due. */
  #hasRead = false;

  static async open(settings: Settings, mark: Coverage): Promise<Run> {
    const virtual = createVirtualClock();
    let run: Run | undefined;
    const clock: Clock = {
      now: () => virtual.now() + (run === undefined ? 0 : run.#lateMs),
      wallTime: () => virtual.wallTime(),
      after: (delayMs, fn) => virtual.after(delayMs, fn),
    };
    run = new Run(await openWith(settings, clock, undefined), settings, virtual, clock, mark);
    return run;
  }

  private constructor(
    store: Store<unknown, Key>,
    settings: Settings,
    virtual: VirtualClock,
    clock: Clock,
    mark: Coverage,
  ) {
    this.#store = store;
    this.#settings = settings;
    this.#virtual = virtual;
    this.#clock = clock;
    this.#mark = mark;
    this.#watches = new OpenWatches(mark);
    this.#handles = new Handles(mark);
    this.#model = createReferenceModel<unknown, Key>({
      ...shared(settings),
      now: () => clock.now(),
      leaseId: () => this.#handles.nextId(),
    });
  }

  async step(step: Step): Promise<void> {
    this.#mark(`op:${step.op}`);
    if (this.#isDue) this.#mark(`due:${step.op}`);
    const isLate = step.op === 'advance' && this.#settings.timers === 'late';
    if (!isLate) this.#isDue = false;
    await this.#perform(step);
    if (!isLate) await this.#check();
  }

  /** The invariants that need the whole program: 2, 3 and 5 of docs/spec/store.md. */
  async finish(): Promise<void> {
    const [store, model] = [this.#store, this.#model];
    this.#handles.releaseAll();
    await this.#check();
    const before = store.stats();
    await checkHistory(store, model, this.#none);
    checkSame('stats after reads', store.stats().storedVersions, before.storedVersions);
    await this.#drain();
    if (model.compactRevision < model.revision) {
      await store.compact(store.revision);
      model.compact(model.revision);
    }
    await this.#drain();
    await checkHistory(store, model, this.#none);
    checkFootprint(store, model, this.#none);
    this.#watches.readAll();
    await this.#check();
    await this.#close(store);
  }

  async #close(store: Store<unknown, Key>): Promise<void> {
    await store.close();
    await settle();
    this.#watches.checkClosed();
    const closed = { class: 'ClosedError', name: 'ClosedError', code: 'CLOSED' };
    checkSame('closed store', comparable(outcome(() => store.get(this.#none))), closed);
    this.#mark('code:CLOSED');
  }

  get #none(): Key {
    return this.#settings.keys === 'utf8' ? '' : new Uint8Array(0);
  }

  async #check(): Promise<void> {
    // What is due is made to happen by the step's own call; not every step has one.
    const revision = this.#hasRead ? undefined : this.#store.revision;
    this.#hasRead = false;
    await this.#watches.deliver();
    checkSame('revision', revision ?? this.#store.revision, this.#model.revision);
    checkSame('compactRevision', this.#store.compactRevision, this.#model.compactRevision);
    this.#watches.checkProgress();
    await settle();
    this.#handles.check();
  }

  /** Runs all timers there are. */
  async #drain(): Promise<void> {
    while (await this.#virtual.advanceToNext()) await this.#check();
    await this.#check();
  }

  async #perform(step: Step): Promise<void> {
    const [store, model] = [this.#store, this.#model];
    switch (step.op) {
      case 'put':
      case 'putAll':
      case 'delete':
      case 'txn':
        return this.#write(step);
      case 'get': {
        const options = this.#at('revision', step.back);
        const actual = outcome(() => store.get(step.key, options));
        return this.#compare(
          step.op,
          actual,
          outcome(() => model.get(step.key, options)),
        );
      }
      case 'range':
        return this.#range({ ...this.#sketches.range(step.request), ...this.#at('revision', step.back) }, undefined);
      case 'page': {
        const page = this.#pages[step.pick % Math.max(this.#pages.length, 1)];
        if (page === undefined) return;
        const request = step.other === undefined ? page.request : this.#sketches.range(step.other);
        return this.#range({ ...request, limit: 2, ...this.#at('revision', step.back) }, page);
      }
      case 'compact': {
        const revision = model.revision - step.back;
        return this.#both(
          step.op,
          () => store.compact(revision),
          () => model.compact(revision),
        );
      }
      case 'stats':
        checkSame('leases', store.stats().leases, model.leases().length);
        checkSame('keys', store.stats().keys, model.range({ prefix: this.#none }).count);
        return this.#handles.checkPins(store.stats().pins);
      case 'snapshot':
        return this.#restore();
      case 'wrong':
        return this.#wrong(step.what);
      case 'tick':
      case 'advance':
        return this.#pass(step);
      case 'watch':
      case 'read':
      case 'progress':
      case 'abort':
      case 'return':
        return this.#watch(step);
      default:
        return this.#lease(step);
    }
  }

  async #write(step: Extract<Step, { op: 'put' | 'putAll' | 'delete' | 'txn' }>): Promise<void> {
    const [store, model] = [this.#store, this.#model];
    switch (step.op) {
      case 'put': {
        const { op, key, expect, prevKv, ...sketch } = step;
        const { value, ...how } = this.#sketches.put(sketch);
        const options = { ...how, ...this.#expect(expect, key), ...(prevKv ? { prevKv } : {}) };
        if (prevKv) this.#mark('put.prevKv');
        return this.#both(
          op,
          () => store.put(key, value, options),
          () => model.put(key, value, options),
        );
      }
      case 'putAll': {
        const entries = step.entries.map((entry) => this.#sketches.entry(entry));
        const ids = () =>
          entries.flatMap(({ key, ttlMs }) => (ttlMs === undefined ? [] : [store.get(key)?.lease ?? '0']));
        return this.#both(
          step.op,
          () => store.putAll(entries),
          () => model.putAll(entries),
          ids,
        );
      }
      case 'delete': {
        const options = { ...this.#expect(step.expect, step.range), prevKv: step.prevKv };
        if (step.prevKv) this.#mark('delete.prevKv');
        return this.#both(
          step.op,
          () => store.delete(step.range, options),
          () => model.delete(step.range, options),
        );
      }
      case 'txn': {
        const request = this.#sketches.txn(step.request);
        return this.#both(
          step.op,
          () => store.txn(request),
          () => model.txn(request),
        );
      }
    }
  }

  async #watch(step: Extract<Step, { op: 'watch' | 'read' | 'progress' | 'abort' | 'return' }>): Promise<void> {
    switch (step.op) {
      case 'watch': {
        for (const [name, value] of Object.entries(step.options)) this.#mark(`watch.${name}:${String(value)}`);
        const options = { ...step.options, ...this.#at('fromRevision', step.back) };
        if (step.back !== undefined && step.back < 0) this.#mark('watch.start:future');
        return this.#watches.open(this.#store, this.#model, step.range, options);
      }
      case 'read':
        this.#hasRead = this.#watches.read(step.pick, step.all === true);
        return;
      case 'progress':
        return this.#watches.requestProgress(step.pick);
      case 'abort':
        return this.#watches.abort(step.pick);
      case 'return':
        return this.#watches.return(step.pick);
    }
  }

  async #lease(
    step: Extract<Step, { op: 'grant' | 'revoke' | 'keepAlive' | 'timeToLive' | 'leases' | 'pin' | 'release' }>,
  ) {
    const [store, model] = [this.#store, this.#model];
    switch (step.op) {
      case 'grant': {
        const options = { ttlMs: step.ttlMs, ...(step.id === undefined ? {} : { id: step.id }) };
        if (step.id !== undefined) this.#mark('grant.id');
        return this.#handles.grant(store, model, options, this.#both.bind(this));
      }
      case 'revoke':
      case 'keepAlive':
      case 'timeToLive':
        return this.#handles.use(store, model, step, this.#sketches.leaseId(step.lease), this.#both.bind(this));
      case 'leases':
        return this.#both(
          step.op,
          () => store.leases(),
          () => model.leases(),
        );
      case 'pin': {
        const revision = Math.max(model.revision - step.back, 1);
        const times = { ttlMs: step.ttlMs, now: this.#virtual.now() };
        return this.#handles.pin(store, model, revision, times, this.#compare.bind(this));
      }
      case 'release':
        return this.#handles.release(step.pick);
    }
  }

  async #pass(step: Extract<Step, { op: 'tick' | 'advance' }>): Promise<void> {
    const isLate = this.#settings.timers === 'late';
    if (step.op === 'tick') {
      if (!isLate) return void (await this.#virtual.advanceToNext());
      // Not as far as the deadline of a pin: those are kept by timers alone, so that a late one would be no mistake. By the
      // millisecond as below: a timer runs at one of the two, and who reads then does not see what is due at the other.
      for (let ms = 0; ms < 2; ms++) {
        await this.#virtual.advance(1);
        checkSame('revision', this.#store.revision, this.#model.revision);
        await this.#watches.deliver();
      }
    } else if (isLate) {
      this.#lateMs += step.ms;
      this.#isDue = true;
    } else {
      // By the millisecond, so that a watch reads after each instant at which something happens, here and in the model.
      for (let ms = 0; ms < step.ms; ms++) {
        // What of a lease and a pin ends first at one instant is an affair of timers; a watch in between sees it.
        if (this.#model.leases().length > 0) this.#handles.releaseDue(this.#virtual.now() + 1);
        await this.#virtual.advance(1);
        this.#makeDue();
        await this.#watches.deliver();
      }
    }
  }

  /** Takes the model past this instant: its own calls would make what is due of several instants happen as one. */
  #makeDue(): void {
    void this.#model.revision;
  }

  /** The store as bytes, and on with what is made of these. Pins, handles and tokens are those of the old store. */
  async #restore(): Promise<void> {
    const old = this.#store;
    this.#handles.releaseAll();
    const snapshot = await old.createSnapshot();
    this.#store = await openWith(this.#settings, this.#clock, snapshot);
    await this.#watches.deliver();
    await this.#close(old);
    this.#handles.forgetHandles();
    this.#pages = [];
    checkSame('restored revision', this.#store.revision, this.#model.revision);
    this.#watches.reopen(this.#store, this.#model);
  }

  async #wrong(what: number): Promise<void> {
    const wrong = WRONG_CALLS[what % WRONG_CALLS.length] as (typeof WRONG_CALLS)[0];
    const key = this.#settings.keys === 'utf8' ? 'a' : Uint8Array.of(97);
    // Shared values are taken as they are.
    if (wrong.code === 'VALUE' && this.#settings.values === 'trusted') return;
    const { class: name, code } = comparable(await outcomeOf(() => wrong.run(this.#store, key))) as Record<
      string,
      string
    >;
    checkSame(`wrong call ${what}`, { name, code }, { name: wrong.error, code: wrong.code });
    this.#markError(name, { code });
  }

  get #sketches(): SketchReader {
    const [revision, live] = [this.#model.revision, this.#model.leases()];
    return new SketchReader({ revision, leases: this.#handles.ids, live, mark: this.#mark });
  }

  #range(request: object, page: OpenPage | undefined): void {
    const ask = (token: string | undefined) => ({ ...request, ...(token === undefined ? {} : { continue: token }) });
    const actual = outcome(() => this.#store.range(ask(page?.token) as never));
    const expected = outcome(() => this.#model.range(ask(page?.modelToken) as never));
    const token = takeToken(actual);
    const modelToken = takeToken(expected);
    this.#compare(page === undefined ? 'range' : 'page', actual, expected);
    checkSame('has a next page', token === undefined, modelToken === undefined);
    if (token === undefined || modelToken === undefined) return;
    this.#mark('range.more');
    this.#pages = [...this.#pages.slice(-4), { request: page?.request ?? request, token, modelToken }];
  }

  #at(name: 'revision' | 'fromRevision', back: number | undefined): object {
    return back === undefined ? {} : { [name]: this.#model.revision - back };
  }

  #expect(expect: Expect, range: unknown): { expect?: { modRevision: number } } {
    if (expect === 'nothing') return {};
    const isKey = typeof range === 'string' || range instanceof Uint8Array;
    const found = isKey ? outcome(() => this.#model.get(range)) : { value: undefined };
    const current = 'value' in found ? ((found.value as { modRevision: number } | undefined)?.modRevision ?? 0) : 0;
    this.#mark(`expect:${expect}`);
    return { expect: { modRevision: expect === 'absent' ? 0 : expect === 'current' ? current : current + 1 } };
  }

  /** The store goes first: leases that it names by chance get the same names in the model. */
  async #both(what: string, act: () => unknown, expect: () => unknown, ids?: () => string[]): Promise<void> {
    const actual = await outcomeOf(act);
    if ('value' in actual) this.#handles.learn(ids === undefined ? idsIn(actual.value) : ids());
    const expected = outcome(expect);
    this.#compare(what, actual, expected);
    if (what === 'txn' && 'value' in expected) {
      this.#mark(`txn:${(expected.value as { succeeded: boolean }).succeeded ? 'then' : 'else'}`);
    }
  }

  #compare(what: string, actual: Outcome, expected: Outcome): void {
    const [left, right] = [comparable(actual), comparable(expected)];
    checkSame(what, left, right);
    if ('error' in expected) this.#markError((right as { class: string }).class, right as { code?: string });
  }

  #markError(name: string | undefined, facts: { readonly code?: string | undefined; readonly limit?: string }): void {
    this.#mark(`error:${name}${facts.limit === undefined ? '' : ` of ${facts.limit}`}`);
    if (facts.code !== undefined) this.#mark(`code:${facts.code}`);
  }
}

function shared({ values, retentionEvents, limits }: Settings) {
  return {
    ...(values === 'json' ? { codec: jsonCodec() } : {}),
    ...(retentionEvents === undefined ? {} : { retention: { events: retentionEvents } }),
    ...(limits === undefined ? {} : { limits }),
  };
}

function openWith(settings: Settings, clock: Clock, snapshot: Uint8Array | undefined): Promise<Store<unknown, Key>> {
  // Tests that want keys of bytes say so in their options, which a generic type cannot tell.
  const open = openStore as (options: OpenStoreOptions<unknown, Key>) => Promise<Store<unknown, Key>>;
  return open({
    clock,
    random: createSeededRandom(1),
    keys: settings.keys,
    ...shared(settings),
    ...(settings.values === 'trusted' ? { values: 'trusted' } : {}),
    ...(snapshot === undefined ? {} : { snapshot }),
  });
}

/** Ids of leases that an answer names, in the order of the operations. */
function idsIn(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null) return [];
  const { lease, responses, prevKv: _ } = answer as { lease?: string; responses?: unknown[]; prevKv?: unknown };
  return [...(lease === undefined ? [] : [lease]), ...(responses ?? []).flatMap(idsIn)];
}

function takeToken(one: Outcome): string | undefined {
  if (!('value' in one)) return undefined;
  const { continue: token, ...rest } = one.value as { continue?: string };
  Object.assign(one, { value: rest });
  return token;
}
