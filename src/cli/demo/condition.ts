interface Waiter {
  readonly test: () => boolean;
  readonly resolve: () => void;
}

/**
 * Waits until something about shared state is true. Whoever changes the state calls `notify`; a waiter's test runs then
 * and at the start, never by polling. As many waiters as callers that wait, each of them one.
 */
export class Condition {
  readonly #waiters = new Set<Waiter>();

  /** Rejects with the signal's reason. */
  until(test: () => boolean, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (test()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        end();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        test,
        resolve: () => {
          end();
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  notify(): void {
    for (const waiter of [...this.#waiters]) if (waiter.test()) waiter.resolve();
  }
}
