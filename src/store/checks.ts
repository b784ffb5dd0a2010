import type { Key, KeyRange, Revision } from '../types/revision.ts';

/** What embedded stores and replicas check alike in what they are given, before anything else happens. */

/** The revision that `expect` asks for, `undefined` without one. Throws RangeError for what is no revision. */
export function checkExpect(
  expect: { readonly modRevision: Revision } | undefined,
  action: string,
): Revision | undefined {
  if (expect === undefined) return undefined;
  const { modRevision } = expect;
  if (Number.isSafeInteger(modRevision) && modRevision >= 0) return modRevision;
  throw new RangeError(`Cannot ${action}: expect.modRevision is not a safe integer from 0 on`);
}

/** Throws RangeError for what `compact` cannot be asked. */
export function checkCompact(revision: Revision, action: string): void {
  if (Number.isSafeInteger(revision) && revision >= 0) return;
  throw new RangeError(`Cannot ${action}: the revision is ${revision}, allowed is a safe integer from 0 on`);
}

/** What `delete` was given, as a range. Throws TypeError for no range at all, and for an `expect` on more than a key. */
export function deleteRange<K extends Key>(target: K | KeyRange<K>, hasExpect: boolean, action: string): KeyRange<K> {
  if (typeof target === 'string' || target instanceof Uint8Array) return { key: target as K };
  const selected = target as KeyRange<K>;
  if (typeof selected !== 'object' || selected === null) {
    throw new TypeError(`Cannot ${action}: the range is not an object`);
  }
  if (hasExpect && !('key' in selected)) throw new TypeError(`Cannot ${action}: expect needs a single key`);
  return selected;
}
