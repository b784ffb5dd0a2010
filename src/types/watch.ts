import type { WatchBatch } from './event.ts';
import type { Key, Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';

/** Which events a watch leaves out. */
export type WatchFilter = 'noput' | 'nodelete';

export interface WatchOptions extends SignalOptions {
  /**
   * First revision to deliver, inclusive; 0 is "what comes after this call"; a future one waits (store:R27).
   * Below the window: `CompactedError` with the smallest legal start. @default 0
   */
  readonly fromRevision?: Revision;
  /** Only together with `fromRevision`: the identity that revision belongs to; another one is `IdentityChangedError`. */
  readonly identity?: string;
  /**
   * First one batch with the present state (also when empty, and whatever `filter` says: it holds for what follows),
   * then changes, without a gap. Excludes `fromRevision`. @default false
   */
  readonly initial?: boolean;
  /** Events carry the state just before. @default false */
  readonly prevKv?: boolean;
  /** Leave out these events; batches without an event left are not delivered (store:R32). @default none */
  readonly filter?: WatchFilter;
  /**
   * What happens to a consumer that is more than `lagEventsMax` log entries behind (M14): `lag` keeps replaying,
   * whatever the distance, until compaction passes it, so its bound is the store's `retention`: then it ends with
   * `CompactedError`, once; `coalesce` gets the difference to the newest state as one span; `close` ends with
   * `SlowWatcherError`, for which what was there when the watch was opened does not count. @default 'lag'
   */
  readonly onSlow?: 'lag' | 'coalesce' | 'close';
  /** Bound for `coalesce` and `close`, in log entries: an integer from 1 on. `lag` does not look at it. @default 1000 */
  readonly lagEventsMax?: number;
  /**
   * Deliver a progress batch when nothing else was delivered for so long, an integer from 100 on (store:R34). Never before a
   * future start was reached, never before the events up to it. While a consumer waits there is a timer, which keeps a
   * process alive. @default never
   */
  readonly progressMs?: number;
}

/**
 * The stream of a watch: single consumer, no queue of its own. `break` and `return()` end it quietly; an aborted
 * signal makes `next()` reject with the signal's reason; compaction with `CompactedError`, once; a replaced data set
 * with `IdentityChangedError`; closing the store with `ClosedError`.
 */
export interface Watch<V, K extends Key = string> extends AsyncIterableIterator<WatchBatch<V, K>> {
  /**
   * The next batch, once there is one; `done` after the end.
   *
   * @throws what ended the watch, once (see above), `SlowWatcherError` with `onSlow: 'close'`, and `ValueError` for a value
   * that the codec cannot read, which ends it too; TypeError while another `next()` waits, which goes on waiting
   */
  next(): Promise<IteratorResult<WatchBatch<V, K>, undefined>>;
  /** Ends the watch quietly; a `next()` that waits resolves as done. Never rejects; may be called again. */
  return(): Promise<IteratorResult<WatchBatch<V, K>, undefined>>;
  /**
   * Deliver one progress batch as soon as everything up to the newest revision was delivered; several requests before it
   * are one. Before a future start was reached it is forgotten (store:R34, C49).
   */
  requestProgress(): void;
  /** Everything up to here was delivered to the consumer (M30). */
  readonly progressRevision: Revision;
  /** The same as `return()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
