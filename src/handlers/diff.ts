import { escapeSegment } from '../core/json-pointer.ts';

/** One difference between two views. `path` is a JSON pointer from the root of the view; `''` is the view itself. */
export interface Difference {
  readonly path: string;
  readonly old: unknown;
  readonly new: unknown;
}

/**
 * What changed from one view, JSON data, to another: the smallest subtrees of objects that differ, keys in the order of the old
 * view, then new ones. An array is one value: it differs as a whole or not at all.
 */
export function diffViews(before: unknown, after: unknown): readonly Difference[] {
  const differences: Difference[] = [];
  collect(before, after, '', differences);
  return Object.freeze(differences);
}

function collect(before: unknown, after: unknown, path: string, differences: Difference[]): void {
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      collect(ownValue(before, key), ownValue(after, key), `${path}/${escapeSegment(key)}`, differences);
    }
  } else if (!equalData(before, after)) {
    differences.push(Object.freeze({ path, old: before, new: after }));
  }
}

/** Whether two pieces of JSON data are the same, whatever the order of their keys. */
export function equalData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((part, index) => equalData(part, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalData(a[key], b[key]))
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ownValue(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
