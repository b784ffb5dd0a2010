import { DuplicateKeyError, KeyNotFoundError, LeaseNotFoundError, LimitExceededError } from '../types/errors.ts';
import type { LeaseId } from '../types/lease.ts';
import type { LeaseAttachment } from '../types/requests.ts';
import type { Key, KeyRange, Revision } from '../types/revision.ts';
import type { Compare, Operation, TxnRequest } from '../types/txn.ts';
import { compareHolds, type DraftBase } from './model-draft.ts';
import { bytesOf, type ModelKeys, type Predicate } from './model-keys.ts';
import { checkLeaseIdOrNone, checkTtl } from './model-leases.ts';
import { safeInteger, selectRows } from './model-rows.ts';

/** Bounds of one request. */
export interface RequestLimits {
  readonly txnOperations: number;
  readonly txnBytes: number;
  readonly valueBytes: number;
}

/** What a put of any kind is given. */
export interface PutShape<V, K extends Key> extends LeaseAttachment {
  readonly key: K;
  readonly value?: V | undefined;
}

/** Checks of a request that need no state: all of it, also branches that do not run. In this order. */
export class RequestChecks<V, K extends Key> {
  readonly #keys: ModelKeys<K>;
  readonly #encode: (value: V) => Uint8Array;
  readonly #limits: RequestLimits;

  constructor(keys: ModelKeys<K>, encode: (value: V) => Uint8Array, limits: RequestLimits) {
    this.#keys = keys;
    this.#encode = encode;
    this.#limits = limits;
  }

  txn(request: TxnRequest<V, K>): void {
    this.#level(request, 0);
    this.#duplicates(request.then ?? []);
    this.#duplicates(request.else ?? []);
    this.#size(this.#txnBytes(request));
  }

  putAll(entries: readonly PutShape<V, K>[]): void {
    for (const entry of entries) this.put(entry);
    const then = entries.map((entry) => ({ type: 'put', ...entry }) as Operation<V, K>);
    this.#duplicates(then);
    this.#size(this.#txnBytes({ then }));
  }

  /** Compares and operations of a branch count on top of those of the transactions around this one (store:R21). */
  #level({ compare = [], then = [], else: otherwise = [] }: TxnRequest<V, K>, around: number): void {
    const actual = around + Math.max(compare.length, then.length, otherwise.length);
    const max = this.#limits.txnOperations;
    if (actual > max) throw new LimitExceededError('run', { limit: 'txnOperations', max, actual });
    for (const one of compare) this.#compare(one);
    for (const one of [...then, ...otherwise]) this.#operation(one, actual);
  }

  #operation(operation: Operation<V, K>, around: number): void {
    if (operation.type === 'txn') this.#level(operation, around);
    else if (operation.type === 'put') this.put(operation);
    else this.#keys.has(operation);
    if (operation.type !== 'range') return;
    safeInteger(operation.revision ?? 0);
    selectRows([], operation, this.#encode);
  }

  #compare(compare: Compare<V, K>): void {
    this.#keys.has(compare);
    if (compare.target === 'value') this.#value(compare.value);
    else if (compare.target === 'lease') checkLeaseIdOrNone(compare.value);
    else if (!Number.isSafeInteger(compare.value)) throw new RangeError('compare.value');
  }

  put({ key, value, lease, ttlMs, ignoreLease, ignoreValue }: PutShape<V, K>): void {
    this.#keys.id(key);
    if (lease !== undefined && ttlMs !== undefined) throw new TypeError('lease and ttlMs exclude each other');
    if (ignoreLease === true && (lease ?? ttlMs) !== undefined) throw new TypeError('ignoreLease excludes a lease');
    if (lease !== undefined) checkLeaseIdOrNone(lease);
    if (ttlMs !== undefined) checkTtl(ttlMs);
    if (ignoreValue !== true) {
      if (value === undefined) throw new TypeError('a value');
      this.#value(value);
    } else if (value !== undefined) throw new TypeError('ignoreValue excludes a value');
  }

  #value(value: V): void {
    const actual = this.#encode(value).length;
    const max = this.#limits.valueBytes;
    if (actual > max) throw new LimitExceededError('write', { limit: 'valueBytes', max, actual });
  }

  #size(actual: number): void {
    const max = this.#limits.txnBytes;
    if (actual > max) throw new LimitExceededError('run', { limit: 'txnBytes', max, actual });
  }

  /** All keys and values that a request names, whatever part of it will run (store:R21). */
  #txnBytes({ compare = [], then = [], else: otherwise = [] }: TxnRequest<V, K>): number {
    let bytes = 0;
    for (const one of compare) {
      bytes += rangeBytes(one) + (one.target === 'value' ? this.#encode(one.value).length : 0);
    }
    for (const one of [...then, ...otherwise]) {
      if (one.type === 'txn') bytes += this.#txnBytes(one);
      else bytes += rangeBytes(one);
      if (one.type === 'put' && one.ignoreValue !== true) bytes += this.#encode(one.value as V).length;
    }
    return bytes;
  }

  /**
   * Of one level (store:R20), and what the level writes:
   *
   * ```text
   *   then: [ put a, delete b, txn1, txn2 ]     collected deletes: b
   *           txn1: its puts (then + else) against the puts of txns before it and the collected deletes, then its deletes
   *                 are collected too; txn2 the same
   *           a, last of all, against every put and delete above
   * ```
   */
  #duplicates(operations: readonly Operation<V, K>[]): { puts: Map<string, K>; deletes: Predicate[] } {
    const deletes = operations.filter(({ type }) => type === 'delete').map((one) => this.#keys.has(one as never));
    const puts = new Map<string, K>();
    const refuse = (written: Iterable<readonly [string, K]>) => {
      for (const [id, key] of written) {
        if (puts.has(id) || deletes.some((has) => has(id))) throw new DuplicateKeyError('run', key);
      }
    };
    for (const operation of operations) {
      if (operation.type !== 'txn') continue;
      const inner = [this.#duplicates(operation.then ?? []), this.#duplicates(operation.else ?? [])];
      for (const one of inner) refuse(one.puts);
      for (const one of inner) for (const [id, key] of one.puts) puts.set(id, key);
      for (const one of inner) deletes.push(...one.deletes);
    }
    for (const operation of operations) {
      if (operation.type !== 'put') continue;
      const id = this.#keys.id(operation.key);
      refuse([[id, operation.key]]);
      puts.set(id, operation.key);
    }
    return { puts, deletes };
  }
}

/** The end of a prefix is not named. */
function rangeBytes(range: KeyRange<Key>): number {
  if ('key' in range) return bytesOf(range.key).length;
  if ('prefix' in range) return bytesOf(range.prefix).length;
  return bytesOf(range.start).length + (range.end === undefined ? 0 : bytesOf(range.end).length);
}

/** What checks on the path look at. */
export interface PathState<V, K extends Key> extends Pick<DraftBase<V, K>, 'before' | 'keys' | 'encode'> {
  readonly hasLease: (id: LeaseId) => boolean;
  /** Throws for a revision that cannot be read. */
  readonly readable: (revision: Revision | undefined) => Revision;
}

/**
 * Checks against the state before the request, of the operations that will run and no others. Returns the number of leases
 * that they make.
 */
export function checkPath<V, K extends Key>(state: PathState<V, K>, operations: readonly Operation<V, K>[]): number {
  let leases = 0;
  for (const operation of operations) {
    if (operation.type === 'range') state.readable(operation.revision);
    else if (operation.type === 'put') {
      checkPut<V, K>(state, operation);
      if (operation.ttlMs !== undefined) leases++;
    } else if (operation.type === 'txn') {
      const { compare = [], then = [], else: otherwise = [] } = operation;
      leases += checkPath(state, compare.every((one) => compareHolds(state, one)) ? then : otherwise);
    }
  }
  return leases;
}

function checkPut<V, K extends Key>(state: PathState<V, K>, { key, ...how }: PutShape<V, K>): void {
  const { lease = '0', ignoreValue = false, ignoreLease = false } = how;
  if (lease !== '0' && !state.hasLease(lease)) throw new LeaseNotFoundError('write', lease);
  if (!(ignoreValue || ignoreLease) || state.before.has(state.keys.id(key))) return;
  throw new KeyNotFoundError('write', key);
}
