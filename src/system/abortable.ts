import type { Clock } from '../types/clock.ts';

/**
 * Waiting that an abort ends: for whoever has a signal and a clock, or a stream (cache, handlers, command). All of them
 * remove the listeners they add, so a signal may live as long as a process. See also `untilAborted`.
 */

/**
 * Resolves after the delay, or at once when the signal aborts; never rejects. Who wants the reason thrown says
 * `signal.throwIfAborted()` behind it.
 */
export function abortableSleep(clock: Pick<Clock, 'after'>, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(delayMs, wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}

/**
 * Reads a stream item by item until its signal aborts. One listener for the whole stream: items come by the hundred
 * thousand. It goes with `return()`, which has to be called at the end.
 */
export class AbortableItems<T> {
  readonly #items: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  #reject: (reason: unknown) => void = () => {};
  readonly #onAbort: () => void;

  constructor(items: AsyncIterator<T>, signal: AbortSignal) {
    this.#items = items;
    this.#signal = signal;
    this.#onAbort = () => this.#reject(signal.reason);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The next item. Rejects with the signal's reason once it aborted; an item may be on its way then. */
  next(): Promise<IteratorResult<T, unknown>> {
    return new Promise((resolve, reject) => {
      if (this.#signal.aborted) return reject(this.#signal.reason);
      this.#reject = reject;
      attempt(() => this.#items.next()).then(resolve, reject);
    });
  }

  /** Tells the stream that nobody reads it any more; not to be waited for. */
  async return(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    await this.#items.return?.();
  }
}

/** A callee that throws instead of rejecting is no different. */
async function attempt<T>(start: () => Promise<T>): Promise<T> {
  return start();
}
