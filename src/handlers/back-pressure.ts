/**
 * Keeps the watch of the source from being read on while too many objects are in line (A34').
 *
 * ```text
 *   in line   0 ......... low ......... high ...
 *   reading   -------------------------->|  held
 *                          |<------------+
 * ```
 *
 * One who waits at a time: the informer, which reads item by item.
 */
export class BackPressure {
  readonly #highMark: number;
  readonly #lowMark: number;
  readonly #queued: () => number;
  #resume: (() => void) | undefined;

  /** `queued` says how many objects are in line; `high` of them are none too many. */
  constructor(high: number, queued: () => number) {
    this.#highMark = high;
    this.#lowMark = Math.floor(high / 2);
    this.#queued = queued;
  }

  /** The watch is held back. */
  get isHeld(): boolean {
    return this.#resume !== undefined;
  }

  /** `undefined` to read on; a promise to wait for, which never rejects and which `signal` ends. */
  hold(signal: AbortSignal): Promise<void> | undefined {
    if (this.#queued() <= this.#highMark || signal.aborted) return undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        this.#resume = undefined;
        resolve();
      };
      signal.addEventListener('abort', end);
      this.#resume = end;
    });
  }

  /** To be called when an object has left the line. */
  taken(): void {
    if (this.#resume !== undefined && this.#queued() <= this.#lowMark) this.#resume();
  }

  /** Reading goes on, however many are in line. */
  release(): void {
    this.#resume?.();
  }
}
