import { checkMembers, checkOptions, NO_OPTIONS } from '../store/checks.ts';
import { LossSignal } from '../store/loss-signal.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkMethods } from '../types/check-methods.ts';
import type { Clock } from '../types/clock.ts';
import {
  InvalidKeyError,
  LockReleasedError,
  LockStolenError,
  LockTimeoutError,
  UnsupportedError,
} from '../types/errors.ts';
import { invariant } from '../types/invariant.ts';
import type { LockMode } from '../types/lock.ts';
import { onAbort } from '../types/on-abort.ts';
import type { HeldWebLock, LockManagerLike, WebAcquireOptions, WebLock, WebLockOptions } from '../types/web-lock.ts';
import { isWriteMode } from './keyed-options.ts';

const ACTION = 'lock a key of the origin';
const OPTION_NAMES: ReadonlySet<string> = new Set<keyof WebLockOptions>(['locks', 'namePrefix', 'clock']);
const ACQUIRE_NAMES: ReadonlySet<string> = new Set<keyof WebAcquireOptions>(['signal', 'timeoutMs']);

/**
 * Makes locks by key that hold over all tabs and workers of an origin, by the Web Locks API.
 *
 * @throws `UnsupportedError` where there is no such API; TypeError for a wrong or unknown option
 * @example
 * ```ts
 * import { createWebLock } from 'plimsoll';
 *
 * const locks = createWebLock({ locks: globalThis.navigator?.locks });
 * const held = await locks.acquire('drafts/7', 'write', { timeoutMs: 5000 });
 * try {
 *   held.signal.throwIfAborted(); // somebody may take it by force
 * } finally {
 *   held.release();
 * }
 * ```
 */
export function createWebLock(options: WebLockOptions): WebLock {
  const action = 'make a web lock';
  checkMembers(options, OPTION_NAMES, action, 'the options are not an object', 'option');
  const { locks, namePrefix = 'plimsoll/', clock = systemClock } = options;
  if (locks === undefined || locks === null) throw new UnsupportedError(action, 'the Web Locks API');
  if (typeof locks.request !== 'function') throw new TypeError(`Cannot ${action}: locks is not a LockManager`);
  if (typeof namePrefix !== 'string') throw new TypeError(`Cannot ${action}: namePrefix is not a string`);
  // The platform keeps such names for itself, and would refuse each request.
  if (namePrefix.startsWith('-')) throw new TypeError(`Cannot ${action}: namePrefix begins with "-"`);
  checkMethods('clock', clock, action, ['after']);
  return new WebLocks(locks, namePrefix, clock);
}

class WebLocks implements WebLock {
  readonly #locks: LockManagerLike;
  readonly #namePrefix: string;
  readonly #clock: Pick<Clock, 'after'>;

  constructor(locks: LockManagerLike, namePrefix: string, clock: Pick<Clock, 'after'>) {
    this.#locks = locks;
    this.#namePrefix = namePrefix;
    this.#clock = clock;
  }

  async acquire(key: string, mode: LockMode, options: WebAcquireOptions = NO_OPTIONS): Promise<HeldWebLock> {
    const isWrite = isWriteRequest(key, mode);
    const signal = checkOptions(options, ACQUIRE_NAMES, ACTION);
    const { timeoutMs } = options;
    if (timeoutMs !== undefined) checkInteger('timeoutMs', timeoutMs, ACTION, 1);
    signal?.throwIfAborted();
    const end = new AbortController();
    const stops: (() => void)[] = [];
    const ended = new Promise<never>((_, reject) => {
      const give = (reason: unknown): void => {
        reject(reason);
        end.abort(reason);
      };
      if (timeoutMs !== undefined) {
        stops.push(this.#clock.after(timeoutMs, () => give(new LockTimeoutError(ACTION, { lock: key, timeoutMs }))));
      }
      if (signal !== undefined) stops.push(onAbort(signal, give));
    });
    try {
      const held = await Promise.race([this.#request(key, isWrite, { signal: end.signal }), ended]);
      invariant(held !== undefined, 'the platform answers a request that waits with a lock');
      return held;
    } finally {
      for (const stop of stops) stop();
    }
  }

  async tryAcquire(key: string, mode: LockMode): Promise<HeldWebLock | undefined> {
    return this.#request(key, isWriteRequest(key, mode), { ifAvailable: true });
  }

  #request(
    key: string,
    isWrite: boolean,
    how: { signal?: AbortSignal; ifAvailable?: true },
  ): Promise<HeldWebLock | undefined> {
    return new Promise((resolve, reject) => {
      let held: WebHandle | undefined;
      const granted = (lock: unknown): Promise<void> | undefined => {
        if (lock === null) resolve(undefined);
        // The grant and the end of the wait may have met: nobody is there who would release it.
        if (lock === null || how.signal?.aborted === true) return undefined;
        held = new WebHandle(key, isWrite);
        resolve(held);
        return held.released;
      };
      const mode = isWrite ? 'exclusive' : 'shared';
      this.#locks.request(this.#namePrefix + key, { mode, ...how }, granted).then(undefined, (error: unknown) => {
        reject(error);
        held?.lose(new LockStolenError(key, { cause: error }));
      });
    });
  }
}

function isWriteRequest(key: string, mode: LockMode): boolean {
  if (typeof key !== 'string') throw new TypeError(`Cannot ${ACTION}: the key is of type ${typeof key}, not a string`);
  if (key === '') throw new InvalidKeyError(ACTION, 'the key is empty', key);
  return isWriteMode(mode, ACTION);
}

/** What a holder has: the platform holds the lock for as long as `released` is pending. */
class WebHandle implements HeldWebLock {
  readonly key: string;
  readonly prefix = false;
  readonly mode: LockMode;
  readonly released: Promise<void>;
  readonly #loss = new LossSignal();
  #release: () => void = () => {};
  #isReleased = false;

  constructor(key: string, isWrite: boolean) {
    this.key = key;
    this.mode = isWrite ? 'write' : 'read';
    this.released = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  release(): void {
    this.#isReleased = true;
    this.#release();
  }

  downgrade(): void {
    const action = 'downgrade a lock';
    if (this.#isReleased) throw new LockReleasedError(action, this.key);
    if (this.mode === 'write') throw new UnsupportedError(action, 'a downgrade of web locks');
  }

  [Symbol.dispose](): void {
    this.release();
  }

  lose(reason: unknown): void {
    if (!this.#isReleased) this.#loss.lose(reason);
  }
}
