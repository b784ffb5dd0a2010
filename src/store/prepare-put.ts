import { parseLeaseId } from '../types/lease-id.ts';
import { checkTtl } from '../types/lease-ttl.ts';
import type { LeaseAttachment } from '../types/requests.ts';
import type { Key } from '../types/revision.ts';
import { checkFlag } from './checks.ts';
import type { Mvcc } from './mvcc.ts';
import type { PreparedLease, PreparedPut } from './prepared.ts';

const NO_LEASE: PreparedLease = Object.freeze({ type: 'id', id: '0' });
const KEEP_LEASE: PreparedLease = Object.freeze({ type: 'keep' });

/** What keys and values are, which is all that a request is judged by before the state is looked at. */
export type RequestTypes<V, K extends Key> = Pick<Mvcc<V, K>, 'keys' | 'values'>;

/** Throws TypeError, RangeError, `InvalidKeyError`, `LimitExceededError`, `ValueError`, and what a codec throws. */
export function preparePut<V, K extends Key>(
  types: RequestTypes<V, K>,
  key: K,
  value: V | undefined,
  options: { readonly prevKv?: boolean } & LeaseAttachment,
  action: string,
): PreparedPut {
  const text = types.keys.text(key, action);
  const lease = prepareLease(options, action);
  const ignoreValue = checkFlag('ignoreValue', options.ignoreValue, action);
  const prevKv = checkFlag('prevKv', options.prevKv, action);
  if (ignoreValue && value !== undefined) {
    throw new TypeError(`Cannot ${action}: ignoreValue excludes a value, which must be undefined`);
  }
  if (!ignoreValue && value === undefined) {
    throw new TypeError(`Cannot ${action}: the value is undefined and ignoreValue is not set`);
  }
  const cell = ignoreValue ? undefined : types.values.admit(value as V, action);
  return { type: 'put', text, cell, ignoreValue, lease, prevKv };
}

/** Throws TypeError: only a put that keeps the value it finds has none, whatever a codec could make of it. */
export function checkValue(value: unknown, action: string): void {
  if (value === undefined) throw new TypeError(`Cannot ${action}: the value is undefined`);
}

/** Throws TypeError, RangeError, `LimitExceededError`. */
export function prepareLease({ lease, ttlMs, ignoreLease }: LeaseAttachment, action: string): PreparedLease {
  if (checkFlag('ignoreLease', ignoreLease, action)) {
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
  const id = lease === undefined ? undefined : parseLeaseId(lease, action, 'lease');
  return id === undefined ? NO_LEASE : { type: 'id', id };
}
