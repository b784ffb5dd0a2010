import type { BackendRangeResponse } from '../types/backend.ts';
import type { Key, Revision } from '../types/revision.ts';
import { checkRange } from './ingress.ts';
import type { Sides } from './sides.ts';

type Question = (signal: AbortSignal) => Promise<BackendRangeResponse>;

/**
 * What has changed in the replicated ranges since a revision: a row written later, or another number of keys. "Nothing" is a
 * proof that the state at the answer's revision is that of `after` (M20); a key that was made and deleted in between shows
 * in neither.
 */
export async function whatChanged<V, K extends Key>(
  { backend, mvcc, prefixes }: Omit<Sides<V, K>, 'questions'>,
  after: Revision,
  ask: (question: Question) => Promise<BackendRangeResponse>,
): Promise<{ readonly revision: Revision; readonly isNothing: boolean }> {
  const request = { ranges: prefixes.ranges, minModRevision: after + 1, limit: 1, keysOnly: true };
  const answer = await ask((signal) => backend.range({ ...request, signal }));
  checkRange(answer);
  const { revision, count, kvs } = answer;
  return { revision, isNothing: kvs.length === 0 && count === mvcc.core.stats().liveKeys };
}
