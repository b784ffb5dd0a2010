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
