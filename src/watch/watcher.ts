import type { Clock } from '../types/clock.ts';
import { CompactedError, SlowWatcherError } from '../types/errors.ts';
import type { WatchBatch } from '../types/event.ts';
import { invariant } from '../types/invariant.ts';
import { onAbort } from '../types/on-abort.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Watch, WatchFilter, WatchOptions } from '../types/watch.ts';

const LAG_EVENTS_MAX_DEFAULT = 1000;

/** Which revisions can be watched. */
export interface WatchWindow {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  readonly watchFloor: Revision;
  /** `false`: every position of a pending watcher is a commit. */
  readonly hasSpans: boolean;
  illegalStart(from: Revision): Revision;
  spanAt(revision: Revision): { readonly after: Revision } | undefined;
}

/** What a watcher needs of the state it watches; `Mvcc` has this shape: a store's state with its keys and values. */
export interface WatchSource<V, K extends Key> {
  readonly window: WatchWindow;
  nextCommit(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined): Revision;
  entriesFrom(from: Revision): number;
  batchAt(range: ResolvedRange, commit: Revision, filter: WatchFilter | undefined, prevKv: boolean): WatchBatch<V, K>;
  difference(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined, prevKv: boolean): WatchBatch<V, K>;
  initial(range: ResolvedRange): WatchBatch<V, K>;
}

/** A watcher as its hub sees it: whatever keys and values it delivers. */
export interface HubWatcher {
  readonly source: object;
  readonly range: ResolvedRange;
  readonly options: WatchOptions;
  readonly from: Revision;
  readonly state: WatcherState;
  /** First undelivered commit while pending, 0 before. */
  readonly position: Revision;
  /** Whether it is in the hub's index; the hub's to write. */
  isIndexed: boolean;
  start(): void;
  notify(position: Revision): void;
  /** Answers the consumer, as asked for with `wake`. */
  serve(): void;
  fail(error: unknown): void;
  /** Ends it with a `CompactedError`: nothing below `minRevision` is a legal start any more. */
  failCompacted(minRevision: Revision): void;
}

/** What a watcher tells its hub. */
export interface WatcherHome {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** The consumer asks for the next batch: commit what is due (M31). */
  beforeRead(): void;
  /** Call `serve` in a microtask. */
  wake(watcher: HubWatcher): void;
  /** Everything up to the newest revision is delivered: notify me of the next match. `before`: where it was pending, or 0. */
  becameIdle(watcher: HubWatcher, before: Revision): void;
  becamePending(watcher: HubWatcher, before: Revision): void;
  ended(watcher: HubWatcher): void;
}

/**
 * ```text
 *   waiting ----started----> initial ----first next()----+      waiting: the store has no snapshot yet
 *      |                                                 v
 *      +--- fromRevision ---> pending(p) <--match--- idle       idle: no position, nothing compaction could take
 *                                 |  ----nothing left---> ^     pending(p): p is the first undelivered commit
 *                                 v
 *                               ended (error once, then done)
 * ```
 */
export type WatcherState = 'waiting' | 'initial' | 'idle' | 'pending' | 'ended';

/** The consumer in `next()`. */
interface Waiter<V, K extends Key> {
  readonly resolve: (result: IteratorResult<WatchBatch<V, K>, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** One watch: a range and a cursor into the shared log. It owns no queue; a batch is made when the consumer asks (M26). */
export class Watcher<V, K extends Key> implements Watch<V, K>, HubWatcher {
  readonly source: WatchSource<V, K>;
  readonly range: ResolvedRange;
  readonly options: WatchOptions;
  /** Nothing below this revision is delivered; above the current one for a start in the future. */
  readonly from: Revision;
  isIndexed = false;
  readonly #home: WatcherHome;
  #state: WatcherState = 'waiting';
  /** Above 0 only while pending, and what it was then once ended. */
  #position: Revision = 0;
  /** The newest revision when the watch began. */
  #backlogEnd: Revision = 0;
  /** What `progressRevision` was when the watch ended, for who wants to resume. */
  #lastProgress: Revision = 0;
  /** What the consumer still has to be told, any value, made when it is told. */
  #failure: (() => unknown) | undefined;
  #waiter: Waiter<V, K> | undefined;
  #isWoken = false;
  #cancelProgress: (() => void) | undefined;
  /** A progress batch is wanted once there is nothing else to deliver (store:R34). */
  #wantsProgress = false;
  /** When something was last delivered, for `progressMs`. */
  #deliveredAt: number;
  #unlisten: (() => void) | undefined;

  constructor(home: WatcherHome, source: WatchSource<V, K>, range: ResolvedRange, options: WatchOptions) {
    this.#home = home;
    this.source = source;
    this.range = range;
    this.options = options;
    this.from = options.fromRevision ?? 0;
    this.#deliveredAt = options.progressMs === undefined ? 0 : home.clock.now();
    const { signal } = options;
    // Of one that has aborted the hub takes care, which has to know of the watcher first.
    if (signal !== undefined && !signal.aborted) this.#unlisten = onAbort(signal, (reason) => this.fail(reason));
  }

  get state(): WatcherState {
    return this.#state;
  }

  get position(): Revision {
    return this.#position;
  }

  get progressRevision(): Revision {
    if (this.#state !== 'ended') this.#home.beforeRead();
    return this.#progress();
  }

  #progress(): Revision {
    if (this.#state === 'pending') return this.#position - 1;
    return this.#state === 'idle' ? this.source.window.revision : this.#lastProgress;
  }

  /** The store has a snapshot: judge the start (M12, M22) and take a position. Once, while waiting. */
  start(): void {
    const { window } = this.source;
    this.#backlogEnd = window.revision;
    const minRevision = this.from === 0 ? 0 : window.illegalStart(this.from);
    if (this.options.initial === true) this.#state = 'initial';
    else if (minRevision > 0) {
      this.failCompacted(minRevision);
    } else if (this.from === 0 || this.from > window.revision) this.#becomeIdle();
    else this.#seek(this.from);
    this.#wake();
  }

  /** A commit in range: from idle to pending. The consumer goes on in a microtask of its own, not inside the commit. */
  notify(position: Revision): void {
    this.#becomePending(position);
    this.#wake();
  }

  requestProgress(): void {
    if (this.#state === 'ended') return;
    this.#home.beforeRead();
    if (this.#isInFuture()) return;
    this.#wantsProgress = true;
    this.#wake();
  }

  /** Ends the watch quietly. */
  end(): void {
    if (this.#state === 'ended') return;
    this.#lastProgress = this.#progress();
    this.#state = 'ended';
    this.#unlisten?.();
    this.#home.ended(this);
    this.#wake();
  }

  /** Ends the watch with an error, any value, which the consumer gets once. */
  fail(error: unknown): void {
    if (this.#state === 'ended') return;
    this.#failure = () => error;
    this.end();
  }

  /** Compaction may go on until the consumer asks: it is told the smallest start that is legal then (M40). */
  failCompacted(minRevision: Revision): void {
    if (this.#state === 'ended') return;
    this.#failure = () => {
      const { window } = this.source;
      const smallest = window.illegalStart(minRevision) || minRevision;
      return new CompactedError('watch', { minRevision: smallest, compactRevision: window.compactRevision });
    };
    this.end();
  }

  /** Not an async function: a hundred thousand consumers wait here, and a frame of one takes more than all the rest. */
  next(): Promise<IteratorResult<WatchBatch<V, K>, undefined>> {
    if (this.#waiter !== undefined) {
      return Promise.reject(new TypeError('Cannot read a watch: another next() is waiting, a watch has one consumer'));
    }
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#serve();
    });
  }

  return(): Promise<IteratorResult<WatchBatch<V, K>, undefined>> {
    this.#failure = undefined;
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** There may be something for the consumer. It gets it in a microtask, never inside the call that made it (M8). */
  #wake(): void {
    if (this.#waiter === undefined || this.#isWoken) return;
    this.#isWoken = true;
    this.#home.wake(this);
  }

  serve(): void {
    this.#isWoken = false;
    this.#serve();
  }

  /** Answers the waiting consumer, if there is one and something to answer. */
  #serve(): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    try {
      this.#home.beforeRead();
      const result = this.#result();
      if (result === undefined) {
        this.#armProgress();
        return;
      }
      this.#stopWaiting();
      waiter.resolve(result);
    } catch (error) {
      this.#stopWaiting();
      waiter.reject(error);
    }
  }

  #stopWaiting(): void {
    this.#waiter = undefined;
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
  }

  /** What `next()` answers now, if it does. Throws what ended the watch, once. */
  #result(): IteratorResult<WatchBatch<V, K>, undefined> | undefined {
    const batch = this.#take();
    if (batch !== undefined) return { value: batch, done: false };
    if (this.#state !== 'ended') return undefined;
    const failure = this.#failure;
    if (failure === undefined) return { value: undefined, done: true };
    this.#failure = undefined;
    throw failure();
  }

  /** The timer of `progressMs` runs only while a consumer waits. */
  #armProgress(): void {
    const { progressMs } = this.options;
    if (progressMs === undefined || this.#cancelProgress !== undefined) return;
    const { clock } = this.#home;
    this.#cancelProgress = clock.after(Math.max(0, this.#deliveredAt + progressMs - clock.now()), () => {
      this.#cancelProgress = undefined;
      this.#deliveredAt = clock.now();
      // What is due is committed when the consumer is answered, who then gets what may be thrown there.
      if (!this.#isInFuture()) this.#wantsProgress = true;
      this.#wake();
    });
  }

  #isInFuture(): boolean {
    return this.from > this.source.window.revision;
  }

  /** The next batch if there is one now. What a codec throws ends the watch: going on would lose the batch silently. */
  #take(): WatchBatch<V, K> | undefined {
    if (this.#state === 'idle') return this.#takeProgress();
    if (this.#state !== 'initial' && this.#state !== 'pending') return undefined;
    try {
      const batch = this.#state === 'initial' ? this.#takeInitial() : this.#takePending();
      if (batch !== undefined && this.options.progressMs !== undefined) this.#deliveredAt = this.#home.clock.now();
      return batch ?? this.#takeProgress();
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** Idle: everything up to the newest revision was delivered. */
  #takeProgress(): WatchBatch<V, K> | undefined {
    if (!this.#wantsProgress || this.#state !== 'idle') return undefined;
    this.#wantsProgress = false;
    if (this.options.progressMs !== undefined) this.#deliveredAt = this.#home.clock.now();
    return Object.freeze({ revision: this.source.window.revision, progress: true, events: Object.freeze([]) });
  }

  #takeInitial(): WatchBatch<V, K> | undefined {
    const batch = this.source.initial(this.range);
    if (this.#hasEnded()) return undefined;
    this.#becomeIdle();
    return batch;
  }

  #takePending(): WatchBatch<V, K> | undefined {
    const { source } = this;
    const { onSlow = 'lag', lagEventsMax = LAG_EVENTS_MAX_DEFAULT, filter, prevKv = false } = this.options;
    const position = this.#position;
    if (onSlow !== 'lag') {
      // What a watch was opened to fetch is no lag, or one that resumes after `close` would end again at once.
      const lagEvents = source.entriesFrom(onSlow === 'close' ? Math.max(position, this.#backlogEnd + 1) : position);
      if (lagEvents > lagEventsMax) {
        if (onSlow === 'close') {
          this.fail(new SlowWatcherError({ resumeRevision: position, lagEvents }));
          return undefined;
        }
        const span = source.difference(this.range, position, filter, prevKv);
        if (this.#hasEnded()) return undefined;
        this.#becomeIdle();
        return span.events.length === 0 ? undefined : span;
      }
    }
    // The position itself, but for a span, whose position is where it starts (M26).
    const commit = source.window.hasSpans ? source.nextCommit(this.range, position, filter) : position;
    invariant(commit > 0, `a pending watcher at ${position} has a commit to deliver`);
    const batch = source.batchAt(this.range, commit, filter, prevKv);
    if (this.#hasEnded()) return undefined;
    this.#seek(commit + 1);
    return batch;
  }

  /** Looks ahead, so that a watcher with nothing left to get is idle at once and compaction cannot end it (M26). */
  #seek(from: Revision): void {
    const next = this.source.nextCommit(this.range, from, this.options.filter);
    if (next === 0) {
      this.#becomeIdle();
      return;
    }
    const span = this.source.window.spanAt(next);
    this.#becomePending(span === undefined ? next : span.after + 1);
  }

  #becomePending(position: Revision): void {
    const before = this.#position;
    this.#state = 'pending';
    this.#position = position;
    this.#home.becamePending(this, before);
  }

  #becomeIdle(): void {
    const before = this.#position;
    this.#state = 'idle';
    this.#position = 0;
    this.#home.becameIdle(this, before);
  }

  /** Asked after each batch was made: a codec is user code, which may abort, return or close, and what ended stays so. */
  #hasEnded(): boolean {
    return this.#state === 'ended';
  }
}
