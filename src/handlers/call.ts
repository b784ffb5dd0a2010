import type { Clock } from '../types/clock.ts';
import { TemporaryError } from '../types/errors.ts';
import { isSameJob, type Job } from './jobs.ts';
import type { CallResult } from './outcome.ts';
import type { Snapshot } from './snapshot.ts';

/** Told of the beginning and the end of a call; of the end once, however it ends. */
export interface CallHooks {
  readonly begun: () => void;
  /** `isLate`: at its timeout. */
  readonly ended: (runMs: number, isLate: boolean) => void;
}

/**
 * A call in progress and its signal. Aborts the signal when the call's work has become pointless:
 *
 * - the object is deleted, on its way out, or another one has taken its name: always;
 * - the call's own digest or scope has changed: only if `supersedable`. Not so for a call that runs on an outdated
 *   state on purpose, and not twice running for one handler: a handler that obeys its signal would otherwise never
 *   finish under edits faster than itself.
 */
export class RunningCall {
  readonly #job: Job;
  readonly #snapshot: Snapshot;
  readonly #supersedable: boolean;
  readonly #hooks: CallHooks;
  readonly #controller = new AbortController();
  #superseded = false;
  #isLate = false;
  #cancelTimeout: () => void = () => {};

  constructor(job: Job, snapshot: Snapshot, supersedable: boolean, hooks: CallHooks) {
    this.#job = job;
    this.#snapshot = snapshot;
    this.#supersedable = supersedable;
    this.#hooks = hooks;
  }

  /** Of the record that it is a call for. */
  get id(): string {
    return this.#job.id;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the abort was for newer input. */
  get superseded(): boolean {
    return this.#superseded;
  }

  /** Whether it took too long. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Told of every newer state; `undefined` if the object is gone. */
  reconsider(newest: Snapshot | undefined): void {
    if (this.signal.aborted) return;
    const { uid, deleting } = this.#snapshot;
    if (newest?.uid !== uid || newest.deleting !== deleting) {
      this.abort(new DOMException('The object is deleted', 'AbortError'));
    } else if (this.#supersedable && !isSameJob(this.#job, newest)) {
      this.#superseded = true;
      this.abort(new DOMException('The input of this call is outdated', 'AbortError'));
    }
  }

  /** The first reason stays: a call that is outdated and then takes too long has failed, but its signal says "outdated". */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Nobody waits for the end of the call any more: its timeout, which could hold up a process, is given up. */
  abandon(): void {
    this.#cancelTimeout();
  }

  /**
   * Runs user code to its end or its timeout, whichever is first. Never rejects, unless a hook throws. What the code does after the timeout
   * has no effect on the result, and a rejection then is not unhandled.
   */
  run(fn: () => Promise<void> | void, timeoutMs: number | undefined, clock: Clock): Promise<CallResult> {
    return new Promise((resolve) => {
      this.#hooks.begun();
      const startMs = clock.now();
      let hasEnded = false;
      const finish = (result: CallResult): void => {
        if (!hasEnded) this.#hooks.ended(clock.now() - startMs, this.#isLate);
        hasEnded = true;
        resolve(result);
      };
      const fail = (error: unknown, aborted: boolean): void => finish({ ok: false, error, aborted });
      if (timeoutMs !== undefined && Number.isFinite(timeoutMs)) {
        this.#cancelTimeout = clock.after(timeoutMs, () => {
          const error = new TemporaryError(`Cannot finish "${this.#job.id}": no result after ${timeoutMs} ms`);
          this.#isLate = true;
          fail(error, false);
          this.abort(error);
        });
      }
      const end = (settle: () => void): void => {
        this.#cancelTimeout();
        settle();
      };
      callAsync(fn).then(
        () => end(() => finish({ ok: true })),
        (error: unknown) => end(() => fail(error, this.signal.aborted)),
      );
    });
  }
}

/** Turns a throw of a plain function into a rejection. */
async function callAsync(fn: () => Promise<void> | void): Promise<void> {
  await fn();
}
