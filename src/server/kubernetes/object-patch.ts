import { applyPatch } from '../../handlers/apply-patch.ts';
import { LimitExceededError, ValueError } from '../../types/errors.ts';
import type { Patch } from '../../types/patch.ts';
import { refuse } from './api-status.ts';
import type { ServedKind } from './kinds.ts';
import { isRecord } from './stored-object.ts';
import { strategicMerge } from './strategic-merge.ts';

export const PATCH_TYPES: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

/**
 * How a patch of this media type changes an object. Throws `RequestRefused`: 415 for another type (server-side apply is not there),
 * and for a strategic merge patch of a custom resource; 400 for what is no patch. What it returns throws 422 where the patch does not fit.
 */
export function objectPatch(type: string, body: unknown, kind: ServedKind): (object: object) => unknown {
  if (!PATCH_TYPES.includes(type)) {
    throw refuse(
      415,
      `the body of the request was in an unknown format - accepted media types include: ${PATCH_TYPES.join(', ')}`,
    );
  }
  if (type === 'application/json-patch+json') {
    if (!Array.isArray(body)) throw refuse(400, 'a JSON patch is a list of operations');
    return (object) => fitted(object, body);
  }
  if (!isRecord(body)) throw refuse(400, 'a merge patch is an object');
  if (type === 'application/merge-patch+json') return (object) => fitted(object, body as Patch);
  if (kind.custom) throw refuse(415, 'a strategic merge patch needs a built-in kind, this is a custom resource');
  return (object) => strategicMerge(object, body);
}

function fitted(object: object, patch: Patch): unknown {
  try {
    return applyPatch(object, patch);
  } catch (error) {
    if (error instanceof ValueError)
      throw refuse(422, `the server rejected our request due to an error in our request: ${error.message}`);
    if (error instanceof TypeError) throw refuse(400, error.message);
    if (error instanceof LimitExceededError) throw refuse(413, error.message);
    throw error;
  }
}
