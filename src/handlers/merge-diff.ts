import { checkJsonData } from '../store/json-data.ts';
import type { MergePatch } from '../types/patch.ts';
import { JsonIdentity } from './json-identity.ts';
import { checkParts } from './parts.ts';

/**
 * The merge patch (RFC 7386) that makes `after` of `before`, `{}` where they are equal. `undefined` where there is none:
 * a merge patch removes what it calls null, so it cannot set a member to null, nor make an object anything else. Nulls that
 * stay as they are, and those in arrays, which a merge patch replaces as a whole, are no hindrance.
 *
 * @example
 * ```ts
 * import { diffJson, mergePatchOf } from 'plimsoll';
 *
 * const [before, after] = [{ image: 'a', replicas: 1 }, { image: 'b' }];
 * console.log(mergePatchOf(before, after)); // { replicas: null, image: 'b' }
 * console.log(mergePatchOf(before, { image: null }) ?? diffJson(before, { image: null }));
 * ```
 *
 * @throws ValueError for what is no plain JSON data, `undefined` included; members that are `undefined` are absent.
 * @throws LimitExceededError for more than 4,194,304 members and elements in one of the two.
 */
export function mergePatchOf(before: unknown, after: unknown): MergePatch | undefined {
  const action = 'make a merge patch';
  for (const value of [before, after]) {
    checkParts(action, value);
    checkJsonData(value, action);
  }
  if (!isMembers(after)) return undefined;
  return patchOf(new JsonIdentity(false), before, after);
}

type Members = Readonly<Record<string, unknown>>;

function patchOf(identity: JsonIdentity, before: unknown, after: Members): MergePatch | undefined {
  // What is no object is taken for an empty one by a merge patch.
  const old: Members = isMembers(before) ? before : {};
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(old)) if (has(old, name) && !has(after, name)) setOwn(patch, name, null);
  for (const name of Object.keys(after)) {
    const value = after[name];
    if (value === undefined || (has(old, name) && identity.of(old[name]) === identity.of(value))) continue;
    const part = isMembers(value) ? patchOf(identity, has(old, name) ? old[name] : undefined, value) : value;
    if (part === null || part === undefined) return undefined;
    setOwn(patch, name, part);
  }
  return patch;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function has(value: Members, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** An assignment to `__proto__` would set the prototype. */
function setOwn(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
