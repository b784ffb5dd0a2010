import { onAbort } from '../types/on-abort.ts';

/**
 * A two-way gate: shut until the first snapshot and an open stream, shut again by a reset, broken for good by a
 * permanent failure or by closing (M22).
 */
export class ReadyGate {
  #isOpen = false;
  #broken: { readonly error: unknown } | undefined;
  readonly #waiters = new Set<{ resolve: () => void; reject: (error: unknown) => void }>();

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why it will never open again, if so. */
  get failure(): unknown {
    return this.#broken?.error;
  }

  /** Resolves once open. Rejects with the signal's reason or with what broke the gate. */
  wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      if (this.#broken !== undefined) return reject(this.#broken.error);
      if (this.#isOpen) return resolve();
      let unlisten = () => {};
      const done = (settle: () => void) => {
        this.#waiters.delete(waiter);
        unlisten();
        settle();
      };
      const waiter = { resolve: () => done(resolve), reject: (error: unknown) => done(() => reject(error)) };
      this.#waiters.add(waiter);
      if (signal !== undefined) unlisten = onAbort(signal, waiter.reject);
    });
  }

  open(): void {
    this.#isOpen = true;
    for (const waiter of [...this.#waiters]) waiter.resolve();
  }

  shut(): void {
    this.#isOpen = false;
  }

  break(error: unknown): void {
    this.#isOpen = false;
    this.#broken ??= { error };
    for (const waiter of [...this.#waiters]) waiter.reject(this.#broken.error);
  }
}
