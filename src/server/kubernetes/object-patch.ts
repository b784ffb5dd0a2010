import { applyPatch } from '../../handlers/apply-patch.ts';
import { checkParts } from '../../handlers/parts.ts';
import { checkJsonData } from '../../store/json-data.ts';
import { LimitExceededError, ValueError } from '../../types/errors.ts';
import type { Patch } from '../../types/patch.ts';
import { refuse } from './api-status.ts';
import type { ServedKind } from './kinds.ts';
import { isRecord } from './stored-object.ts';
import { strategicMerge } from './strategic-merge.ts';

const ACTION = 'apply a patch';
const STRATEGIC = 'application/strategic-merge-patch+json';
const PATCH_TYPES: readonly string[] = ['application/json-patch+json', 'application/merge-patch+json', STRATEGIC];

/** Which patches there are of a kind: server-side apply is not there, and a strategic merge needs types. */
export function patchTypes({ custom }: ServedKind): readonly string[] {
  return custom ? PATCH_TYPES.filter((type) => type !== STRATEGIC) : PATCH_TYPES;
}

/**
 * How a patch of one of these media types changes an object. Throws `RequestRefused` (400) for what is no patch. What it returns
 * throws 422 where the patch does not fit, and 413 if a few operations would copy the object to one without end.
 */
export function objectPatch(type: string, body: unknown): (object: object) => unknown {
  if (type === 'application/json-patch+json') {
    if (!Array.isArray(body)) throw refuse(400, 'a JSON patch is a list of operations');
    return (object) => fitted(object, body);
  }
  if (!isRecord(body)) throw refuse(400, 'a merge patch is an object');
  if (type === 'application/merge-patch+json') return (object) => fitted(object, body as Patch);
  return (object) => strategicMerge(object, body);
}

function fitted(object: object, patch: Patch): unknown {
  try {
    const patched = applyPatch(object, patch);
    // Copies share what they copy, so that the result takes no room until it is written as text.
    checkParts(ACTION, patched);
    checkJsonData(patched, ACTION);
    return patched;
  } catch (error) {
    if (error instanceof ValueError)
      throw refuse(422, `the server rejected our request due to an error in our request: ${error.message}`);
    if (error instanceof TypeError) throw refuse(400, error.message);
    if (error instanceof LimitExceededError) throw refuse(413, error.message);
    throw error;
  }
}
