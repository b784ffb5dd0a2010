import { checkJsonData } from '../store/json-data.ts';
import type { Patch } from '../types/patch.ts';
import { checkParts } from './parts.ts';
import { applyPatch as apply, checkPatch } from './patch.ts';

/**
 * The object as it is after a merge patch (RFC 7386, an object) or a JSON patch (RFC 6902, an array), all of it or
 * nothing; by the rules of `ctx.patch`. Neither is changed; the result shares with both what is the same. Members keep
 * their order, new ones come last.
 *
 * @example
 * ```ts
 * import { applyPatch } from 'plimsoll';
 *
 * const object = { spec: { replicas: 1, paused: true } };
 * console.log(applyPatch(object, { spec: { replicas: 2, paused: null } })); // { spec: { replicas: 2 } }
 * console.log(applyPatch(object, [{ op: 'test', path: '/spec/replicas', value: 1 }, { op: 'remove', path: '/spec' }])); // {}
 * ```
 *
 * @throws TypeError for what is no patch: an unknown operation, a path that is no JSON pointer.
 * @throws ValueError with the path where a JSON patch does not fit: a place is not there, or a `test` fails; and for a patch
 * that is no plain JSON data.
 * @throws LimitExceededError for a patch of more than 4,194,304 members and elements.
 */
export function applyPatch(object: unknown, patch: Patch): unknown {
  const action = 'apply a patch';
  checkPatch(action, patch);
  checkParts(action, patch);
  checkJsonData(patch, action);
  return apply(object, patch);
}
