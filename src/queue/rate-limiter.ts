import type { Clock } from '../types/clock.ts';
import { type Rate, TokenBucket } from './token-bucket.ts';
import { WaitingLine } from './waiting-line.ts';

/** Longest wait of one timer, in ms: platforms have a limit, and rates may be as low as one likes. */
const TIMER_MS_MAX = 3_600_000;

/**
 * A token bucket with a line before it. One timer at most, and none while nobody rests in line or the bucket is closed.
 */
export class RateLimiter {
  readonly line: WaitingLine;
  readonly #bucket: TokenBucket;
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(rate: Rate, clock: Clock, wake: (key: string) => void) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(rate, clock);
    this.line = new WaitingLine({ free: () => this.#bucket.available, wake });
  }

  /** Takes the token that is kept for the key. `false` if none is. */
  use(key: string): boolean {
    return this.line.use(key) && this.#bucket.take();
  }

  /** Sets the timer, if one is needed, or takes it away. To be called after every change of the line. */
  arm(): void {
    if (this.#isClosed || !this.line.isWaitedAt) {
      this.#cancel?.();
      this.#cancel = undefined;
      return;
    }
    if (this.#cancel !== undefined) return;
    const delayMs = this.#bucket.waitMs(this.line.kept + 1);
    // All that can be saved up is kept for somebody: their use of it, or their leave, goes on from here.
    if (delayMs === Number.POSITIVE_INFINITY) return;
    this.#cancel = this.#clock.after(Math.min(delayMs, TIMER_MS_MAX), () => {
      this.#cancel = undefined;
      this.line.serve();
      this.arm();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.arm();
  }
}
