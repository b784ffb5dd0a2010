import type { BackoffOptions } from '../queue/backoff.ts';
import type { Patch } from '../types/patch.ts';
import type { CallContext } from './context.ts';
import type { FilterOptions } from './filter-options.ts';
import type { IndexAccess } from './index-options.ts';

/** What timers and daemons have in common. */
export interface SpawnOptions<T = unknown> extends FilterOptions<T> {
  /** Names the handler in the log. No `/`. */
  readonly id: string;
  /** How `idleMs` sees the object: by what this returns alone. Pure, like that of a handler of changes. Excludes `field`. */
  readonly select?: (object: T) => unknown;
  /** Wait from the moment the object comes into scope, as this process hears of it, in ms. @default 0 */
  readonly initialDelayMs?: number;
  /**
   * Begins only when the object has not changed for so long, in ms, as seen by `field` or `select`, else by the default
   * view. The handler's own patches are no change. @default does not matter
   */
  readonly idleMs?: number;
  /** Failures in a row after the first one before it is given up for this uid; 0 gives up at once. @default Infinity */
  readonly retries?: number;
  /** Waits after failures. @default the controller's */
  readonly backoff?: BackoffOptions;
}

/** Options of `controller.on('timer', ...)`. */
export interface TimerOptions<T = unknown> extends SpawnOptions<T> {
  /**
   * From the end of one call to the next, in ms, above 0. Without it a timer is called once after each change with `idleMs`,
   * and once for each uid otherwise. @default none
   */
  readonly intervalMs?: number;
  /** From the beginning of one call to the next; a call that takes longer than the interval misses turns. @default false */
  readonly sharp?: boolean;
  /** How long a call may take, in ms; then its signal aborts, and it counts as failed. @default no limit */
  readonly timeoutMs?: number;
}

/** Options of `controller.on('daemon', ...)`. */
export interface DaemonOptions<T = unknown> extends SpawnOptions<T> {
  /**
   * How long a call may go on after its signal, in ms; then it is abandoned: logged, counted, and waited for no more.
   * `Infinity` waits for ever. @default 60000
   */
  readonly cancellationTimeoutMs?: number;
}

/** What a call of a timer is told. Frozen. */
export interface TimerContext<T = unknown>
  extends Pick<CallContext<T>, 'object' | 'uid' | 'name' | 'resourceVersion' | 'attempt' | 'patch' | 'index'> {
  /** Aborts on timeout, when the object goes, is on its way out or out of scope, and when the controller stops. */
  readonly signal: AbortSignal;
}

/** Returning is success; a `TemporaryError` says when to try again, a `PermanentError` ends the timer for this uid. */
export type TimerFunction<T = unknown> = (context: TimerContext<T>) => Promise<void> | void;

/** What a call of a daemon is told. */
export interface DaemonContext<T = unknown> extends IndexAccess {
  /** The newest state of its object that is known, each time it is asked; the last one, when the object is gone. */
  readonly object: T;
  readonly uid: string;
  readonly name: string;
  /** Of the newest state that is known. */
  readonly resourceVersion: string;
  /** Failures in a row so far. */
  readonly attempt: number;
  /** Aborts when the object goes, is on its way out or out of scope, and when the controller stops: then return soon. */
  readonly signal: AbortSignal;
  /**
   * Changes the object at once: a merge patch, or an array, which is a JSON patch. Laid on the newest state, by
   * compare-and-set, so that what somebody else writes stays; patches of one call are applied in order. Resolves when it is
   * applied. A rejection is logged too, so whoever does not wait for it loses nothing.
   *
   * Handlers are called for it as for the change of somebody else.
   *
   * @throws TypeError for what is no patch; UnsupportedError if the source takes none; as rejections: the signal's reason
   * once that has aborted, also while the patch waits; ClosedError after the stop; ValueError for a JSON patch that does not
   * fit the newest state; LimitExceededError for more than 1000 patches under way; and what the source rejects with
   */
  patch(patch: Patch): Promise<void>;
}

/**
 * Returning is the end for this uid, in this process; throwing has it called again by backoff, except for a
 * `PermanentError`. What it does after its signal has aborted is no verdict.
 */
export type DaemonFunction<T = unknown> = (context: DaemonContext<T>) => Promise<void> | void;
