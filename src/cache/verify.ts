import type { Mvcc } from '../store/mvcc.ts';
import type { BackendRangeResponse } from '../types/backend.ts';
import { CompactedError, FutureRevisionError } from '../types/errors.ts';
import type { Key, Revision } from '../types/revision.ts';
import { Replaced } from './failures.ts';
import { checkRange, rowsOf } from './ingress.ts';
import { isStored } from './relist.ts';
import type { Sides } from './sides.ts';

/** A commit may have written any number of keys; so many of the newest one are compared. */
const ROWS_MAX = 128;

const ACTION = 'verify what is here';

/**
 * Whether the backend at A is what is here at A (M23). Asked on each connection, after its `open` and before its first
 * item is applied: before, the data could be replaced in between; after, the items of other data would be in already.
 *
 * ```text
 *   here at A = 6:  a (1,2,2)  k (6,6,1) x      2 keys, the newest was written at 6
 *   question:       at revision 6, how many keys, and which were written at 6 or later?
 *   2, k (6,6,1) x    the same          2, k (6,6,1) y    other data, which have got to the same numbers
 * ```
 *
 * Two histories that agree in this and differ elsewhere are not told apart (M25). Takes a look at each live key: about as
 * much as counting them one by one.
 *
 * Throws `Replaced`; `CompactedError` if A cannot be read any more, unless A `isListed`: what was listed just before this
 * connection; what the question rejects with.
 */
export async function verify<V, K extends Key>(
  sides: Sides<V, K>,
  isListed: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { backend, mvcc, prefixes, questions } = sides;
  const { revision } = mvcc.window;
  const { count, newest, written } = summary(mvcc, revision);
  const request = {
    ranges: prefixes.ranges,
    revision,
    ...(count === 0 ? { countOnly: true } : { minModRevision: newest, limit: ROWS_MAX }),
  };
  const question = (ended: AbortSignal): Promise<BackendRangeResponse> => backend.range({ ...request, signal: ended });
  let answer: BackendRangeResponse;
  try {
    answer = await questions.askAt(revision, ACTION, question, signal);
  } catch (error) {
    // Where history is that short, another list would be too late as well.
    if (isListed && error instanceof CompactedError) return;
    throw error instanceof FutureRevisionError ? new Replaced() : error;
  }
  checkRange(answer);
  const rows = rowsOf(mvcc, prefixes, answer);
  const isSame = answer.count === count && rows.length === Math.min(written, ROWS_MAX);
  if (!isSame || !rows.every((row) => isStored(mvcc, row, revision))) throw new Replaced();
}

/** How many keys are here, the newest mod revision among them, and how many have it. */
function summary<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  revision: Revision,
): { count: number; newest: Revision; written: number } {
  const all = mvcc.resolve({ prefix: mvcc.keys.key('') }, ACTION);
  const slots = mvcc.state.slots(all, revision, 0);
  let newest = 0;
  let written = 0;
  for (const slot of slots) {
    const modRevision = mvcc.core.modRevision(slot);
    if (modRevision < newest) continue;
    written = modRevision === newest ? written + 1 : 1;
    newest = modRevision;
  }
  return { count: slots.length, newest, written };
}
