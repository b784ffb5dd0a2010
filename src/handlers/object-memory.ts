import type { Clock } from '../types/clock.ts';
import type { Agenda } from './agenda.ts';
import type { Breaker } from './breaker.ts';
import type { RunningCall } from './call.ts';
import { type DocumentVersion, emptyDocument } from './document-version.ts';
import { episodeOf, type Job } from './jobs.ts';
import { Lag } from './lag.ts';
import { LoopGuard } from './loop-guard.ts';
import type { OwnWrite } from './own-write.ts';
import type { Wait } from './record.ts';
import { parentIdOf } from './record-id.ts';
import type { SubHandler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';

/** Dead uids remembered per name until their documents are deleted; beyond that the next list finds the rest. */
const GARBAGE_MAX = 64;

/** Writes whose answer got lost, remembered per generation. Redoing one that is forgotten is harmless (see settleAttempt). */
const UNSURE_MAX = 64;

/** A change to the document that has happened in the world and waits to be written. Can be done over (A12'). */
export interface PendingOutcome {
  readonly apply: (doc: DocumentVersion) => DocumentVersion;
  /** It replaces a plan, so records may leave. */
  readonly replans: boolean;
  /** Of a state that was taken as done without a call; the document has seen it. */
  readonly resourceVersion?: string | undefined;
  /** What the call has asked to be written into the object, before its outcome is (A8'). */
  readonly write?: OwnWrite | undefined;
  /** What it is in place of `apply` where the source has made nothing of the patches, as far as the handler sees (A8'c). */
  readonly ignored?: (() => PendingOutcome['apply']) | undefined;
}

/** What a write of ours carried. */
export interface SentWrite {
  readonly outcomes: readonly PendingOutcome[];
  /** What it opened. */
  readonly jobs: readonly Pick<Job, 'id' | 'retires'>[];
}

/** What a parent registered on one digest of its own. */
export interface Closures {
  readonly digest: string;
  readonly subs: ReadonlyMap<string, SubHandler>;
}

/** A stored wall-clock time and what it means on the monotonic clock. */
export interface Deadline {
  readonly wakeAtWallMs: number;
  readonly deadlineClockMs: number;
}

/** How long the subs of a parent rest whose rebuild call has failed, and how often it has. */
export interface RebuildRest {
  readonly deadlineClockMs: number;
  readonly failures: number;
}

/**
 * What a process knows about one uid beyond its document. All of it may be lost: a crash loses it.
 */
export class UidMemory {
  readonly uid: string;
  /** The document as last read or written; `undefined` before the first read. */
  doc: DocumentVersion | undefined;
  /** What is due on the state that was looked at last, for as long as there is anything and `doc` is followed by it. */
  agenda: Agenda | undefined;
  /** This process has read the object itself, not only heard of it (A12'). */
  fresh = false;
  /** This process has looked for records of handlers that are no more. */
  isTidied = false;
  /** The state that was looked at for what is to be taken as done on it, since `doc` was read. */
  adoptedOn: Snapshot | undefined;
  /** Functions of the planned subs, valid for the parent's digest they were registered at (A9'd). */
  readonly closures: Map<string, Closures> = new Map();
  /** Episodes with an attempt opened by this process: retries of these need no intent (A12'). */
  readonly opened: Map<string, number> = new Map();
  /** Monotonic deadlines of stored wall-clock ones, so that a jump of the wall clock moves nothing (A4'). */
  readonly deadlines: Map<string, Deadline> = new Map();
  /** Parents whose rebuild call failed, until when their subs rest and how often. */
  readonly rebuilds: Map<string, RebuildRest> = new Map();
  /** Records whose last call was aborted for newer input: the next one may finish. */
  readonly spared: Set<string> = new Set();
  /**
   * Handlers of kind `resume` whose call has come to its end in this process. The record says who was called last: another
   * process that lives has written its own over it perhaps.
   */
  readonly resumed: Set<string> = new Set();
  readonly guard: LoopGuard = new LoopGuard();
  /** `undefined` where the controller has none. */
  readonly breaker: Breaker | undefined;
  /** For which handlers the object is behind. */
  readonly lag: Lag = new Lag();
  /** What the last failed call of a record said, until it succeeds. */
  readonly errors: Map<string, string> = new Map();
  /** It was told that the source shows a state older than the one that `doc` was made on. */
  isToldOld = false;
  /** Passes in a row that opened an attempt and then began anew on a newer state. */
  restarts = 0;
  readonly #unsure = new Map<string, SentWrite>();
  #outcomes: PendingOutcome[] = [];
  /** `doc` with so many of the outcomes. */
  #applied: { readonly doc: DocumentVersion; readonly count: number; readonly result: DocumentVersion } | undefined;

  constructor(uid: string, breaker?: Breaker) {
    this.uid = uid;
    this.breaker = breaker;
  }

  /** Somebody else has changed the object. */
  foreign(before: Snapshot, after: Snapshot): void {
    this.guard.foreign(before, after);
    this.breaker?.foreign();
  }

  /** What waits to be written, in the order in which it happened. */
  get outcomes(): readonly PendingOutcome[] {
    return this.#outcomes;
  }

  push(outcome: PendingOutcome): void {
    // There is seldom more than one: a list that grows has room for many at once.
    if (this.#outcomes.length === 0) this.#outcomes = [outcome];
    else this.#outcomes.push(outcome);
  }

  /** One of them has come to something else, or, `undefined`, to nothing. */
  replace(outcome: PendingOutcome, by: PendingOutcome | undefined): void {
    this.#outcomes = this.#outcomes.flatMap((known) => (known === outcome ? (by ?? []) : known));
    this.#applied = undefined;
  }

  /** These are written, or not worth it. */
  drop(outcomes: readonly PendingOutcome[]): void {
    if (outcomes.length === 0) return;
    if (outcomes.length === 1 && this.#outcomes.length === 1 && outcomes[0] === this.#outcomes[0]) {
      this.#outcomes = [];
    } else {
      const gone = new Set(outcomes);
      this.#outcomes = this.#outcomes.filter((outcome) => !gone.has(outcome));
    }
    this.#applied = undefined;
  }

  /** The document with what waits to be written. Asked after every call, so it goes on where it was. */
  effective(name: string): DocumentVersion {
    const doc = this.doc ?? emptyDocument(this.uid, name);
    if (this.#outcomes.length === 0) return doc;
    let known = this.#applied;
    if (known?.doc !== doc) known = { doc, count: 0, result: doc };
    const { length } = this.#outcomes;
    if (known.count === length) return known.result;
    let { result } = known;
    for (let place = known.count; place < length; place++) result = this.#outcomes[place]?.apply(result) ?? result;
    this.#applied = { doc, count: length, result };
    return result;
  }

  /**
   * The monotonic time from which on a job may run. The stored one is wall time, for other processes: it is read once,
   * and believed for at most the delay that was meant (A4'). Subs of a parent that cannot be rebuilt rest as long as that,
   * and a new episode of a handler in a loop waits for the guard (A8').
   */
  wakeOf(id: string, attempt: Wait | undefined, clock: Clock): number {
    const restMs = this.#restOf(id);
    if (attempt === undefined) return Math.max(restMs, this.guard.wakeOf(id));
    if (attempt.wakeAtWallMs === 0) return restMs;
    let known = this.deadlines.get(id);
    if (known?.wakeAtWallMs !== attempt.wakeAtWallMs) {
      const leftMs = Math.min(Math.max(0, attempt.wakeAtWallMs - clock.wallTime()), attempt.delayMs);
      known = { wakeAtWallMs: attempt.wakeAtWallMs, deadlineClockMs: clock.now() + leftMs };
      this.deadlines.set(id, known);
    }
    return Math.max(known.deadlineClockMs, restMs);
  }

  /**
   * An attempt of this process is followed by a wait. What the wall clock says is for other processes: two waits may end
   * at the same wall time, where that stands still or goes back.
   */
  waits(id: string, { wakeAtWallMs, delayMs }: Wait, clock: Clock): void {
    if (delayMs > 0) this.deadlines.set(id, { wakeAtWallMs, deadlineClockMs: clock.now() + delayMs });
  }

  /** Until when the subs of a parent above it rest. */
  #restOf(id: string): number {
    let deadlineClockMs = 0;
    if (this.rebuilds.size === 0) return deadlineClockMs;
    for (let above = parentIdOf(id); above !== undefined; above = parentIdOf(above)) {
      deadlineClockMs = Math.max(deadlineClockMs, this.rebuilds.get(above)?.deadlineClockMs ?? 0);
    }
    return deadlineClockMs;
  }

  /** Remembers a write that may or may not have happened. */
  doubt(writeId: string, sent: SentWrite): void {
    const oldest = this.#unsure.keys().next();
    if (this.#unsure.size >= UNSURE_MAX && oldest.done !== true) this.#unsure.delete(oldest.value);
    this.#unsure.set(writeId, sent);
  }

  /** Takes a document just read; if one of our doubtful writes made it, that write has happened (row 21). */
  reload(doc: DocumentVersion): void {
    this.doc = doc;
    this.agenda = undefined;
    this.adoptedOn = undefined;
    const sent = this.#unsure.get(doc.header.writeId);
    if (sent !== undefined) this.#landed(sent);
    this.#trim();
  }

  /** A write of ours is the present document, so no earlier one can land any more. */
  wrote(doc: DocumentVersion, sent: SentWrite): void {
    this.doc = doc;
    this.#landed(sent);
    if (sent.outcomes.some(({ replans }) => replans)) this.#trim();
  }

  /** `doc` is what it has written. */
  #landed(sent: SentWrite): void {
    this.drop(sent.outcomes);
    for (const job of sent.jobs) this.opened.set(job.id, episodeOf(job, this.doc?.record(job.id)));
    if (this.#unsure.size > 0) this.#unsure.clear();
  }

  /** Forgets what belongs to records that are gone. */
  #trim(): void {
    const { closures, opened, deadlines, rebuilds, spared, guard, errors } = this;
    for (const map of [closures, opened, deadlines, rebuilds, spared, guard, errors]) {
      for (const id of map.keys()) if (this.doc?.record(id) === undefined) map.delete(id);
    }
  }
}

/**
 * A patch without an answer yet. A watch is often faster than the answer, so whose the state is that follows the one which
 * was patched, only the answer tells; those after it are somebody else's, since the patch was for that one state.
 */
interface SentPatch {
  readonly base: Snapshot;
  readonly next: Snapshot | undefined;
}

const NONE: readonly RunningCall[] = [];

/** What a process knows about one name. */
export class ObjectState {
  readonly name: string;
  newest: Snapshot | undefined;
  /** Monotonic time of the first state that no pass has looked at. */
  unseenSinceMs: number | undefined;
  memory: UidMemory | undefined;
  /** The last failure of the progress store or the source, and until when nothing is done for the object. */
  trouble: { readonly error: string; readonly untilClockMs: number } | undefined;
  #running: readonly RunningCall[] = NONE;
  #sent: SentPatch | undefined;
  readonly #garbage = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  /** Makes a state the newest and tells the running call, and the guard if the state is not of our own making. */
  replace(newest: Snapshot | undefined, isOwn = false): void {
    const before = this.newest;
    if (before !== undefined && newest?.uid === before.uid && this.memory?.uid === before.uid && !isOwn) {
      if (this.#sent?.base === before) this.#sent = { base: before, next: newest };
      else this.memory.foreign(before, newest);
    }
    this.newest = newest;
    for (const call of this.#running) call.reconsider(newest);
  }

  /** Calls that are going on: one, or as many as may be at a time within one object. A list that is not changed any more. */
  get running(): readonly RunningCall[] {
    return this.#running;
  }

  enter(call: RunningCall): void {
    this.#running = this.#running.length === 0 ? [call] : [...this.#running, call];
  }

  leave(call: RunningCall): void {
    this.#running = this.#running.length === 1 ? NONE : this.#running.filter((other) => other !== call);
  }

  /** A patch of the newest state is on its way. */
  patchSent(): void {
    this.#sent = this.newest && { base: this.newest, next: undefined };
  }

  /** What became of it is known. `isOwn` says whether it is what made a state. */
  patchEnded(isOwn: (state: Snapshot) => boolean): void {
    const sent = this.#sent;
    this.#sent = undefined;
    if (sent?.next === undefined || isOwn(sent.next) || this.memory?.uid !== sent.base.uid) return;
    this.memory.foreign(sent.base, sent.next);
  }

  get hasGarbage(): boolean {
    return this.#garbage.size > 0;
  }

  /** Uids whose documents have to go. */
  get garbage(): readonly string[] {
    return [...this.#garbage];
  }

  discard(uid: string): void {
    if (this.#garbage.size < GARBAGE_MAX) this.#garbage.add(uid);
  }

  collected(uid: string): void {
    this.#garbage.delete(uid);
  }
}
