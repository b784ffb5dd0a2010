import type { Clock } from '../types/clock.ts';

/** How many starts a rate allows. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A rate with its default: as much at once as comes in a second, but one at least. */
export function rateOf(options: { readonly perSecond: number; readonly burst?: number } | undefined): Rate | undefined {
  return options && { perSecond: options.perSecond, burst: options.burst ?? Math.max(1, Math.ceil(options.perSecond)) };
}

/**
 * Tokens that come at a steady pace, up to a number that can be saved up. Whoever takes one token for each start makes at
 * most `burst + perSecond * t` starts in any time of t seconds.
 *
 * Has no timer: tokens are counted when they are asked for.
 */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #rate: Rate;
  #tokens: number;
  #atMs: number;

  /** Begins full. */
  constructor(rate: Rate, clock: Pick<Clock, 'now'>) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#atMs = clock.now();
  }

  /** Whole tokens that are there. */
  get available(): number {
    this.#refill();
    return Math.floor(this.#tokens);
  }

  /** Takes one. `false` if there is none. */
  take(): boolean {
    if (this.available < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Time until so many tokens are there, in ms, at least 1; `Infinity` for more than can be saved up. */
  waitMs(tokens: number): number {
    this.#refill();
    const { perSecond, burst } = this.#rate;
    if (tokens > burst) return Number.POSITIVE_INFINITY;
    return Math.max(1, Math.ceil(((tokens - this.#tokens) * 1000) / perSecond));
  }

  #refill(): void {
    const nowMs = this.#clock.now();
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
  }
}
