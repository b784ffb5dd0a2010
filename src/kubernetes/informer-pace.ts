import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';

export interface InformerPaceOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
  readonly backoff: Backoff;
  readonly retryAfterMaxMs: number;
}

/**
 * How long to wait before the server is asked again (IN20).
 *
 * What counts as success is a watch that has brought something new, or that has lived longer than the pause before it. An answer
 * alone is none: a server that answers each list and then drops the watch would be asked in a hot loop
 * (kubernetes-client/javascript#379, #1933).
 */
export class InformerPace {
  readonly #options: InformerPaceOptions;
  #failures = 0;
  #lastDelayMs = 0;
  #openedAt = 0;

  constructor(options: InformerPaceOptions) {
    this.#options = options;
  }

  /** One after the other, since the last success. */
  get failures(): number {
    return this.#failures;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#lastDelayMs = 0;
  }

  opened(): void {
    this.#openedAt = this.#options.clock.now();
  }

  /** How long the newest watch has lived. */
  get livedMs(): number {
    return this.#options.clock.now() - this.#openedAt;
  }

  /** A watch is over; whether it was worth its while. */
  ended(hasNews: boolean): boolean {
    const isSuccess = hasNews || this.livedMs >= Math.max(this.#options.backoff.baseMs, this.#lastDelayMs);
    if (isSuccess) this.succeeded();
    return isSuccess;
  }

  /** One more failure: the pause before the next try. What the server asks for is kept, with a share of the backoff on top, so that not all return at once. */
  failed(retryAfterMs: number | undefined): number {
    const { random, backoff, retryAfterMaxMs } = this.#options;
    const ownMs = backoffDelayMs(this.#failures++, backoff, random);
    const askedMs = Math.min(retryAfterMs ?? 0, retryAfterMaxMs);
    this.#lastDelayMs = ownMs >= askedMs ? ownMs : askedMs + Math.min(ownMs, backoff.baseMs) / 2;
    return this.#lastDelayMs;
  }
}
