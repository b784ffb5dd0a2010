import type { ProgressStore } from '../../handlers/progress.ts';
import type { Clock } from '../../types/clock.ts';
import { BackendError } from '../../types/errors.ts';
import type { ObjectSource, SourcePatch, SourceWatchItem } from '../../types/source.ts';
import { RATES, type Trouble } from './trouble.ts';

/**
 * The outside of a controller as one process has it. A kill freezes all of it at once, as the end of a process would:
 * its timers do not fire, nothing is answered any more, and what it had under way stays where it was. A write that is on
 * its way lands all the same.
 */
export class Process {
  readonly number: number;
  /** Of the process: its timers end with it. */
  readonly clock: Clock;
  readonly #trouble: Trouble;
  readonly #onKill: () => void;
  readonly #timers = new Set<() => void>();
  readonly #end = new AbortController();
  #isDead = false;

  constructor(number: number, clock: Clock, trouble: Trouble, onKill: () => void) {
    this.number = number;
    this.#trouble = trouble;
    this.#onKill = onKill;
    this.clock = {
      now: () => clock.now(),
      wallTime: () => clock.wallTime(),
      after: (delayMs, fn) => this.#after(clock, delayMs, fn),
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#trouble.counts.kills++;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#end.abort();
    this.#onKill();
  }

  /** With lists that are old, watch items that are lost or come twice, and patches without an answer. */
  source<T>(source: ObjectSource<T> & { readonly resourceVersion: string }): ObjectSource<T> {
    const { counts } = this.#trouble;
    const patch = source.patch?.bind(source);
    return {
      hasFinalizers: source.hasFinalizers === true,
      compare: (a, b) => source.compare(a, b),
      list: (options) =>
        this.#alive(async () => {
          const list = await source.list(options);
          if (source.compare(list.resourceVersion, source.resourceVersion) < 0) counts.staleLists++;
          return list;
        }),
      get: (name, options) => this.#alive(() => source.get(name, options)),
      watch: ({ after, signal }) => {
        const signals = signal === undefined ? [this.#end.signal] : [this.#end.signal, signal];
        return this.#watch(source.watch({ after, signal: AbortSignal.any(signals) }));
      },
      ...(patch === undefined
        ? {}
        : { patch: (change: SourcePatch) => this.#write('patch an object', () => patch(change, {})) }),
    };
  }

  progress(store: ProgressStore): ProgressStore {
    return {
      get: (uid, name) => this.#alive(() => store.get(uid, name)),
      list: () => this.#alive(() => store.list()),
      delete: (uid) => this.#alive(() => store.delete(uid)),
      compareAndSet: (uid, gen, next) => this.#write('write progress', () => store.compareAndSet(uid, gen, next)),
    };
  }

  #after(clock: Clock, delayMs: number, fn: () => void): () => void {
    if (this.#isDead) return () => {};
    const end = (): void => {
      this.#timers.delete(end);
      cancel();
    };
    const cancel = clock.after(delayMs, () => {
      this.#timers.delete(end);
      fn();
    });
    this.#timers.add(end);
    return end;
  }

  async *#watch<T>(items: AsyncIterable<SourceWatchItem<T>>): AsyncGenerator<SourceWatchItem<T>, void, undefined> {
    const { counts } = this.#trouble;
    const iterator = items[Symbol.asyncIterator]();
    for (;;) {
      const item = await this.#alive(() => iterator.next());
      if (item.done === true) return;
      if (this.#trouble.happens(RATES.lostItem)) {
        counts.lostItems++;
        continue;
      }
      yield item.value;
      if (!this.#trouble.happens(RATES.doubledItem)) continue;
      counts.doubledItems++;
      yield item.value;
    }
  }

  /** A write may be the last thing that the process does, and its answer may be lost. */
  #write<R>(action: string, write: () => Promise<R>): Promise<R> {
    return this.#alive(async () => {
      const trouble = this.#trouble;
      if (trouble.happens(RATES.killInWrite)) this.kill();
      const isLost = trouble.happens(RATES.lostAnswer);
      if (isLost) trouble.counts.lostAnswers++;
      if (isLost && trouble.happens(0.5)) throw new BackendError(action, 'the connection was lost before it was sent');
      const answer = await write();
      if (trouble.happens(RATES.killInWrite)) this.kill();
      if (isLost) throw new BackendError(action, 'the connection was lost before the answer', { maybeCommitted: true });
      return answer;
    });
  }

  /** The answer, unless the process is dead by then: then there is never one. */
  async #alive<R>(ask: () => Promise<R>): Promise<R> {
    if (this.#isDead) return NEVER;
    try {
      const answer = await ask();
      return this.#isDead ? NEVER : answer;
    } catch (error) {
      if (this.#isDead) return NEVER;
      throw error;
    }
  }
}

const NEVER = new Promise<never>(() => {});
