import type { Clock } from '../types/clock.ts';
import { onAbort } from '../types/on-abort.ts';

/** For how long somebody waits: until a signal of theirs aborts, or so many ms have passed. */
export class OwnershipScope {
  readonly #controller = new AbortController();
  readonly #ends: (() => void)[] = [];

  constructor(
    clock: Pick<Clock, 'after'>,
    options: {
      readonly signal: AbortSignal | undefined;
      readonly timeoutMs: number | undefined;
      readonly timeoutError: (timeoutMs: number) => Error;
    },
  ) {
    const { signal, timeoutMs, timeoutError } = options;
    const end = (reason: unknown) => this.#controller.abort(reason);
    if (signal !== undefined) this.#ends.push(onAbort(signal, end));
    if (timeoutMs !== undefined) this.#ends.push(clock.after(timeoutMs, () => end(timeoutError(timeoutMs))));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Nobody waits any more: no timer and no listener is left. */
  end(): void {
    for (const end of this.#ends) end();
  }
}
