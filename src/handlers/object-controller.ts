import { type Backoff, resolveBackoff } from '../queue/backoff.ts';
import { KeyedQueue } from '../queue/keyed-queue.ts';
import { Pacer } from '../queue/pacer.ts';
import type { RankOptions } from '../queue/ready-list.ts';
import { rateOf } from '../queue/token-bucket.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { ObjectSource, SourceList } from '../types/source.ts';
import { Admission } from './admission.ts';
import { BackPressure } from './back-pressure.ts';
import { type Breakers, breakersBy } from './breaker.ts';
import { checkController, checkedSignal, checkObjectName, registering } from './checks.ts';
import { concealedSource } from './concealed-source.ts';
import { type ControllerStats, freshCounters } from './controller-stats.ts';
import { documentsOf } from './documents.ts';
import { errorText } from './error-text.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';
import { HandlerMetrics, type HandlerStats } from './handler-metrics.ts';
import { handlerStats } from './handler-stats.ts';
import { IdleWaiters } from './idle-waiters.ts';
import type { ObjectIndex } from './index-options.ts';
import { inform } from './informer.ts';
import { inspect, type ObjectStatus } from './inspect.ts';
import { noKindCounts } from './kind-deps.ts';
import { Kinds, type KindTable } from './kinds.ts';
import { ObjectTable } from './object-table.ts';
import type { ControllerOptions } from './options.ts';
import type { Counters, PassDeps } from './pass-deps.ts';
import { priorityBy } from './priority.ts';
import { createMemoryProgress } from './progress.ts';
import { Registry } from './registry.ts';
import { runTurn } from './run-turn.ts';
import type { Snapshot } from './snapshot.ts';
import { checkApart } from './store-progress.ts';
import { Sweeper } from './sweeper.ts';
import { defaultViewBy, essenceIdOf, isWholeAtBy, reviewBy } from './view.ts';

const WEEK_MS = 604_800_000;

/** Objects in line before the watch is held back: what one process works off in minutes, in some megabytes. */
const QUEUED_MAX = 10_000;

/** Between two lists of the source. */
const RELIST_BACKOFF: Backoff = { baseMs: 200, factor: 2, maxMs: 30_000, jitter: 0.2 };

/** The controller: whatever belongs to all objects together. What is done for one of them is in `pass.ts`. */
export class ObjectController<T> {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #drainMs: number;
  readonly #registry: Registry;
  readonly #queue: KeyedQueue;
  readonly #table: ObjectTable;
  readonly #pacer: Pacer;
  readonly #deps: PassDeps;
  readonly #sweeper: Sweeper;
  readonly #kinds: Kinds;
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #counters: Counters = freshCounters();
  readonly #metrics = new Map<string, HandlerMetrics>();
  readonly #admission: Admission;
  readonly #breakers: Breakers | undefined;
  readonly #pressure: BackPressure;
  readonly #idle = new IdleWaiters();
  #lists = 0;
  #isRunning = false;

  constructor(options: ControllerOptions<T>) {
    checkController(options);
    checkApart('create a controller', options.source, options.progress);
    this.#clock = options.clock ?? systemClock;
    this.#logger = new GuardedLogger(options.logger);
    this.#drainMs = options.drainMs ?? 5000;
    const random = options.random ?? systemRandom;
    const source = concealedSource(options.source, options.progress);
    const process = `${random().toString(36).slice(2)}${random().toString(36).slice(2)}`;
    const canHold = source.hasFinalizers === true && source.patch !== undefined;
    const defaultBackoff = resolveBackoff(options.backoff, {}, 'create a controller');
    this.#registry = new Registry(defaultBackoff, canHold, essenceIdOf(options.essence));
    // A source yields nothing but what its type says, so this is where `T` becomes `unknown`.
    const view = options.view as ((object: unknown) => unknown) | undefined;
    this.#table = new ObjectTable(
      (a, b) => source.compare(a, b),
      {
        process,
        defaultView: defaultViewBy(view, options.essence),
        review: options.view === undefined ? reviewBy(options.essence) : undefined,
        essence: essenceIdOf(options.essence),
        isWholeAt: isWholeAtBy(view, options.essence),
        onFault: (snapshot, id, error) => {
          this.#counters.faults++;
          const { name, uid, resourceVersion } = snapshot;
          this.#logger.error(`Cannot look at the object for "${id}"`, { name, uid, resourceVersion, error });
        },
      },
      (name) => this.#changed(name),
    );
    this.#pacer = new Pacer(this.#clock);
    this.#breakers = breakersBy(options.breaker, this.#clock, random);
    this.#admission = new Admission({
      clock: this.#clock,
      rate: rateOf(options.rateLimit),
      wake: (name) => this.#queue.wake(name),
    });
    this.#pressure = new BackPressure(options.queuedMax ?? QUEUED_MAX, () =>
      // What is in line for nothing but the end of a pause holds up nobody.
      this.#admission.isPaused ? 0 : this.#queue.counts.queued,
    );
    this.#queue = this.#makeQueue(options, random);
    this.#deps = this.#passDeps(options, source, random, process);
    this.#kinds = new Kinds(this.#registry, {
      ...this.#deps,
      concurrency: options.concurrency ?? 16,
      drainMs: this.#drainMs,
      cleanupMs: options.cleanupMs ?? 5000,
      defaultBackoff,
      canHold,
      kindCounters: noKindCounts(),
      notify: (name) => this.#queue.notify(name),
    });
    this.#sweeper = new Sweeper({
      progress: this.#deps.progress,
      source,
      isAlive: (name, uid) => this.#table.get(name)?.newest?.uid === uid,
      logger: this.#logger,
      stopping: this.#stopping.signal,
    });
  }

  on<K extends keyof KindTable>(kind: K, options: KindTable<T>[K]['options'], fn: KindTable<T>[K]['fn']): void {
    if (this.#isRunning) throw new TypeError(`Cannot ${registering(options.id)}: the controller runs`);
    this.#kinds.add(kind, options, fn);
    const handler = this.#registry.handlers.at(-1);
    // Otherwise of a kind without records: it has neither figures nor places.
    if (handler?.id !== options.id) return;
    this.#metrics.set(handler.id, new HandlerMetrics());
    this.#admission.limit(handler.id, handler.concurrency);
  }

  async run(options: SignalOptions): Promise<void> {
    const { signal } = checkedSignal('run the controller', options);
    if (this.#isRunning) throw new TypeError('Cannot run the controller: it was run before');
    this.#isRunning = true;
    const stop = (): void => this.#stopping.abort(signal?.reason);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop);
    let isStarted = false;
    try {
      isStarted = await this.#kinds.startup();
      if (!isStarted) return;
      const { source, random, clock } = this.#deps;
      const { pressure, table, logger } = { pressure: this.#pressure, table: this.#table, logger: this.#logger };
      const informer = { source, table, clock, random, backoff: RELIST_BACKOFF, logger, pressure };
      await inform({ ...informer, onList: (list) => this.#onList(list) }, this.#stopping.signal);
    } finally {
      signal?.removeEventListener('abort', stop);
      await this.#drain();
      if (isStarted) await this.#kinds.cleanup();
    }
  }

  async idle(given: SignalOptions = {}): Promise<void> {
    const options = checkedSignal('wait until the controller is idle', given);
    if (options.signal?.aborted !== true && this.#stopping.signal.aborted) {
      throw new ClosedError('wait until the controller is idle');
    }
    const idle = this.#idle.wait(options);
    this.#checkIdle();
    return idle;
  }

  pause(): void {
    if (this.#admission.isPaused) return;
    this.#admission.isPaused = true;
    this.#queue.pause();
    this.#pressure.release();
  }

  resume(): void {
    if (!this.#admission.isPaused) return;
    this.#admission.isPaused = false;
    this.#queue.resume();
  }

  state(name: string): ObjectStatus | undefined {
    checkObjectName('tell the state of an object', name);
    return inspect(this.#table.get(name), this.#registry.handlers);
  }

  explain(name: string): Explanation {
    checkObjectName('explain an object', name);
    return explain(this.#deps, name, this.#table.get(name), this.#queue.stateOf(name));
  }

  stats(): ControllerStats {
    const { queued, running, waiting, keys } = this.#queue.counts;
    return {
      objects: this.#table.size,
      queued,
      running,
      waiting,
      behind: keys,
      paused: this.#admission.isPaused,
      watchHeld: this.#pressure.isHeld,
      openBreakers: this.#breakers?.open.size ?? 0,
      breakerTrips: this.#breakers?.trips ?? 0,
      ...this.#counters,
      ...this.#kinds.stats,
    };
  }

  handlerStats(): Readonly<Record<string, HandlerStats>> {
    return handlerStats(this.#metrics, this.#table.states(), this.#clock.now());
  }

  index<V = unknown>(id: string): ObjectIndex<V> {
    return this.#kinds.index(id);
  }

  #makeQueue(options: ControllerOptions<T>, random: Random): KeyedQueue {
    return new KeyedQueue({
      run: (name) => this.#turn(name),
      pacer: this.#pacer,
      onTake: () => this.#pressure.taken(),
      ...this.#ranks(options),
      ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
      ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
      clock: this.#clock,
      random,
      onIdle: () => this.#checkIdle(),
      onError: (name, error, delayMs) => {
        // The end of a call that the drain has left behind cannot be written down, which is no news.
        if (this.#stopped.signal.aborted) return;
        this.#logger.error('Cannot work on an object', { name, error, delayMs });
        const state = this.#table.get(name);
        if (state !== undefined) {
          state.trouble = { error: errorText(error), untilClockMs: this.#clock.now() + delayMs };
        }
      },
    });
  }

  #passDeps(options: ControllerOptions<T>, source: ObjectSource<T>, random: Random, process: string): PassDeps {
    let writes = 0;
    const progress = options.progress ?? createMemoryProgress();
    return {
      source,
      progress,
      documents: documentsOf(progress),
      handlers: this.#registry.handlers,
      handlerIds: this.#registry.ids,
      retiringIds: this.#registry.retiringIds,
      recordTtlMs: options.recordTtlMs ?? WEEK_MS,
      finalizer: options.finalizer ?? 'plimsoll.dev/handlers',
      policy: options.policy ?? 'supersede',
      persist: options.persist ?? 'call',
      parallel: options.parallel ?? 1,
      clock: this.#clock,
      pacer: this.#pacer,
      random,
      logger: this.#logger,
      table: this.#table,
      counters: this.#counters,
      metrics: this.#metrics,
      admission: this.#admission,
      breakers: this.#breakers,
      stopping: this.#stopping.signal,
      stopped: this.#stopped.signal,
      reads: new Set(),
      index: (id) => this.#kinds.index(id),
      isOccupied: (name, uid) => this.#kinds.isOccupied(name, uid),
      nextWriteId: () => `${process}-${++writes}`,
    };
  }

  #ranks({ priority, ageingMs = 10_000 }: ControllerOptions<T>): { readonly ranks?: RankOptions } {
    if (priority === undefined) return {};
    const onFault = ({ name, uid, resourceVersion }: Snapshot, error: unknown): void => {
      this.#counters.faults++;
      this.#logger.error('Cannot tell the priority of an object', { name, uid, resourceVersion, error });
    };
    // A source yields nothing but what its type says, so this is where `T` becomes `unknown`.
    const fn = priority as (object: unknown) => unknown;
    return { ranks: { priority: priorityBy(fn, this.#table, onFault), ageingMs } };
  }

  #changed(name: string): void {
    const state = this.#table.get(name);
    if (state !== undefined) state.unseenSinceMs ??= this.#clock.now();
    this.#kinds.observe(name, state?.newest);
    this.#queue.notify(name);
  }

  async #turn(name: string): ReturnType<typeof runTurn> {
    const state = this.#table.get(name);
    return state === undefined ? 'idle' : await runTurn(this.#deps, this.#kinds, state);
  }

  #onList(list: SourceList): void {
    if (this.#lists++ > 0) this.#counters.relists++;
    this.#sweeper.sweep(list);
    this.#checkIdle();
  }

  async #drain(): Promise<void> {
    const reason = new ClosedError('go on: the controller stops');
    this.#stopping.abort(reason);
    this.#queue.close();
    this.#kinds.close(reason);
    for (const { running } of this.#table.states()) for (const call of running) call.abort(reason);
    this.#admission.close();
    this.#idle.reject(new ClosedError('wait until the controller is idle'));
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(this.#drainMs, resolve);
      Promise.all([this.#queue.drained(), this.#kinds.drained(), this.#sweeper.drained()]).then(() => {
        cancel();
        resolve();
      }, resolve);
    });
    this.#stopped.abort(reason);
    for (const read of this.#deps.reads) read.abort(reason);
    this.#kinds.abandon();
    for (const { running } of this.#table.states()) for (const call of running) call.abandon();
  }

  #checkIdle(): void {
    if (this.#lists === 0 || this.#queue.counts.keys > 0) return;
    this.#idle.resolve();
  }
}
