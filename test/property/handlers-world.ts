import type { ProgressStore } from '../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../src/handlers/record.ts';
import type { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Clock } from '../../src/types/clock.ts';
import type { ObjectSource, SourcePatch, SourcePatchResult, SourceWatchItem } from '../../src/types/source.ts';

/**
 * The outside of a controller as one process has it. `crash` freezes all of it at once: timers do not fire, nothing is
 * answered, and whatever the process had under way stays where it was; except a write, which may land later.
 */
export class Process {
  readonly number: number;
  /** Uids that were seen deleted or on their way out by the time the controller asked for the next watch item. */
  readonly buried = new Set<string>();
  /** A write has landed after the death of the process. */
  hasLateWrite = false;
  readonly clock: Clock;
  isDead = false;
  readonly #real: VirtualClock;
  readonly #timers = new Set<() => void>();
  readonly #end = new AbortController();

  /** `wallTime`: what the system's date says, whatever the timers do. */
  constructor(number: number, real: VirtualClock, wallTime: () => number) {
    this.number = number;
    this.#real = real;
    this.clock = {
      now: () => real.now(),
      wallTime,
      after: (delayMs, fn) => {
        // What was about to happen in the very moment of the crash still runs to its next wait; that one is the last.
        if (this.isDead) return () => {};
        const cancel = real.after(delayMs, () => {
          this.#timers.delete(cancel);
          fn();
        });
        this.#timers.add(cancel);
        return () => {
          this.#timers.delete(cancel);
          cancel();
        };
      },
    };
  }

  crash(): void {
    this.isDead = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#end.abort();
  }

  /** The answer, unless the process has died by then: then there is never one. */
  async alive<R>(answer: Promise<R>): Promise<R> {
    const settled = await answer.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    if (this.isDead) await new Promise<never>(() => {});
    return settled();
  }

  /** `fate` decides what becomes of a patch; late and lost answers are those of the source. */
  source<T>(
    source: ObjectSource<T>,
    fate: () => Fate,
    onPatch: (change: SourcePatch, result: SourcePatchResult<T> | undefined) => void,
  ): ObjectSource<T> {
    const alive = <R>(answer: () => Promise<R>): Promise<R> =>
      this.isDead ? new Promise<never>(() => {}) : this.alive(answer());
    const process = this;
    const patch = async (change: SourcePatch): Promise<SourcePatchResult<T>> => {
      if (source.patch === undefined) throw new Error('the source takes no patches');
      onPatch(change, undefined);
      const { crash } = fate();
      if (crash === 'before') this.crash();
      const result = await source.patch(change, {});
      onPatch(change, result);
      if (crash === 'after') this.crash();
      return result;
    };
    return {
      hasFinalizers: source.hasFinalizers === true,
      compare: (a, b) => source.compare(a, b),
      list: (options) => alive(() => source.list(options)),
      get: (name, options) => alive(() => source.get(name, options)),
      patch: (change) => alive(() => patch(change)),
      async *watch({ after }): AsyncGenerator<SourceWatchItem<T>> {
        const items = source.watch({ after, signal: process.#end.signal })[Symbol.asyncIterator]();
        for (;;) {
          const item = await alive(() => items.next());
          if (item.done === true) return;
          yield item.value;
          if (item.value.type === 'deleted' && item.value.uid !== undefined) process.buried.add(item.value.uid);
          if (item.value.type === 'modified' && item.value.object.deleting) process.buried.add(item.value.object.uid);
        }
      },
    };
  }

  /** What a write meets: `fate` decides each time. */
  progress(store: ProgressStore, fate: () => Fate): ProgressStore {
    const sleep = (delayMs: number): Promise<void> => new Promise((resolve) => this.#real.after(delayMs, resolve));
    const alive = <R>(answer: () => Promise<R>): Promise<R> =>
      this.isDead ? new Promise<never>(() => {}) : this.alive(answer());
    const write = async (uid: string, gen: number, next: ProgressDocument): Promise<boolean> => {
      const { crash, applied, answered, delayMs } = fate();
      if (crash === 'before') this.crash();
      // The write is on its way: it lands, whatever becomes of the process.
      if (delayMs > 0) await sleep(delayMs);
      const done = applied ? await store.compareAndSet(uid, gen, next) : false;
      if (done && this.isDead) this.hasLateWrite = true;
      if (crash === 'after') this.crash();
      if (!answered) throw new Error('no answer');
      return done;
    };
    return {
      get: (uid, name) => alive(() => store.get(uid, name)),
      list: () => alive(() => store.list()),
      delete: (uid) => alive(() => store.delete(uid)),
      compareAndSet: (uid, gen, next) => alive(() => write(uid, gen, next)),
      ...(store.conceal === undefined ? {} : { conceal: store.conceal }),
      ...(store.reachesRecords === undefined ? {} : { reachesRecords: store.reachesRecords }),
    };
  }
}

/** What becomes of one write. */
export interface Fate {
  readonly crash: 'before' | 'after' | undefined;
  readonly applied: boolean;
  readonly answered: boolean;
  readonly delayMs: number;
}
