import type { WatchBatch } from '../../types/event.ts';
import type { Revision } from '../../types/revision.ts';
import type { Watch } from '../../types/watch.ts';
import { type Difference, type FoldedState, fold, type Resource } from './difference.ts';
import { PAUSE_CHANGES, type RunState } from './run-state.ts';
import type { LostRange } from './stream-backend.ts';

/**
 * A watcher over everything that lags on purpose, but within retention: it stops reading until `PAUSE_CHANGES` changes
 * wait for it, reads until it has caught up, and stops again.
 *
 * ```text
 *   changes   |||||||||||||||||||||||||||||||||||||||||||||
 *   read                 ^ all of it       ^ all of it
 * ```
 *
 * It must see every change of the stream once and in order. A relist after a lost connection is one span in place of
 * the changes inside it (M9), or nothing at all if these cancel each other out. What it has seen, applied in order, must
 * be the final state.
 */
export class ReplayingWatcher {
  readonly state: FoldedState = new Map();
  readonly counts = { seen: 0, pauses: 0, spans: 0, replaced: 0 };
  /** The first change that was not the one it had to be. */
  difference: Difference | undefined;
  readonly #run: RunState;
  readonly #lost: () => LostRange | undefined;
  #watch: Watch<Resource> | undefined;
  #after: Revision = 0;

  /** `lost` tells what a lost connection took. */
  constructor(run: RunState, lost: () => LostRange | undefined) {
    this.#run = run;
    this.#lost = lost;
  }

  /** Everything up to here was read. */
  get progressRevision(): Revision {
    return this.#watch?.progressRevision ?? 0;
  }

  /** Begins with a list. Resolves when that is read; what comes next is read by `follow`. */
  async open(): Promise<void> {
    const { store, signal } = this.#run;
    const watch = store.watch({ prefix: '' }, { initial: true, signal });
    const { value } = await watch.next();
    if (value === undefined) throw new TypeError('Cannot follow the store: the watch ended');
    this.#watch = watch;
    this.#after = value.revision;
    fold(this.state, value);
  }

  async follow(): Promise<void> {
    const watch = this.#watch;
    if (watch === undefined) throw new TypeError('Cannot follow the store: the watch is not open');
    const { store, truth, changed, signal, isSettled } = this.#run;
    for (;;) {
      // Decided before the last look, so that nothing can come in between.
      const isLast = isSettled();
      while (watch.progressRevision < store.revision) {
        const { value } = await watch.next();
        if (value === undefined) throw new TypeError('Cannot follow the store: the watch ended');
        this.#take(value);
      }
      if (isLast) break;
      this.counts.pauses++;
      await changed.until(() => isSettled() || truth.pendingUpTo(store.revision) >= PAUSE_CHANGES, signal);
    }
    await watch.return();
    this.#skipEmptySpan(store.revision + 1);
    const unseen = truth.peek();
    if (unseen !== undefined) this.#expect(`${unseen.type} at revision ${unseen.revision}`, 'nothing more', unseen.key);
  }

  #take(batch: WatchBatch<Resource>): void {
    fold(this.state, batch);
    if (batch.span === true) this.#takeSpan(batch);
    else this.#takeChange(batch);
    this.#after = batch.revision;
    this.#run.changed.notify();
  }

  /** Stands for all changes in (after, revision]; those up to `after` must have been seen. */
  #takeSpan(batch: WatchBatch<Resource>): void {
    const { truth } = this.#run;
    this.counts.spans++;
    if (batch.after !== this.#after && (truth.peek()?.revision ?? batch.revision) <= (batch.after ?? 0)) {
      this.#expect('every change before the span', `a span from ${batch.after}, before that ${this.#after}`);
    }
    for (let next = truth.peek(); next !== undefined && next.revision <= batch.revision; next = truth.peek()) {
      truth.shift();
      this.counts.replaced++;
    }
  }

  #takeChange(batch: WatchBatch<Resource>): void {
    this.#skipEmptySpan(batch.revision);
    const change = this.#run.truth.shift();
    this.counts.seen++;
    const expected = change === undefined ? 'nothing more' : `${change.type} at revision ${change.revision}`;
    const [event] = batch.events;
    const actual = `${batch.events.length === 1 ? event?.type : `${batch.events.length} events`} at revision ${batch.revision}`;
    if (actual !== expected || event?.kv.key !== change?.key) {
      this.#expect(expected, actual, change?.key ?? event?.kv.key);
    }
  }

  /** A relist whose difference is empty tells nobody; its changes are inside it all the same. */
  #skipEmptySpan(before: Revision): void {
    const { truth } = this.#run;
    const lost = this.#lost();
    if (lost === undefined || this.counts.spans > 0 || lost.revision >= before) return;
    for (let next = truth.peek(); next !== undefined && next.revision <= lost.revision; next = truth.peek()) {
      if (next.revision <= lost.after) return;
      truth.shift();
      this.counts.replaced++;
    }
  }

  #expect(expected: string, actual: string, key = ''): void {
    this.difference ??= { key, expected, actual };
  }
}
