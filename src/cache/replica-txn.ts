import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedOperation, PreparedTxn } from '../store/prepare-txn.ts';
import { keyRow, row } from '../store/row.ts';
import type {
  BackendKeyValue,
  BackendOperation,
  BackendOperationResponse,
  BackendTxnRequest,
  ByteRange,
} from '../types/backend.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import type { OperationResult } from '../types/store.ts';

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

/** The backend's answers as the store's own. */
export function fromBackendResponses<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operations: readonly PreparedOperation[],
  responses: readonly BackendOperationResponse[],
): OperationResult<V, K>[] {
  return responses.map((response, index): OperationResult<V, K> => {
    const operation = operations[index];
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
  });
}

/** A key as the backend told it, in the store's types. Throws `InvalidKeyError` and what the codec throws. */
function kvOf<V, K extends Key>(mvcc: Mvcc<V, K>, kv: BackendKeyValue, keysOnly = false): KeyValue<V, K> {
  const key = mvcc.keys.key(mvcc.keys.textOfBytes(kv.key, 'read an answer'));
  return keysOnly ? keyRow(key, kv) : row(key, mvcc.values.read(mvcc.values.admitBytes(kv.value)), kv);
}
