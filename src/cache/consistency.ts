import { compareBytes } from '../core/key-order.ts';
import type { BackendRangeResponse, ByteRange } from '../types/backend.ts';
import type { Key, Revision } from '../types/revision.ts';
import { checkRange, refusal, rowsOf } from './ingress.ts';
import { isStored } from './relist.ts';
import type { Sides } from './sides.ts';

/** Rows of one question. */
const PAGE_ROWS = 1_000;

const ACTION = 'check the consistency';

/**
 * Compares every row of the backend at a revision with the local state there, a page at a time (M44). Answers what differs
 * first, or `undefined`.
 *
 * ```text
 *   local at A     a b c d e          5 rows
 *   pages at A     a b c | d e        each row equal to the local one, and 5 of them: then the key sets are equal too
 * ```
 *
 * The revision has to stay readable here meanwhile: whoever calls holds a pin on it, and aborts when that is lost. Rejects
 * with `CompactedError` and `FutureRevisionError` when the backend cannot read it, and with what its calls reject with.
 */
export async function compareAll<V, K extends Key>(
  sides: Sides<V, K>,
  revision: Revision,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { backend, mvcc, prefixes, questions } = sides;
  const expected = mvcc.state.count(mvcc.resolve({ prefix: mvcc.keys.key('') }, ACTION), revision);
  let ranges: readonly ByteRange[] = prefixes.ranges;
  let rows = 0;
  for (;;) {
    const request = { ranges, revision, limit: PAGE_ROWS };
    const question = (ended: AbortSignal): Promise<BackendRangeResponse> =>
      backend.range({ ...request, signal: ended });
    const page = await questions.askAt(revision, ACTION, question, signal);
    signal.throwIfAborted();
    checkRange(page);
    for (const row of rowsOf(mvcc, prefixes, page)) {
      if (!isStored(mvcc, row, revision)) return `a row of the backend is not what is here, at revision ${revision}`;
    }
    const { kvs, count } = page;
    rows += kvs.length;
    if (kvs.length >= count) break;
    const last = kvs[kvs.length - 1];
    // With fewer rows than there are and none to go on from, the pages would never end.
    if (last === undefined) throw refusal(`a page of ${count} rows has none of them`);
    ranges = rangesAfter(ranges, last.key);
  }
  return rows === expected ? undefined : `the backend has ${rows} rows, here are ${expected}, at revision ${revision}`;
}

/** What of the ranges lies above a key. */
export function rangesAfter(ranges: readonly ByteRange[], key: Uint8Array): readonly ByteRange[] {
  const start = new Uint8Array(key.length + 1);
  start.set(key);
  const rest: ByteRange[] = [];
  for (const range of ranges) {
    const { end } = range;
    if (compareBytes(range.start, start) >= 0) rest.push(range);
    else if (end !== undefined && (end.length === 0 || compareBytes(start, end) < 0)) rest.push({ start, end });
  }
  return rest;
}
