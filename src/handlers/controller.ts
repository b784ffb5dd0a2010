import { type Backoff, resolveBackoff } from '../queue/backoff.ts';
import { KeyedQueue } from '../queue/keyed-queue.ts';
import { Pacer } from '../queue/pacer.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { ObjectSource, SourceList } from '../types/source.ts';
import { checkController } from './checks.ts';
import { concealedSource } from './concealed-source.ts';
import type { HandlerFunction } from './context.ts';
import { inform } from './informer.ts';
import { inspect, type ObjectStatus } from './inspect.ts';
import { ObjectTable } from './object-table.ts';
import type { ControllerOptions, HandlerOptions } from './options.ts';
import { runPass } from './pass.ts';
import type { Counters, PassDeps } from './pass-deps.ts';
import { createMemoryProgress } from './progress.ts';
import { type HandlerKind, Registry } from './registry.ts';
import { checkApart } from './store-progress.ts';
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
  /** What is known of one object, for inspection and tests. */
  state(name: string): ObjectStatus | undefined;
  stats(): ControllerStats;
}

/** Figures of the moment, and counts since the start. */
export interface ControllerStats {
  /** Objects known. */
  readonly objects: number;
  /** Objects in line for a pass. */
  readonly queued: number;
  /** Objects with a pass going on. */
  readonly running: number;
  /** Objects that wait for a retry or for a failed store or source. */
  readonly waiting: number;
  /**
   * Objects not known to be settled for their newest state: queued, running or waiting; once the controller has stopped,
   * those that it left so.
   */
  readonly behind: number;
  /** Calls begun, those to rebuild included. */
  readonly calls: number;
  readonly successes: number;
  readonly temporaryFailures: number;
  readonly permanentFailures: number;
  /** Passes begun; each has at most one call of each handler. */
  readonly passes: number;
  /** Documents written. */
  readonly writes: number;
  /** Calls that were aborted and so count for nothing. */
  readonly superseded: number;
  /** Lists after the first one. */
  readonly relists: number;
  /** States on which a `when`, `select`, `view` or digest threw. */
  readonly faults: number;
  /** Patches written into objects. */
  readonly patches: number;
  /** Episodes of handlers that had to wait because own writes call them again and again (A8'). */
  readonly loops: number;
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

interface IdleWaiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

const WEEK_MS = 604_800_000;

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
  readonly #counters: Counters = {
    calls: 0,
    successes: 0,
    temporaryFailures: 0,
    permanentFailures: 0,
    passes: 0,
    writes: 0,
    superseded: 0,
    relists: 0,
    faults: 0,
    patches: 0,
    loops: 0,
  };
  readonly #idle = new Set<IdleWaiter>();
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
      (name) => this.#queue.notify(name),
    );
    this.#pacer = new Pacer(this.#clock);
    this.#queue = new KeyedQueue({
      run: (name) => this.#pass(name),
      pacer: this.#pacer,
      ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
      ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
      clock: this.#clock,
      random,
      onIdle: () => this.#checkIdle(),
      onError: (name, error, delayMs) => {
        // The end of a call that the drain has left behind cannot be written down, which is no news.
        if (this.#stopped.signal.aborted) return;
        this.#logger.error('Cannot work on an object', { name, error, delayMs });
      },
    });
    this.#deps = this.#passDeps(options, source, random, process);
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
  }

  async run({ signal }: SignalOptions): Promise<void> {
    if (this.#isRunning) throw new TypeError('Cannot run the controller: it was run before');
    this.#isRunning = true;
    const stop = (): void => this.#stopping.abort(signal?.reason);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop);
    try {
      const { source, random, clock } = this.#deps;
      const informer = { source, table: this.#table, clock, random, backoff: RELIST_BACKOFF, logger: this.#logger };
      await inform({ ...informer, onList: (list) => this.#onList(list) }, this.#stopping.signal);
    } finally {
      signal?.removeEventListener('abort', stop);
      await this.#drain();
    }
  }

  idle({ signal }: SignalOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      if (this.#stopping.signal.aborted) {
        reject(new ClosedError('wait until the controller is idle'));
        return;
      }
      const abort = (): void => waiter.reject(signal?.reason);
      const end = (): void => {
        this.#idle.delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      const waiter: IdleWaiter = {
        resolve: () => {
          end();
          resolve();
        },
        reject: (reason) => {
          end();
          reject(reason);
        },
      };
      this.#idle.add(waiter);
      signal?.addEventListener('abort', abort);
      this.#checkIdle();
    });
  }

  state(name: string): ObjectStatus | undefined {
    return inspect(this.#table.get(name), this.#registry.handlers);
  }

  stats(): ControllerStats {
    const { queued, running, waiting, keys } = this.#queue.counts;
    return { objects: this.#table.size, queued, running, waiting, behind: keys, ...this.#counters };
  }

  #passDeps(options: ControllerOptions<T>, source: ObjectSource<T>, random: Random, process: string): PassDeps {
    let writes = 0;
    return {
      source,
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
      stopping: this.#stopping.signal,
      stopped: this.#stopped.signal,
      reads: new Set(),
      nextWriteId: () => `${process}-${++writes}`,
    };
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
    for (const waiter of [...this.#idle]) waiter.reject(new ClosedError('wait until the controller is idle'));
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
    for (const waiter of [...this.#idle]) waiter.resolve();
  }
}
