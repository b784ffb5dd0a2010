import { type Backoff, backoffDelayMs, resolveBackoff } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import type { BreakerOptions } from './options.ts';

/** When a breaker opens, and for how long. */
export interface BreakerRule {
  readonly failuresMax: number;
  readonly backoff: Backoff;
}

/** What a breaker of an object is like, for inspection. */
export interface BreakerStatus {
  /** `open`: no call for now. `half-open`: the next call is a trial, or goes on. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** Failed calls in a row, of all handlers. */
  readonly failures: number;
  /** How often it has opened since the last success. */
  readonly trips: number;
  /** Wall time at which a trial may begin, in ms since the epoch; `undefined` unless open. */
  readonly openUntilWallMs: number | undefined;
}

/** The breakers of a controller: their rule, and who is open. */
export interface Breakers {
  readonly rule: BreakerRule;
  readonly clock: Clock;
  readonly random: Random;
  /** Open or half-open. At most one for each object. */
  readonly open: Set<Breaker>;
  /** How often one has opened. */
  trips: number;
}

/**
 * Holds back the calls for one object after too many failures in a row, whichever handlers they are of (A33').
 *
 * ```text
 *                failuresMax in a row                    time                       success
 *      closed -------------------------> open(2^n) ----------------> half-open ---------------> closed
 *                                          ^    a foreign state: at     |  one trial
 *                                          |    most baseMs are left    |
 *                                          +--------- failure ----------+
 * ```
 *
 * - It delays and drops nothing: what is due stays due, and the object waits for it like for a retry.
 * - A state that somebody else has written may be the cure, so it is tried soon: `baseMs` after the last failure at the
 *   latest. Not at once, or a heartbeat would undo the breaker; the growth goes on until a call succeeds.
 * - Calls that were superseded are neither failure nor success.
 */
export class Breaker {
  readonly #breakers: Breakers;
  #failures = 0;
  #trips = 0;
  #failedClockMs = 0;
  #openUntilClockMs = 0;
  #isTrying = false;

  constructor(breakers: Breakers) {
    this.#breakers = breakers;
  }

  /** Monotonic time from which on a call may begin: 0 for at once, `Infinity` while a trial goes on. */
  get wakeClockMs(): number {
    if (this.#trips === 0) return 0;
    return this.#isTrying ? Number.POSITIVE_INFINITY : this.#openUntilClockMs;
  }

  /** A call begins: a trial, if it has opened before. The answer is for `ended` and `failed`, which tell by it what the call was. */
  begun(): number {
    if (this.#trips > 0) this.#isTrying = true;
    return this.#trips;
  }

  /** A call has ended; what it came to is told by `succeeded` or `failed`, or by nothing where it counts for nothing. */
  ended(begun: number): void {
    if (begun === this.#trips) this.#isTrying = false;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#trips = 0;
    this.#breakers.open.delete(this);
  }

  /** With `parallel`, calls may be on their way when it opens: they are no trials, so their failures open it no further. */
  failed(begun: number): void {
    const { rule, clock, random, open } = this.#breakers;
    this.#failures++;
    this.#failedClockMs = clock.now();
    if (this.#failures < rule.failuresMax || begun !== this.#trips) return;
    this.#openUntilClockMs = this.#failedClockMs + backoffDelayMs(this.#trips++, rule.backoff, random);
    this.#breakers.trips++;
    open.add(this);
  }

  /** Somebody else has changed the object. */
  foreign(): void {
    const soonMs = this.#failedClockMs + this.#breakers.rule.backoff.baseMs;
    if (this.#trips > 0) this.#openUntilClockMs = Math.min(this.#openUntilClockMs, soonMs);
  }

  /** The object is gone. */
  forget(): void {
    this.#breakers.open.delete(this);
  }

  get status(): BreakerStatus {
    const { clock } = this.#breakers;
    const leftMs = this.#openUntilClockMs - clock.now();
    const isOpen = this.#trips > 0 && !this.#isTrying && leftMs > 0;
    return {
      state: isOpen ? 'open' : this.#trips > 0 ? 'half-open' : 'closed',
      failures: this.#failures,
      trips: this.#trips,
      openUntilWallMs: isOpen ? clock.wallTime() + leftMs : undefined,
    };
  }
}

const BACKOFF: Backoff = { baseMs: 10_000, factor: 2, maxMs: 300_000, jitter: 0.2 };

/** Those of a controller. Throws as `resolveBackoff` does. */
export function breakersBy(options: BreakerOptions | undefined, clock: Clock, random: Random): Breakers | undefined {
  if (options === undefined) return undefined;
  const rule = {
    failuresMax: options.failuresMax,
    backoff: resolveBackoff(options.backoff, BACKOFF, 'create a controller'),
  };
  return { rule, clock, random, open: new Set(), trips: 0 };
}
