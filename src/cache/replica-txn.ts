import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedOperation, PreparedTxn } from '../store/prepare-txn.ts';
import { keyRow, row } from '../store/row.ts';
import { readValue } from '../store/values.ts';
import type {
  BackendKeyValue,
  BackendOperation,
  BackendOperationResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  ByteRange,
} from '../types/backend.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import type { OperationResult, TxnResult } from '../types/store.ts';
import { checkPosition, checkRow, checkTxnAnswer } from './ingress.ts';

/**
 * `start >= end` selects nothing, but its bytes may say something else: an end of no bytes is "no upper bound" to a
 * backend, so `{ start: 'b', end: '' }` would be everything from `b` on. This one is empty whoever reads it.
 */
const NOTHING: ByteRange = { start: Uint8Array.of(1), end: Uint8Array.of(1) };

/** A prepared transaction in the backend's terms: bytes for keys, ranges and values. */
export function toBackendTxn<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn): BackendTxnRequest {
  const bytesOf = ({ empty, bytes }: ResolvedRange) => (empty ? NOTHING : bytes);
  const operation = (prepared: PreparedOperation): BackendOperation => {
    if (prepared.type === 'put') {
      return { type: 'put', key: mvcc.keys.bytes(prepared.text), value: mvcc.values.bytes(prepared.cell) };
    }
    if (prepared.type === 'delete') {
      return { type: 'delete', range: bytesOf(prepared.range), prevKv: prepared.prevKv };
    }
    const { range, limit, keysOnly, countOnly } = prepared;
    return { type: 'range', range: bytesOf(range), limit: countOnly ? 1 : limit, keysOnly: keysOnly || countOnly };
  };
  return {
    compare: txn.compare.map(({ text, target, result, value }) => ({
      key: mvcc.keys.bytes(text),
      target,
      result,
      value,
    })),
    then: txn.then.map(operation),
    else: txn.else.map(operation),
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
  const operations = succeeded ? txn.then : txn.else;
  const responses = answer.responses.map((response, index) => resultOf(mvcc, operations[index], response));
  return { revision, succeeded, responses };
}

/** Of a response that is one to this operation. */
function resultOf<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operation: PreparedOperation | undefined,
  response: BackendOperationResponse,
): OperationResult<V, K> {
  if (response.type === 'put') {
    const wanted = operation?.type === 'put' && operation.prevKv && response.prevKv !== undefined;
    return wanted ? { type: 'put', prevKv: kvOf(mvcc, response.prevKv as BackendKeyValue) } : { type: 'put' };
  }
  if (response.type === 'delete') {
    const { deleted, prevKvs } = response;
    if (operation?.type !== 'delete' || !operation.prevKv) return { type: 'delete', deleted };
    return { type: 'delete', deleted, prevKvs: (prevKvs ?? []).map((kv) => kvOf(mvcc, kv)) };
  }
  const { count } = response;
  if (operation?.type === 'range' && operation.countOnly) return { type: 'range', kvs: [], count, more: false };
  const keysOnly = operation?.type === 'range' && operation.keysOnly;
  const kvs = response.kvs.map((kv) => kvOf(mvcc, kv, keysOnly));
  return { type: 'range', kvs, count, more: kvs.length < count };
}

/** A key as the backend told it, in the store's types. */
function kvOf<V, K extends Key>(mvcc: Mvcc<V, K>, kv: BackendKeyValue, keysOnly = false): KeyValue<V, K> {
  checkRow(kv, keysOnly);
  const key = mvcc.keys.key(mvcc.keys.textOfBytes(kv.key, 'read an answer'));
  return keysOnly ? keyRow(key, kv) : row(key, readValue(mvcc.values, mvcc.values.admitBytes(kv.value), key), kv);
}
