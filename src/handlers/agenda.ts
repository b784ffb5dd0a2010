import { Heap } from '../queue/heap.ts';
import type { Admittance } from './admission.ts';
import type { DocumentVersion } from './document-version.ts';
import { DueJobs } from './due-jobs.ts';
import { isDone, isFilteredStep, isPlannedAt, type Job, waitOf } from './jobs.ts';
import { planTable } from './plan-table.ts';
import type { Wait } from './record.ts';
import { parentIdOf } from './record-id.ts';
import type { Handler } from './registry.ts';
import { retirementTurn } from './retirement-turn.ts';
import type { Snapshot } from './snapshot.ts';

/** Whether a job may be called now; if not, whether others may: see `Admission`. */
export type Admit = (job: Job) => Admittance;

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
 *                 in time |   |    +--- called in this pass, and to be called again: deferred to the next one (A2')
 *                         |   +-------- its wait has (again) begun
 *                         |             its handler may not be called: put aside until the next question
 *                       waiting, by time
 * ```
 *
 * A sub counts only below a parent that is in scope and *planned* at what the parent sees, that is, whose own call on
 * it succeeded (A9'a); a parent that is a sub, only below one that is planned, too (A9'f). So a parent is not called
 * again while its subs are pending, and the subs of a parent that has failed, waits, or is out of scope rest (A9'c).
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
  readonly #due = new DueJobs(byTurn);
  readonly #waiting = new Heap<Waiting>(byTime);
  /** To be retired once the subs that they had registered themselves are. */
  #blocked: Map<string, Job> | undefined;
  /** To be called once nothing else is left. */
  #last: Job[] = [];
  #deferred: Job[] = [];
  #hasRefused = false;
  readonly #behind = new Map<string, number>();
  readonly #settled: (handlerId: string) => void;

  /** `settled` is told of each handler of which nothing is left to do, or to wait for. */
  constructor(
    snapshot: Snapshot,
    doc: DocumentVersion,
    handlers: readonly Handler[],
    wakeOf: WakeOf,
    settled: (handlerId: string) => void = () => {},
  ) {
    this.snapshot = snapshot;
    this.#wakeOf = wakeOf;
    this.#settled = settled;
    for (const handler of handlers) {
      if (snapshot.deleting !== (handler.kind === 'delete')) {
        if (snapshot.deleting) this.addRetiring(handler, handler.id, doc);
        continue;
      }
      const view = snapshot.viewOf(handler);
      if (view !== undefined) this.#addHandler(handler, view.digest, doc);
      if (!snapshot.deleting) this.addRetiring(handler, handler.id, doc);
    }
  }

  #addHandler(handler: Handler, digest: string, doc: DocumentVersion): void {
    const { id } = handler;
    const at = turnOf(doc, id);
    const job = { id, handler, entry: undefined, parent: undefined, retires: false, digest, at, place: -1 };
    if (this.snapshot.deleting) this.#addLast(job);
    else this.#add(job, doc);
    if (isPlannedAt(doc.record(id), digest)) this.addSubs(job, doc);
  }

  /** Takes in the subs below a parent that have left their plan, if they may be retired now. */
  addRetiring(handler: Handler, parentId: string, doc: DocumentVersion): void {
    if (handler.retire === undefined || !doc.isRetiringBelow(parentId)) return;
    for (const id of doc.retiring(parentId)) {
      const turn = retirementTurn(doc, handler, this.snapshot, id);
      if (turn === undefined) continue;
      const at = doc.record(id)?.at ?? 0;
      this.#add({ id, handler, entry: undefined, parent: turn.parent, retires: true, digest: '', at, place: -1 }, doc);
    }
  }

  /** A sub was retired: so may its parent be, if that was the last one. */
  retired(id: string, doc: DocumentVersion): void {
    const parentId = parentIdOf(id);
    if (parentId === undefined) return;
    const job = this.#blocked?.get(parentId);
    if (job === undefined || doc.isRetiringBelow(parentId)) return;
    this.#blocked?.delete(parentId);
    this.#add(job, doc);
    this.#count(job, -1);
  }

  /** Takes in the subs of a parent that has become planned on this state, and all below those that are planned, too. */
  addSubs(parent: Job, doc: DocumentVersion): void {
    const { handler } = parent;
    const plan = doc.record(parent.id)?.plan;
    if (plan === undefined) return;
    const { ids } = planTable(plan, parent.id);
    for (let place = 0; place < plan.length; place++) {
      const [entry, id] = [plan[place], ids[place]];
      const digest = entry && this.snapshot.viewOfSub(parent, entry)?.digest;
      if (entry === undefined || id === undefined || digest === undefined) continue;
      const job = { id, handler, entry, parent, retires: false, digest, at: turnOf(doc, id), place };
      this.#add(job, doc);
      if (isPlannedAt(doc.record(id), digest)) this.addSubs(job, doc);
    }
  }

  /** A pass begins: what was called in the last one may be called again. */
  begin(): void {
    if (this.#deferred.length === 0) return;
    for (const job of this.#deferred) this.#due.push(job);
    this.#deferred = [];
  }

  /**
   * The job whose turn it is among those that are due, were not called in this pass, and are admitted. It stays where it
   * is.
   */
  next(doc: DocumentVersion, nowMs: number, ran: ReadonlySet<string>, admit?: Admit): Job | undefined {
    this.#hasRefused = false;
    this.#due.reopen();
    const job = this.#first(doc, nowMs, ran, admit);
    if (job !== undefined || this.#last.length === 0) return job;
    if (this.#hasRefused || this.#waiting.peek() !== undefined || this.hasDeferred(doc)) return undefined;
    for (const last of this.#last) {
      this.#add(last, doc);
      this.#count(last, -1);
    }
    this.#last = [];
    return this.#first(doc, nowMs, ran, admit);
  }

  /** As `next` without `admit`, that job and those after it by turn, at most `max`. */
  upcoming(doc: DocumentVersion, nowMs: number, ran: ReadonlySet<string>, max: number): readonly Job[] {
    const jobs: Job[] = [];
    for (let job = this.next(doc, nowMs, ran); job !== undefined; job = this.#first(doc, nowMs, ran)) {
      this.#due.pop(job);
      jobs.push(job);
      if (jobs.length >= max) break;
    }
    for (const job of jobs) this.#due.push(job);
    return jobs;
  }

  #first(doc: DocumentVersion, nowMs: number, ran: ReadonlySet<string>, admit?: Admit): Job | undefined {
    for (let first = this.#waiting.peek(); first !== undefined; first = this.#waiting.peek()) {
      if (first.wakeClockMs > nowMs) break;
      this.#waiting.pop();
      this.#due.push(first.job);
    }
    for (let job = this.#due.peek(); job !== undefined; job = this.#due.peek()) {
      const wakeClockMs = this.#wakeOfJob(job, doc);
      const isInTime = wakeClockMs !== undefined && wakeClockMs <= nowMs && !ran.has(job.id);
      const isBlocked = isInTime && job.retires && doc.isRetiringBelow(job.id);
      const isCandidate = isInTime && !isBlocked;
      const admittance = isCandidate && admit !== undefined ? admit(job) : 'granted';
      if (isCandidate && admittance === 'granted') return job;
      this.#hasRefused ||= isCandidate;
      if (admittance === 'object') return undefined;
      if (admittance === 'handler') {
        this.#due.close(job.handler.id);
        continue;
      }
      this.#due.pop(job);
      if (wakeClockMs === undefined) this.#count(job, -1);
      else if (wakeClockMs > nowMs) this.#waiting.push({ job, wakeClockMs });
      else if (isBlocked) this.#block(job);
      else this.#deferred.push(job);
    }
    return undefined;
  }

  #block(job: Job): void {
    this.#blocked ??= new Map();
    this.#blocked.set(job.id, job);
  }

  /** Whether something is due that was not admitted. Known after `next` found nothing. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** Handlers that something is due of or waits, subs counted for their parents. */
  get behind(): ReadonlyMap<string, number> {
    return this.#behind;
  }

  /** When the first of those that wait may run, on the monotonic clock; `Infinity` if none waits. */
  get wakeClockMs(): number {
    return this.#waiting.peek()?.wakeClockMs ?? Number.POSITIVE_INFINITY;
  }

  /** Whether a job that was called in this pass has to be called in the next one. Known after `next` found nothing. */
  hasDeferred(doc: DocumentVersion): boolean {
    if (this.#deferred.length === 0) return false;
    // Beside others, one may have ended since it was put aside.
    const [deferred, done] = [this.#deferred, [] as Job[]];
    this.#deferred = deferred.filter((job) => this.#wakeOfJob(job, doc) !== undefined || done.push(job) === 0);
    for (const job of done) this.#count(job, -1);
    return this.#deferred.length > 0;
  }

  #add(job: Job, doc: DocumentVersion): void {
    if (this.#wakeOfJob(job, doc) === undefined) return;
    this.#due.push(job);
    this.#count(job, 1);
  }

  #addLast(job: Job): void {
    this.#last.push(job);
    this.#count(job, 1);
  }

  #count({ handler: { id } }: Job, change: 1 | -1): void {
    const count = (this.#behind.get(id) ?? 0) + change;
    this.#behind.set(id, count);
    if (count > 0) return;
    this.#behind.delete(id);
    this.#settled(id);
  }

  /** When a job may run; `undefined` if it need not. */
  #wakeOfJob(job: Job, doc: DocumentVersion): number | undefined {
    const record = doc.record(job.id);
    if (isDone(job, record)) return undefined;
    if (isOwn(job) && isFilteredStep(job.handler, doc, this.snapshot)) return undefined;
    return this.#wakeOf(job.id, waitOf(job, record));
  }
}

/** A call of the handler itself. */
function isOwn({ entry, retires }: Job): boolean {
  return entry === undefined && !retires;
}

function byTime(a: Waiting, b: Waiting): number {
  return a.wakeClockMs - b.wakeClockMs;
}

/** By turn (A5'); ties in the order of registration, and for subs in that of the plan. */
function byTurn(a: Job, b: Job): number {
  return a.at - b.at || a.handler.order - b.handler.order || a.place - b.place;
}

/** A parent takes the best place among its own and those of its subs, who cannot run before it (A5'). */
function turnOf(doc: DocumentVersion, id: string, ifAbsent = 0): number {
  const record = doc.record(id);
  let at = record?.at ?? ifAbsent;
  if (record?.plan === undefined) return at;
  for (const subId of planTable(record.plan, id).ids) at = Math.min(at, turnOf(doc, subId, at));
  return at;
}
