import type { ModelWatch, ReferenceModel } from '../../src/testing/model.ts';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';
import type { Watch, WatchOptions } from '../../src/types/watch.ts';
import { checkSame, comparable, Mismatch, type Outcome, outcome, settle, show } from './store-outcome.ts';

interface OpenWatch {
  readonly range: KeyRange<Key>;
  readonly options: WatchOptions;
  readonly watch: Watch<unknown, Key>;
  readonly model: ModelWatch<unknown, Key>;
  readonly abort: AbortController;
  /** A `next()` under way. */
  reading: { outcome: Outcome | undefined } | undefined;
}

/** How often each thing happened. */
export type Coverage = (mark: string) => void;

/** The watches of a run, each beside the model's. */
export class OpenWatches {
  readonly #mark: Coverage;
  #watches: OpenWatch[] = [];

  constructor(mark: Coverage) {
    this.#mark = mark;
  }

  open(
    store: Store<unknown, Key>,
    model: ReferenceModel<unknown, Key>,
    range: KeyRange<Key>,
    options: WatchOptions,
  ): void {
    const abort = new AbortController();
    const actual = outcome(() => store.watch(range, { ...options, signal: abort.signal }));
    const expected = outcome(() => model.watch(range, options));
    if (!('value' in actual && 'value' in expected)) {
      this.#compare('open watch', actual, expected);
      return;
    }
    const watch = actual.value as OpenWatch['watch'];
    this.#watches.push({ range, options, watch, model: expected.value as never, abort, reading: undefined });
  }

  /** Says whether a watch that is not over began to read. */
  read(pick: number, all: boolean): boolean {
    const one = this.#at(pick);
    if (one === undefined) return false;
    const readers = (all ? this.#watches : [one]).filter(({ reading }) => reading === undefined);
    for (const reader of readers) this.#startRead(reader);
    return readers.some(({ model }) => !model.isDone);
  }

  readAll(): void {
    this.read(0, true);
  }

  requestProgress(pick: number): void {
    const one = this.#at(pick);
    one?.watch.requestProgress();
    one?.model.requestProgress();
  }

  abort(pick: number): void {
    const one = this.#at(pick);
    const reason = new Error('enough');
    one?.abort.abort(reason);
    one?.model.abort(reason);
  }

  async return(pick: number): Promise<void> {
    const one = this.#at(pick);
    if (one === undefined) return;
    one.model.close();
    await one.watch.return();
    // Not what others have: to end a watch is no operation of the store, so what is due by late timers is not there yet.
    await this.deliver([one]);
    this.#watches = this.#watches.filter((other) => other !== one);
  }

  /** Whoever reads must have got by now what the model has for it, and nothing else. */
  async deliver(readers: readonly OpenWatch[] = this.#watches): Promise<void> {
    if (!readers.some(({ reading }) => reading !== undefined)) return;
    await settle();
    for (const one of readers) {
      if (one.reading === undefined) continue;
      const expected = outcome(() => one.model.next());
      const isNothing = 'value' in expected && expected.value === undefined;
      if (isNothing && !one.model.isDone) {
        checkSame('a read that has to wait', one.reading.outcome, undefined);
        continue;
      }
      const actual = one.reading.outcome;
      if (actual === undefined) throw new Mismatch(`a watch gives nothing, the model ${show(expected)}`);
      if ('error' in expected) this.#compare('watch', actual, expected);
      else if (isNothing) checkSame('a read after the end', actual, { value: { value: undefined, done: true } });
      else this.#batch(actual, expected.value as object);
      one.reading = undefined;
    }
  }

  checkProgress(): void {
    for (const { watch, model } of this.#watches) checkSame('progress', watch.progressRevision, model.progressRevision);
  }

  /** After the store was closed: waiting reads must have ended with `ClosedError`. */
  checkClosed(): void {
    for (const { reading } of this.#watches) {
      if (reading === undefined) continue;
      const ended = comparable(reading.outcome ?? { value: undefined });
      checkSame('a read of a closed store', (ended as { class?: string }).class, 'ClosedError');
      this.#mark('code:CLOSED');
    }
  }

  /** Goes on with another store: each watch from where it was. One that had failed is over. */
  reopen(store: Store<unknown, Key>, model: ReferenceModel<unknown, Key>): void {
    const before = this.#watches;
    this.#watches = [];
    for (const one of before) {
      const { fromRevision: start = 0, initial: _, ...options } = one.options;
      const progress = one.model.progressRevision;
      const isInitial = one.options.initial === true && progress === 0;
      const resume = isInitial ? { initial: true } : { fromRevision: Math.max(start, progress + 1) };
      one.model.close();
      this.open(store, model, one.range, { ...options, ...resume });
    }
  }

  #at(pick: number): OpenWatch | undefined {
    return this.#watches[pick % Math.max(this.#watches.length, 1)];
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

  #batch(actual: Outcome, expected: object): void {
    checkSame('batch', actual, { value: { value: expected, done: false } });
    const kind = ['span', 'initial', 'progress'].find((name) => name in expected) ?? 'ordinary';
    this.#mark(`batch:${kind}`);
    const { events } = expected as { events: readonly { type: string; prevKv?: unknown }[] };
    for (const event of events) this.#mark(`event:${event.type}${event.prevKv === undefined ? '' : '+prevKv'}`);
  }

  #compare(what: string, actual: Outcome, expected: Outcome): void {
    const [left, right] = [comparable(actual), comparable(expected)];
    checkSame(what, left, right);
    if (!('error' in expected)) return;
    const { class: name, code } = right as { class?: string; code?: string };
    this.#mark(`error:${name ?? 'a reason'} of a watch`);
    if (code !== undefined) this.#mark(`code:${code}`);
  }
}
