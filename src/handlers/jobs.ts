import {
  type Attempt,
  type HandlerRecord,
  isSettled,
  type PlanEntry,
  type ProgressDocument,
  subRecordId,
} from './record.ts';
import type { Handler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';

/** One call to make: of a handler, or of a planned sub of it. */
export interface Job {
  /** Names the record: `handler` or `parent/sub`. */
  readonly id: string;
  readonly handler: Handler;
  /** Only for a sub. */
  readonly entry: PlanEntry | undefined;
  /** Of what the job sees on the state it was found on. */
  readonly digest: string;
  readonly handlerDigest: string;
  /** The tick by which it stands in line. */
  readonly at: number;
}

export interface JobList {
  /** In the order of service. */
  readonly due: readonly Job[];
  /** When the first one that waits is due, on the monotonic clock; `Infinity` if none waits. */
  readonly wakeClockMs: number;
}

/** Monotonic time from which on a job may run, given its last attempt on the same digest; 0 for at once. */
export type WakeOf = (id: string, attempt: Attempt | undefined) => number;

/**
 * Everything that has to be called for an object: in scope, not settled at what it sees, not waiting (A3').
 *
 * A sub counts only below a parent that is in scope and *planned* at what the parent sees, that is, whose own call on
 * it succeeded (A9'a). So a parent is not called again while its subs are pending, and the subs of a parent that has
 * failed, waits, or is out of scope rest (A9'c).
 */
export function jobsOf(
  snapshot: Snapshot,
  doc: ProgressDocument,
  handlers: readonly Handler[],
  nowMs: number,
  wakeOf: WakeOf,
): JobList {
  const due: Job[] = [];
  let wakeClockMs = Number.POSITIVE_INFINITY;
  const consider = (job: Job): void => {
    const record = doc.records[job.id];
    if (isSettled(record, job.digest)) return;
    const attempt = record?.attempt ?? undefined;
    const wake = wakeOf(job.id, attempt?.digest === job.digest ? attempt : undefined);
    if (wake > nowMs) wakeClockMs = Math.min(wakeClockMs, wake);
    else due.push(job);
  };
  for (const handler of handlers) {
    const view = snapshot.viewOf(handler);
    if (view === undefined) continue;
    const record = doc.records[handler.id];
    const { digest } = view;
    consider({ id: handler.id, handler, entry: undefined, digest, handlerDigest: digest, at: turnOf(doc, handler.id) });
    if (!isPlannedAt(record, digest)) continue;
    for (const entry of record?.plan ?? []) {
      const id = subRecordId(handler.id, entry.id);
      const seen = snapshot.viewOfSub(handler, entry);
      if (seen === undefined) continue;
      consider({ id, handler, entry, digest: seen.digest, handlerDigest: digest, at: doc.records[id]?.at ?? 0 });
    }
  }
  // Stable, and found in the order of registration, which so decides ties.
  due.sort((a, b) => a.at - b.at);
  return { due, wakeClockMs };
}

/** A parent's own call on this digest succeeded, so its plan is that of this digest. */
export function isPlannedAt(record: HandlerRecord | undefined, digest: string): boolean {
  return record?.attempt?.digest === digest && record.attempt.state === 'ok';
}

/** A parent takes the best place among its own and those of its subs, who cannot run before it (A5'). */
function turnOf(doc: ProgressDocument, id: string): number {
  const record = doc.records[id];
  let at = record?.at ?? 0;
  for (const entry of record?.plan ?? []) at = Math.min(at, doc.records[subRecordId(id, entry.id)]?.at ?? at);
  return at;
}

/** Whether a job found on one state is the same job on another: same scope, same digest, same plan (A10'). */
export function isSameJob(job: Job, other: Snapshot): boolean {
  const view = other.viewOf(job.handler);
  if (view === undefined || view.digest !== job.handlerDigest) return false;
  return job.entry === undefined || other.viewOfSub(job.handler, job.entry)?.digest === job.digest;
}

/**
 * Whether every sub of a planned parent is settled at what it sees of this state: the parent is *complete* (A9'a). True
 * for a handler without subs.
 */
export function isComplete(handler: Handler, doc: ProgressDocument, snapshot: Snapshot): boolean {
  const plan = doc.records[handler.id]?.plan ?? [];
  return plan.every((entry) => {
    const view = snapshot.viewOfSub(handler, entry);
    return view !== undefined && isSettled(doc.records[subRecordId(handler.id, entry.id)], view.digest);
  });
}
