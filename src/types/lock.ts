import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** `read`: together with other readers. `write`: alone. */
export type LockMode = 'read' | 'write';

export interface KeyedLockOptions {
  /** For waits, holds and timeouts; only `now` and `after` are used. @default the platform's clock */
  readonly clock?: Pick<Clock, 'now' | 'after'>;
  /** Told of lost locks with `debug`. @default silence */
  readonly logger?: Logger;
  /** Requests that wait at a time, over all keys, an integer from 0 on. One more is refused. @default 10000 */
  readonly waitersMax?: number;
  /** Locks that are held or waited for at a time, an integer from 1 on. One more is refused. @default 1000000 */
  readonly locksMax?: number;
  /**
   * Keys nobody holds or waits for whose statistics are kept, an integer from 0 on: those that were used last. What others
   * did stays in the totals. A key that is kept is also locked faster. With 0, nothing is left of a free key. @default 1000
   */
  readonly idleKeysMax?: number;
  /** Also measure how long locks are held: a second reading of the clock for each. @default false */
  readonly holdTimes?: boolean;
  /**
   * Check ranks (L6), and report locks whose handle was collected before it was released (L5), where the runtime has a
   * `FinalizationRegistry`. @default false
   */
  readonly debug?: boolean;
}

export interface TryAcquireOptions {
  /**
   * Lock everything below the key as well: the key names whole `/` segments, a slash at its end changes nothing, and ''
   * is everything. @default false
   */
  readonly prefix?: boolean;
  /**
   * Who asks, compared by identity: an object, a symbol, a string. An owner that asks for what it holds or waits for
   * already, or for a part of it, gets an error instead of waiting for itself (L3). @default unknown, so not checked
   */
  readonly owner?: unknown;
  /**
   * With `debug`: an owner takes locks in ascending order of rank, and those of one rank in ascending order of their
   * keys, segment by segment (L6). An integer; needs `owner`. @default outside of the order
   */
  readonly rank?: number;
}

export interface AcquireOptions extends TryAcquireOptions {
  /** Ends the wait; the call rejects with its reason. It has no effect once the lock was granted. */
  readonly signal?: AbortSignal;
  /** Ends the wait after so many milliseconds, an integer from 1 on. @default no end */
  readonly timeoutMs?: number;
}

/** A lock that is held, until `release()`. */
export interface HeldLock {
  readonly key: string;
  /** Everything below the key too. */
  readonly prefix: boolean;
  /** What it was acquired for; `read` after `downgrade()`. */
  readonly mode: LockMode;
  /** Lets go. May be called again: the next holder is not touched (L5). */
  release(): void;
  /**
   * From writing to reading, with no writer in between; readers that were next enter too (L4). Nothing happens to one that
   * reads already. The way back does not exist.
   *
   * @throws `LockReleasedError` after `release()`
   */
  downgrade(): void;
  [Symbol.dispose](): void;
}

/** Times in milliseconds. A quantile is never below the true one, and at most an eighth above it; `maxMs` is exact. */
export interface LockTimes {
  readonly count: number;
  readonly sumMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

export interface LockModeStats {
  readonly acquisitions: number;
  /** Those that had to wait. */
  readonly contended: number;
  /** Waits that ended without the lock: by signal, by timeout, by `close()`. */
  readonly cancelled: number;
  /** Of all acquisitions; those that did not wait are zeros. */
  readonly waits: LockTimes;
  /** Of released locks, by the mode at the end; only with `holdTimes`. */
  readonly holds?: LockTimes;
}

/** What has happened with a key, locks of it as a prefix included (L7). */
export interface LockStats {
  readonly read: LockModeStats;
  readonly write: LockModeStats;
  /** At the moment. */
  readonly held: number;
  readonly waiting: number;
  /** The most that waited at a time. */
  readonly waitingMax: number;
}

/** The same over all keys. */
export interface KeyedLockStats extends LockStats {
  /** Keys that are held or waited for. */
  readonly keys: number;
  /** Free keys whose statistics are kept. */
  readonly idleKeys: number;
  /** Handles that were collected without `release()`; only with `debug`. */
  readonly lost: number;
}

/**
 * Locks by key, for many readers or one writer, in the order of their requests (L1-L8, docs/spec/locks.md). They hold
 * within one process: between processes there are `store.acquireLock` and leases.
 */
export interface KeyedLock {
  /**
   * The lock if it is free and nobody in conflict waits, else `undefined`. Makes no promise and does not yield (L8).
   *
   * @throws TypeError, RangeError for wrong arguments; `InvalidKeyError` for an empty key; `LockReentryError`;
   *   `LockOrderError` with `debug`; `LimitExceededError` (`locksMax`, `segments`); `ClosedError`
   */
  tryAcquire(key: string, mode: LockMode, options?: TryAcquireOptions): HeldLock | undefined;
  /**
   * The lock, once every earlier request in conflict with this one has gone.
   *
   * @throws as `tryAcquire`, as a rejection; `LimitExceededError` (`waitersMax`); `LockTimeoutError`; the reason of `signal`
   */
  acquire(key: string, mode: LockMode, options?: AcquireOptions): Promise<HeldLock>;
  /** Those of all keys since the lock was made. */
  stats(): KeyedLockStats;
  /** Those of one key; `undefined` for one that was never locked, or whose statistics are forgotten. */
  stats(key: string): LockStats | undefined;
  /** Those who wait are rejected with `ClosedError`, and so is every later request. What is held stays so until released. */
  close(): void;
  [Symbol.dispose](): void;
}
