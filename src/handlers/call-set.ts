/** Calls of one pass that are going on. */
export class CallSet {
  #calls: Set<Promise<void>> | undefined;
  #failure: { readonly error: unknown } | undefined;

  get size(): number {
    return this.#calls?.size ?? 0;
  }

  /** Nothing is going on, and nothing has failed: there is no need to wait for `all`. */
  get isClear(): boolean {
    return this.size === 0 && this.#failure === undefined;
  }

  /** Takes a call that was made; what it rejects with, `one` and `all` throw, then or later. */
  add(call: Promise<void>): void {
    this.#calls ??= new Set();
    const calls = this.#calls;
    const end: Promise<void> = call
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .then(() => {
        calls.delete(end);
      });
    calls.add(end);
  }

  /** Resolves once one of them has ended. */
  async one(): Promise<void> {
    await Promise.race(this.#calls ?? []);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves once all of them have; what one of them has rejected with, it throws then. */
  async all(): Promise<void> {
    await Promise.all(this.#calls ?? []);
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
