import { onAbort } from '../types/on-abort.ts';
import type { WaitResult } from '../types/writer-lease.ts';

/** Those who wait to hear who leads (WL24). Whoever aborts is forgotten at once. */
export class WriterWaits {
  readonly #waiting = new Set<(result: WaitResult) => void>();
  #isSettled = false;

  /** Resolves with `now()` if it is known already, else when it is. */
  wait(signal: AbortSignal | undefined, now: () => WaitResult): Promise<WaitResult> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#isSettled) return Promise.resolve(now());
    return new Promise((resolve, reject) => {
      let unlisten = (): void => {};
      const settle = (result: WaitResult): void => {
        unlisten();
        resolve(result);
      };
      if (signal !== undefined) {
        unlisten = onAbort(signal, (reason) => {
          this.#waiting.delete(settle);
          reject(reason);
        });
      }
      this.#waiting.add(settle);
    });
  }

  settle(result: WaitResult): void {
    this.#isSettled = true;
    for (const settle of this.#waiting) settle(result);
    this.#waiting.clear();
  }
}
