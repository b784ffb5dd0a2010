/**
 * A change to an object: a merge patch (RFC 7386), which is an object, or a JSON patch (RFC 6902), which is an array of
 * operations. So an array is never a merge patch; to replace a whole object by an array, use `{ op: 'replace', path: '' }`.
 */
export type Patch = MergePatch | JsonPatch;

/** Members to set; objects are merged, everything else replaces, `null` removes. Applied twice it is applied once. */
export type MergePatch = Readonly<Record<string, unknown>>;

/**
 * Operations in order, all or none. Paths are JSON pointers. Not idempotent by itself: an `add` to an array adds each
 * time; a `test` before it makes it so.
 */
export type JsonPatch = readonly JsonPatchOperation[];

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };
