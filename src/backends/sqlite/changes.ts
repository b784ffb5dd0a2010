import type { Clock } from '../../types/clock.ts';

/**
 * Tells streams that there may be something new: at once when this process has written, and within `pollMs` when another one
 * has. Asks only while somebody waits.
 */
export class Changes {
  readonly #clock: Clock;
  /** 0 for data that nobody else can write to. */
  readonly #pollMs: number;
  readonly #hasChanged: () => boolean;
  readonly #waiting = new Set<() => void>();
  #turn = 0;
  #cancelPoll: (() => void) | undefined;

  /** @param hasChanged whether somebody else may have written since the last time it said so */
  constructor(clock: Clock, pollMs: number, hasChanged: () => boolean) {
    this.#clock = clock;
    this.#pollMs = pollMs;
    this.#hasChanged = hasChanged;
  }

  /** To be taken before a look at the data: what is written behind it ends `next(turn)`. */
  get turn(): number {
    return this.#turn;
  }

  notify(): void {
    this.#turn++;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves once something may have changed since `turn`, when `wake` is called, which `onWait` is given, or when the signal aborts. */
  async next(turn: number, onWait: (wake: () => void) => void, signal: AbortSignal | undefined): Promise<void> {
    if (turn !== this.#turn || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      signal?.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
      onWait(wake);
      this.#arm();
    });
  }

  close(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    this.notify();
  }

  #arm(): void {
    if (this.#pollMs === 0 || this.#cancelPoll !== undefined) return;
    this.#cancelPoll = this.#clock.after(this.#pollMs, () => {
      this.#cancelPoll = undefined;
      if (this.#hasChanged()) this.notify();
      if (this.#waiting.size > 0) this.#arm();
    });
  }
}
