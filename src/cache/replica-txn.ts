import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedOperation, PreparedPut, PreparedRange, PreparedTxn } from '../store/prepared.ts';
import { keyRow, row } from '../store/row.ts';
import { readValue } from '../store/values.ts';
import type {
  BackendCompare,
  BackendKeyValue,
  BackendOperation,
  BackendOperationResponse,
  BackendPutOperation,
  BackendRangeOperation,
  BackendTxnRequest,
  BackendTxnResponse,
  ByteRange,
} from '../types/backend.ts';
import { InvariantError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import type { OperationResult, TxnResult } from '../types/txn.ts';
import { checkPosition, checkRow, checkTxnAnswer } from './ingress.ts';

/**
 * `start >= end` selects nothing, but its bytes may say something else: an end of no bytes is "no upper bound" to a
 * backend, so `{ start: 'b', end: '' }` would be everything from `b` on. This one is empty whoever reads it.
 */
const NOTHING: ByteRange = { start: Uint8Array.of(1), end: Uint8Array.of(1) };

/**
 * A prepared transaction in the backend's terms: bytes for keys, ranges and values. A put that wants a lease of its own has
 * been given one before (`grantOwnLeases`).
 */
export function toBackendTxn<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn): Omit<BackendTxnRequest, 'signal'> {
  const operation = (prepared: PreparedOperation): BackendOperation => {
    switch (prepared.type) {
      case 'put':
        return putOf(mvcc, prepared);
      case 'delete':
        return { type: 'delete', range: bytesOf(prepared.range), prevKv: prepared.prevKv };
      case 'range':
        return rangeOf(prepared);
      case 'txn':
        return { type: 'txn', ...toBackendTxn(mvcc, prepared) };
    }
  };
  const compare = txn.compare.map(({ range, target, result, value }): BackendCompare => {
    const condition = { target, result, value };
    return range.kind === 'point' ? { key: range.bytes.start, ...condition } : { range: bytesOf(range), ...condition };
  });
  return { compare, then: txn.then.map(operation), else: txn.else.map(operation) };
}

function bytesOf({ empty, bytes }: ResolvedRange): ByteRange {
  return empty ? NOTHING : bytes;
}

/** What is as usual is left out. */
function putOf<V, K extends Key>(mvcc: Mvcc<V, K>, put: PreparedPut): BackendPutOperation {
  const value = put.ignoreValue ? new Uint8Array(0) : mvcc.values.bytes(put.cell);
  return {
    type: 'put',
    key: mvcc.keys.bytes(put.text),
    value,
    ...leaseOf(put),
    ...(put.ignoreValue ? { ignoreValue: true } : undefined),
    ...(put.prevKv ? { prevKv: true } : undefined),
  };
}

function leaseOf(put: PreparedPut): Pick<BackendPutOperation, 'lease' | 'ignoreLease'> {
  const { lease } = put;
  if (lease.type === 'keep') return { ignoreLease: true };
  if (lease.type === 'own') throw new InvariantError('a put that wants a lease of its own has none');
  return lease.id === '0' ? {} : { lease: lease.id };
}

/** What is as usual is left out. */
function rangeOf({ range, revision, selection }: PreparedRange): BackendRangeOperation {
  const { limit, keysOnly, countOnly, target, isDescending, bounds } = selection;
  return {
    type: 'range',
    range: bytesOf(range),
    ...(revision > 0 ? { revision } : undefined),
    ...(limit > 0 ? { limit } : undefined),
    ...(keysOnly ? { keysOnly } : undefined),
    ...(countOnly ? { countOnly } : undefined),
    ...(target === 'key' ? undefined : { sortTarget: target }),
    ...(isDescending ? { sortOrder: 'descend' as const } : undefined),
    ...(bounds !== undefined && bounds.minMod > 0 ? { minModRevision: bounds.minMod } : undefined),
    ...(bounds !== undefined && bounds.maxMod > 0 ? { maxModRevision: bounds.maxMod } : undefined),
    ...(bounds !== undefined && bounds.minCreate > 0 ? { minCreateRevision: bounds.minCreate } : undefined),
    ...(bounds !== undefined && bounds.maxCreate > 0 ? { maxCreateRevision: bounds.maxCreate } : undefined),
  };
}

/**
 * What the backend answered as the store's own result. Throws `BackendError` for an answer that cannot be,
 * `InvalidKeyError`, and `ValueError` for a value that the codec does not read.
 */
export function fromBackendTxn<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  txn: PreparedTxn,
  answer: BackendTxnResponse | undefined,
): TxnResult<V, K> {
  checkPosition(answer);
  checkTxnAnswer(answer, txn);
  const { revision, succeeded } = answer;
  return { revision, succeeded, responses: resultsOf(mvcc, txn, answer) };
}

/** Of an answer that was checked: each response is one to its operation. */
function resultsOf<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  txn: PreparedTxn,
  { succeeded, responses }: Pick<BackendTxnResponse, 'succeeded' | 'responses'>,
): OperationResult<V, K>[] {
  const operations = succeeded ? txn.then : txn.else;
  return operations.map((operation, index) => {
    const response = responses[index] as BackendOperationResponse;
    if (operation.type === 'put' && response.type === 'put') return putResult(mvcc, operation, response);
    if (operation.type === 'range' && response.type === 'range') return rangeResult(mvcc, operation, response);
    if (operation.type === 'txn' && response.type === 'txn') {
      const nested = resultsOf(mvcc, operation, response);
      return { type: 'txn', succeeded: response.succeeded, responses: nested };
    }
    if (operation.type === 'delete' && response.type === 'delete') {
      const { deleted, prevKvs = [] } = response;
      if (!operation.prevKv) return { type: 'delete', deleted };
      return { type: 'delete', deleted, prevKvs: prevKvs.map((kv) => kvOf(mvcc, kv)) };
    }
    throw new InvariantError(`the answer to a ${operation.type} was taken, and is a ${response.type}`);
  });
}

function putResult<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operation: PreparedPut,
  { prevKv }: Extract<BackendOperationResponse, { type: 'put' }>,
): OperationResult<V, K> {
  return operation.prevKv && prevKv !== undefined ? { type: 'put', prevKv: kvOf(mvcc, prevKv) } : { type: 'put' };
}

/** `more` is a matter of `limit` alone: without one, or below it, nothing was cut off. */
function rangeResult<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  { selection }: PreparedRange,
  response: Extract<BackendOperationResponse, { type: 'range' }>,
): OperationResult<V, K> {
  const { count, kvs } = response;
  if (selection.countOnly) return { type: 'range', kvs: [], count, more: false };
  const { limit, keysOnly } = selection;
  const isFull = limit > 0 && kvs.length >= limit;
  const more = isFull && (response.more ?? kvs.length < count);
  return { type: 'range', kvs: kvs.map((kv) => kvOf(mvcc, kv, keysOnly)), count, more };
}

/** A key as the backend told it, in the store's types. */
function kvOf<V, K extends Key>(mvcc: Mvcc<V, K>, kv: BackendKeyValue, keysOnly = false): KeyValue<V, K> {
  checkRow(kv, keysOnly);
  const key = mvcc.keys.key(mvcc.keys.textOfBytes(kv.key, 'read an answer'));
  return keysOnly ? keyRow(key, kv) : row(key, readValue(mvcc.values, mvcc.values.admitBytes(kv.value), key), kv);
}
