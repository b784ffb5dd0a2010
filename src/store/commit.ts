import type { Revision } from '../types/revision.ts';

/** One key written or deleted, ready to be published: checked, encoded, and with the numbers it will carry. */
export interface Change {
  /** Key text (see `ResolvedRange`). */
  readonly text: string;
  readonly type: 'put' | 'delete';
  /** The value as its policy keeps it; `undefined` on a delete. */
  readonly cell: unknown;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
  readonly lease: string;
}

/**
 * What is published at once: the changes of one transaction in their order, or, with `after`, a span: the difference
 * between the states at `after` and `revision`, keys ascending (M9).
 */
export interface Commit {
  readonly revision: Revision;
  readonly after?: Revision;
  readonly changes: readonly Change[];
}

/** The change that a put makes to a key whose live version, if there is one, has these numbers (store:R3). */
export function putChange(
  put: { readonly text: string; readonly cell: unknown; readonly lease: string },
  revision: Revision,
  previous: { readonly createRevision: Revision; readonly version: number } | undefined,
): Change {
  const { text, cell, lease } = put;
  const createRevision = previous === undefined ? revision : previous.createRevision;
  const version = previous === undefined ? 1 : previous.version + 1;
  return { text, type: 'put', cell, createRevision, modRevision: revision, version, lease };
}

/** The change that a delete makes: key and revision, nothing else (store:R5). */
export function tombstone(text: string, revision: Revision): Change {
  return { text, type: 'delete', cell: undefined, createRevision: 0, modRevision: revision, version: 0, lease: '0' };
}
