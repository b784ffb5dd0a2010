import { GuardedLogger } from '../system/guarded-logger.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Entry, LifeEnd, PendingChange } from './entry.ts';
import { EventSubscription, type ResourceEvent, type ResourceEventHandler } from './event-subscription.ts';
import { Pending } from './pending.ts';
import { resourceKeyText } from './resource-key.ts';
import type { Commit, ResourceTables } from './resource-tables.ts';
import { type HandlerOptions, type HandlerStats, type ResourceUpdateHandler, Subscription } from './subscription.ts';
import { TurnTimer } from './turn-timer.ts';

export interface ApplyLoopOptions {
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  readonly coalesce: boolean;
  readonly latencyMs: number;
  readonly pendingMax: number;
  readonly sliceMs: number;
}

export interface ApplyStats {
  /** Changes that wait, and the longest that one has, in ms. */
  readonly pending: number;
  readonly waitMaxMs: number;
  readonly batches: number;
  readonly commits: number;
  /** States that another one took the place of before they were visible. */
  readonly coalesced: number;
  /** Changes that made no commit: of a state that is there already, and of a life that is not. */
  readonly same: number;
  readonly unknown: number;
  readonly handlers: readonly HandlerStats[];
  /** Events that handlers of events were not told. */
  readonly eventsDropped: number;
}

/** How many changes are applied between two looks at the clock. */
const CHANGES_A_LOOK = 32;

/**
 * From what comes in to what handlers hear, in turns of the event loop.
 *
 * ```text
 *   put, end -> pending -> commits, one seq each -> queue of each handler -> calls
 *               at most latencyMs, or pendingMax    sliceMs of each turn for either, then the loop goes round
 * ```
 *
 * Commits are made in one go with nobody called in between, and calls are made with nothing half applied, so there is no lock to
 * hold (RC6). What a handler puts in waits for a turn to come.
 */
export class ApplyLoop<T, I> {
  readonly #options: ApplyLoopOptions;
  readonly #tables: ResourceTables<T, I>;
  readonly #logger: GuardedLogger;
  readonly #pending: Pending<T, I>;
  readonly #timer: TurnTimer;
  readonly #subscriptions = new Set<Subscription<T, I>>();
  readonly #events = new Set<EventSubscription<T>>();
  /** Whose next state is a commit also with the version that is there; mostly none. */
  readonly #restated = new Set<Entry<T, I>>();
  #idle: (() => void)[] = [];
  #handlers = 0;
  /** A handler is being called, further up the stack. */
  #isCalling = false;
  #isClosed = false;
  /** Whose calls came first in the last turn. */
  #first = -1;
  /** Until when calls that follow an async one may be made at once. */
  #turnEnd = 0;
  /** When the oldest change that waits came. */
  #since = 0;
  #counts = { batches: 0, commits: 0, same: 0, unknown: 0, eventsDropped: 0, waitMaxMs: 0 };

  constructor(tables: ResourceTables<T, I>, options: ApplyLoopOptions) {
    this.#tables = tables;
    this.#options = options;
    this.#logger = new GuardedLogger(options.logger);
    this.#pending = new Pending<T, I>({ isCoalescing: options.coalesce });
    this.#timer = new TurnTimer(options.clock, () => this.#turn());
  }

  get logger(): GuardedLogger {
    return this.#logger;
  }

  get stats(): ApplyStats {
    const handlers = [...this.#subscriptions].map(({ stats }) => stats);
    let { eventsDropped } = this.#counts;
    for (const { dropped } of this.#events) eventsDropped += dropped;
    const { size: pending, coalesced } = this.#pending;
    return { ...this.#counts, eventsDropped, pending, coalesced, handlers };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  put(entry: Entry<T, I>, uid: string, object: T): void {
    if (this.#pending.put(entry, uid, object)) this.#arrived();
  }

  /**
   * The end of another life than the newest one, or of one that is not there, is nobody's business (RC10). Left out here and not later: what
   * waits last then says what will be there.
   */
  end(entry: Entry<T, I>, uid: string, end: LifeEnd<T>): void {
    const { pending, current } = entry;
    const isThere =
      pending === undefined ? current?.resource.uid === uid : pending.end === undefined && pending.uid === uid;
    if (!isThere) {
      this.#counts.unknown++;
      return;
    }
    this.#pending.remove(entry, uid, end);
    this.#arrived();
  }

  isRestated(entry: Entry<T, I>): boolean {
    return this.#restated.has(entry);
  }

  /** The next state of each of them is another one, whatever its version says. All that has come in is applied first. */
  restate(entries: Iterable<Entry<T, I>>): void {
    this.flush();
    for (const entry of entries) if (entry.current !== undefined) this.#restated.add(entry);
  }

  /** A mark of all that has come in up to now, for `isApplied`. */
  get arrivals(): number {
    return this.#pending.pushed;
  }

  isApplied(arrivals: number): boolean {
    return this.#pending.taken >= arrivals;
  }

  get hasEventHandlers(): boolean {
    return this.#events.size > 0;
  }

  tellEvent(event: ResourceEvent<T>): void {
    for (const subscription of this.#events) subscription.push(event);
    this.#timer.within(this.#options.latencyMs);
  }

  /** Applies all that waits, now. Throws TypeError in a handler, under which nothing may change (RC6). */
  flush(): void {
    this.check('flush a cache');
    if (this.#isCalling) throw new TypeError('Cannot flush a cache: a handler of it is being called');
    this.#apply(() => false);
    if (this.#isDue) this.#timer.within(0);
    else this.#tellIdle();
  }

  /** Nothing waits, and no call is under way. */
  idle(): Promise<void> {
    if (!this.#isBusy || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
    });
  }

  subscribe(handler: ResourceUpdateHandler<T, I>, options: HandlerOptions): () => void {
    const { queueMax = 10_000, snapshotView = false, coalesce = false } = options;
    const name = options.name ?? `handler ${++this.#handlers}`;
    const subscription = new Subscription<T, I>({
      tables: this.#tables,
      handler,
      options: { name, queueMax, snapshotView, coalesce },
      failed: (error, of, { key, seq }) =>
        this.#logger.error('A handler has failed', { handler: of, key: resourceKeyText(key), seq, error }),
      settled: () => this.#settled(subscription),
    });
    this.#subscriptions.add(subscription);
    return () => {
      if (!this.#subscriptions.delete(subscription)) return;
      subscription.close();
      this.#tellIdle();
    };
  }

  subscribeEvents(handler: ResourceEventHandler<T>, queueMax: number): () => void {
    const subscription = new EventSubscription<T>({
      handler,
      queueMax,
      failed: (error, { group, kind, delta }) =>
        this.#logger.error('A handler of events has failed', { group, kind, key: delta.key, error }),
    });
    this.#events.add(subscription);
    return () => {
      if (!this.#events.delete(subscription)) return;
      this.#counts.eventsDropped += subscription.dropped;
      subscription.close();
      this.#tellIdle();
    };
  }

  /** No call begins after this, and no timer is left. */
  close(): void {
    this.#isClosed = true;
    this.#timer.stop();
    for (const subscription of [...this.#subscriptions, ...this.#events]) subscription.close();
    this.#subscriptions.clear();
    this.#events.clear();
    this.#restated.clear();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  check(action: string): void {
    if (this.#isClosed) throw new ClosedError(action);
  }

  get #isDue(): boolean {
    if (this.#pending.size > 0) return true;
    for (const { isDue } of this.#subscriptions) if (isDue) return true;
    for (const { depth } of this.#events) if (depth > 0) return true;
    return false;
  }

  get #isBusy(): boolean {
    if (this.#isDue) return true;
    for (const { isBusy } of this.#subscriptions) if (isBusy) return true;
    return false;
  }

  #arrived(): void {
    const { size } = this.#pending;
    // Later ones are no later due than the first.
    if (size === 1) this.#since = this.#options.clock.now();
    if (size >= this.#options.pendingMax && !this.#isCalling) {
      this.#apply(() => false);
      this.#timer.within(0);
    } else if (size === 1) this.#timer.within(this.#options.latencyMs);
  }

  #turn(): void {
    const { clock, sliceMs } = this.#options;
    const applyUntil = clock.now() + sliceMs;
    this.#apply(() => clock.now() >= applyUntil);
    this.#turnEnd = clock.now() + sliceMs;
    const isTimeUp = () => clock.now() >= this.#turnEnd;
    this.#callAll(isTimeUp);
    if (this.#isDue) this.#timer.within(0);
    else this.#tellIdle();
  }

  /** They share the time of the turn, and another one begins each time: whoever takes all of it must not be the first for ever. */
  #callAll(isTimeUp: () => boolean): void {
    const all = [...this.#events, ...this.#subscriptions];
    if (all.length === 0) return;
    this.#first = (this.#first + 1) % all.length;
    for (const subscription of all.slice(this.#first)) this.#call(subscription, isTimeUp);
    for (const subscription of all.slice(0, this.#first)) this.#call(subscription, isTimeUp);
  }

  #call(subscription: Subscription<T, I> | EventSubscription<T>, isTimeUp: () => boolean): void {
    this.#isCalling = true;
    // Each has a call in each turn, however slow the others are.
    let isFirst = true;
    try {
      subscription.run(() => {
        const isUp = !isFirst && isTimeUp();
        isFirst = false;
        return isUp;
      });
    } finally {
      this.#isCalling = false;
    }
  }

  /** An async call has ended. The next one is made at once while the turn lasts: a timer for each would make a thousand a second. */
  #settled(subscription: Subscription<T, I>): void {
    const { clock } = this.#options;
    if (clock.now() < this.#turnEnd && !this.#isCalling) this.#call(subscription, () => clock.now() >= this.#turnEnd);
    if (this.#isDue) this.#timer.within(0);
    else this.#tellIdle();
  }

  #apply(isTimeUp: () => boolean): void {
    if (this.#pending.size === 0) return;
    const now = this.#options.clock.now();
    this.#counts.waitMaxMs = Math.max(this.#counts.waitMaxMs, now - this.#since);
    this.#counts.batches++;
    let left = CHANGES_A_LOOK;
    for (let change = this.#pending.take(); change !== undefined; change = this.#pending.take()) {
      this.#commit(change);
      this.#tables.tidy(change.entry);
      if (--left > 0) continue;
      left = CHANGES_A_LOOK;
      if (isTimeUp()) return;
    }
  }

  #commit({ entry, uid, object, end }: PendingChange<T, I>): void {
    const { current } = entry;
    const isRestated = this.#restated.size > 0 && this.#restated.delete(entry);
    const isSameLife = current?.resource.uid === uid;
    if (end !== undefined) {
      // Of the life that is there: others were left out when they came.
      if (isSameLife) this.#tell(this.#tables.remove(entry, end));
      return;
    }
    const state = object as T;
    if (isSameLife && !isRestated && isSameVersion(current.resource.resourceVersion, state)) {
      this.#counts.same++;
      return;
    }
    // Another life under the name: the one before has ended, whether anybody said so or not (RC11).
    if (current !== undefined && !isSameLife) {
      this.#tell(this.#tables.remove(entry, { final: undefined, reason: 'deleted' }));
    }
    this.#tell(this.#tables.put(entry, state));
  }

  #tell(commit: Commit<T, I>): void {
    this.#counts.commits++;
    for (const subscription of this.#subscriptions) subscription.push(commit);
  }

  #tellIdle(): void {
    if (this.#idle.length === 0 || this.#isBusy) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function isSameVersion(resourceVersion: string, object: unknown): boolean {
  return (object as { metadata: { resourceVersion: string } }).metadata.resourceVersion === resourceVersion;
}
