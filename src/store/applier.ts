import type { Clock } from '../types/clock.ts';
import { StoreFullError } from '../types/errors.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Change, Commit } from './commit.ts';
import { Compactor } from './compactor.ts';
import type { Mvcc } from './mvcc.ts';
import { Pins } from './pins.ts';
import { checkRetention, type Retention, RetentionKeeper } from './retention.ts';
import { bytesOf } from './values.ts';

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
  /** Pins at a time. */
  readonly pinsMax: number;
}

/** For messages of what cannot fail: the revision was judged. */
const TRIM = 'trim history';

/**
 * The one applier of a store (D2): state, then watchers, then retention, in one synchronous step
 * that nobody can look into. Embedded stores and replicas differ only in where their commits come from.
 *
 * It alone raises the low watermark, to the highest revision that anybody wants, or to the oldest pin if that is lower:
 *
 * ```text
 *   #wanted     the user: compact(n), rounded up to a hole's end    --\
 *   #oldestKept retention: the oldest commit that stays             ---> max --> min(pins.oldest) --> C, W of the window
 *   spansFloor  the bound on spans                                  --/
 * ```
 *
 * What a pin holds back is remembered in the same fields, and goes on when the pin goes (M16, M18).
 */
export class Applier<V, K extends Key> {
  readonly #mvcc: Mvcc<V, K>;
  readonly #listener: PublishListener;
  /** Does all physical compaction: whoever held it back starts it again. */
  readonly compactor: Compactor;
  readonly #retention: RetentionKeeper;
  readonly pins: Pins;
  #wanted: Revision = 0;
  #oldestKept: Revision = 0;

  /** Throws RangeError for a retention that cannot be. */
  constructor(options: ApplierOptions<V, K>) {
    const { mvcc, listener, clock, retention, pinsMax } = options;
    checkRetention(retention);
    this.#mvcc = mvcc;
    this.#listener = listener;
    this.compactor = new Compactor({ clock, step: (budget) => mvcc.state.compactStep(budget) });
    this.#retention = new RetentionKeeper({
      retention,
      clock,
      log: mvcc.state,
      compactTo: (oldest) => this.#trim(oldest),
    });
    this.pins = new Pins({
      clock,
      max: pinsMax,
      history: {
        readable: (revision, action) => mvcc.window.readable(revision, action),
        bytesAfter: (revision, most) => this.#bytesAfter(revision, most),
      },
      onGone: () => this.#pinGone(),
    });
  }

  /**
   * Bytes of the values in a commit, as far as retention wants to know; for `commit`, which measures by itself if nobody
   * did. Of a trusted value this runs `toJSON`, which may call the store; what has no JSON text is a `ValueError`.
   */
  measure(changes: readonly Change[], action: string): number {
    if (!this.#retention.needsBytes) return 0;
    const { keys, values } = this.#mvcc;
    let bytes = 0;
    for (const { cell, text } of changes) {
      if (cell !== undefined) bytes += bytesOf(values, cell, action, () => keys.key(text)).length;
    }
    return bytes;
  }

  /** Publishes one commit. Throws `StoreFullError` with nothing changed. */
  commit(commit: Commit, action: string, bytes: number = this.measure(commit.changes, action)): void {
    const mvcc = this.#mvcc;
    this.#publish(commit, action);
    this.#listener.published(commit);
    const { window } = mvcc;
    this.#keepFrom(this.#retention.note(commit, Math.max(window.watchFloor, this.#oldestKept), bytes));
    if (this.pins.size > 0) this.pins.grow(this.#sizeOf(commit.changes));
    const isRaised = this.#advance();
    this.compactor.onCommit(commit.changes.length, isRaised);
  }

  /**
   * Publishes the span of a repair: history below it was wrong, so the floors rise to it. Watchers that were caught up
   * get the span, the others end (M13).
   */
  repair(commit: Commit, action: string): void {
    const mvcc = this.#mvcc;
    this.#publish(commit, action);
    mvcc.window.raise(commit.revision, commit.revision + 1);
    this.pins.resetBelow(commit.revision);
    this.#listener.published({ ...commit, repair: true });
    this.compactor.start();
  }

  /** A repair whose list at the applied revision was equal: the state is right, how it came about is not known (M13). */
  distrustHistory(): void {
    const { window } = this.#mvcc;
    const { revision } = window;
    window.raise(revision, revision + 1);
    this.pins.resetBelow(revision);
    this.#listener.published({ revision, after: revision, repair: true, changes: [] });
    this.compactor.start();
  }

  /**
   * The logical compaction at once, or as far as pins let it and the rest when they go; the physical one in slices. Throws
   * as `Window.compact` does.
   */
  compact(revision: Revision, action: string): Revision {
    const compactRevision = this.#mvcc.window.compact(revision, action, this.pins.oldest);
    this.#wanted = Math.max(this.#wanted, revision);
    this.#listener.compacted();
    this.compactor.start();
    return compactRevision;
  }

  /**
   * Drops history for a commit that did not fit: all that no pin holds, logically; trying the commit again frees its memory
   * (`#publish`). If that is none, pins break, the oldest first, until some is free: a store that has to go on does not
   * wait for readers. `false` if there is none left to drop.
   */
  dropHistory(): boolean {
    do {
      if (this.#dropUnpinned()) return true;
    } while (this.pins.breakOldest(this.#mvcc.window.revision));
    return false;
  }

  /**
   * Replaces the whole state by that of a list at a later revision, without a difference that leads there. Throws
   * `StoreFullError` with nothing changed. Watches are the caller's affair.
   */
  restart(commit: Commit, action: string): void {
    this.#mvcc.state.restart(commit, action);
    this.pins.resetBelow(commit.revision);
    this.stop();
  }

  /**
   * Stops the timers of compaction and retention and forgets what was noted: the state was cleared, or the store is closed.
   * Pins are the caller's affair, who knows which of the two it is.
   */
  stop(): void {
    this.compactor.stop();
    this.#retention.close();
    this.#wanted = 0;
    this.#oldestKept = 0;
  }

  /** Memory that compaction still has to give back is no reason to refuse a commit. */
  #publish(commit: Commit, action: string): void {
    for (;;) {
      try {
        this.#mvcc.state.publish(commit, action);
        return;
      } catch (error) {
        if (!(error instanceof StoreFullError)) throw error;
        if (!this.compactor.sliceNow()) throw this.#namingPin(error, action);
      }
    }
  }

  /** The error of a full store says who holds back what compaction could take. */
  #namingPin(error: StoreFullError, action: string): StoreFullError {
    const { oldestPin } = this.pins;
    if (oldestPin === undefined || oldestPin.revision >= this.#mvcc.window.revision) return error;
    const { owner, revision } = oldestPin;
    return new StoreFullError(action, error.max, { limit: error.limit, pin: { owner, revision } });
  }

  #dropUnpinned(): boolean {
    const { window } = this.#mvcc;
    const floor = Math.min(window.revision, this.pins.oldest);
    const isRaised = floor > window.compactRevision;
    if (isRaised) {
      window.compact(floor, TRIM);
      this.#listener.compacted();
      this.compactor.start();
    }
    return isRaised;
  }

  #keepFrom(oldest: Revision): void {
    this.#oldestKept = Math.max(this.#oldestKept, oldest);
  }

  #trim(oldest: Revision): void {
    this.#keepFrom(oldest);
    if (this.#advance()) this.compactor.start();
  }

  /** User code of a read that is under way may release a pin; the read goes on as it began. */
  #pinGone(): void {
    const advance = () => {
      if (this.#advance()) this.compactor.start();
    };
    if (this.#mvcc.values.scope.isActive) queueMicrotask(advance);
    else advance();
  }

  /** Raises the low watermark as far as anybody wants and pins allow; `false` if it is there. */
  #advance(): boolean {
    const { window } = this.#mvcc;
    const before = window.compactRevision;
    const { oldest } = this.pins;
    window.joinSpans((revision) => this.pins.isOn(revision));
    const floor = Math.min(Math.max(window.keeping(this.#oldestKept), window.spansFloor), oldest);
    if (floor > before) window.compact(floor, TRIM);
    if (this.#wanted > window.compactRevision) window.compact(this.#wanted, TRIM, oldest);
    if (window.compactRevision === before) return false;
    this.#listener.compacted();
    return true;
  }

  #sizeOf(changes: readonly Change[]): number {
    const { values } = this.#mvcc;
    let bytes = 0;
    for (const { cell } of changes) if (cell !== undefined) bytes += values.size(cell);
    return bytes;
  }

  /** A tombstone has no cell. */
  #bytesAfter(revision: Revision, most: number): number {
    const { state, values, window } = this.#mvcc;
    if (revision >= window.revision) return 0;
    let bytes = 0;
    for (const slot of state.slotsFrom(revision + 1)) {
      const cell = state.cellAt(slot);
      if (cell !== undefined) bytes += values.size(cell);
      if (bytes > most) break;
    }
    return bytes;
  }
}
