import { CompactedError, LimitExceededError } from '../types/errors.ts';
import { onAbort } from '../types/on-abort.ts';
import type { Pin, PinOptions } from '../types/pin.ts';
import type { Revision } from '../types/revision.ts';

export interface PagePinsOptions {
  readonly store: { pin(revision: Revision, options: PinOptions): Pin };
  readonly max: number;
  readonly ttlMs: number;
}

/**
 * Keeps the revisions readable that lists in pages go on with: one pin a revision, for some time after each page (K09).
 *
 * They are a courtesy, so none of the bounds is an error: above `max` the one used longest ago goes, and where the store
 * gives no pin there is none. A page whose revision is gone says so, with a token to go on (K10).
 */
export class PagePins {
  readonly #options: PagePinsOptions;
  /** The one used longest ago first. */
  readonly #pins = new Map<Revision, Pin>();

  constructor(options: PagePinsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#pins.size;
  }

  /** A page at this revision goes out, and another one is to come. */
  hold(revision: Revision): void {
    const { max, ttlMs } = this.#options;
    if (max === 0) return;
    const before = this.#pins.get(revision);
    const pin = this.#pin(revision, ttlMs);
    if (pin === undefined) return;
    // Not before the new one is there: compaction that was asked for meanwhile goes on at once.
    this.#drop(revision, before);
    this.#pins.set(revision, pin);
    onAbort(pin.signal, () => {
      if (this.#pins.get(revision) === pin) this.#pins.delete(revision);
    });
    for (const [oldest, held] of this.#pins) {
      if (this.#pins.size <= max) break;
      this.#drop(oldest, held);
    }
  }

  release(): void {
    for (const [revision, pin] of this.#pins) this.#drop(revision, pin);
  }

  /** None where the store has none left, or no such revision. */
  #pin(revision: Revision, ttlMs: number): Pin | undefined {
    try {
      return this.#options.store.pin(revision, { owner: 'a list in pages', ttlMs });
    } catch (error) {
      if (error instanceof LimitExceededError || error instanceof CompactedError) return undefined;
      throw error;
    }
  }

  #drop(revision: Revision, pin: Pin | undefined): void {
    if (pin === undefined) return;
    this.#pins.delete(revision);
    pin.release();
  }
}
