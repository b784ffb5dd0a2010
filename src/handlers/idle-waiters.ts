import type { SignalOptions } from '../types/signal.ts';

interface IdleWaiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Who waits until a controller is idle. One entry, and one listener on a signal, for each. */
export class IdleWaiters {
  readonly #waiters = new Set<IdleWaiter>();

  /** Resolves with the next `resolve`. Rejects with the reason of the signal, or of `reject`. */
  wait({ signal }: SignalOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => waiter.reject(signal?.reason);
      const end = (): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      const waiter: IdleWaiter = {
        resolve: () => {
          end();
          resolve();
        },
        reject: (reason) => {
          end();
          reject(reason);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', abort);
    });
  }

  resolve(): void {
    for (const waiter of [...this.#waiters]) waiter.resolve();
  }

  reject(reason: unknown): void {
    for (const waiter of [...this.#waiters]) waiter.reject(reason);
  }
}
