import type { DocumentVersion } from './document-version.ts';
import { type HandlerRecord, isSettled, type PlanEntry, subRecordId } from './record.ts';
import type { Handler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import type { View } from './view.ts';

/** One call to make: of a handler, or of a planned sub of it. */
export interface Job {
  /** Names the record: `handler` or `parent/sub`. */
  readonly id: string;
  readonly handler: Handler;
  /** Only for a call of a sub. */
  readonly entry: PlanEntry | undefined;
  /** The handler's hook is to be called for a sub that left the plan; `id` names its record. */
  readonly retires: boolean;
  /** Of what the job sees on the state it was found on; of no use where it retires. */
  readonly digest: string;
  /** `''` where the object is not for the handler, which can only be so if it retires. */
  readonly handlerDigest: string;
  /** The tick by which it stands in line. */
  readonly at: number;
  /** Of a sub in its plan; -1 for a handler. */
  readonly place: number;
}

/** What a job sees of a state; `undefined` if nothing. Of a sub with `select`, the value is with its function. */
export function viewOn(snapshot: Snapshot, { handler, entry }: Job): View | undefined {
  return entry === undefined ? snapshot.viewOf(handler) : snapshot.viewOfSub(handler, entry);
}

/** A parent's own call on this digest succeeded, so its plan is that of this digest. */
export function isPlannedAt(record: HandlerRecord | undefined, digest: string): boolean {
  return record?.attempt?.state === 'ok' && record.attempt.digest === digest;
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
 * Whether the subs of a parent that have left its plan may be retired: not while it is due or waits, since its next plan
 * may have them again (A9'e). On an object that is deleting there is no next plan.
 */
export function mayRetire(doc: DocumentVersion, handler: Handler, snapshot: Snapshot): boolean {
  const view = snapshot.viewOf(handler);
  if (snapshot.deleting || view === undefined) return true;
  return isSettled(doc.record(handler.id), view.digest) || isBarred(handler, doc, snapshot);
}

/**
 * Whether a handler in scope is not called for a state all the same, since the change to it, from what the handler has last
 * succeeded on, is none that it is for (A20'). Nothing is recorded of that: a later state is compared with the same success.
 */
export function isBarred(handler: Handler, doc: DocumentVersion, snapshot: Snapshot): boolean {
  if (handler.changes === undefined) return false;
  const view = snapshot.viewOf(handler);
  if (view === undefined) return false;
  const record = doc.record(handler.id);
  const done = record?.done ?? null;
  const opened = record?.attempt?.digest ?? done;
  const handled = {
    base: done === null ? undefined : { value: doc.baseOf(record) },
    isBetween: opened !== done && opened !== view.digest,
  };
  return !snapshot.isChangeFor(handler, handled, view);
}

/** Whether a job found on one state is the same job on another: same scope, same digest, same plan (A10'). */
export function isSameJob(job: Job, other: Snapshot): boolean {
  const view = other.viewOf(job.handler);
  if (job.retires) return other.deleting || (view?.digest ?? '') === job.handlerDigest;
  if (view === undefined || view.digest !== job.handlerDigest) return false;
  return job.entry === undefined || other.viewOfSub(job.handler, job.entry)?.digest === job.digest;
}

/**
 * Whether every sub of a planned parent is settled at what it sees of this state: the parent is *complete* (A9'a). True
 * for a handler without subs.
 *
 * Asked after every call of a sub, so the search begins where the last one of the same plan ended: only a complete plan
 * is looked at as a whole each time.
 */
export function isComplete(handler: Handler, doc: DocumentVersion, snapshot: Snapshot): boolean {
  const plan = doc.record(handler.id)?.plan ?? [];
  const start = unsettled.get(plan) ?? 0;
  for (let step = 0; step < plan.length; step++) {
    const place = (start + step) % plan.length;
    const entry = plan[place];
    const view = entry === undefined ? undefined : snapshot.viewOfSub(handler, entry);
    if (entry === undefined || view === undefined || !isSettledAt(doc, handler, entry, view.digest)) {
      unsettled.set(plan, place);
      return false;
    }
  }
  return true;
}

/** Where in a plan a sub was found that was not settled. Of some state and document: where to look, not what is so. */
const unsettled = new WeakMap<readonly PlanEntry[], number>();

function isSettledAt(doc: DocumentVersion, handler: Handler, entry: PlanEntry, digest: string): boolean {
  return isSettled(doc.record(subRecordId(handler.id, entry.id)), digest);
}

/** Whether a plan has a sub of this id. Asked before every call of a sub, so the ids of a plan are collected once. */
export function isInPlan(plan: readonly PlanEntry[] | undefined, subId: string): boolean {
  if (plan === undefined) return false;
  let ids = idsOf.get(plan);
  if (ids === undefined) {
    ids = new Set(plan.map(({ id }) => id));
    idsOf.set(plan, ids);
  }
  return ids.has(subId);
}

const idsOf = new WeakMap<readonly PlanEntry[], ReadonlySet<string>>();
