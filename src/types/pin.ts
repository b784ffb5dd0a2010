import type { Revision } from './revision.ts';

export interface PinOptions {
  /** Who holds history back, for `stats()` and messages; not empty. */
  readonly owner: string;
  /** The pin is broken after so many milliseconds, an integer from 1 on. @default 60000 */
  readonly ttlMs?: number;
  /**
   * The pin is broken when the values that commits after its revision wrote take more bytes than this, an integer from 0 on;
   * those that are there already count too. @default 67108864 (64 MiB)
   */
  readonly bytes?: number;
}

/**
 * Holds compaction and retention back: while it is there, every revision from `revision` on stays readable (M16, M18).
 * It is bounded in time and in bytes; at either bound it is broken. While it is held there is a timer, which keeps a process
 * alive: for `ttlMs`, unless it is released.
 *
 * A store that runs out of memory refuses writes rather than break a pin; their `StoreFullError` names it. Two things do not
 * wait for it: the expiry of a lease, and what a replica is sent. If there is no room for them, pins break, the oldest first,
 * for the reason `bytes`. On a replica a pin holds back its own window only, not the compaction of the backend.
 */
export interface Pin {
  readonly revision: Revision;
  readonly owner: string;
  /** Aborts with a `PinBrokenError` when the pin was broken, and with a `ClosedError` when the store closed; not on `release()`. */
  readonly signal: AbortSignal;
  /** Lets go; compaction that was asked for meanwhile goes on. May be called again. */
  release(): void;
  [Symbol.dispose](): void;
}
