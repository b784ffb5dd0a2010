import type { Revision } from '../types/revision.ts';

interface Wait {
  readonly revision: Revision;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
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
      const onAbort = () => wait.reject(signal?.reason);
      const done = (settle: () => void) => {
        this.#waits.delete(wait);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const wait: Wait = {
        revision,
        resolve: () => done(resolve),
        reject: (error) => done(() => reject(error)),
      };
      this.#waits.add(wait);
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  settleUpTo(applied: Revision): void {
    if (this.#waits.size === 0) return;
    for (const wait of [...this.#waits]) if (wait.revision <= applied) wait.resolve();
  }

  rejectAll(error: unknown): void {
    for (const wait of [...this.#waits]) wait.reject(error);
  }
}
