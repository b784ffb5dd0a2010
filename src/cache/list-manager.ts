import type { Backoff } from '../queue/backoff.ts';
import type { Applier } from '../store/applier.ts';
import { type Change, tombstone } from '../store/commit.ts';
import type { Mvcc } from '../store/mvcc.ts';
import { AbortableItems, untilAborted } from '../system/abortable.ts';
import type { Backend, BackendEvent, BackendPosition, BackendWatchItem, BackendWatchStream } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import {
  BackendError,
  ClosedError,
  CompactedError,
  IdentityChangedError,
  InvalidKeyError,
  InvariantError,
  StoreFullError,
  UnsupportedError,
} from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { WatchHub } from '../watch/hub.ts';
import { AppliedWaits } from './applied-waits.ts';
import type { ReplicatedPrefixes } from './prefixes.ts';
import { Questions } from './questions.ts';
import { ReadyGate } from './ready-gate.ts';
import { checkRevision, compareRelist, putOf, snapshotCommit } from './relist.ts';
import { RetryPace } from './retry-pace.ts';

/** How often progress is asked for while a write waits to be applied, and every how many times `status` too (M24). */
const PROGRESS_INTERVAL_MS = 100;
const STATUS_EVERY_TICKS = 10;

export interface ListManagerOptions<V, K extends Key> {
  readonly backend: Backend;
  readonly mvcc: Mvcc<V, K>;
  readonly hub: WatchHub<V, K>;
  readonly applier: Applier<V, K>;
  readonly prefixes: ReplicatedPrefixes;
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: Backoff;
  /** Never throws. */
  readonly logger: Logger;
}

/** The data are not the ones this replica knew; thrown inside the loop, never out of it. */
class Replaced extends Error {}
/** The stream broke a promise: what is applied can no longer be trusted. */
class Violation extends Error {}

/**
 * Keeps a replica in step with a backend: list at S, stream from S + 1, and again whenever the stream is lost.
 *
 * ```text
 *             snapshot S          open                     CompactedError, violation
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
  readonly stats = { violations: 0, relists: 0, connections: 0 };
  readonly #options: ListManagerOptions<V, K>;
  readonly #waits = new AppliedWaits();
  readonly #lifetime = new AbortController();
  readonly #questions: Questions;
  readonly #pace: RetryPace;
  #state: 'priming' | 'opening' | 'live' | 'relisting' = 'priming';
  /** Ends what the loop does now: a call, a stream, or a wait between two tries. */
  #attempt = new AbortController();
  /** Why the attempt was ended from outside the loop. */
  #interruption: Replaced | Violation | undefined;
  #stream: BackendWatchStream | undefined;
  #isRepair = false;
  #trustsProgress = true;
  /** A progress item was asked for on this stream and has not come yet. */
  #awaitsProgress = false;
  #cancelTick: (() => void) | undefined;
  #isCheckingStatus = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: ListManagerOptions<V, K>) {
    this.#options = options;
    this.#questions = new Questions(this.#lifetime.signal, () => this.#interrupt(new Replaced()));
    this.#pace = new RetryPace(options);
  }

  get epoch(): number {
    return this.#questions.epoch;
  }

  get identity(): string {
    return this.#questions.identity;
  }

  start(): void {
    this.#loop = this.#run().catch((error: unknown) => this.#end(error));
  }

  async close(): Promise<void> {
    if (!this.#lifetime.signal.aborted) this.#end(new ClosedError('use the store'));
    await this.#loop;
  }

  /** Asks the backend something and judges the answer's position. See {@link Questions.ask}. */
  ask<T extends BackendPosition>(
    action: string,
    question: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#questions.ask(action, question, signal);
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
    if (revision <= this.#options.mvcc.window.revision && this.gate.isOpen) return;
    if (this.#lifetime.signal.aborted) throw this.#lifetime.signal.reason;
    const wait = this.#waits.until(revision, signal);
    this.#requestProgress();
    this.#tick(1);
    await wait;
  }

  /** An own write at a revision that history should hold, does not: the stream cannot be trusted (M5). */
  distrust(reason: string): void {
    this.#interrupt(new Violation(reason));
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
      this.stats.violations++;
      logger.warn('The backend broke a promise of its contract, listing again', { reason: error.message });
      this.#isRepair = true;
      this.#trustsProgress = false;
    }
    if (this.#state !== 'priming' && (error instanceof Violation || error instanceof CompactedError)) {
      this.#state = 'relisting';
      return this.#pace.beforeRestart(signal);
    }
    if (error instanceof InvariantError || (isPermanent(error) && !this.gate.isOpen)) return this.#end(error);
    if (this.#state === 'live') this.#state = 'opening';
    logger.warn('The backend failed, trying again', { state: this.#state, failures: this.#pace.failures, error });
    await this.#pace.sleep(signal);
  }

  async #prime(): Promise<void> {
    const { backend, mvcc, hub, prefixes } = this.#options;
    const { ranges } = prefixes;
    const snapshot = await this.ask('list', (signal) => backend.range({ ranges, signal }), this.#attempt.signal);
    mvcc.publish(snapshotCommit(mvcc, snapshot), 'apply the first list');
    mvcc.window.prime(snapshot.revision);
    this.#state = 'opening';
    hub.start(this);
  }

  async #relist(): Promise<void> {
    const { backend, mvcc, applier, prefixes } = this.#options;
    const { ranges } = prefixes;
    const snapshot = await this.ask('list again', (signal) => backend.range({ ranges, signal }), this.#attempt.signal);
    const outcome = compareRelist(mvcc, snapshot, { isRepair: this.#isRepair });
    if (outcome.type === 'replaced') throw new Replaced();
    this.stats.relists++;
    if (outcome.type === 'span') {
      if (this.#isRepair) applier.repair(outcome.commit, 'apply a list');
      else applier.commit(outcome.commit, 'apply a list');
    } else if (this.#isRepair) applier.distrustHistory();
    this.#isRepair = false;
    this.#state = 'opening';
    this.#settle();
  }

  /** OPENING and LIVE: one connection, from its `open` to its end. Ends by a throw. */
  async #follow(): Promise<void> {
    const { backend, mvcc, prefixes, logger } = this.#options;
    const { signal } = this.#attempt;
    const { seen } = this.#questions;
    this.stats.connections++;
    const fromRevision = mvcc.window.revision + 1;
    const stream = backend.watch({ ranges: prefixes.ranges, fromRevision, signal });
    const items = new AbortableItems(stream[Symbol.asyncIterator](), signal);
    this.#stream = stream;
    this.#awaitsProgress = false;
    try {
      for (;;) {
        const { value, done } = await items.next();
        // It may have been on its way when the connection was given up.
        signal.throwIfAborted();
        if (done === true) throw new BackendError('follow the backend', 'the stream ended');
        if (this.#state === 'opening') this.#opened(value, seen);
        else this.#apply(value);
      }
    } finally {
      this.#stream = undefined;
      // A backend that fails at it, or takes its time, is not worth waiting for.
      items.return().catch((error: unknown) => logger.debug('A stream ended with an error', { error }));
    }
  }

  #opened(item: BackendWatchItem, seen: Revision): void {
    if (item.type !== 'open') throw new Violation(`the stream began with ${item.type}, not with open`);
    checkRevision(item.revision, 'a revision');
    if (!this.#questions.admit(item, seen)) throw new Replaced();
    this.#state = 'live';
    this.#pace.opened();
    this.gate.open();
    this.#settle();
    if (this.#waits.size > 0) this.#requestProgress();
  }

  #apply(item: BackendWatchItem): void {
    const { mvcc, applier, prefixes } = this.#options;
    checkRevision(item.revision, 'a revision');
    const applied = mvcc.window.revision;
    if (item.type === 'open') throw new Violation('the stream was opened twice');
    if (item.type === 'progress') {
      const isAnswer = this.#awaitsProgress;
      this.#awaitsProgress = false;
      // After a violation only an answer to a question of ours counts (M13).
      if (item.revision <= applied || !(isAnswer || this.#trustsProgress)) return;
      mvcc.window.advance(item.revision);
    } else if (item.revision <= applied) {
      if (this.#isKnown(item.revision, item.events)) return;
      throw new Violation(`a change at ${item.revision} came after revision ${applied} was proven complete`);
    } else {
      const changes = item.events.map((event) => this.#change(event)).filter(({ text }) => prefixes.has(text));
      applier.commit({ revision: item.revision, changes }, 'apply a change');
    }
    this.#questions.note(item.revision);
    this.#pace.succeeded();
    this.#settle();
  }

  #change(event: BackendEvent): Change {
    const { mvcc } = this.#options;
    if (event.type === 'put') return putOf(mvcc, mvcc.keys.textOfBytes(event.kv.key, 'apply a change'), event.kv);
    checkRevision(event.modRevision, 'a mod revision');
    return tombstone(mvcc.keys.textOfBytes(event.key, 'apply a change'), event.modRevision);
  }

  /** A stale item is harmless only if it is known to be applied: in the log, in a hole, or below the window (M6). */
  #isKnown(revision: Revision, events: readonly BackendEvent[]): boolean {
    const { mvcc, prefixes } = this.#options;
    if (revision < mvcc.window.watchFloor || mvcc.window.isInHole(revision)) return true;
    return events.every((event) => {
      const key = event.type === 'put' ? event.kv.key : event.key;
      const text = mvcc.keys.textOfBytes(key, 'apply a change');
      return mvcc.hasCommit(text, revision) || !prefixes.has(text);
    });
  }

  /** RESET: whatever was known is void, and every watch, wait and position with it (M24). */
  #reset(): void {
    const { mvcc, hub, applier, logger } = this.#options;
    this.#questions.reset();
    this.gate.shut();
    applier.stop();
    mvcc.clear();
    this.#isRepair = false;
    this.#trustsProgress = true;
    this.#state = 'priming';
    hub.reset(this.epoch);
    this.#waits.rejectAll(new IdentityChangedError('wait for a revision', this.epoch));
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
    this.#cancelTick?.();
    this.#lifetime.abort(closed);
    this.#attempt.abort(closed);
    if (!(error instanceof ClosedError)) logger.error('The replica has given up', { error });
  }

  #settle(): void {
    if (this.gate.isOpen) this.#waits.settleUpTo(this.#options.mvcc.window.revision);
  }

  #interrupt(reason: Replaced | Violation): void {
    this.#interruption ??= reason;
    this.#attempt.abort(reason);
  }

  #requestProgress(): void {
    const { backend, logger } = this.#options;
    const stream = this.#stream;
    if (this.#state !== 'live' || !backend.capabilities.progress || stream?.requestProgress === undefined) return;
    this.#awaitsProgress = true;
    try {
      stream.requestProgress();
    } catch (error) {
      // The write that waits is committed; that this request failed must not make it look failed.
      logger.warn('The backend refused a request for progress', { error });
    }
  }

  /** While anybody waits: ask for progress, and now and then whether the data are still the same (M24). */
  #tick(count: number): void {
    if (this.#cancelTick !== undefined) return;
    this.#cancelTick = this.#options.clock.after(PROGRESS_INTERVAL_MS, () => {
      this.#cancelTick = undefined;
      if (this.#waits.size === 0 || this.#lifetime.signal.aborted) return;
      this.#requestProgress();
      if (count % STATUS_EVERY_TICKS === 0) void this.#checkStatus();
      this.#tick(count + 1);
    });
  }

  /** At most one at a time: a backend that hangs must not collect them. */
  async #checkStatus(): Promise<void> {
    if (this.#isCheckingStatus) return;
    this.#isCheckingStatus = true;
    try {
      await this.ask('ask for the status', (signal) => this.#options.backend.status({ signal }));
    } catch (error) {
      this.#options.logger.debug('The status of the backend is unknown', { error });
    } finally {
      this.#isCheckingStatus = false;
    }
  }
}

/** What trying again cannot mend. */
function isPermanent(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent;
  return error instanceof InvalidKeyError || error instanceof StoreFullError || error instanceof UnsupportedError;
}
