import type { Clock } from './clock.ts';
import type { HeldLock, LockMode } from './lock.ts';

/** The part of the Web Locks API that is used: `navigator.locks` of browsers, workers, Node 24 and Deno has it. */
export interface LockManagerLike {
  request(
    name: string,
    options: { readonly mode: 'shared' | 'exclusive'; readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    callback: (lock: unknown) => Promise<void> | undefined,
  ): Promise<unknown>;
}

export interface WebLockOptions {
  /** `navigator.locks`, or `undefined` where there is none. */
  readonly locks: LockManagerLike | undefined;
  /** Put in front of every key, so that others of the origin do not use the same names. @default 'plimsoll/' */
  readonly namePrefix?: string;
  /** For timeouts. @default the platform's clock */
  readonly clock?: Pick<Clock, 'after'>;
}

export interface WebAcquireOptions {
  /** Ends the wait; the call rejects with its reason. It has no effect once the lock was granted. */
  readonly signal?: AbortSignal;
  /** Ends the wait after so many milliseconds, an integer from 1 on. @default no end */
  readonly timeoutMs?: number;
}

/** A lock of the whole origin. `downgrade()` of one that writes throws `UnsupportedError`: the platform has no such step. */
export interface HeldWebLock extends HeldLock {
  /** Aborts with a `LockStolenError` if somebody takes the lock by force (`steal`), not on `release()`. */
  readonly signal: AbortSignal;
}

/**
 * Locks by key over all tabs and workers of an origin. What the platform does not have is not there: prefixes, owners,
 * ranks, statistics. Its queue is first come first served; it may let a reader in behind readers only if no writer waits.
 */
export interface WebLock {
  /**
   * @throws (as a rejection) TypeError, RangeError, `InvalidKeyError`, `LockTimeoutError`, the reason of `signal`, and what
   *   the platform throws: a DOMException where locks are forbidden
   */
  acquire(key: string, mode: LockMode, options?: WebAcquireOptions): Promise<HeldWebLock>;
  /**
   * The lock, or `undefined` if it is not free. Unlike that of a keyed lock it has to ask the platform, so it is async.
   *
   * @throws (as a rejection) TypeError, `InvalidKeyError`, and what the platform throws
   */
  tryAcquire(key: string, mode: LockMode): Promise<HeldWebLock | undefined>;
}
