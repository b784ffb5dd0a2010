import { Heap } from '../queue/heap.ts';
import type { DocumentVersion } from './document-version.ts';
import { isBarred, isDone, isPlannedAt, type Job, mayRetire } from './jobs.ts';
import { type HandlerRecord, subRecordId, type Wait } from './record.ts';
import type { Handler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';

/** Monotonic time from which on a job may run, given its last attempt on the same digest; 0 for at once. */
export type WakeOf = (id: string, attempt: Wait | undefined) => number;

interface Waiting {
  readonly job: Job;
  readonly wakeClockMs: number;
}

/**
 * Everything that has to be called for an object on one state: in scope, not settled at what it sees (A3').
 *
 * ```text
 *   made: every job ----> due, by turn ----- next(): the first one, for as long as nobody has called it
 *                         ^   |    |
 *                 in time |   |    +--- called in this pass, and to be called again: held until the next one (A2')
 *                         |   +-------- its wait has (again) begun
 *                       waiting, by time
 * ```
 *
 * A sub counts only below a parent that is in scope and *planned* at what the parent sees, that is, whose own call on
 * it succeeded (A9'a). So a parent is not called again while its subs are pending, and the subs of a parent that has
 * failed, waits, or is out of scope rest (A9'c).
 *
 * Of an object that is deleting, all subs that were ever opened are retired, and then the handlers for its deletion are
 * called (A11'b); but only if it is kept for this controller, which is to say, by its finalizer.
 *
 * Made once for a state and then kept up with the document step by step: a call costs the logarithm of the number of
 * jobs. Where the document is replaced by another one, or a plan by another one on the same state, a new agenda is
 * made.
 */
export class Agenda {
  readonly snapshot: Snapshot;
  readonly #wakeOf: WakeOf;
  readonly #due = new Heap<Job>(byTurn);
  readonly #waiting = new Heap<Waiting>(byTime);
  /** To be called once nothing else is left. */
  #last: Job[] = [];
  #held: Job[] = [];

  constructor(snapshot: Snapshot, doc: DocumentVersion, handlers: readonly Handler[], wakeOf: WakeOf) {
    this.snapshot = snapshot;
    this.#wakeOf = wakeOf;
    for (const handler of handlers) {
      if (snapshot.deleting !== (handler.kind === 'delete')) {
        if (snapshot.deleting) this.addRetiring(handler, doc);
        continue;
      }
      const view = snapshot.viewOf(handler);
      if (view !== undefined) this.#addHandler(handler, view.digest, doc);
      if (!snapshot.deleting) this.addRetiring(handler, doc);
    }
  }

  #addHandler(handler: Handler, digest: string, doc: DocumentVersion): void {
    const { id } = handler;
    const at = turnOf(doc, id);
    const job = { id, handler, entry: undefined, retires: false, digest, handlerDigest: digest, at, place: -1 };
    if (this.snapshot.deleting) this.#last.push(job);
    else this.#add(job, doc);
    if (isPlannedAt(doc.record(id), digest)) this.addSubs(handler, doc);
  }

  /** Takes in the subs that have left the plan of a parent, if they may be retired now. */
  addRetiring(handler: Handler, doc: DocumentVersion): void {
    if (handler.retire === undefined || !mayRetire(doc, handler, this.snapshot)) return;
    const handlerDigest = this.snapshot.viewOf(handler)?.digest ?? '';
    for (const id of doc.retiring(handler.id)) {
      const at = doc.record(id)?.at ?? 0;
      this.#add({ id, handler, entry: undefined, retires: true, digest: '', handlerDigest, at, place: -1 }, doc);
    }
  }

  /** Takes in the subs of a parent that has become planned on this state. */
  addSubs(handler: Handler, doc: DocumentVersion): void {
    const handlerDigest = this.snapshot.viewOf(handler)?.digest;
    if (handlerDigest === undefined) return;
    for (const [place, entry] of (doc.record(handler.id)?.plan ?? []).entries()) {
      const digest = this.snapshot.viewOfSub(handler, entry)?.digest;
      if (digest === undefined) continue;
      const id = subRecordId(handler.id, entry.id);
      this.#add({ id, handler, entry, retires: false, digest, handlerDigest, at: doc.record(id)?.at ?? 0, place }, doc);
    }
  }

  /** A pass begins: what was called in the last one may be called again. */
  begin(): void {
    for (const job of this.#held) this.#due.push(job);
    this.#held = [];
  }

  /** The job whose turn it is among those that are due and were not called in this pass. It stays where it is. */
  next(doc: DocumentVersion, nowMs: number, ran: ReadonlySet<string>): Job | undefined {
    for (let first = this.#waiting.peek(); first !== undefined; first = this.#waiting.peek()) {
      if (first.wakeClockMs > nowMs) break;
      this.#waiting.pop();
      this.#due.push(first.job);
    }
    for (let job = this.#due.peek(); job !== undefined; job = this.#due.peek()) {
      const wakeClockMs = this.#wakeOfJob(job, doc);
      if (wakeClockMs === undefined) this.#due.pop();
      else if (wakeClockMs > nowMs) this.#waiting.push({ job: this.#due.pop() ?? job, wakeClockMs });
      else if (ran.has(job.id)) this.#held.push(this.#due.pop() ?? job);
      else return job;
    }
    if (this.#last.length === 0 || this.#waiting.peek() !== undefined || this.hasHeld) return undefined;
    for (const job of this.#last) this.#add(job, doc);
    this.#last = [];
    return this.next(doc, nowMs, ran);
  }

  /** When the first of those that wait may run, on the monotonic clock; `Infinity` if none waits. */
  get wakeClockMs(): number {
    return this.#waiting.peek()?.wakeClockMs ?? Number.POSITIVE_INFINITY;
  }

  /** Whether a job that was called in this pass has to be called in the next one. Known after `next` found nothing. */
  get hasHeld(): boolean {
    return this.#held.length > 0;
  }

  #add(job: Job, doc: DocumentVersion): void {
    if (this.#wakeOfJob(job, doc) !== undefined) this.#due.push(job);
  }

  /** When a job may run; `undefined` if it need not. */
  #wakeOfJob(job: Job, doc: DocumentVersion): number | undefined {
    const record = doc.record(job.id);
    if (isDone(job, record)) return undefined;
    if (isOwn(job) && isBarred(job.handler, doc, this.snapshot)) return undefined;
    return this.#wakeOf(job.id, waitOf(job, record));
  }
}

/** A call of the handler itself. */
function isOwn({ entry, retires }: Job): boolean {
  return entry === undefined && !retires;
}

function waitOf(job: Job, record: HandlerRecord | undefined): Wait | undefined {
  if (job.retires) return record?.retirement;
  const attempt = record?.attempt ?? undefined;
  return attempt?.digest === job.digest ? attempt : undefined;
}

function byTime(a: Waiting, b: Waiting): number {
  return a.wakeClockMs - b.wakeClockMs;
}

/** By turn (A5'); ties in the order of registration, and for subs in that of the plan. */
function byTurn(a: Job, b: Job): number {
  return a.at - b.at || a.handler.order - b.handler.order || a.place - b.place;
}

/** A parent takes the best place among its own and those of its subs, who cannot run before it (A5'). */
function turnOf(doc: DocumentVersion, id: string): number {
  const record = doc.record(id);
  let at = record?.at ?? 0;
  for (const entry of record?.plan ?? []) at = Math.min(at, doc.record(subRecordId(id, entry.id))?.at ?? at);
  return at;
}
