import { LimitExceededError } from '../types/errors.ts';
import type { LeaseAttachment } from '../types/requests.ts';
import type { Key } from '../types/revision.ts';
import type { Mvcc } from './mvcc.ts';

/** Longest TTL in milliseconds: etcd's 9e9 seconds (store:R39). */
export const LEASE_TTL_MS_MAX = 9e12;

const LEASE_ID_MAX = '9223372036854775807';

/** What a put does with the lease of its key (store:R15, R16). */
export type PreparedLease =
  | { readonly type: 'id'; readonly id: string }
  /** A lease for this key alone. */
  | { readonly type: 'own'; readonly ttlMs: number }
  /** The one that the key has; the key must be there. */
  | { readonly type: 'keep' };

/** A put checked and encoded: nothing in it can fail any more, but for memory, and for what is not there. */
export interface PreparedPut {
  readonly type: 'put';
  readonly text: string;
  /** `undefined` with `ignoreValue`. */
  readonly cell: unknown;
  /** The key must be there, and keeps its value. */
  readonly ignoreValue: boolean;
  readonly lease: PreparedLease;
  readonly prevKv: boolean;
}

const NO_LEASE: PreparedLease = Object.freeze({ type: 'id', id: '0' });
const KEEP_LEASE: PreparedLease = Object.freeze({ type: 'keep' });

/** Throws TypeError, RangeError, `InvalidKeyError`, `LimitExceededError`, `ValueError`, and what a codec throws. */
export function preparePut<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  key: K,
  value: V | undefined,
  options: { readonly prevKv?: boolean } & LeaseAttachment,
  action: string,
): PreparedPut {
  const text = mvcc.keys.text(key, action);
  const lease = prepareLease(options, action);
  const ignoreValue = options.ignoreValue === true;
  if (ignoreValue && value !== undefined) {
    throw new TypeError(`Cannot ${action}: ignoreValue excludes a value, which must be undefined`);
  }
  const cell = ignoreValue ? undefined : mvcc.values.admit(value as V, action);
  return { type: 'put', text, cell, ignoreValue, lease, prevKv: options.prevKv === true };
}

function prepareLease({ lease, ttlMs, ignoreLease }: LeaseAttachment, action: string): PreparedLease {
  if (ignoreLease === true) {
    if (lease !== undefined || ttlMs !== undefined) {
      throw new TypeError(`Cannot ${action}: ignoreLease excludes lease and ttlMs`);
    }
    return KEEP_LEASE;
  }
  if (ttlMs !== undefined) {
    if (lease !== undefined) throw new TypeError(`Cannot ${action}: lease and ttlMs exclude each other`);
    checkTtl(ttlMs, action);
    return { type: 'own', ttlMs };
  }
  return lease === undefined ? NO_LEASE : { type: 'id', id: checkLeaseId(lease, action) };
}

/** A TTL that can be granted. Throws RangeError, and `LimitExceededError` above the longest one. */
export function checkTtl(ttlMs: number, action: string): void {
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1) {
    throw new RangeError(`Cannot ${action}: ttlMs is ${String(ttlMs)}, allowed is an integer from 1 to 9e12`);
  }
  if (ttlMs > LEASE_TTL_MS_MAX) {
    throw new LimitExceededError(action, { limit: 'leaseTtlMs', max: LEASE_TTL_MS_MAX, actual: ttlMs });
  }
}

/** A decimal of 64 bits in its one spelling, '0' included. Throws TypeError and RangeError. */
export function checkLeaseId(id: string, action: string): string {
  if (typeof id !== 'string' || !/^(?:0|[1-9]\d*)$/.test(id)) {
    throw new TypeError(`Cannot ${action}: the lease is not a decimal id`);
  }
  const isAbove = id.length > LEASE_ID_MAX.length || (id.length === LEASE_ID_MAX.length && id > LEASE_ID_MAX);
  if (isAbove)
    throw new RangeError(`Cannot ${action}: the lease is ${id.slice(0, 40)}, allowed is up to ${LEASE_ID_MAX}`);
  return id;
}
