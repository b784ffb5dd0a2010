import { type Backoff, type BackoffOptions, resolveBackoff } from '../queue/backoff.ts';
import { abortableSleep } from '../system/abortable.ts';
import { ClosedError } from '../types/errors.ts';
import { onAbort } from '../types/on-abort.ts';
import type { AttemptOptions } from './attempt-options.ts';
import { checkAttempts, checkNames } from './checks.ts';
import type { KindDeps } from './kind-deps.ts';
import { outcomeOf } from './outcome.ts';
import { TimedCall } from './timed-call.ts';

/** Options of `controller.on('startup', ...)` and `controller.on('cleanup', ...)`. */
export interface ActivityOptions extends AttemptOptions {
  /** Names the handler in the log. No `/`. */
  readonly id: string;
  /** @default the controller's */
  readonly backoff?: BackoffOptions;
}

/** What the handlers of the start and the end of a controller are told. Frozen. */
export interface ActivityContext {
  /** Failed attempts so far. */
  readonly attempt: number;
  /** Aborts on timeout; that of a startup when the controller stops, that of a cleanup when its time is up. */
  readonly signal: AbortSignal;
}

/** Returning is success; for the other ends see `TemporaryError` and `PermanentError`. */
export type ActivityFunction = (context: ActivityContext) => Promise<void> | void;

export type ActivityKind = 'startup' | 'cleanup';

const NAMES: readonly (keyof ActivityOptions)[] = ['id', 'backoff', 'retries', 'timeoutMs'];

interface Activity {
  readonly id: string;
  readonly retries: number;
  readonly timeoutMs: number | undefined;
  readonly backoff: Backoff;
  readonly fn: ActivityFunction;
}

/** `failed` for good; `stopped` by its signal, with or without an attempt. */
type ActivityEnd = { readonly kind: 'ok' | 'stopped' } | { readonly kind: 'failed'; readonly error: unknown };

/** What is done once before the first list, and once after the drain (A25'); one after the other, as registered. */
export class Activities {
  readonly #deps: KindDeps;
  readonly #activities: Readonly<Record<ActivityKind, Activity[]>> = { startup: [], cleanup: [] };

  constructor(deps: KindDeps) {
    this.#deps = deps;
  }

  add(kind: ActivityKind, action: string, options: ActivityOptions, fn: ActivityFunction): void {
    checkNames(action, options, NAMES);
    checkAttempts(action, options);
    const { defaultBackoff } = this.#deps;
    const { id, retries = Number.POSITIVE_INFINITY, timeoutMs } = options;
    const backoff =
      options.backoff === undefined ? defaultBackoff : resolveBackoff(options.backoff, defaultBackoff, action);
    this.#activities[kind].push({ id, retries, timeoutMs, backoff, fn });
  }

  /**
   * Resolves with whether all have succeeded: `false` is a stop before that. Rejects with what the last attempt of one threw
   * that has failed for good. After the stop a call that goes on is waited for `drainMs`.
   */
  async startup(): Promise<boolean> {
    const { stopping, drainMs } = this.#deps;
    if (stopping.aborted) return false;
    for (const activity of this.#activities.startup) {
      const end = await this.#run('Startup', activity, stopping, drainMs);
      if (end.kind === 'failed') throw end.error;
      if (end.kind === 'stopped') return false;
    }
    return true;
  }

  /** Resolves when all have ended, or `cleanupMs` later. Failures are told and nothing else. */
  async cleanup(): Promise<void> {
    const { clock, logger, cleanupMs } = this.#deps;
    const { cleanup } = this.#activities;
    if (cleanup.length === 0) return;
    const late = new AbortController();
    const cancel = clock.after(cleanupMs, () => late.abort(new ClosedError('go on cleaning up: the time is up')));
    for (const activity of cleanup) {
      const end = await this.#run('Cleanup', activity, late.signal, 0);
      if (end.kind === 'stopped') logger.error(`Cleanup "${activity.id}" is not done: the time is up`, { cleanupMs });
    }
    cancel();
  }

  async #run(kind: string, activity: Activity, signal: AbortSignal, graceMs: number): Promise<ActivityEnd> {
    const { clock, logger, random } = this.#deps;
    const { id } = activity;
    for (let failures = 0; !signal.aborted; failures++) {
      const result = await this.#call(activity, failures, signal, graceMs);
      if (result === undefined) break;
      const outcome = outcomeOf(result, { failures }, activity, random);
      if (outcome.kind === 'ok') return { kind: 'ok' };
      if (outcome.kind === 'superseded') break;
      if (outcome.kind === 'permanent') {
        logger.error(`${kind} "${id}" failed for good`, { error: outcome.error });
        return { kind: 'failed', error: outcome.error };
      }
      logger.warn(`${kind} "${id}" failed and is tried again`, { ...outcome });
      await abortableSleep(clock, outcome.delayMs, signal);
    }
    return { kind: 'stopped' };
  }

  /** `undefined` if the call did not end within the grace after its signal. */
  async #call({ id, timeoutMs, fn }: Activity, attempt: number, signal: AbortSignal, graceMs: number) {
    const { clock } = this.#deps;
    const call = new TimedCall(id);
    let cancelGrace = (): void => {};
    let giveUp = (): void => {};
    const given = new Promise<undefined>((resolve) => {
      giveUp = () => resolve(undefined);
    });
    const off = onAbort(signal, (reason) => {
      cancelGrace = clock.after(graceMs, giveUp);
      call.abort(reason);
    });
    const context = Object.freeze({ attempt, signal: call.signal });
    const result = await Promise.race([call.run(() => fn(context), timeoutMs, clock), given]);
    off();
    cancelGrace();
    call.abandon();
    return result;
  }
}
