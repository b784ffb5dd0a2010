import { checkInteger } from './check-integer.ts';
import { LimitExceededError } from './errors.ts';

/** Longest TTL in ms: etcd's 9e9 seconds (store:R39). */
export const LEASE_TTL_MS_MAX = 9e12;

/**
 * Refuses a TTL that cannot be granted.
 *
 * @throws TypeError for what is no number, RangeError below 1 and for a fraction, `LimitExceededError` above the longest
 */
export function checkTtl(ttlMs: unknown, action: string): void {
  if (typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs > LEASE_TTL_MS_MAX) {
    throw new LimitExceededError(action, { limit: 'leaseTtlMs', max: LEASE_TTL_MS_MAX, actual: ttlMs });
  }
  checkInteger('ttlMs', ttlMs, action, 1, LEASE_TTL_MS_MAX);
}

/**
 * Shortest TTL in ms of a lease that renews itself (M43). It does so after a third of its TTL, and timers count whole ms: the
 * renewal of a shorter one would fall due with its end.
 */
export const RENEWED_TTL_MS_MIN = 3;

/** Refuses a TTL, which was checked, that is too short for a lease that renews itself. Throws RangeError. */
export function checkRenewedTtl(ttlMs: number, action: string): void {
  checkInteger('ttlMs with keepAlive', ttlMs, action, RENEWED_TTL_MS_MIN, LEASE_TTL_MS_MAX);
}
