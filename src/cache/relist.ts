import { compareKeyText } from '../core/key-order.ts';
import { type Change, type Commit, tombstone } from '../store/commit.ts';
import type { Mvcc } from '../store/mvcc.ts';
import { cellsEqual } from '../store/values.ts';
import type { Key, Revision } from '../types/revision.ts';

/** A list whose rows were checked: the puts that make the state at its revision. */
export interface ListedState {
  readonly revision: Revision;
  readonly rows: readonly Change[];
}

/** What a new list means for a replica at A: nothing, a span to publish, or data that are not the old ones any more. */
export type RelistOutcome =
  | { readonly type: 'equal' }
  | { readonly type: 'span'; readonly commit: Commit }
  | { readonly type: 'replaced' };

/**
 * Compares a list at S with the local state at A.
 *
 * A listed key with mod <= A was known here: create, mod, version, lease and value must all be equal, or two histories would
 * be merged, for a wiped store reuses small revisions (M11). A newer one becomes a put with its real numbers; a local
 * key that is not listed becomes a delete at S (M10). With S = A nothing may differ, with S < A the data went back.
 *
 * On a repair the local history is known to be wrong, so a difference at or below A is what is looked for.
 */
export function compareRelist<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  listed: ListedState,
  options: { isRepair: boolean },
): RelistOutcome {
  const after = mvcc.window.revision;
  const { revision } = listed;
  if (revision < after) return { type: 'replaced' };
  const changes: Change[] = [];
  const listedKeys = new Set<string>();
  for (const row of listed.rows) {
    listedKeys.add(row.text);
    if (isStored(mvcc, row, after)) continue;
    if (row.modRevision <= after && !options.isRepair) return { type: 'replaced' };
    changes.push(row);
  }
  for (const text of liveTexts(mvcc)) if (!listedKeys.has(text)) changes.push(tombstone(text, revision));
  if (revision === after) return changes.length === 0 ? { type: 'equal' } : { type: 'replaced' };
  changes.sort((a, b) => compareKeyText(a.text, b.text));
  return { type: 'span', commit: { revision, after, changes } };
}

/** Whether the local state at a revision has this row, all of it. */
export function isStored<V, K extends Key>(mvcc: Mvcc<V, K>, change: Change, revision: Revision): boolean {
  const slot = mvcc.state.slotOf(change.text, revision);
  if (slot < 0) return false;
  const { core } = mvcc;
  return (
    core.createRevision(slot) === change.createRevision &&
    core.modRevision(slot) === change.modRevision &&
    core.version(slot) === change.version &&
    mvcc.state.leaseAt(slot) === change.lease &&
    cellsEqual(mvcc.values, mvcc.state.cellAt(slot), change.cell)
  );
}

function liveTexts<V, K extends Key>(mvcc: Mvcc<V, K>): string[] {
  const all = mvcc.resolve({ prefix: mvcc.keys.key('') }, 'apply a list');
  const slots = mvcc.state.slots(all, mvcc.window.revision, 0);
  return Array.from(slots, (slot) => mvcc.state.textAt(slot));
}
