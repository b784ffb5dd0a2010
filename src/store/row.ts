import type { Key, KeyValue, Revision } from '../types/revision.ts';

/** The numbers of one version of a key; a `Change` and a `BackendKeyValue` have them too. */
export interface RowNumbers {
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
  readonly lease: string;
}

/** One row as readers get it. The only place that makes them, so that all rows have one shape and are frozen. */
export function row<V, K extends Key>(key: K, value: V, numbers: RowNumbers): KeyValue<V, K> {
  const { createRevision, modRevision, version, lease } = numbers;
  return Object.freeze({ key, value, createRevision, modRevision, version, lease });
}

/** A row of `keysOnly`: without the member `value`, whatever its type says. */
export function keyRow<V, K extends Key>(key: K, numbers: RowNumbers): KeyValue<V, K> {
  const { createRevision, modRevision, version, lease } = numbers;
  return Object.freeze({ key, createRevision, modRevision, version, lease }) as KeyValue<V, K>;
}
