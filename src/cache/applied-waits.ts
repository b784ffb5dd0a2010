import type { Revision } from '../types/revision.ts';

interface Wait {
  readonly revision: Revision;
  readonly settle: (error?: unknown) => void;
}

/** Promises that wait for the applied revision (M3). Bounded by the number of calls under way. */
export class AppliedWaits {
  readonly #waits = new Set<Wait>();

  get size(): number {
    return this.#waits.size;
  }

  /**
   * Resolves once `settleUpTo` has reached the revision. Rejects with what `rejectAll` is given, or with the signal's
   * reason.
   */
  until(revision: Revision, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => wait.settle(signal?.reason);
      const wait: Wait = {
        revision,
        settle: (...error) => {
          this.#waits.delete(wait);
          signal?.removeEventListener('abort', onAbort);
          if (error.length > 0) reject(error[0]);
          else resolve();
        },
      };
      this.#waits.add(wait);
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  settleUpTo(applied: Revision): void {
    if (this.#waits.size === 0) return;
    for (const wait of [...this.#waits]) if (wait.revision <= applied) wait.settle();
  }

  rejectAll(error: unknown): void {
    for (const wait of [...this.#waits]) wait.settle(error);
  }
}
