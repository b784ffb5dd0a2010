/**
 * The signal of something that can be lost, a pin or a lease. Most are never asked for theirs, so it is made when it is.
 *
 * ```text
 *   lose(reason)      `loss` is there at once, for those who check
 *   ... microtask     the signal aborts: never inside the call of the store that took the thing away (M8)
 * ```
 *
 * A signal that is asked for after the loss has aborted already. Only the first loss counts.
 */
export class LossSignal {
  #controller: AbortController | undefined;
  #loss: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#loss !== undefined) this.#controller.abort(this.#loss.reason);
    }
    return this.#controller.signal;
  }

  /** `undefined` as long as nothing is lost. */
  get loss(): { readonly reason: unknown } | undefined {
    return this.#loss;
  }

  lose(reason: unknown): void {
    if (this.#loss !== undefined) return;
    this.#loss = { reason };
    queueMicrotask(() => this.#controller?.abort(reason));
  }
}
