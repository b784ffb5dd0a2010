import type { RunResult } from '../queue/keyed-queue.ts';
import { type Adoption, adoptionOn } from './adoption.ts';
import { type Admit, Agenda, type WakeOf } from './agenda.ts';
import { CallSet } from './call-set.ts';
import { type CommitResult, commit, isOlder, reload, tellOld } from './commit.ts';
import { countEpisode } from './count-episode.ts';
import { equalData } from './diff.ts';
import type { DocumentVersion } from './document-version.ts';
import { type ExecutionResult, execute, needsRebuild } from './execute.ts';
import { hold, isHeld, mustHold, release } from './finalizer.ts';
import { episodeOf, isPlanned, isSameJob, type Job } from './jobs.ts';
import { landOwnWrites } from './land.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import { type PassDeps, readObject } from './pass-deps.ts';
import { executeRetirement } from './retire.ts';
import { mayRetire } from './retirement-turn.ts';
import type { Snapshot } from './snapshot.ts';

/** How often in a row a pass may begin anew on a newer state after it has opened an attempt (see `#begin`). */
const RESTARTS_MAX = 3;

/** Most attempts that one write opens, and most outcomes that wait for one, with `persist: 'pass'`. */
export const BATCH_MAX = 256;

/** Wait before reading again when the source answers with a state older than one that was used, in ms. */
const STALE_READ_DELAY_MS = 1000;

/**
 * One pass over one object: calls what is due on one frozen state, each at most once (A2'), one after the other. With
 * `parallel` it goes on while calls do, whose outcomes are pending once they have ended (A10'b); that is not drawn.
 *
 * ```text
 *   newest state S --> due jobs on S, by turn --> still wanted? --> commit [last outcome + intent] --> call --+
 *                          ^                          | no                                                    |
 *                          |                          v                                                       |
 *                          |                   commit the last outcome, end         outcome pending           |
 *                          +----------------------------------------------------------------------------------+
 * ```
 *
 * The pass is left, for a new one on the newest state, as soon as the next job is another one there (A10'); except that
 * a pass which has run a parent runs one leaf on the same state, so that edits faster than the parent cannot starve all
 * subs, and that with `complete` a pass which has begun to call goes on to its end.
 *
 * Calls and stores that never wait for anything make one chain of promises of it, which nothing else can interrupt: so
 * every call but the first, which the queue has counted, is a step of the pacer.
 */
export class Pass {
  readonly #deps: PassDeps;
  readonly #state: ObjectState;
  readonly #memory: UidMemory;
  readonly #snapshot: Snapshot;
  /** Called in this pass already, or shown to be impossible in it. */
  readonly #ran = new Set<string>();
  readonly #calls = new CallSet();
  #called = false;
  #hasPlanned = false;
  #hasLeaf = false;

  constructor(deps: PassDeps, state: ObjectState, memory: UidMemory, snapshot: Snapshot) {
    this.#deps = deps;
    this.#state = state;
    this.#memory = memory;
    this.#snapshot = snapshot;
  }

  async run(): Promise<RunResult> {
    try {
      if (this.#memory.doc === undefined) await reload(this.#deps, this.#state, this.#memory);
      this.#memory.agenda?.begin();
      if (this.#snapshot.deleting) this.#retireAll();
      const blocked = this.#mustRead() ? await this.#read() : undefined;
      if (blocked !== undefined) return blocked;
      this.#adopt();
      if (mustHold(this.#deps, this.#snapshot) && this.#isAlive() && !this.#deps.stopping.aborted) {
        await hold(this.#deps, this.#state, this.#snapshot);
        return 'again';
      }
      while (!this.#deps.stopping.aborted && this.#isAlive()) {
        const job = this.#firstOn(this.#snapshot, this.#admit);
        if (job === undefined) {
          if (this.#calls.size === 0) break;
          await this.#settleOne();
          continue;
        }
        const forced = this.#isForced();
        if (!forced && !isSameJob(job, this.#newest())) break;
        const begins = this.#begin(job, forced);
        if ((typeof begins === 'string' ? begins : await begins) !== 'carried') break;
        // Nothing between this and the call: whoever ends calls has to find it.
        const may = this.#mayCall(job);
        if (may === 'again') return 'again';
        if (may !== 'carried') break;
        const isAlone = this.#deps.parallel === 1 || this.#isAlone(job);
        const call = this.#execute(job, forced);
        if (isAlone) {
          if (call !== undefined) await call;
          if (this.#deps.persist === 'pass') await landOwnWrites(this.#deps, this.#state, this.#memory);
        } else if (call !== undefined) {
          this.#calls.add(call);
        }
        for (let turn = this.#deps.pacer.step(); turn !== undefined; turn = this.#deps.pacer.step()) await turn;
      }
      if (!this.#calls.isClear) await this.#calls.all();
      if (this.#memory.outcomes.length > 0) await commit(this.#deps, this.#state, this.#memory, undefined);
      if (this.#isCleanedUp()) await release(this.#deps, this.#state, this.#snapshot);
      return this.#next();
    } finally {
      // Whatever went wrong: the next pass must not begin beside calls of this one.
      if (this.#calls.size > 0) await this.#calls.all();
    }
  }

  /** Whether a job may be called now, beside those that are. */
  #hasRoom(job: Job): boolean {
    return this.#calls.size === 0 || this.#calls.size < (this.#isAlone(job) ? 1 : this.#deps.parallel);
  }

  /** Calls to rebuild are made alone, and serve all subs; so are those of a deletion (A10'b). */
  #isAlone(job: Job): boolean {
    return this.#snapshot.deleting || needsRebuild(this.#memory, job);
  }

  /** Waits for the end of a call. Its outcome is written with the next intent; if there is none for now, by itself. */
  async #settleOne(): Promise<void> {
    await this.#calls.one();
    if (this.#deps.persist === 'pass') {
      await landOwnWrites(this.#deps, this.#state, this.#memory);
    } else if (
      this.#calls.size > 0 &&
      this.#memory.outcomes.length > 0 &&
      this.#firstOn(this.#snapshot, this.#admit) === undefined
    ) {
      await commit(this.#deps, this.#state, this.#memory, undefined);
    }
  }

  /** What handlers take as done without a call (A14'). */
  #adoption(): Adoption | undefined {
    if (this.#memory.adoptedOn === this.#snapshot) return undefined;
    const adoption = adoptionOn(this.#doc(), this.#deps.handlers, this.#snapshot);
    return adoption?.isOptional === true && this.#firstOn(this.#snapshot) === undefined ? undefined : adoption;
  }

  /** Leaves it pending: it is written with the first intent, or else by itself. */
  #adopt(): void {
    if (!this.#isAlive() || this.#deps.stopping.aborted) return;
    const adoption = this.#adoption();
    this.#memory.adoptedOn = this.#snapshot;
    if (adoption !== undefined) this.#append(adoption.apply, this.#snapshot.resourceVersion);
  }

  /** Has something else written with what is pending. */
  #append(apply: (doc: DocumentVersion) => DocumentVersion, resourceVersion?: string): void {
    this.#memory.push({ apply, replans: true, resourceVersion });
    this.#memory.agenda = undefined;
  }

  /** The object is on its way out: its plans are empty from now on (A11'b). Written with the next intent. */
  #retireAll(): void {
    const parents = this.#deps.handlers.filter(({ retire }) => retire !== undefined).map(({ id }) => id);
    const doc = this.#doc();
    if (isHeld(this.#deps, this.#snapshot) && doc.retireAll(parents) !== doc) {
      this.#append((stored) => stored.retireAll(parents));
    }
  }

  /** Nothing is left to do for the deletion of the object, and it is only kept for us (A11'c). */
  #isCleanedUp(): boolean {
    const newest = this.#state.newest;
    if (newest !== this.#snapshot || !newest.deleting || !isHeld(this.#deps, newest)) return false;
    if (this.#deps.stopping.aborted || this.#memory.outcomes.length > 0) return false;
    if (this.#firstOn(newest) !== undefined || this.#isUnclear(newest) || this.#isOccupied()) return false;
    const agenda = this.#agendaOf(newest);
    return !agenda.hasDeferred(this.#doc()) && agenda.wakeClockMs === Number.POSITIVE_INFINITY;
  }

  /**
   * Nobody knows whether a handler for the deletion is for this state: its filter or its view has a fault. The object is
   * kept until there is another state, or another version of the program.
   */
  #isUnclear(newest: Snapshot): boolean {
    return this.#deps.handlers.some(({ kind, id }) => kind === 'delete' && newest.hasFault(id));
  }

  /** Daemons of this uid have not ended yet (A23'). When they have, there is another pass. */
  #isOccupied(): boolean {
    return this.#deps.isOccupied(this.#state.name, this.#memory.uid);
  }

  /**
   * Before a process does anything for a uid, it reads the object itself: the state it heard of may come from an old
   * list, and be older than what an earlier process has handled (rows 17, 18, 23). If nothing is due, it need not.
   */
  #mustRead(): boolean {
    if (!this.#isAlive()) return false;
    if (this.#isKnownOld()) return true;
    return !this.#memory.fresh && (this.#firstOn(this.#snapshot) !== undefined || this.#adoption() !== undefined);
  }

  #isKnownOld(): boolean {
    return isOlder(this.#deps, this.#snapshot, this.#doc());
  }

  async #read(): Promise<RunResult | undefined> {
    const isKnownOld = this.#isKnownOld();
    await readObject(this.#deps, this.#state);
    this.#memory.fresh = true;
    if (this.#state.newest !== this.#snapshot) return 'again';
    if (!isKnownOld) return undefined;
    tellOld(this.#deps, this.#memory, this.#snapshot);
    return { afterMs: STALE_READ_DELAY_MS };
  }

  /**
   * Opens the job's attempt, and with `persist: 'pass'` those of the jobs after it (A12'b). None is needed for a retry of an
   * attempt that this process has opened, unless there is an outcome to write anyway (A12').
   *
   * The state is fixed by the first call, not by the start of the pass: if a newer one has come while the intent was
   * being written, the pass begins anew on it. Under edits faster than a write that would never end, so after
   * `RESTARTS_MAX` times the call is made on what it was opened for.
   */
  #begin(job: Job, forced: boolean): CommitResult | Promise<CommitResult> {
    const memory = this.#memory;
    if (!this.#mustWrite(job) && isOpenedBy(memory, job)) return 'carried';
    const intent = { job, next: this.#jobsAfter(job), snapshot: this.#snapshot, forced };
    return commit(this.#deps, this.#state, memory, intent);
  }

  /** Whether a job whose attempt is open is still to be called. */
  #mayCall(job: Job): 'carried' | 'superseded' | 'again' {
    const memory = this.#memory;
    if (!this.#isAlive() || this.#deps.stopping.aborted || this.#mayNotCallNow()) return 'superseded';
    if (!this.#called && this.#isOutdated() && memory.restarts < RESTARTS_MAX) {
      memory.restarts++;
      return 'again';
    }
    memory.restarts = 0;
    if (!job.retires) countEpisode(this.#deps, memory, this.#snapshot, job);
    return 'carried';
  }

  /** Whether what is pending has to be in the store before the job is called, though its own attempt is open. */
  #mustWrite(job: Job): boolean {
    const { outcomes, doc } = this.#memory;
    if (this.#deps.persist === 'call') return outcomes.length > 0;
    // What a pass before this one could not write may be about the same job, and so may its parent's plan.
    if (doc === undefined || (outcomes.length > 0 && (!this.#called || outcomes.length >= BATCH_MAX))) return true;
    return job.retires ? !mayRetire(doc, job, this.#snapshot) : !isPlanned(job, doc);
  }

  /** What is to be opened together with a job. */
  #jobsAfter(job: Job): readonly Job[] {
    if (this.#deps.persist === 'call') return [];
    const agenda = this.#agendaOf(this.#snapshot);
    const jobs = agenda.upcoming(this.#doc(), this.#deps.clock.now(), this.#ran, BATCH_MAX);
    return jobs.filter((next) => next.id !== job.id && !isOpenedBy(this.#memory, next));
  }

  /** Another state has come that has other content. Records on the object make one without, at each write (A42'). */
  #isOutdated(): boolean {
    const newest = this.#newest();
    if (newest === this.#snapshot) return false;
    if (newest.uid !== this.#snapshot.uid || this.#deps.progress.conceal === undefined) return true;
    const isHeldAlike = equalData(newest.finalizers, this.#snapshot.finalizers);
    return !isHeldAlike || !equalData(newest.object, this.#snapshot.object);
  }

  /** Answers at once where the call has ended by then. */
  #execute(job: Job, forced: boolean): Promise<void> | undefined {
    const { id } = job;
    const execution = {
      deps: this.#deps,
      state: this.#state,
      memory: this.#memory,
      snapshot: this.#snapshot,
      job,
      episode: episodeOf(job, this.#memory.doc?.record(id)),
      forced,
      trial: { begun: 0 },
    };
    this.#called = true;
    // Neither again in this pass, nor twice at a time.
    this.#ran.add(id);
    if (job.retires) {
      return executeRetirement(execution).then(() => this.#memory.agenda?.retired(id, this.#doc()));
    }
    const result = execute(execution);
    if (typeof result !== 'string') return result.then((executed) => this.#executed(job, executed));
    this.#executed(job, result);
    return undefined;
  }

  #executed(job: Job, result: ExecutionResult): void {
    const { id, handler } = job;
    if (result === 'planned') {
      this.#hasPlanned = true;
      this.#memory.agenda?.addSubs(job, this.#doc());
    }
    if (result === 'planned' || result === 'leaf') this.#memory.agenda?.addRetiring(handler, id, this.#doc());
    if (result === 'leaf') this.#hasLeaf = true;
    // A sub whose parent has just planned otherwise may be called in this pass, if it is still planned.
    if (result === 'replanned') this.#ran.delete(id);
  }

  /** Whether the next job runs on this state even if it is another one on the newest (A10'). */
  #isForced(): boolean {
    if (this.#deps.policy === 'complete' && this.#called) return true;
    return this.#hasPlanned && !this.#hasLeaf && this.#calls.size === 0;
  }

  /** The object of this pass still lives, as far as is known, and is not on its way out since the pass began (A11'). */
  #isAlive(): boolean {
    const newest = this.#state.newest;
    return newest?.uid === this.#snapshot.uid && newest.deleting === this.#snapshot.deleting;
  }

  #newest(): Snapshot {
    return this.#state.newest ?? this.#snapshot;
  }

  #doc(): DocumentVersion {
    return this.#memory.effective(this.#state.name);
  }

  /** What is to be done on a state: kept from the last pass if that was on it, too. */
  #agendaOf(snapshot: Snapshot): Agenda {
    const memory = this.#memory;
    if (memory.agenda?.snapshot !== snapshot) {
      const { clock } = this.#deps;
      // Who does not keep the object for a clean-up has no part in its deletion.
      const isOurs = !snapshot.deleting || isHeld(this.#deps, snapshot);
      const { handlers: all } = this.#deps;
      const { resumed } = memory;
      const left = resumed.size === 0 ? all : all.filter(({ id }) => !resumed.has(id));
      const handlers = isOurs ? left : [];
      const wakeOf: WakeOf = (id, attempt) => memory.wakeOf(id, attempt, clock);
      memory.agenda = new Agenda(snapshot, this.#doc(), handlers, wakeOf, (id) => memory.lag.settled(id));
      memory.lag.become(memory.agenda.behind, this.#state.unseenSinceMs ?? clock.now());
      if (snapshot === this.#state.newest) this.#state.unseenSinceMs = undefined;
    }
    return memory.agenda;
  }

  /** The first job that is due; with `admit`, that may be called now. */
  #firstOn(snapshot: Snapshot, admit?: Admit): Job | undefined {
    return this.#agendaOf(snapshot).next(this.#doc(), this.#deps.clock.now(), this.#ran, admit);
  }

  /** Without room nothing is asked for, since what is granted is kept from others (A46'). */
  readonly #admit: Admit = (job) =>
    this.#mayNotCallNow() || !this.#hasRoom(job) ? 'object' : this.#deps.admission.ask(this.#state.name, job.handler);

  /** No call begins for this object now: the controller pauses, or its breaker is open. */
  #mayNotCallNow(): boolean {
    if (this.#deps.admission.isPaused) return true;
    const { breaker } = this.#memory;
    return breaker !== undefined && breaker.wakeClockMs > this.#deps.clock.now();
  }

  /** What the queue is to do with the object now. */
  #next(): RunResult {
    const newest = this.#state.newest;
    if (newest === undefined || newest.uid !== this.#snapshot.uid) return 'again';
    if (newest.deleting && !isHeld(this.#deps, newest)) {
      this.#memory.lag.clear();
      return 'idle';
    }
    if (newest.deleting !== this.#snapshot.deleting || mustHold(this.#deps, newest)) return 'again';
    this.#deps.admission.review(this.#state.name);
    const isDue = this.#firstOn(newest, this.#admit) !== undefined;
    const agenda = this.#agendaOf(newest);
    const { wakeClockMs } = agenda;
    if (isDue || agenda.hasDeferred(this.#doc())) return 'again';
    if (agenda.hasRefused) return this.#waitForAdmission(wakeClockMs);
    if (wakeClockMs !== Number.POSITIVE_INFINITY) return { afterMs: Math.max(0, wakeClockMs - this.#deps.clock.now()) };
    this.#memory.agenda = undefined;
    // Held to the end: another state has come while the finalizer was to be removed.
    if (!newest.deleting || this.#isUnclear(newest) || this.#isOccupied()) return 'idle';
    return this.#deps.stopping.aborted ? 'idle' : 'again';
  }

  /** Something is due and may not be called: the end of the pause, the breaker, or whoever makes room, wakes the object. */
  #waitForAdmission(wakeClockMs: number): RunResult {
    const { admission, clock } = this.#deps;
    // In line, where the pause keeps it.
    if (admission.isPaused) return 'again';
    const nowMs = clock.now();
    const openUntilMs = this.#memory.breaker?.wakeClockMs ?? 0;
    return { afterMs: Math.max(0, (openUntilMs > nowMs ? openUntilMs : wakeClockMs) - nowMs) };
  }
}

/** An attempt that this process has opened: a retry of it needs no intent (A12'). */
function isOpenedBy(memory: UidMemory, { id, digest, retires }: Job): boolean {
  const record = memory.doc?.record(id);
  const opened = memory.opened.get(id);
  if (opened === undefined || record === undefined) return false;
  if (retires) return record.retirement?.episode === opened;
  return record.attempt?.digest === digest && record.attempt.state === 'open' && record.episode === opened;
}
