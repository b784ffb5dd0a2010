import type { RunResult } from '../queue/keyed-queue.ts';
import { type Adoption, adoptionOn } from './adoption.ts';
import { Agenda } from './agenda.ts';
import { type CommitResult, commit, isOlder, reload } from './commit.ts';
import { diffViews, equalData } from './diff.ts';
import type { DocumentVersion } from './document-version.ts';
import { type ExecutionResult, executeHandler, executeSub } from './execute.ts';
import { hold, isHeld, mustHold, release } from './finalizer.ts';
import { isSameJob, type Job, viewOn } from './jobs.ts';
import { type ObjectState, UidMemory } from './object-memory.ts';
import { type PassDeps, readObject } from './pass-deps.ts';
import { executeRetirement } from './retire.ts';
import type { Snapshot } from './snapshot.ts';

/** How often in a row a pass may begin anew on a newer state after it has opened an attempt (see `#begin`). */
const RESTARTS_MAX = 3;

/** Wait before reading again when the source answers with a state older than one that was used, in ms. */
const STALE_READ_DELAY_MS = 1000;

/**
 * One pass over one object: calls what is due on one frozen state, one after the other, each at most once (A2').
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
export async function runPass(deps: PassDeps, state: ObjectState): Promise<RunResult> {
  deps.counters.passes++;
  await deleteGarbage(deps, state);
  const snapshot = state.newest;
  if (snapshot === undefined) {
    state.memory = undefined;
    if (state.garbage.length === 0) deps.table.forget(state.name);
    return state.garbage.length === 0 ? 'idle' : 'again';
  }
  if (state.memory?.uid !== snapshot.uid) state.memory = new UidMemory(snapshot.uid);
  return new Pass(deps, state, state.memory, snapshot).run();
}

/** Documents of dead uids go before anything is done for the living one. */
async function deleteGarbage(deps: PassDeps, state: ObjectState): Promise<void> {
  for (const uid of state.garbage) {
    if (deps.stopped.aborted) return;
    await deps.progress.delete(uid);
    state.collected(uid);
  }
}

class Pass {
  readonly #deps: PassDeps;
  readonly #state: ObjectState;
  readonly #memory: UidMemory;
  readonly #snapshot: Snapshot;
  /** Called in this pass already, or shown to be impossible in it. */
  readonly #ran = new Set<string>();
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
    if (this.#memory.doc === undefined) await reload(this.#deps, this.#state, this.#memory);
    this.#memory.agenda?.begin();
    if (this.#snapshot.deleting) this.#retireAll();
    const blocked = await this.#readFirst();
    if (blocked !== undefined) return blocked;
    this.#adopt();
    if (mustHold(this.#deps, this.#snapshot) && this.#isAlive() && !this.#deps.stopping.aborted) {
      await hold(this.#deps, this.#state, this.#snapshot);
      return 'again';
    }
    while (!this.#deps.stopping.aborted && this.#isAlive()) {
      const job = this.#firstOn(this.#snapshot);
      if (job === undefined) break;
      const forced = this.#isForced();
      if (!forced && !isSameJob(job, this.#newest())) break;
      const begun = await this.#begin(job, forced);
      if (begun === 'again') return 'again';
      if (begun !== 'carried') break;
      await this.#execute(job, forced);
      for (let turn = this.#deps.pacer.step(); turn !== undefined; turn = this.#deps.pacer.step()) await turn;
    }
    if (this.#memory.pending !== undefined) await commit(this.#deps, this.#state, this.#memory, undefined);
    if (this.#isCleanedUp()) await release(this.#deps, this.#state, this.#snapshot);
    return this.#next();
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
    const before = this.#memory.pending;
    this.#memory.pending = {
      apply: (stored) => apply(before?.apply(stored) ?? stored),
      replans: true,
      write: before?.write,
      resourceVersion: resourceVersion ?? before?.resourceVersion,
    };
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
    if (this.#deps.stopping.aborted || this.#memory.pending !== undefined) return false;
    if (this.#firstOn(newest) !== undefined || this.#isUnclear(newest)) return false;
    const { hasHeld, wakeClockMs } = this.#agendaOf(newest);
    return !hasHeld && wakeClockMs === Number.POSITIVE_INFINITY;
  }

  /**
   * Nobody knows whether a handler for the deletion is for this state: its filter or its view has a fault. The object is
   * kept until there is another state, or another version of the program.
   */
  #isUnclear(newest: Snapshot): boolean {
    return this.#deps.handlers.some(({ kind, id }) => kind === 'delete' && newest.hasFault(id));
  }

  /**
   * Before a process does anything for a uid, it reads the object itself: the state it heard of may come from an old
   * list, and be older than what an earlier process has handled (rows 17, 18, 23). If nothing is due, it need not.
   */
  async #readFirst(): Promise<RunResult | undefined> {
    const memory = this.#memory;
    const isKnownOld = isOlder(this.#deps, this.#snapshot, this.#doc());
    if (!this.#isAlive() || (memory.fresh && !isKnownOld)) return undefined;
    if (!isKnownOld && this.#firstOn(this.#snapshot) === undefined && this.#adoption() === undefined) return undefined;
    await readObject(this.#deps, this.#state);
    memory.fresh = true;
    const newest = this.#state.newest;
    if (newest !== this.#snapshot) return 'again';
    return isKnownOld ? { afterMs: STALE_READ_DELAY_MS } : undefined;
  }

  /**
   * Opens the job's attempt. None is needed for a retry of an attempt that this process has opened, unless there is an
   * outcome to write anyway (A12').
   *
   * The state is fixed by the first call, not by the start of the pass: if a newer one has come while the intent was
   * being written, the pass begins anew on it. Under edits faster than a write that would never end, so after
   * `RESTARTS_MAX` times the call is made on what it was opened for.
   */
  async #begin(job: Job, forced: boolean): Promise<CommitResult | 'again'> {
    const memory = this.#memory;
    if (memory.pending !== undefined || !isOpenedBy(memory, job)) {
      const result = await commit(this.#deps, this.#state, memory, { job, snapshot: this.#snapshot, forced });
      if (result !== 'carried') return result;
    }
    if (!this.#isAlive() || this.#deps.stopping.aborted) return 'superseded';
    if (!this.#called && this.#isOutdated() && memory.restarts < RESTARTS_MAX) {
      memory.restarts++;
      return 'again';
    }
    memory.restarts = 0;
    if (!job.retires) this.#guard(job);
    return 'carried';
  }

  /** Another state has come that has other content. Records on the object make one without, at each write (A42'). */
  #isOutdated(): boolean {
    const newest = this.#newest();
    if (newest === this.#snapshot) return false;
    if (newest.uid !== this.#snapshot.uid || this.#deps.progress.conceal === undefined) return true;
    const isHeldAlike = equalData(newest.finalizers, this.#snapshot.finalizers);
    return !isHeldAlike || !equalData(newest.object, this.#snapshot.object);
  }

  /** Counts the episode that begins; one that own writes have brought about again and again is told of (A8'). */
  #guard(job: Job): void {
    const { guard, doc } = this.#memory;
    const { clock, counters, logger } = this.#deps;
    const record = doc?.record(job.id);
    const paths = (): readonly string[] =>
      diffViews(doc?.baseOf(record), viewOn(this.#snapshot, job)?.value).map(({ path }) => path);
    const loop = guard.begun(job, record?.episode ?? 0, clock.now(), job.handler.backoff, paths);
    if (loop === undefined) return;
    counters.loops++;
    const { name, uid, resourceVersion } = this.#snapshot;
    logger.warn(`Handler "${job.id}" is called again and again for what handlers write: it is slowed down`, {
      name,
      uid,
      resourceVersion,
      handler: job.id,
      episodes: loop.episodes,
      paths: loop.paths,
    });
  }

  async #execute(job: Job, forced: boolean): Promise<void> {
    const { entry } = job;
    const execution = {
      deps: this.#deps,
      state: this.#state,
      memory: this.#memory,
      snapshot: this.#snapshot,
      job,
      forced,
    };
    this.#called = true;
    if (job.retires) {
      await executeRetirement(execution);
      this.#ran.add(job.id);
      return;
    }
    const result: ExecutionResult =
      entry === undefined ? await executeHandler(execution) : await executeSub(execution, entry);
    if (result === 'planned') {
      this.#hasPlanned = true;
      this.#memory.agenda?.addSubs(job.handler, this.#doc());
    }
    if (entry === undefined) this.#memory.agenda?.addRetiring(job.handler, this.#doc());
    if (result === 'leaf') this.#hasLeaf = true;
    // A sub whose parent has just planned otherwise may be called in this pass, if it is still planned.
    if (result !== 'unrunnable' || this.#memory.pending === undefined) this.#ran.add(job.id);
  }

  /** Whether the next job runs on this state even if it is another one on the newest (A10'). */
  #isForced(): boolean {
    return (this.#deps.policy === 'complete' && this.#called) || (this.#hasPlanned && !this.#hasLeaf);
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
      const handlers = isOurs ? this.#deps.handlers : [];
      memory.agenda = new Agenda(snapshot, this.#doc(), handlers, (id, attempt) => memory.wakeOf(id, attempt, clock));
    }
    return memory.agenda;
  }

  #firstOn(snapshot: Snapshot): Job | undefined {
    return this.#agendaOf(snapshot).next(this.#doc(), this.#deps.clock.now(), this.#ran);
  }

  /** What the queue is to do with the object now. */
  #next(): RunResult {
    const newest = this.#state.newest;
    if (newest === undefined || newest.uid !== this.#snapshot.uid) return 'again';
    if (newest.deleting && !isHeld(this.#deps, newest)) return 'idle';
    if (newest.deleting !== this.#snapshot.deleting || mustHold(this.#deps, newest)) return 'again';
    const isDue = this.#firstOn(newest) !== undefined;
    const { hasHeld, wakeClockMs } = this.#agendaOf(newest);
    if (isDue || hasHeld) return 'again';
    if (wakeClockMs !== Number.POSITIVE_INFINITY) return { afterMs: Math.max(0, wakeClockMs - this.#deps.clock.now()) };
    this.#memory.agenda = undefined;
    // Held to the end: another state has come while the finalizer was to be removed.
    return newest.deleting && !this.#isUnclear(newest) && !this.#deps.stopping.aborted ? 'again' : 'idle';
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
