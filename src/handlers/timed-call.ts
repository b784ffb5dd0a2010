import type { Clock } from '../types/clock.ts';
import { TemporaryError } from '../types/errors.ts';
import type { CallResult } from './outcome.ts';

/** A call of user code in progress, with its signal and its timeout. */
export class TimedCall {
  readonly #id: string;
  readonly #controller = new AbortController();
  #isLate = false;
  #cancelTimeout: () => void = () => {};

  /** `id` names the handler. */
  constructor(id: string) {
    this.#id = id;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it took too long. */
  get isLate(): boolean {
    return this.#isLate;
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
   * Runs user code to its end or its timeout, whichever is first. Never rejects. What the code does after the timeout
   * has no effect on the result, and a rejection then is not unhandled.
   */
  run(fn: () => Promise<void> | void, timeoutMs: number | undefined, clock: Clock): Promise<CallResult> {
    return new Promise((resolve) => {
      const fail = (error: unknown, aborted: boolean): void => resolve({ ok: false, error, aborted });
      if (timeoutMs !== undefined && Number.isFinite(timeoutMs)) {
        this.#cancelTimeout = clock.after(timeoutMs, () => {
          const error = new TemporaryError(`Cannot finish "${this.#id}": no result after ${timeoutMs} ms`);
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
        () => end(() => resolve({ ok: true })),
        (error: unknown) => end(() => fail(error, this.signal.aborted)),
      );
    });
  }
}

/** Turns a throw of a plain function into a rejection. */
async function callAsync(fn: () => Promise<void> | void): Promise<void> {
  await fn();
}
