import type { DocumentVersion } from './document-version.ts';
import type { Handled } from './filters.ts';
import type { Parent } from './parent.ts';
import { planTable } from './plan-table.ts';
import { type Attempt, type HandlerRecord, isSettled, type PlanEntry, type Retirement } from './record.ts';
import type { Handler } from './registry.ts';
import { seenBaseOf } from './seen-base.ts';
import type { Snapshot } from './snapshot.ts';
import type { View } from './view.ts';

/** One call to make: of a handler, of a planned sub, or of the hook for a sub that left its plan. */
export interface Job extends Parent {
  /** Of a sub: who has planned it, as found on the same state. Of one that left its plan: the nearest that is left. */
  readonly parent: Job | undefined;
  /** The handler's hook is to be called for a sub that left the plan; `id` names its record. */
  readonly retires: boolean;
  /** Of what the job sees on the state it was found on; of no use where it retires. */
  readonly digest: string;
  /** The tick by which it stands in line. */
  readonly at: number;
  /** Of a sub in its plan; -1 for a handler. */
  readonly place: number;
}

/** The episode of the call that was opened for a job; 0 if none was. */
export function episodeOf({ retires }: Pick<Job, 'retires'>, record: HandlerRecord | undefined): number {
  return (retires ? record?.retirement?.episode : record?.episode) ?? 0;
}

/** What a job waits by: the retirement, or the last attempt, if that was on the same digest. */
export function waitOf(
  { retires, digest }: { readonly retires: boolean; readonly digest: string | undefined },
  record: HandlerRecord | undefined,
): Attempt | Retirement | undefined {
  if (retires) return record?.retirement;
  const attempt = record?.attempt ?? undefined;
  return attempt?.digest === digest ? attempt : undefined;
}

/** What a handler or sub sees of a state; `undefined` if nothing. Of a sub with `select`, the value is with its function. */
export function viewOn(snapshot: Snapshot, { handler, entry, parent }: Parent): View | undefined {
  return entry === undefined || parent === undefined ? snapshot.viewOf(handler) : snapshot.viewOfSub(parent, entry);
}

/** A parent's own call on this digest succeeded, so its plan is that of this digest. */
export function isPlannedAt(record: HandlerRecord | undefined, digest: string): boolean {
  return record?.attempt?.state === 'ok' && record.attempt.digest === digest;
}

/** Whether a sub is in the plan of its parent, that one in the plan of its own, and all of them are planned (A9'c). */
export function isPlanned(job: Job, doc: DocumentVersion): boolean {
  const { entry, parent } = job;
  if (entry === undefined || parent === undefined) return true;
  const record = doc.record(parent.id);
  return (
    isPlannedAt(record, parent.digest) &&
    entryIn(parent.id, record?.plan, entry.id) !== undefined &&
    isPlanned(parent, doc)
  );
}

/** A job whose record says that there is nothing left to do. */
export function isDone(job: Job, record: HandlerRecord | undefined): boolean {
  if (job.retires) return record?.retirement === undefined;
  return job.entry === undefined ? isSettledFor(job.handler, record, job.digest) : isSettled(record, job.digest);
}

/** The same for a handler on what it sees: one for creations is done for ever with its first success (D14). */
export function isSettledFor({ kind }: Handler, record: HandlerRecord | undefined, digest: string): boolean {
  return isSettled(record, digest) || (kind === 'create' && (record?.done ?? null) !== null);
}

/**
 * Whether a handler in scope is not called for a state all the same, since the change to it, from what the handler has last
 * succeeded on, is none that it is for (A20'). Nothing is recorded of that: a later state is compared with the same success.
 */
export function isFilteredStep(handler: Handler, doc: DocumentVersion, snapshot: Snapshot): boolean {
  if (handler.changes === undefined) return false;
  const view = snapshot.viewOf(handler);
  if (view === undefined) return false;
  const record = doc.record(handler.id);
  // What was begun for this view goes on, whatever has made it the view: a failed call, for one, that noted so in it.
  if (record?.attempt?.state === 'open' && record.attempt.digest === view.digest) return false;
  const done = record?.done ?? null;
  const { digest: opened = done, state = 'ok' } = record?.attempt ?? {};
  const base = seenBaseOf(doc, record, handler, snapshot);
  const handled: Handled = {
    base: done === null ? undefined : base?.isWhole === true ? base : 'unknown',
    // An attempt on what it has succeeded on, that has not succeeded, was opened after one on something else.
    isBetween: (opened !== done || state !== 'ok') && opened !== view.digest,
  };
  return !snapshot.isChangeFor(handler, handled, view);
}

/** What a job is told as `old`; `undefined` if there is nothing, or nothing that is known. */
export function oldOf(
  doc: DocumentVersion | undefined,
  record: HandlerRecord | undefined,
  { entry, handler }: Job,
  snapshot: Snapshot,
): unknown {
  if (entry !== undefined) return doc?.baseOf(record)?.view;
  const base = seenBaseOf(doc, record, handler, snapshot);
  return base?.isWhole === true ? base.value : undefined;
}

/** Whether a job found on one state is the same job on another: same scope, same digest, same plan (A10'). */
export function isSameJob(job: Job, other: Snapshot): boolean {
  if (!job.retires) return isSameInput(job, other);
  if (other.deleting) return true;
  return job.parent === undefined ? other.viewOf(job.handler) === undefined : isSameInput(job.parent, other);
}

function isSameInput(job: Job, other: Snapshot): boolean {
  if (viewOn(other, job)?.digest !== job.digest) return false;
  return job.parent === undefined || isSameInput(job.parent, other);
}

/**
 * Whether every sub of a planned parent is settled at what it sees of this state, and complete itself where it has subs:
 * the parent is *complete* (A9'a). True for a handler without subs. A sub that failed for good is settled with what it
 * had planned before.
 *
 * Asked after every call of a sub, so the search begins where the last one of the same plan ended: only a complete plan
 * is looked at as a whole each time.
 */
export function isComplete(parent: Parent, doc: DocumentVersion, snapshot: Snapshot): boolean {
  const plan = doc.record(parent.id)?.plan;
  if (plan === undefined) return true;
  const table = planTable(plan, parent.id);
  const { unsettled: start, ids } = table;
  for (let step = 0; step < plan.length; step++) {
    const place = (start + step) % plan.length;
    const [entry, id] = [plan[place], ids[place]];
    if (entry === undefined || id === undefined || !isCompleteSub(parent, entry, id, doc, snapshot)) {
      table.unsettled = place;
      return false;
    }
  }
  return true;
}

function isCompleteSub(
  parent: Parent,
  entry: PlanEntry,
  id: string,
  doc: DocumentVersion,
  snapshot: Snapshot,
): boolean {
  const record = doc.record(id);
  const view = snapshot.viewOfSub(parent, entry);
  if (view === undefined || !isSettled(record, view.digest)) return false;
  if (record?.plan === undefined || record.attempt?.state !== 'ok') return true;
  return isComplete({ id, handler: parent.handler, entry, parent }, doc, snapshot);
}

/** The sub of this id in a plan. Asked before every call of a sub, so a plan is looked through once. */
export function entryIn(
  parentId: string,
  plan: readonly PlanEntry[] | undefined,
  subId: string,
): PlanEntry | undefined {
  if (plan === undefined) return undefined;
  return planTable(plan, parentId).entryOf(plan, subId);
}
