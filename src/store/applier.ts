import type { Clock } from '../types/clock.ts';
import { StoreFullError } from '../types/errors.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Change, Commit } from './commit.ts';
import { Compactor } from './compactor.ts';
import type { Mvcc } from './mvcc.ts';
import { checkRetention, type Retention, RetentionKeeper } from './retention.ts';

/** Who has to hear of a publish at once; the watch hub has this shape. */
export interface PublishListener {
  published(commit: Commit & { readonly repair?: boolean }): void;
  /** The low watermark was raised. */
  compacted(): void;
}

export interface ApplierOptions<V, K extends Key> {
  readonly mvcc: Mvcc<V, K>;
  readonly listener: PublishListener;
  readonly clock: Clock;
  readonly retention: Retention;
}

/**
 * The one applier of a store (D2): state, then watchers, then retention, in one synchronous step
 * that nobody can look into. Embedded stores and replicas differ only in where their commits come from.
 */
export class Applier<V, K extends Key> {
  readonly #mvcc: Mvcc<V, K>;
  readonly #listener: PublishListener;
  readonly #compactor: Compactor;
  readonly #retention: RetentionKeeper;

  /** Throws RangeError for a retention that cannot be. */
  constructor(options: ApplierOptions<V, K>) {
    const { mvcc, listener, clock, retention } = options;
    checkRetention(retention);
    this.#mvcc = mvcc;
    this.#listener = listener;
    this.#compactor = new Compactor({ clock, step: (budget) => mvcc.state.compactStep(budget) });
    this.#retention = new RetentionKeeper({
      retention,
      clock,
      log: mvcc.state,
      compactTo: (floor) => this.#trim(floor),
    });
  }

  /**
   * Bytes of the values in a commit, as far as retention wants to know; for `commit`, which measures by itself if nobody
   * did. Of a trusted value this runs `toJSON`, which may throw, and may call the store.
   */
  measure(changes: readonly Change[]): number {
    if (!this.#retention.needsBytes) return 0;
    let bytes = 0;
    for (const { cell } of changes) if (cell !== undefined) bytes += this.#mvcc.values.bytes(cell).length;
    return bytes;
  }

  /** Publishes one commit. Throws `StoreFullError` with nothing changed. */
  commit(commit: Commit, action: string, bytes: number = this.measure(commit.changes)): void {
    const mvcc = this.#mvcc;
    this.#publish(commit, action);
    this.#listener.published(commit);
    const noted = this.#retention.note(commit, mvcc.window.watchFloor, bytes);
    const floor = Math.max(mvcc.window.keeping(noted), mvcc.window.spansFloor);
    const isRaised = floor > mvcc.window.compactRevision;
    if (isRaised) this.#raise(floor);
    this.#compactor.onCommit(commit.changes.length, isRaised);
  }

  /**
   * Publishes the span of a repair: history below it was wrong, so the floors rise to it. Watchers that were caught up
   * get the span, the others end (M13).
   */
  repair(commit: Commit, action: string): void {
    const mvcc = this.#mvcc;
    this.#publish(commit, action);
    mvcc.window.raise(commit.revision, commit.revision + 1);
    this.#listener.published({ ...commit, repair: true });
    this.#compactor.start();
  }

  /** A repair whose list at the applied revision was equal: the state is right, how it came about is not known (M13). */
  distrustHistory(): void {
    const { window } = this.#mvcc;
    const { revision } = window;
    window.raise(revision, revision + 1);
    this.#listener.published({ revision, after: revision, repair: true, changes: [] });
    this.#compactor.start();
  }

  /** The logical compaction at once, the physical one in slices. Throws as `Window.compact` does. */
  compact(revision: Revision, action: string): Revision {
    const compactRevision = this.#mvcc.window.compact(revision, action);
    this.#listener.compacted();
    this.#compactor.start();
    return compactRevision;
  }

  /**
   * Drops all history, logically and physically, at once: for a commit that does not fit otherwise. `false` if there is
   * none left to drop.
   */
  dropHistory(): boolean {
    const { window } = this.#mvcc;
    const isRaised = window.revision > window.compactRevision;
    if (isRaised) {
      this.#raise(window.revision);
      this.#compactor.start();
    }
    let hasFreed = isRaised;
    while (this.#compactor.sliceNow()) hasFreed = true;
    return hasFreed;
  }

  /**
   * Replaces the whole state by that of a list at a later revision, without a difference that leads there. Throws
   * `StoreFullError` with nothing changed. Watches are the caller's affair.
   */
  restart(commit: Commit, action: string): void {
    this.#mvcc.state.restart(commit, action);
    this.stop();
  }

  /** Stops every timer and forgets what was noted: the state was cleared, or the store is closed. */
  stop(): void {
    this.#compactor.stop();
    this.#retention.close();
  }

  /** Memory that compaction still has to give back is no reason to refuse a commit. */
  #publish(commit: Commit, action: string): void {
    for (;;) {
      try {
        this.#mvcc.state.publish(commit, action);
        return;
      } catch (error) {
        if (!(error instanceof StoreFullError) || !this.#compactor.sliceNow()) throw error;
      }
    }
  }

  #trim(oldest: Revision): void {
    const floor = this.#mvcc.window.keeping(oldest);
    if (floor <= this.#mvcc.window.compactRevision) return;
    this.#raise(floor);
    this.#compactor.start();
  }

  #raise(floor: Revision): void {
    this.#mvcc.window.compact(floor, 'trim history');
    this.#listener.compacted();
  }
}
