import type { Revision } from './revision.ts';

export interface PinOptions {
  /** Who holds history back, for `stats()` and messages; not empty. */
  readonly owner: string;
  /** The pin is broken after so many milliseconds, an integer from 1 on. @default 60000 */
  readonly ttlMs?: number;
  /**
   * The pin is broken when the values of the log from its revision on take more bytes than this. @default 67108864 (64 MiB)
   */
  readonly bytes?: number;
}

/**
 * Holds compaction and retention back: while it is there, every revision from `revision` on stays readable (M16, M18).
 * It is bounded in time and in bytes; at either bound it is broken.
 */
export interface Pin {
  readonly revision: Revision;
  readonly owner: string;
  /** Aborts with a `PinBrokenError` when the pin was broken; not on `release()`. */
  readonly signal: AbortSignal;
  /** Lets go; compaction that was asked for meanwhile goes on. May be called again. */
  release(): void;
  [Symbol.dispose](): void;
}
