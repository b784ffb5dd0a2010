import { unescapeSegment } from '../core/json-pointer.ts';
import { checkWellFormed } from '../types/check-well-formed.ts';

/** A place in an object: the keys from the root to it. */
export type Path = readonly string[];

/**
 * Reads `'spec.replicas'` or, where a key has a dot in it, the JSON pointer `'/metadata/annotations/a.b~1c'`.
 * Throws `TypeError` for what is no string, for a lone surrogate, for an empty path or key, and for a malformed escape in a
 * pointer.
 */
export function parsePath(field: string): Path {
  if (typeof field !== 'string') throw new TypeError(`Cannot use a field: it is of type ${typeof field}, not a string`);
  const path = field.startsWith('/') ? field.slice(1).split('/').map(unescapeSegment) : field.split('.');
  if (field.startsWith('/') && /~(?![01])/.test(field)) {
    throw new TypeError(`Cannot use field "${field}": it has a "~" that is neither "~0" nor "~1"`);
  }
  checkWellFormed('use a field', 'it', field);
  if (path.some((key) => key === '')) throw new TypeError(`Cannot use field "${field}": it has an empty key`);
  return path;
}

/** The value at a path, `undefined` where there is none. Looks at own keys only. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
