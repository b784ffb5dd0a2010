import type { Clock } from '../types/clock.ts';

/** One timer for a piece of work: asked for again it comes at the earlier of both times, and never twice. */
export class TurnTimer {
  readonly #clock: Clock;
  readonly #run: () => void;
  #cancel: (() => void) | undefined;
  #due = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Within `delayMs`. */
  within(delayMs: number): void {
    // The common case costs no look at the clock.
    if (this.#cancel !== undefined && this.#due === Number.NEGATIVE_INFINITY) return;
    const due = delayMs === 0 ? Number.NEGATIVE_INFINITY : this.#clock.now() + delayMs;
    if (this.#cancel !== undefined) {
      if (due >= this.#due) return;
      this.#cancel();
    }
    this.#due = due;
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#cancel = undefined;
      this.#run();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
