import { checkInteger } from '../types/check-integer.ts';
import type { Limits } from '../types/limits.ts';
import { KEY_BYTES_MAX } from './keyspace.ts';

/** Most compares, and most operations of a branch, in one transaction, if nothing else is said (store:R21). */
const TXN_OPERATIONS_MAX = 128;

/** Every bound of a store; infinity is "none". */
export type ResolvedLimits = Readonly<Record<keyof Limits, number>>;

/** What is in force where nothing is said. "Limits" in docs/store.md has the same table. */
export const DEFAULT_LIMITS: ResolvedLimits = Object.freeze({
  keyBytes: KEY_BYTES_MAX,
  valueBytes: 1_572_864,
  txnOperations: TXN_OPERATIONS_MAX,
  txnBytes: 16_777_216,
  storeBytes: Number.POSITIVE_INFINITY,
  leases: 1_000_000,
  watches: 1_000_000,
  pins: 1000,
});

/** Fills in what is not said. Throws TypeError and RangeError that name the member. */
export function resolveLimits(limits: Limits = {}): ResolvedLimits {
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) {
    throw new TypeError('Cannot open a store: limits is not an object');
  }
  const resolved: Record<keyof Limits, number> = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(limits) as [keyof Limits, number | undefined][]) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) throw new TypeError(`Cannot open a store: unknown option limits.${name}`);
    if (value === undefined) continue;
    const max = name === 'keyBytes' ? KEY_BYTES_MAX : Number.MAX_SAFE_INTEGER;
    checkInteger(`limits.${name}`, value, 'open a store', 1, max);
    resolved[name] = value;
  }
  return Object.freeze(resolved);
}
