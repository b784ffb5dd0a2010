import type { DocumentVersion } from './document-version.ts';
import { entryIn, isFilteredStep, type Job } from './jobs.ts';
import { isSettled } from './record.ts';
import { subIdsBelow, subRecordId } from './record-id.ts';
import type { Handler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';

/** A sub that has left its plan may be retired; `parent` is the nearest one above it that is left. */
export interface RetirementTurn {
  /** `undefined` where the object is not for the handler. */
  readonly parent: Job | undefined;
}

/**
 * Whether a sub that has left its plan may be retired, `undefined` if not: none of the parents above it may be due or
 * wait, since its next plan may have the sub again (A9'e). The way down ends where nobody plans anew: at a parent that has
 * failed for good, or is not in the plan of its own. On an object that is deleting there is no next plan.
 */
export function retirementTurn(
  doc: DocumentVersion,
  handler: Handler,
  snapshot: Snapshot,
  id: string,
): RetirementTurn | undefined {
  const turn = turnOrParent(doc, handler, snapshot, id);
  return typeof turn === 'string' ? undefined : turn;
}

/** The same, or the id of the parent that is due or waits. */
function turnOrParent(doc: DocumentVersion, handler: Handler, snapshot: Snapshot, id: string): RetirementTurn | string {
  const top = snapshot.viewOf(handler);
  if (snapshot.deleting || top === undefined) return { parent: undefined };
  const steps = { handler, retires: false, at: 0, place: -1 };
  let parent: Job = { ...steps, id: handler.id, entry: undefined, parent: undefined, digest: top.digest };
  for (const subId of subIdsBelow(handler.id, id)) {
    const record = doc.record(parent.id);
    if (!isSettled(record, parent.digest)) {
      // Who is not called for this change plans nothing for it (A20').
      return parent.entry === undefined && isFilteredStep(handler, doc, snapshot) ? { parent } : parent.id;
    }
    const entry = record?.attempt?.state === 'ok' ? entryIn(parent.id, record.plan, subId) : undefined;
    const view = entry && snapshot.viewOfSub(parent, entry);
    if (view === undefined) break;
    parent = { ...steps, id: subRecordId(parent.id, subId), entry, parent, digest: view.digest };
  }
  return { parent };
}

/** Whether it may be, once those that it had registered itself are: children first (A9'f). */
export function mayRetire(
  doc: DocumentVersion,
  { handler, id }: Pick<Job, 'handler' | 'id'>,
  snapshot: Snapshot,
): boolean {
  return !doc.isRetiringBelow(id) && retirementTurn(doc, handler, snapshot, id) !== undefined;
}

/** Who is in the way, for a person: one that it had registered itself and that is to be retired first, or a parent. */
export function retirementWait(
  doc: DocumentVersion,
  { handler, id }: Pick<Job, 'handler' | 'id'>,
  snapshot: Snapshot,
): { readonly childId: string } | { readonly parentId: string } | undefined {
  const [childId] = doc.isRetiringBelow(id) ? doc.retiring(id) : [];
  if (childId !== undefined) return { childId };
  const turn = turnOrParent(doc, handler, snapshot, id);
  return typeof turn === 'string' ? { parentId: turn } : undefined;
}
