import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import type { Applier } from '../store/applier.ts';
import type { Change } from '../store/commit.ts';
import type { Mvcc } from '../store/mvcc.ts';
import { tombstone } from '../store/txn.ts';
import type { Backend, BackendEvent, BackendPosition, BackendWatchItem, BackendWatchStream } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import { BackendError, ClosedError, CompactedError, IdentityChangedError, InvalidKeyError, StoreFullError, UnsupportedError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { WatchHub } from '../watch/hub.ts';
import { AppliedWaits } from './applied-waits.ts';
import type { ReplicatedPrefixes } from './prefixes.ts';
import { ReadyGate } from './ready-gate.ts';
import { checkRevision, compareRelist, putOf, snapshotCommit } from './relist.ts';

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
  readonly logger: Logger | undefined;
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
  epoch = 1;
  identity = '';
  readonly #options: ListManagerOptions<V, K>;
  readonly #waits = new AppliedWaits();
  readonly #lifetime = new AbortController();
  #state: 'priming' | 'opening' | 'live' | 'relisting' = 'priming';
  /** The largest revision in any answer of this epoch (M24). */
  #seen: Revision = 0;
  #connection: { readonly abort: AbortController; readonly stream: BackendWatchStream } | undefined;
  /** What ended the connection from outside the loop. */
  #interruption: Replaced | Violation | undefined;
  #isRepair = false;
  #trustsProgress = true;
  #requestedProgress = 0;
  #failures = 0;
  #relistsInRow = 0;
  #cancelTick: (() => void) | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: ListManagerOptions<V, K>) {
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async close(): Promise<void> {
    if (this.#lifetime.signal.aborted) return this.#loop;
    const closed = new ClosedError('use the store');
    this.#waits.rejectAll(closed);
    this.gate.break(closed);
    this.#options.hub.close();
    this.#options.applier.close();
    this.#cancelTick?.();
    this.#lifetime.abort(closed);
    this.#connection?.abort.abort(closed);
    await this.#loop;
  }

  /**
   * Asks the backend something and judges the answer's position: another identity, or a revision below one that was
   * seen when the question was sent, means that the data were replaced (M24). Answers of an earlier epoch are
   * `IdentityChangedError`.
   */
  async ask<T extends BackendPosition>(action: string, question: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { epoch } = this;
    const seen = this.#seen;
    const answer = await this.#untilClosed(question(this.#lifetime.signal));
    if (epoch !== this.epoch) throw new IdentityChangedError(action, this.epoch);
    checkRevision(answer.revision, 'a revision');
    if (this.#isForeign(answer, seen)) {
      this.#interrupt(new Replaced());
      throw new IdentityChangedError(action, this.epoch + 1);
    }
    this.#seen = Math.max(this.#seen, answer.revision);
    return answer;
  }

  /** Resolves once everything up to the revision is applied; asks for progress meanwhile (M3). */
  async untilApplied(revision: Revision, signal: AbortSignal | undefined): Promise<void> {
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
    if (error instanceof Replaced) return this.#reset();
    if (error instanceof IdentityChangedError) return;
    if (error instanceof Violation) {
      this.stats.violations++;
      logger?.warn('The backend broke a promise of its contract, listing again', { reason: error.message });
      this.#isRepair = true;
      this.#trustsProgress = false;
    }
    if (error instanceof Violation || (error instanceof CompactedError && this.#state !== 'priming')) {
      this.#state = 'relisting';
      // The first time at once; a backend that gives nothing between two relists is not asked in a hot loop.
      if (this.#relistsInRow++ > 0) await this.#sleep();
      return;
    }
    if (isPermanent(error) && !this.gate.isOpen) {
      this.gate.break(error);
      this.#waits.rejectAll(error);
      this.#options.hub.fail(error);
      this.#lifetime.abort(error);
      return;
    }
    if (this.#state === 'live') this.#state = 'opening';
    logger?.warn('The backend failed, trying again', { state: this.#state, failures: this.#failures, error });
    await this.#sleep();
  }

  /** Waits for the backoff, or until closed. */
  #sleep(): Promise<void> {
    const { clock, random, backoff } = this.#options;
    const { signal } = this.#lifetime;
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = clock.after(backoffDelayMs(this.#failures++, backoff, random), wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  async #prime(): Promise<void> {
    const { backend, mvcc, hub, prefixes } = this.#options;
    const { ranges } = prefixes;
    const snapshot = await this.ask('list', (signal) => backend.range({ ranges, signal }));
    mvcc.publish(snapshotCommit(mvcc, snapshot), 'apply the first list');
    mvcc.window.prime(snapshot.revision);
    this.identity = snapshot.identity;
    this.#state = 'opening';
    this.#failures = 0;
    hub.start(this.identity);
  }

  async #relist(): Promise<void> {
    const { backend, mvcc, applier, prefixes } = this.#options;
    const { ranges } = prefixes;
    const snapshot = await this.ask('list again', (signal) => backend.range({ ranges, signal }));
    const outcome = compareRelist(mvcc, snapshot, { isRepair: this.#isRepair });
    if (outcome.type === 'replaced') throw new Replaced();
    this.stats.relists++;
    if (outcome.type === 'span') {
      if (this.#isRepair) applier.repair(outcome.commit, 'apply a list');
      else applier.commit(outcome.commit, 'apply a list');
    } else if (this.#isRepair) applier.distrustHistory();
    this.#isRepair = false;
    this.#state = 'opening';
    this.#failures = 0;
    this.#settle();
  }

  /** OPENING and LIVE: one connection, from its `open` to its end. */
  async #follow(): Promise<void> {
    const { backend, mvcc, prefixes } = this.#options;
    const abort = new AbortController();
    const seen = this.#seen;
    this.stats.connections++;
    const fromRevision = mvcc.window.revision + 1;
    const stream = backend.watch({ ranges: prefixes.ranges, fromRevision, signal: abort.signal });
    const items = stream[Symbol.asyncIterator]();
    this.#connection = { abort, stream };
    this.#requestedProgress = 0;
    try {
      for (;;) {
        const { value, done } = await untilAborted(items.next(), abort.signal);
        if (done === true) throw new BackendError('follow the backend', 'the stream ended');
        if (this.#state === 'opening') this.#opened(value, seen);
        else this.#apply(value);
      }
    } finally {
      this.#connection = undefined;
      abort.abort(new ClosedError('follow the backend'));
      this.#discard(items);
    }
  }

  #opened(item: BackendWatchItem, seen: Revision): void {
    if (item.type !== 'open') throw new Violation(`the stream began with ${item.type}, not with open`);
    checkRevision(item.revision, 'a revision');
    if (this.#isForeign(item, seen)) throw new Replaced();
    this.#seen = Math.max(this.#seen, item.revision);
    this.#state = 'live';
    this.#failures = 0;
    this.gate.open();
    this.#settle();
    if (this.#waits.size > 0) this.#requestProgress();
  }

  #apply(item: BackendWatchItem): void {
    const { mvcc, applier, prefixes } = this.#options;
    checkRevision(item.revision, 'a revision');
    const applied = mvcc.window.revision;
    this.#seen = Math.max(this.#seen, item.revision);
    if (item.type === 'open') throw new Violation('the stream was opened twice');
    if (item.type === 'progress') {
      const isAnswer = this.#requestedProgress > 0;
      if (isAnswer) this.#requestedProgress--;
      // After a violation only an answer to a question of ours counts (M13).
      if (item.revision > applied && (isAnswer || this.#trustsProgress)) mvcc.window.advance(item.revision);
    } else if (item.revision <= applied) {
      if (!this.#isKnown(item.revision, item.events)) {
        throw new Violation(`a change at ${item.revision} came after revision ${applied} was proven complete`);
      }
    } else {
      const changes = item.events.map((event) => this.#change(event)).filter(({ text }) => prefixes.has(text));
      applier.commit({ revision: item.revision, changes }, 'apply a change');
    }
    this.#relistsInRow = 0;
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

  #isForeign(position: BackendPosition, seen: Revision): boolean {
    if (this.identity !== '' && position.identity !== '' && position.identity !== this.identity) return true;
    return position.revision < seen;
  }

  /** RESET: whatever was known is void, and every watch, wait and position with it (M24). */
  #reset(): void {
    const { mvcc, hub, applier, logger } = this.#options;
    this.epoch++;
    logger?.warn('The data behind the store were replaced, starting anew', { epoch: this.epoch });
    this.gate.shut();
    applier.clear();
    mvcc.clear();
    this.identity = '';
    this.#seen = 0;
    this.#isRepair = false;
    this.#trustsProgress = true;
    this.#state = 'priming';
    hub.reset(this.epoch);
    this.#waits.rejectAll(new IdentityChangedError('wait for a revision', this.epoch));
  }

  #settle(): void {
    if (this.gate.isOpen) this.#waits.settleUpTo(this.#options.mvcc.window.revision);
  }

  #interrupt(reason: Replaced | Violation): void {
    this.#interruption ??= reason;
    this.#connection?.abort.abort(reason);
  }

  #requestProgress(): void {
    const { backend } = this.#options;
    const stream = this.#connection?.stream;
    if (this.#state !== 'live' || !backend.capabilities.progress || stream?.requestProgress === undefined) return;
    this.#requestedProgress++;
    stream.requestProgress();
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

  async #checkStatus(): Promise<void> {
    try {
      await this.ask('ask for the status', (signal) => this.#options.backend.status({ signal }));
    } catch (error) {
      this.#options.logger?.debug('The status of the backend is unknown', { error });
    }
  }

  async #untilClosed<T>(promise: Promise<T>): Promise<T> {
    return untilAborted(promise, this.#lifetime.signal);
  }

  /** Ends a stream that is no longer read. A backend that fails at it is not worth waiting for, but worth a line. */
  #discard(items: AsyncIterator<BackendWatchItem>): void {
    items.return?.().then(undefined, (error: unknown) => {
      this.#options.logger?.debug('A stream ended with an error', { error });
    });
  }
}

/** The promise's outcome, or a rejection with the signal's reason if that comes first. The loser is not left unhandled. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** What trying again cannot mend. */
function isPermanent(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent;
  return error instanceof InvalidKeyError || error instanceof StoreFullError || error instanceof UnsupportedError;
}
