import { abortableSleep } from '../system/abortable.ts';
import type { Clock } from '../types/clock.ts';

/** Fewer items are not worth a timer. */
const ITEMS_FREE = 32;
/** Longest work before others get their turn. */
const WORK_MS_MAX = 8;
/** Most items, for a clock that stands still. */
const ITEMS_MAX = 10_000;

/**
 * Shares the event loop. Items that a backend has buffered come in microtasks, one after the other, and as long as there
 * is one no timer runs and no socket is read.
 *
 * ```text
 *   32 items --> a timer of 0 ms is set --+--> it fires: others had their turn, count anew
 *                                         '--> 8 ms or 10,000 items later it has not: wait for it
 * ```
 *
 * The timer says what a look at the clock cannot: whether the time went by in work or in waiting for the backend.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  #items = 0;
  #since = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'now' | 'after'>) {
    this.#clock = clock;
  }

  /** Counts one item; `true` when it is the turn of others. */
  isOver(): boolean {
    if (++this.#items < ITEMS_FREE) return false;
    if (this.#cancel === undefined) {
      this.#since = this.#clock.now();
      this.#cancel = this.#clock.after(0, () => this.#begin());
      return false;
    }
    return this.#items >= ITEMS_MAX || this.#clock.now() - this.#since >= WORK_MS_MAX;
  }

  /** Lets the others run. Resolves early when the signal aborts. */
  async yield(signal: AbortSignal): Promise<void> {
    this.stop();
    await abortableSleep(this.#clock, 0, signal);
  }

  /** Leaves no timer. */
  stop(): void {
    this.#cancel?.();
    this.#begin();
  }

  #begin(): void {
    this.#items = 0;
    this.#cancel = undefined;
  }
}
