import { compareKeyText } from '../core/key-order.ts';
import { type Change, type Commit, tombstone } from '../store/commit.ts';
import type { Mvcc } from '../store/mvcc.ts';
import { cellsEqual } from '../store/values.ts';
import type { BackendKeyValue, BackendRangeResponse } from '../types/backend.ts';
import { BackendError } from '../types/errors.ts';
import type { Key, Revision } from '../types/revision.ts';

/** What a new list means for a replica at A: nothing, a span to publish, or data that are not the old ones any more. */
export type RelistOutcome =
  | { readonly type: 'equal' }
  | { readonly type: 'span'; readonly commit: Commit }
  | { readonly type: 'replaced' };

/**
 * Compares a list at S with the local state at A.
 *
 * A listed key with mod <= A was known here: create, mod, version and value must all be equal, or two histories would
 * be merged, for a wiped store reuses small revisions (M11). A newer one becomes a put with its real numbers; a local
 * key that is not listed becomes a delete at S (M10). With S = A nothing may differ, with S < A the data went back.
 *
 * On a repair the local history is known to be wrong, so a difference at or below A is what is looked for.
 */
export function compareRelist<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  snapshot: BackendRangeResponse,
  options: { isRepair: boolean },
): RelistOutcome {
  const after = mvcc.window.revision;
  const { revision } = snapshot;
  if (revision < after) return { type: 'replaced' };
  const changes: Change[] = [];
  const listed = new Set<string>();
  for (const kv of snapshot.kvs) {
    const text = mvcc.keys.textOfBytes(kv.key, 'apply a list');
    listed.add(text);
    const change = putOf(mvcc, text, kv);
    if (isEqual(mvcc, change)) continue;
    if (kv.modRevision <= after && !options.isRepair) return { type: 'replaced' };
    changes.push(change);
  }
  for (const text of liveTexts(mvcc)) if (!listed.has(text)) changes.push(tombstone(text, revision));
  if (revision === after) return changes.length === 0 ? { type: 'equal' } : { type: 'replaced' };
  changes.sort((a, b) => compareKeyText(a.text, b.text));
  return { type: 'span', commit: { revision, after, changes } };
}

/** The first list as one commit; nothing is compared. */
export function snapshotCommit<V, K extends Key>(mvcc: Mvcc<V, K>, snapshot: BackendRangeResponse): Commit {
  const changes = snapshot.kvs.map((kv) => putOf(mvcc, mvcc.keys.textOfBytes(kv.key, 'apply a list'), kv));
  return { revision: snapshot.revision, changes };
}

/** A put as a backend told it. Throws `BackendError` for numbers that cannot be. */
export function putOf<V, K extends Key>(mvcc: Mvcc<V, K>, text: string, kv: BackendKeyValue): Change {
  const { createRevision, modRevision, version, lease } = kv;
  checkRevision(createRevision, 'a create revision');
  checkRevision(modRevision, 'a mod revision');
  checkRevision(version, 'a version');
  return { text, type: 'put', cell: mvcc.values.admitBytes(kv.value), createRevision, modRevision, version, lease };
}

/** Revisions are safe integers, checked wherever they come in (D8). */
export function checkRevision(revision: Revision, what: string): void {
  if (Number.isSafeInteger(revision) && revision >= 0) return;
  throw new BackendError('apply what the backend sent', `${what} is ${revision}, not a safe integer from 0 on`);
}

function isEqual<V, K extends Key>(mvcc: Mvcc<V, K>, change: Change): boolean {
  const slot = mvcc.slotOf(change.text, mvcc.window.revision);
  if (slot < 0) return false;
  const { core } = mvcc;
  return (
    core.createRevision(slot) === change.createRevision &&
    core.modRevision(slot) === change.modRevision &&
    core.version(slot) === change.version &&
    cellsEqual(mvcc.values, mvcc.cellAt(slot), change.cell)
  );
}

function liveTexts<V, K extends Key>(mvcc: Mvcc<V, K>): string[] {
  const all = mvcc.resolve({ prefix: mvcc.keys.key('') }, 'apply a list');
  const slots = mvcc.slots(all, mvcc.window.revision, 0).slice();
  return Array.from(slots, (slot) => mvcc.textAt(slot));
}
