import { checkFlag, checkMembers, checkOptions } from '../store/checks.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkLogger } from '../types/check-logger.ts';
import { checkMethods } from '../types/check-methods.ts';
import type { Clock } from '../types/clock.ts';
import type { AcquireOptions, KeyedLockOptions, LockMode, TryAcquireOptions } from '../types/lock.ts';
import type { Logger } from '../types/logger.ts';
import { shown } from '../types/shown.ts';

/** What errors of requests say could not be done. */
export const ACTION = 'lock a key';

const LOCK_NAMES: ReadonlySet<string> = new Set<keyof KeyedLockOptions>([
  'clock',
  'logger',
  'waitersMax',
  'locksMax',
  'idleKeysMax',
  'holdTimes',
  'debug',
]);
const TRY_NAMES = ['prefix', 'owner', 'rank'] as const satisfies readonly (keyof TryAcquireOptions)[];
const TRY_NAME_SET: ReadonlySet<string> = new Set(TRY_NAMES);
const ACQUIRE_NAMES: ReadonlySet<string> = new Set<keyof AcquireOptions>([...TRY_NAMES, 'signal', 'timeoutMs']);

export interface ResolvedLockOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly logger: Logger;
  readonly waitersMax: number;
  readonly locksMax: number;
  readonly idleKeysMax: number;
  readonly holdTimes: boolean;
  readonly debug: boolean;
}

/** Throws TypeError, RangeError. */
export function resolveLockOptions(options: KeyedLockOptions): ResolvedLockOptions {
  const action = 'make a keyed lock';
  checkMembers(options, LOCK_NAMES, action, 'the options are not an object', 'option');
  const { clock = systemClock, waitersMax = 10_000, locksMax = 1_000_000, idleKeysMax = 1000 } = options;
  checkMethods('clock', clock, action, ['now', 'after']);
  checkLogger(options.logger, action);
  checkInteger('waitersMax', waitersMax, action, 0);
  checkInteger('locksMax', locksMax, action, 1);
  checkInteger('idleKeysMax', idleKeysMax, action, 0);
  return {
    clock,
    logger: new GuardedLogger(options.logger),
    waitersMax,
    locksMax,
    idleKeysMax,
    holdTimes: checkFlag('holdTimes', options.holdTimes, action),
    debug: checkFlag('debug', options.debug, action),
  };
}

/** What one request asks for, read once: a getter must not change it, or run in between. */
export interface LockRequest {
  readonly isPrefix: boolean;
  readonly owner: unknown;
  readonly rank: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
}

/** Of requests without options. */
export const PLAIN: LockRequest = Object.freeze({
  isPrefix: false,
  owner: undefined,
  rank: undefined,
  signal: undefined,
  timeoutMs: undefined,
});

/** Throws TypeError, RangeError. */
export function tryRequest(options: TryAcquireOptions): LockRequest {
  checkOptions(options, TRY_NAME_SET, ACTION);
  return { ...PLAIN, ...common(options) };
}

/** Throws TypeError, RangeError. */
export function acquireRequest(options: AcquireOptions): LockRequest {
  const signal = checkOptions(options, ACQUIRE_NAMES, ACTION);
  const { timeoutMs } = options;
  // Zero would be "no timeout" for some and "do not wait" for others: that is what tryAcquire is for.
  if (timeoutMs !== undefined) checkInteger('timeoutMs', timeoutMs, ACTION, 1);
  return { ...common(options), signal, timeoutMs };
}

function common(options: TryAcquireOptions): Pick<LockRequest, 'isPrefix' | 'owner' | 'rank'> {
  const { prefix, owner, rank } = options;
  if (rank !== undefined) {
    checkInteger('rank', rank, ACTION);
    // Nobody could tell in which order it is taken, so it would silently hold nothing back.
    if (owner === undefined) throw new TypeError(`Cannot ${ACTION}: rank needs an owner`);
  }
  return { isPrefix: checkFlag('prefix', prefix, ACTION), owner, rank };
}

export function isWriteMode(mode: LockMode, action: string): boolean {
  if (mode === 'write') return true;
  if (mode === 'read') return false;
  throw new TypeError(`Cannot ${action}: the mode is ${shown(mode)}, allowed are read and write`);
}
