import { onAbort } from '../types/on-abort.ts';
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
      let unlisten = () => {};
      const done = (settle: () => void) => {
        this.#waits.delete(wait);
        unlisten();
        settle();
      };
      const wait: Wait = {
        revision,
        resolve: () => done(resolve),
        reject: (error) => done(() => reject(error)),
      };
      this.#waits.add(wait);
      if (signal !== undefined) unlisten = onAbort(signal, wait.reject);
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
