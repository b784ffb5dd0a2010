import type { SignalOptions } from '../types/signal.ts';
import type { ControllerStats } from './controller-stats.ts';
import type { Explanation } from './explanation.ts';
import type { HandlerStats } from './handler-metrics.ts';
import type { IndexAccess } from './index-options.ts';
import type { ObjectStatus } from './inspect.ts';
import type { KindTable } from './kinds.ts';
import { ObjectController } from './object-controller.ts';
import type { ControllerOptions } from './options.ts';

/**
 * Calls handlers for the objects of a source until each of them has handled the last state (I1').
 *
 * - Level-triggered: states in between may be skipped, the last one never, for every handler and sub-handler.
 * - A handler runs when *its own view* has changed, and not otherwise.
 * - Calls for one object never overlap, unless `parallel` says so, and all calls of a pass see one frozen state. Objects run
 *   in parallel.
 * - At least once: a crash between an effect and its record repeats the call, under the same `ctx.idempotencyKey`.
 * - Not promised: order among objects beyond that of `priority`; a call for every state; that no other process calls the same handler.
 */
export interface Controller<T = unknown> extends IndexAccess {
  /**
   * Registers a handler, before `run`. `change` is called for the first state of an object and for every change of what
   * the handler sees, `event` for every state; for the other kinds see {@link KindTable}.
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
  on<K extends keyof KindTable>(kind: K, options: KindTable<T>[K]['options'], fn: KindTable<T>[K]['fn']): void;
  /**
   * Works until the signal aborts, then drains: running calls get the abort, their outcomes are still recorded, and
   * after `drainMs` at the latest it resolves, or `cleanupMs` later if there are cleanups. Call once. Rejects, drained as
   * well, when the source fails for good, and with what a startup threw that failed for good, before anything else is called.
   *
   * @throws TypeError for an unknown option and for a signal that is none
   */
  run(options: SignalOptions): Promise<void>;
  /**
   * Resolves once the objects are known and every one is settled for its newest known state: nothing due, running or
   * waiting for a retry. A state that the source has yet to deliver is not known.
   *
   * @throws TypeError for an unknown option and for a signal that is none; the signal's reason; `ClosedError` when the controller stops first, or has stopped.
   */
  idle(options?: SignalOptions): Promise<void>;
  /**
   * No call begins until `resume`; running ones end, and their outcomes are written. States are still taken in, and waits
   * go on. `idle()` waits for what is due; `run` can be ended. Before `run` as well as during it; twice is once (A35').
   */
  pause(): void;
  /** Ends a `pause`. */
  resume(): void;
  /**
   * What is known of one object, for inspection and tests.
   *
   * @throws TypeError for a name that is no string
   */
  state(name: string): ObjectStatus | undefined;
  /**
   * Why each handler and sub is called for an object at this moment, or is not: as facts, and as `text` for a person.
   *
   * @throws TypeError for a name that is no string
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
 * @throws RangeError for a concurrency, limit, backoff or time that is out of range, or no number.
 */
export function createController<T = unknown>(options: ControllerOptions<T>): Controller<T> {
  return new ObjectController<T>(options);
}
