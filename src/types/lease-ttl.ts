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
