import type { EssenceHasher } from '../core/essence-hasher.ts';
import type { BackoffOptions } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { ObjectSource } from '../types/source.ts';
import type { AttemptOptions } from './attempt-options.ts';
import type { RetireFunction } from './context.ts';
import type { ChangeFilterOptions, FilterOptions, ValueFilter } from './filter-options.ts';
import type { ProgressStore } from './progress.ts';

/** Options of `createController`. */
export interface ControllerOptions<T = unknown> {
  /** Where the objects come from: a store prefix (`createStoreSource`) or any other {@link ObjectSource}. */
  readonly source: ObjectSource<T>;
  /**
   * Where records are kept; one store for one controller. In memory they end with the process, so that each object is
   * handled once more after a restart. @default createMemoryProgress()
   */
  readonly progress?: ProgressStore;
  /**
   * Makes the default view, what handlers without `field` and `select` see: an object less what this hasher leaves out.
   * Nothing else is left out by it: fields, selections and args count as a whole. The default is for Kubernetes objects;
   * for values of your own take `createEssenceHasher({ defaults: false })`. @default createEssenceHasher()
   */
  readonly essence?: EssenceHasher;
  /** Makes the default view in place of `essence`: plain JSON data, copied, all of which counts. Pure. Excludes `essence`. */
  readonly view?: (object: T) => unknown;
  /**
   * Which objects come first where many are in line: the higher, the sooner, from -1000 to 1000; what is beyond counts as the
   * nearest bound. Pure, asked for states as they get in line or change there. What throws, and what is no number, is
   * reported and counts as 0 (A30').
   * @default first come first served
   */
  readonly priority?: (object: T) => number;
  /**
   * How much longer an object has to have been in line to make up for one step of priority, in ms, above 0: no object is
   * overtaken by one that comes later than the difference of their priorities times this. @default 10000
   */
  readonly ageingMs?: number;
  /**
   * Calls that may begin, over all objects and handlers but timers, daemons and those for events (A32'): `perSecond` on average, at least 0.000001, and `burst`, a whole
   * number, at once. Who waits does so without a worker, first come first served. @default no limit; of `burst`: `perSecond`
   * rounded up
   */
  readonly rateLimit?: RateLimitOptions;
  /**
   * Holds back the calls for an object after so many failed ones in a row, whatever handlers they are of, for a time that
   * grows until one succeeds (A33'). A delay, never a drop. @default none
   */
  readonly breaker?: BreakerOptions;
  /**
   * The watch of the source is not read on while more objects than this are in line; it is again when half of them are left
   * (A34'). A whole number from 1 on, or `Infinity`. @default 10000
   */
  readonly queuedMax?: number;
  /** Objects handled at a time, a whole number or `Infinity`. @default 16 */
  readonly concurrency?: number;
  /**
   * What a change in the middle of a pass does (A10'). `supersede`: what has not run yet runs on the newest state only.
   * `complete`: a pass that has begun to call finishes on the state it began with. Both end on the last state.
   * @default 'supersede'
   */
  readonly policy?: 'supersede' | 'complete';
  /**
   * When records are written (A12'b). `call`: before each call, with the outcome of the one before. `pass`: before a pass,
   * with the intents of all its calls, and after it, with their outcomes; subs that it plans cost one write more for each
   * level. Fewer writes, of less worth: a crash repeats every call of the pass that had begun, under the same keys, and a
   * change in the middle of it may repeat calls that were only meant to be made. @default 'call'
   */
  readonly persist?: 'call' | 'pass';
  /**
   * Calls at a time within one object, a whole number or `Infinity`: handlers and subs that are due on one state, parents
   * before their subs (A10'b). 1: calls for one object never overlap. @default 1
   */
  readonly parallel?: number;
  /**
   * Waits between the attempts of a handler that has none of its own, and of an object for which the progress store or a
   * read of the source fails. Not those between two lists of the source, which are fixed: from 0.2 s to 30 s.
   * @default { baseMs: 500, factor: 2, maxMs: 60000, jitter: 0.2 }
   */
  readonly backoff?: BackoffOptions;
  /**
   * What keeps an object until its `delete` and `retire` handlers are done (A11'): one name for one controller.
   * @default 'plimsoll.dev/handlers'
   */
  readonly finalizer?: string;
  /**
   * How long records of handlers that are not registered any more, and of subs whose `retire` hook is not, are kept, in ms,
   * in case a version that has them comes back. After that they go with the first write for their object of a process that
   * begins by then; `Infinity` keeps them. @default 604800000 (a week)
   */
  readonly recordTtlMs?: number;
  /** How long `run` waits for running calls, and for a sweep of progress, after its signal, in ms. @default 5000 */
  readonly drainMs?: number;
  /** How long `run` waits for `cleanup` handlers, after the drain, in ms. @default 5000 */
  readonly cleanupMs?: number;
  /** @default the platform's clock */
  readonly clock?: Clock;
  /**
   * Waits are spread by it, and the ids by which a process recognises its own writes of progress are made of it: two
   * processes that share progress must not have the same seed. @default the platform's random numbers
   */
  readonly random?: Random;
  /** What it throws is dropped. @default silence */
  readonly logger?: Logger;
}

/** How many calls may begin. */
export interface RateLimitOptions {
  /** On average, above 0; less than 1 for one in several seconds. */
  readonly perSecond: number;
  /** At once, after a time of rest; a whole number from 1 on. @default perSecond, rounded up */
  readonly burst?: number;
}

/** When the calls for an object are held back. */
export interface BreakerOptions {
  /** Failed calls in a row, a whole number from 1 on. Superseded ones count for nothing. */
  readonly failuresMax: number;
  /**
   * For how long: the first time, and longer each time that the call after it fails, too. When somebody else changes the
   * object, `baseMs` after the last failure is enough.
   * @default { baseMs: 10000, factor: 2, maxMs: 300000, jitter: 0.2 }
   */
  readonly backoff?: BackoffOptions;
}

/** Options of `controller.on`. */
export interface HandlerOptions<T = unknown> extends AttemptOptions, FilterOptions<T>, ChangeFilterOptions {
  /** Names the handler's records: keep it over releases. No `/`. */
  readonly id: string;
  /** Depend on this field only: `'spec.replicas'`, or a JSON pointer where keys have dots. Excludes `select`. */
  readonly field?: string;
  /**
   * Depend on what this returns only: plain JSON data, which is copied; an instance of a class or a promise is a fault.
   * Pure. Excludes `field`.
   */
  readonly select?: (object: T) => unknown;
  /**
   * What `field` has to be. For `create`, `resume` and `delete` a limit of the scope, like `when`. For `change` and `update`:
   * either now, or at the last success, so that the handler is told when its object is not like this any more (A20').
   * @default anything
   */
  readonly value?: ValueFilter;
  /** What is left out is as in the controller's. @default the controller's */
  readonly backoff?: BackoffOptions;
  /**
   * Calls of the handler at a time over all objects, those of its subs and its `retire` hook counted in: a whole number or
   * `Infinity`. Who waits does so without a worker, first come first served among objects, and the other handlers of its
   * object go on (A31'). A call that has timed out counts no more. @default Infinity
   */
  readonly concurrency?: number;
  /**
   * Names what the handler's view means, for all that the controller cannot tell by itself: change it with `select`, with
   * the controller's `view`, or to have every object handled once more (A14').
   */
  readonly version?: string;
  /**
   * For objects that other handlers have records of, and this one has none, since it is new: `run` calls it, `adopt` takes
   * their present state as done. New objects are handled in either case. For `change` and `create`. @default 'run'
   */
  readonly onAdded?: 'run' | 'adopt';
  /**
   * For objects that the handler has succeeded on with another `field`, `select` or `version`, or other rules of the
   * controller's `essence`: where that view had the present one in it, unchanged, they are done; where it had another one,
   * they are called. For all others, `run` calls it, `adopt` takes them as done. Handlers with a plan are called. For
   * `change` and `update`. @default 'run'
   */
  readonly onSchemaChange?: 'run' | 'adopt';
  /**
   * The handler is called for what it writes itself by `ctx.patch` into what it sees, as for a change by anybody else: `old`
   * is what it saw before, and a failure that it notes there begins a new input, with new retries. Slowed down like any loop
   * of own writes (A8'b). For `change` and `update`. @default false
   */
  readonly selfTrigger?: boolean;
  /**
   * Undoes what a sub-handler did that the plan lacks now, or whose object is being deleted. Called with every args that
   * an attempt of the sub began with since its last success, until it succeeds; without a hook, the record is dropped
   * (A9'e). `timeoutMs` and `backoff` are those of the handler, `retries` is not. Needs finalizers of the source.
   */
  readonly retire?: RetireFunction<T>;
}
