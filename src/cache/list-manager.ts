import type { Backoff } from '../queue/backoff.ts';
import type { Applier } from '../store/applier.ts';
import type { Mvcc } from '../store/mvcc.ts';
import type { Backend, BackendPosition, BackendWatchItem, BackendWatchStream } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, IdentityChangedError, StoreFullError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { StoreStats } from '../types/store.ts';
import { untilAborted } from '../types/until-aborted.ts';
import type { WatchHub } from '../watch/hub.ts';
import { AppliedWaits } from './applied-waits.ts';
import { applyList, isKnown, makingRoom } from './apply-list.ts';
import { Barrier, type BarrierPosition } from './barrier.ts';
import { ConsistencyKeeper } from './consistency-keeper.ts';
import { isFinal, needsList, Replaced, Stalled, Violation } from './failures.ts';
import { type FollowOptions, follow } from './follow.ts';
import { FreshnessKeeper } from './freshness-keeper.ts';
import { changesOf, rowsOf } from './ingress.ts';
import type { ReplicatedPrefixes } from './prefixes.ts';
import { ProgressAsker } from './progress-asker.ts';
import { Questions } from './questions.ts';
import { ReadyGate } from './ready-gate.ts';
import { compareRelist, type ListedState } from './relist.ts';
import { RetryPace } from './retry-pace.ts';
import { Stall } from './stall.ts';
import { whatChanged } from './what-changed.ts';

export interface ListManagerOptions<V, K extends Key> {
  readonly backend: Backend;
  readonly mvcc: Mvcc<V, K>;
  readonly hub: WatchHub;
  readonly applier: Applier<V, K>;
  readonly prefixes: ReplicatedPrefixes;
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: Backoff;
  /** Never throws. */
  readonly logger: Logger;
  readonly maxStaleMs: number | undefined;
  readonly consistencyCheckMs: number | undefined;
  /** The data were replaced: leases and pins are lost (D22). */
  readonly onReset: (error: IdentityChangedError) => void;
}

/**
 * Keeps a replica in step with a backend: list at S, stream from S + 1, and again whenever the stream is lost.
 *
 * ```text
 *             snapshot S       open, verified              CompactedError, violation
 *   PRIMING ------------> OPENING -----> LIVE (ready) ------------------------------> RELISTING
 *      ^                    ^  ^          | change R > A: publish R                       |
 *      |                    |  +----------+ lost: again from A + 1, with backoff          |
 *      |                    +-------------------- span (A, S] published ------------------+
 *      +--- RESET (epoch + 1, not ready): other identity, an answer below what was seen, contents that cannot be ---
 * ```
 *
 * One feeder: only stream items and snapshots change the state, never the answer of a write (M2). The applied revision
 * is a proof: everything up to it in the replicated ranges is in the snapshot, because the stream is ordered (M1).
 */
export class ListManager<V, K extends Key> {
  readonly gate: ReadyGate = new ReadyGate();
  readonly #counts = { violations: 0, relists: 0, connections: 0 };
  readonly #options: ListManagerOptions<V, K>;
  readonly #waits = new AppliedWaits();
  readonly #lifetime = new AbortController();
  readonly #questions: Questions;
  readonly #connection: FollowOptions<V, K>;
  readonly #pace: RetryPace;
  #state: 'priming' | 'opening' | 'live' | 'relisting' = 'priming';
  /** Ends what the loop does now: a call, a stream, or a wait between two tries. */
  #attempt = new AbortController();
  /** Why the attempt was ended from outside the loop. */
  #interruption: Replaced | Stalled | Violation | undefined;
  readonly #progress: ProgressAsker;
  readonly #barrier: Barrier;
  readonly #stall: Stall;
  readonly #freshness: FreshnessKeeper;
  readonly #consistency: ConsistencyKeeper<V, K>;
  #isRepair = false;
  /** Nothing was tried since the last list. */
  #isListed = false;
  /** Never again after a violation, also of other data: it is the same backend (M13). */
  #trustsProgress = true;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: ListManagerOptions<V, K>) {
    this.#options = options;
    this.#questions = new Questions(this.#lifetime.signal, () => this.#interrupt(new Replaced()));
    this.#connection = {
      ...options,
      questions: this.#questions,
      onVerified: (stream) => this.#verified(stream),
      onItem: (item) => this.#apply(item),
    };
    this.#pace = new RetryPace(options);
    const { backend, clock, logger } = options;
    this.#progress = new ProgressAsker({
      isOffered: () => backend.capabilities.progress && this.#trustsProgress,
      clock,
      logger,
      isWanted: () => this.#waits.size > 0,
      catchUp: (late) => this.#catchUp(late),
      status: (late) => this.ask('ask for the status', (signal) => backend.status({ signal }), late),
    });
    this.#barrier = new Barrier((signal) => this.#position(signal));
    this.#stall = new Stall(clock);
    const { maxStaleMs, consistencyCheckMs } = options;
    this.#freshness = new FreshnessKeeper({ maxStaleMs, clock, logger, sync: (signal) => this.sync(signal) });
    this.#consistency = new ConsistencyKeeper({
      ...options,
      questions: this.#questions,
      intervalMs: consistencyCheckMs,
      pins: options.applier.pins,
      isLive: () => this.#state === 'live',
      onDifferent: (reason) => this.distrust(reason),
    });
  }

  get epoch(): number {
    return this.#questions.epoch;
  }

  get identity(): string {
    return this.#questions.identity;
  }

  get stats(): NonNullable<StoreStats['replica']> {
    return { ...this.#counts, ...this.#consistency.stats };
  }

  start(): void {
    this.#loop = this.#run().catch((error: unknown) => this.#end(error));
    this.#freshness.start();
    this.#consistency.start();
  }

  /** Aborts when it has ended for good; `gate.failure` says why. */
  get lifetime(): AbortSignal {
    return this.#lifetime.signal;
  }

  async close(): Promise<void> {
    if (!this.#lifetime.signal.aborted) this.#end(new ClosedError('use the store'));
    await this.#loop;
  }

  /** Asks the backend something and judges the answer's position. See {@link Questions.ask}. */
  async ask<T extends BackendPosition>(
    action: string,
    question: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const sentAt = this.#options.clock.now();
    const answer = await this.#questions.ask(action, question, signal);
    this.#freshness.answered(sentAt, answer.revision);
    this.#settle();
    return answer;
  }

  /** Resolves once everything that was committed before the call is applied (M19). */
  async sync(signal: AbortSignal | undefined): Promise<Revision> {
    try {
      const { revision, epoch } = await this.#barrier.position(signal);
      await this.untilApplied(revision, epoch, signal);
      return revision;
    } catch (error) {
      // The end of its life ends every question; why it ended, the gate knows.
      throw error instanceof ClosedError ? (this.gate.failure ?? error) : error;
    }
  }

  /** Throws `StaleError` (M21). */
  checkFresh(action: string): void {
    this.#freshness.check(action);
  }

  /** A call without a position in its answer; ends with the signal or the store. */
  call<T>(question: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return untilAborted(question, [this.#lifetime.signal, signal]);
  }

  /**
   * Resolves once everything up to the revision is applied; asks for progress meanwhile (M3). The revision is one of
   * `epoch`: in a later one it means nothing, and the wait rejects with `IdentityChangedError`.
   */
  async untilApplied(revision: Revision, epoch: number, signal: AbortSignal | undefined): Promise<void> {
    if (epoch !== this.epoch) throw new IdentityChangedError('wait for a revision', this.epoch);
    if (revision <= this.#options.mvcc.window.revision && this.#isSound) return;
    if (this.#lifetime.signal.aborted) throw this.#lifetime.signal.reason;
    const wait = this.#waits.until(revision, signal);
    this.#progress.ask();
    await wait;
  }

  /** What is here is not what is there: an own write is missing (M5), a row differs (M44). The stream cannot be trusted. */
  distrust(reason: string): void {
    this.#interrupt(new Violation(reason));
  }

  /** What is here is what was there: nothing is known that has to be mended first (M5, M13). */
  get #isSound(): boolean {
    return this.gate.isOpen && this.#interruption === undefined && !this.#isRepair;
  }

  async #position(signal: AbortSignal): Promise<BarrierPosition> {
    const { epoch } = this;
    const { revision } = await this.ask('sync', (ended) => this.#options.backend.status({ signal: ended }), signal);
    return { revision, epoch };
  }

  /**
   * Without progress (M20): asks what has changed since A, and applies "nothing" as an empty span up to the answer. The
   * revisions in between were never seen, so they can be neither read nor a start. If something has changed, the stream
   * will say so; one that does not is given up.
   */
  async #catchUp(late: AbortSignal): Promise<void> {
    const { mvcc, applier } = this.#options;
    const { connections } = this.#counts;
    const after = mvcc.window.revision;
    const ask = (signal: AbortSignal) =>
      whatChanged(this.#options, after, (question) => this.ask('ask what has changed', question, signal));
    const { revision, isNothing } = await untilAborted(ask, [late, this.#attempt.signal]);
    const isSame = connections === this.#counts.connections && after === mvcc.window.revision;
    if (this.#state !== 'live' || !isSame || revision <= after) return;
    if (!isNothing) {
      if (this.#stall.note(connections, after)) this.#interrupt(new Stalled());
      return;
    }
    makingRoom(this.#options, () => applier.commit({ revision, after, changes: [] }, 'apply that nothing has changed'));
    this.#advanced(revision);
  }

  async #run(): Promise<void> {
    while (!this.#lifetime.signal.aborted) {
      try {
        if (this.#interruption !== undefined) throw this.#interruption;
        if (this.#state === 'priming') await this.#prime();
        else if (this.#state === 'relisting') await this.#relist();
        else await this.#follow();
      } catch (error) {
        await this.#recover(this.#interruption ?? error);
      }
    }
  }

  /** Decides where to go on after a failure; waits first if the same step has to be tried again. */
  async #recover(error: unknown): Promise<void> {
    if (this.#lifetime.signal.aborted) return;
    const { logger } = this.#options;
    this.#interruption = undefined;
    this.#attempt.abort(new ClosedError('follow the backend'));
    this.#attempt = new AbortController();
    this.#pace.ended();
    const { signal } = this.#attempt;
    if (error instanceof Replaced || error instanceof IdentityChangedError) {
      this.#reset();
      return this.#pace.beforeRestart(signal);
    }
    if (error instanceof Violation) {
      this.#counts.violations++;
      logger.warn('The backend broke a promise of its contract, listing again', { reason: error.message });
      this.#isRepair = true;
      this.#trustsProgress = false;
    }
    if (this.#state !== 'priming' && needsList(error)) {
      if (error instanceof StoreFullError) logger.warn('The replica is full, listing again', { error });
      this.#state = 'relisting';
      return this.#pace.beforeRestart(signal);
    }
    if (isFinal(error, this.gate.isOpen)) return this.#end(error);
    if (this.#state === 'live') this.#state = 'opening';
    logger.warn('The backend failed, trying again', { state: this.#state, failures: this.#pace.failures, error });
    await this.#pace.sleep(signal);
  }

  async #prime(): Promise<void> {
    const { mvcc, hub } = this.#options;
    const { revision, rows } = await this.#list('list');
    mvcc.state.publish({ revision, changes: rows }, 'apply the first list');
    mvcc.window.prime(revision);
    this.#state = 'opening';
    hub.start(this);
  }

  async #relist(): Promise<void> {
    const { mvcc, applier } = this.#options;
    const listed = await this.#list('list again');
    const outcome = compareRelist(mvcc, listed, { isRepair: this.#isRepair });
    if (outcome.type === 'replaced') throw new Replaced();
    this.#counts.relists++;
    if (outcome.type === 'span') applyList(this.#options, outcome.commit, listed, this.#isRepair);
    else if (this.#isRepair) applier.distrustHistory();
    this.#isRepair = false;
    this.#state = 'opening';
    this.#settle();
  }

  async #list(action: string): Promise<ListedState> {
    const { backend, mvcc, prefixes } = this.#options;
    const { ranges } = prefixes;
    const list = await this.ask(action, (signal) => backend.range({ ranges, signal }), this.#attempt.signal);
    this.#isListed = true;
    return { revision: list.revision, rows: rowsOf(mvcc, prefixes, list) };
  }

  async #follow(): Promise<void> {
    this.#counts.connections++;
    const isListed = this.#isListed;
    this.#isListed = false;
    try {
      await follow(this.#connection, isListed, this.#attempt.signal);
    } finally {
      this.#progress.follow(undefined);
    }
  }

  #verified(stream: BackendWatchStream): void {
    this.#state = 'live';
    this.#pace.opened();
    this.gate.open();
    this.#settle();
    this.#progress.follow(stream);
  }

  #apply(item: BackendWatchItem): void {
    const { mvcc, applier, prefixes } = this.#options;
    if (item.type === 'open') throw new Violation('the stream was opened twice');
    const { revision } = item;
    const applied = mvcc.window.revision;
    if (item.type === 'progress') {
      if (revision > applied && this.#trustsProgress) {
        mvcc.window.advance(revision);
        this.#advanced(revision);
      }
      this.#progress.answered();
      return;
    }
    const changes = changesOf(mvcc, prefixes, item);
    if (revision <= applied) {
      if (isKnown(mvcc, { revision, changes })) return;
      throw new Violation(`a change at ${revision} came after revision ${applied} was proven complete`);
    }
    makingRoom(this.#options, () => applier.commit({ revision, changes }, 'apply a change'));
    this.#advanced(revision);
  }

  #advanced(revision: Revision): void {
    this.#questions.note(revision);
    this.#pace.succeeded();
    this.#settle();
  }

  /** RESET: whatever was known is void, and every watch, wait and position with it (M24). */
  #reset(): void {
    const { mvcc, hub, applier, logger } = this.#options;
    this.#questions.reset();
    this.#freshness.reset();
    this.#consistency.reset();
    this.gate.shut();
    applier.stop();
    mvcc.state.clear();
    this.#isRepair = false;
    this.#state = 'priming';
    hub.reset(this.epoch);
    this.#waits.rejectAll(new IdentityChangedError('wait for a revision', this.epoch));
    this.#options.onReset(new IdentityChangedError('use what was there before', this.epoch));
    logger.warn('The data behind the store were replaced, starting anew', { epoch: this.epoch });
  }

  /** For good: closed, or broken by what trying again cannot mend. Waits and watches first, then backend calls. */
  #end(error: unknown): void {
    const { applier, hub, logger } = this.#options;
    const closed = new ClosedError('use the store');
    this.#waits.rejectAll(error);
    this.gate.break(error);
    if (error instanceof ClosedError) hub.close();
    else hub.fail(error);
    applier.stop();
    this.#progress.stop();
    this.#freshness.stop();
    this.#consistency.stop();
    this.#lifetime.abort(closed);
    this.#attempt.abort(closed);
    if (!(error instanceof ClosedError)) logger.error('The replica has given up', { error });
  }

  #settle(): void {
    if (!this.#isSound) return;
    const { revision } = this.#options.mvcc.window;
    this.#freshness.applied(revision);
    this.#waits.settleUpTo(revision);
  }

  #interrupt(reason: Replaced | Stalled | Violation): void {
    this.#interruption ??= reason;
    this.#attempt.abort(reason);
  }
}
