import { backoffDelayMs } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { KeepAliveResult } from '../types/lease.ts';
import { onAbort } from '../types/on-abort.ts';
import type { Random } from '../types/random.ts';

export interface KeepAliveOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly random: Random;
  /** What was granted; later answers may say something else. */
  readonly ttlMs: number;
  /** One renewal. Its signal aborts when nobody waits for the answer any more. */
  readonly renew: (signal: AbortSignal) => Promise<KeepAliveResult>;
  /** Ends the renewals, nothing else. */
  readonly signal: AbortSignal | undefined;
}

/** A failed renewal has a TTL for three of them; the shares below leave time for several attempts in the last third. */
const INTERVAL_SHARE = 1 / 3;
const RETRY_BASE_SHARE = 1 / 20;
const RETRY_MAX_SHARE = 1 / 6;
const JITTER = 0.2;

/**
 * Renews a lease until it is stopped: by whoever holds the handle when the lease is gone, or by the signal.
 *
 * ```text
 *   granted      renewed        failed  again   again: renewed
 *   |----TTL/3----|----TTL/3-----x--b--x---2b---|----TTL/3----       each wait less up to a fifth, by chance
 *   |============ TTL ==================|                            after that the handle calls it lost
 * ```
 *
 * - One timer or one renewal at a time, none after `stop`.
 * - A renewal that is not answered within a third of the TTL is given up and tried again: a request that hangs must not
 *   use up the time in which another one would get through.
 * - It knows no deadline. Whoever keeps the lease does: the books of an embedded store, the handle of a replica. So an error of
 *   a renewal is nothing to report: either a later one succeeds, or the lease is lost and its signal says so.
 */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  readonly #stopped = new AbortController();
  #ttlMs: number;
  #failures = 0;
  /** The last renewal, which may be over. */
  #attempt: AbortController | undefined;
  /** Of the last wait; harmless once that has ended. */
  #cancelTimer: () => void = () => {};
  readonly #unlisten: () => void;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
    this.#ttlMs = options.ttlMs;
    this.#wait();
    this.#unlisten = options.signal === undefined ? () => {} : onAbort(options.signal, () => this.stop());
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** No renewal begins any more; one that is under way is given up. May be called again. */
  stop(): void {
    this.#stopped.abort();
    this.#cancelTimer();
    this.#attempt?.abort();
    // A signal that had aborted already stops it from inside the constructor.
    queueMicrotask(() => this.#unlisten());
  }

  #wait(): void {
    const { clock, random } = this.#options;
    this.#cancelTimer = clock.after(this.#delayMs(random), () => void this.#renew());
  }

  #delayMs(random: Random): number {
    const [base, max] = this.#failures === 0 ? [INTERVAL_SHARE, INTERVAL_SHARE] : [RETRY_BASE_SHARE, RETRY_MAX_SHARE];
    const backoff = { baseMs: this.#ttlMs * base, maxMs: this.#ttlMs * max, factor: 2, jitter: JITTER };
    return backoffDelayMs(Math.max(0, this.#failures - 1), backoff, random);
  }

  async #renew(): Promise<void> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    const giveUp = this.#options.clock.after(this.#ttlMs * INTERVAL_SHARE, () => attempt.abort());
    try {
      this.#ttlMs = (await this.#options.renew(attempt.signal)).ttlMs;
      this.#failures = 0;
    } catch {
      // Bounded, so that the power of it stays a number.
      this.#failures = Math.min(this.#failures + 1, FAILURES_MAX);
    } finally {
      giveUp();
    }
    if (!this.isStopped) this.#wait();
  }
}

const FAILURES_MAX = 16;
