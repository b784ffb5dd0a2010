import { LimitExceededError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key } from '../types/revision.ts';
import type { Mvcc } from './mvcc.ts';
import type { PreparedOperation, PreparedTxn } from './prepared.ts';

/** Sizes of one put: as they are, or as they are at most, which costs nothing to say. */
interface Measure {
  key(text: string): number;
  value(cell: unknown): number;
}

/**
 * Throws `LimitExceededError` for a request with more bytes of keys and values than a transaction may have. All of it
 * counts, both branches, nested ones and compares too: the request is what is bounded, whatever part of it will run
 * (store:R21). A key of a prefix counts as the whole key that it is; `ignoreValue` brings no value.
 *
 * Most requests are so small that upper bounds tell; only others are measured.
 */
export function checkTxnBytes<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn, max: number, action: string): void {
  const { keys, values } = mvcc;
  const most = txnBytes(txn, { key: (text) => text.length * 3, value: (cell) => values.sizeBound(cell) });
  if (most <= max) return;
  const actual = txnBytes(txn, { key: (text) => keys.byteLength(text), value: (cell) => values.size(cell) });
  if (actual > max) throw new LimitExceededError(action, { limit: 'txnBytes', max, actual });
}

function txnBytes(txn: PreparedTxn, measure: Measure): number {
  let bytes = 0;
  for (const { range, value } of txn.compare) {
    bytes += rangeBytes(range);
    if (value instanceof Uint8Array) bytes += value.length;
  }
  for (const operation of txn.then) bytes += operationBytes(operation, measure);
  for (const operation of txn.else) bytes += operationBytes(operation, measure);
  return bytes;
}

function operationBytes(operation: PreparedOperation, measure: Measure): number {
  switch (operation.type) {
    case 'put':
      return measure.key(operation.text) + (operation.ignoreValue ? 0 : measure.value(operation.cell));
    case 'txn':
      return txnBytes(operation, measure);
    default:
      return rangeBytes(operation.range);
  }
}

/** The end of a prefix was not sent. An interval has one, of no bytes if nothing is above it. */
function rangeBytes({ kind, bytes }: ResolvedRange): number {
  return bytes.start.length + (kind === 'interval' ? (bytes.end as Uint8Array).length : 0);
}
