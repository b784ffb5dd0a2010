import type { Clock } from '../types/clock.ts';
import { TemporaryError } from '../types/errors.ts';
import type { CallResult } from './outcome.ts';

/**
 * A call of user code in progress, with its signal and its timeout. The signal is made for who asks for it: to make one
 * costs as much as a quick call.
 */
export class TimedCall {
  readonly #id: string;
  #controller: AbortController | undefined;
  #abortion: { readonly reason: unknown } | undefined;
  #isLate = false;
  #cancelTimeout: () => void = () => {};

  /** `id` names the handler. */
  constructor(id: string) {
    this.#id = id;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortion !== undefined) this.#controller.abort(this.#abortion.reason);
    }
    return this.#controller.signal;
  }

  /** As that of the signal. */
  get aborted(): boolean {
    return this.#abortion !== undefined;
  }

  /** Whether it took too long. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The first reason stays: a call that is outdated and then takes too long has failed, but its signal says "outdated". */
  abort(reason: unknown): void {
    if (this.#abortion !== undefined) return;
    this.#abortion = { reason };
    this.#controller?.abort(reason);
  }

  /** Nobody waits for the end of the call any more: its timeout, which could hold up a process, is given up. */
  abandon(): void {
    this.#cancelTimeout();
  }

  /**
   * Runs user code to its end or its timeout, whichever is first; answers at once where a plain function has returned by
   * then. Never rejects or throws. What the code does after the timeout has no effect on the result, and a rejection then
   * is not unhandled.
   */
  run(fn: () => Promise<void> | void, timeoutMs: number | undefined, clock: Clock): CallResult | Promise<CallResult> {
    let returned: Promise<void> | void;
    try {
      returned = fn();
    } catch (error) {
      return this.#failure(error);
    }
    // There is nothing to wait for in the end of a plain function.
    if (returned === undefined) return OK;
    const ended = this.#end(returned);
    if (timeoutMs === undefined || !Number.isFinite(timeoutMs)) return ended;
    return new Promise((resolve) => {
      this.#cancelTimeout = clock.after(timeoutMs, () => {
        const error = new TemporaryError(`Cannot finish "${this.#id}": no result after ${timeoutMs} ms`);
        this.#isLate = true;
        resolve({ ok: false, error, aborted: false });
        this.abort(error);
      });
      ended.then((result) => {
        this.#cancelTimeout();
        resolve(result);
      });
    });
  }

  async #end(returned: Promise<void>): Promise<CallResult> {
    try {
      await returned;
      return OK;
    } catch (error) {
      return this.#failure(error);
    }
  }

  #failure(error: unknown): CallResult {
    return { ok: false, error, aborted: this.aborted };
  }
}

const OK: CallResult = Object.freeze({ ok: true });
