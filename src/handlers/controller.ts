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
import type { SourceList } from '../types/source.ts';
import { Admission } from './admission.ts';
import { BackPressure } from './back-pressure.ts';
import { type Breakers, breakersBy } from './breaker.ts';
import { checkController } from './checks.ts';
import type { HandlerFunction } from './context.ts';
import { type ControllerStats, freshCounters } from './controller-stats.ts';
import { errorText } from './error-text.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';
import { HandlerMetrics, type HandlerStats } from './handler-metrics.ts';
import { handlerStats } from './handler-stats.ts';
import { IdleWaiters } from './idle-waiters.ts';
import { inform } from './informer.ts';
import { inspect, type ObjectStatus } from './inspect.ts';
import { ObjectTable } from './object-table.ts';
import type { ControllerOptions, HandlerOptions } from './options.ts';
import { runPass } from './pass.ts';
import type { Counters, PassDeps } from './pass-deps.ts';
import { priorityBy } from './priority.ts';
import { createMemoryProgress } from './progress.ts';
import { type HandlerKind, Registry } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import { Sweeper } from './sweeper.ts';
import { defaultViewBy } from './view.ts';

/**
 * Calls handlers for the objects of a source until each of them has handled the last state (I1').
 *
 * - Level-triggered: states in between may be skipped, the last one never, for every handler and sub-handler.
 * - A handler runs when *its own view* has changed, and not otherwise.
 * - Calls for one object never overlap, and all calls of a pass see one frozen state. Objects run in parallel.
 * - At least once: a crash between an effect and its record repeats the call, under the same `ctx.idempotencyKey`.
 * - Not promised: order among objects; a call for every state; that no other process calls the same handler.
 */
export interface Controller<T = unknown> {
  /**
   * Registers a handler, before `run`. `change` is called for the first state of an object and for every change of what
   * the handler sees.
   *
   * @example
   * ```ts
   * import { createController, createEssenceHasher, createStoreSource, openStore } from 'plimsoll';
   *
   * const store = await openStore<{ replicas: number }>();
   * const source = createStoreSource(store, { prefix: 'apps/' });
   * const controller = createController({ source, essence: createEssenceHasher({ defaults: false }) });
   * controller.on('change', { id: 'scale', field: 'replicas', retries: 5 }, async (ctx) => {
   *   console.log('scale', ctx.name, 'from', ctx.old, 'to', ctx.new);
   * });
   * ```
   *
   * @throws TypeError for an id that is taken or malformed, an unknown option, and once the controller runs.
   * @throws RangeError for retries, timeouts or backoff out of range.
   * @throws UnsupportedError for any other kind, and for `delete` and `retire` where the source has no finalizers.
   */
  on(kind: HandlerKind, options: HandlerOptions<T>, fn: HandlerFunction<T>): void;
  /**
   * Works until the signal aborts, then drains: running calls get the abort, their outcomes are still recorded, and
   * after `drainMs` at the latest it resolves. Call once. Rejects, drained as well, when the source fails for good.
   */
  run(options: SignalOptions): Promise<void>;
  /**
   * Resolves once the objects are known and every one is settled for its newest known state: nothing due, running or
   * waiting for a retry. A state that the source has yet to deliver is not known.
   *
   * @throws the signal's reason; `ClosedError` when the controller stops first, or has stopped.
   */
  idle(options?: SignalOptions): Promise<void>;
  /**
   * No call begins until `resume`; running ones end, and their outcomes are written. States are still taken in, and waits
   * go on. `idle()` waits for what is due; `run` can be ended. Before `run` as well as during it; twice is once (A35').
   */
  pause(): void;
  /** Ends a `pause`. */
  resume(): void;
  /** What is known of one object, for inspection and tests. */
  state(name: string): ObjectStatus | undefined;
  /**
   * Why each handler and sub is called for an object at this moment, or is not: as facts, and as `text` for a person.
   *
   * @example
   * ```ts
   * import { createController, createStoreSource, openStore } from 'plimsoll';
   *
   * const store = await openStore<{ image: string }>();
   * const controller = createController({ source: createStoreSource(store, { prefix: 'apps/' }) });
   * console.log(controller.explain('apps/web').text); // "apps/web": nothing is known to live under this name
   * ```
   */
  explain(name: string): Explanation;
  stats(): ControllerStats;
  /** The figures of each handler by id, subs counted for their parents. Looks at every object that is known. */
  handlerStats(): Readonly<Record<string, HandlerStats>>;
}

/**
 * Makes a controller. It does nothing before `run`.
 *
 * @example
 * ```ts
 * import { createController, createEssenceHasher, createStoreSource, openStore } from 'plimsoll';
 *
 * const store = await openStore<{ image: string }>();
 * const source = createStoreSource(store, { prefix: 'apps/' });
 * const controller = createController({ source, essence: createEssenceHasher({ defaults: false }) });
 * controller.on('change', { id: 'deploy' }, async (ctx) => console.log('deploy', ctx.name, ctx.new));
 * const stop = new AbortController();
 * const done = controller.run({ signal: stop.signal });
 * await store.put('apps/web', { image: 'web:2' });
 * await controller.idle();
 * stop.abort();
 * await done;
 * ```
 *
 * @throws TypeError for an unknown option, one of the wrong type or with a wrong word, and `essence` beside `view`.
 * @throws RangeError for a concurrency, backoff or drain time out of range.
 */
export function createController<T = unknown>(options: ControllerOptions<T>): Controller<T> {
  return new ObjectController<T>(options);
}

const WEEK_MS = 604_800_000;

/** Objects in line before the watch is held back: what one process works off in minutes, in some megabytes. */
const QUEUED_MAX = 10_000;

/** Between two lists of the source. */
const RELIST_BACKOFF: Backoff = { baseMs: 200, factor: 2, maxMs: 30_000, jitter: 0.2 };

class ObjectController<T> implements Controller<T> {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #drainMs: number;
  readonly #registry: Registry;
  readonly #queue: KeyedQueue;
  readonly #table: ObjectTable;
  readonly #pacer: Pacer;
  readonly #deps: PassDeps;
  readonly #sweeper: Sweeper;
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
    this.#clock = options.clock ?? systemClock;
    this.#logger = new GuardedLogger(options.logger);
    this.#drainMs = options.drainMs ?? 5000;
    const random = options.random ?? systemRandom;
    const { source } = options;
    const process = `${random().toString(36).slice(2)}${random().toString(36).slice(2)}`;
    this.#registry = new Registry(
      resolveBackoff(options.backoff),
      source.hasFinalizers === true && source.patch !== undefined,
    );
    this.#table = new ObjectTable(
      (a, b) => source.compare(a, b),
      {
        process,
        // A source yields nothing but what its type says, so this is where `T` becomes `unknown`.
        defaultView: defaultViewBy(options.view as ((object: unknown) => unknown) | undefined, options.essence),
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
    this.#queue = new KeyedQueue({
      run: (name) => this.#pass(name),
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
    this.#deps = this.#passDeps(options, random, process);
    this.#sweeper = new Sweeper({
      progress: this.#deps.progress,
      source,
      isAlive: (name, uid) => this.#table.get(name)?.newest?.uid === uid,
      logger: this.#logger,
      stopping: this.#stopping.signal,
    });
  }

  on(kind: HandlerKind, options: HandlerOptions<T>, fn: HandlerFunction<T>): void {
    if (this.#isRunning) throw new TypeError(`Cannot register handler "${options.id}": the controller runs`);
    this.#registry.add(kind, options, fn);
    this.#metrics.set(options.id, new HandlerMetrics());
    this.#admission.limit(options.id, options.concurrency ?? Number.POSITIVE_INFINITY);
  }

  async run({ signal }: SignalOptions): Promise<void> {
    if (this.#isRunning) throw new TypeError('Cannot run the controller: it was run before');
    this.#isRunning = true;
    const stop = (): void => this.#stopping.abort(signal?.reason);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop);
    try {
      const { source, random, clock } = this.#deps;
      const { pressure, table, logger } = { pressure: this.#pressure, table: this.#table, logger: this.#logger };
      const informer = { source, table, clock, random, backoff: RELIST_BACKOFF, logger, pressure };
      await inform({ ...informer, onList: (list) => this.#onList(list) }, this.#stopping.signal);
    } finally {
      signal?.removeEventListener('abort', stop);
      await this.#drain();
    }
  }

  idle(options: SignalOptions = {}): Promise<void> {
    if (options.signal?.aborted !== true && this.#stopping.signal.aborted) {
      return Promise.reject(new ClosedError('wait until the controller is idle'));
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
    return inspect(this.#table.get(name), this.#registry.handlers);
  }

  explain(name: string): Explanation {
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
    };
  }

  handlerStats(): Readonly<Record<string, HandlerStats>> {
    return handlerStats(this.#metrics, this.#table.states(), this.#clock.now());
  }

  #passDeps(options: ControllerOptions<T>, random: Random, process: string): PassDeps {
    let writes = 0;
    return {
      source: options.source,
      progress: options.progress ?? createMemoryProgress(),
      handlers: this.#registry.handlers,
      handlerIds: this.#registry.ids,
      retiringIds: this.#registry.retiringIds,
      recordTtlMs: options.recordTtlMs ?? WEEK_MS,
      finalizer: options.finalizer ?? 'plimsoll.dev/handlers',
      policy: options.policy ?? 'supersede',
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
    this.#queue.notify(name);
  }

  #pass(name: string): ReturnType<typeof runPass> {
    const state = this.#table.get(name);
    return state === undefined ? Promise.resolve('idle') : runPass(this.#deps, state);
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
    for (const { running } of this.#table.states()) running?.abort(reason);
    this.#admission.close();
    this.#idle.reject(new ClosedError('wait until the controller is idle'));
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(this.#drainMs, resolve);
      Promise.all([this.#queue.drained(), this.#sweeper.drained()]).then(() => {
        cancel();
        resolve();
      }, resolve);
    });
    this.#stopped.abort(reason);
    for (const read of this.#deps.reads) read.abort(reason);
    for (const { running } of this.#table.states()) running?.abandon();
  }

  #checkIdle(): void {
    if (this.#lists === 0 || this.#queue.counts.keys > 0) return;
    this.#idle.resolve();
  }
}
