import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import { abortableSleep } from '../system/abortable.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';

export interface RetryPaceOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly random: Random;
  readonly backoff: Backoff;
}

/**
 * How long to wait before the backend is asked again.
 *
 * What counts as success is news from the stream, or a connection that lived longer than the wait before it; an answer
 * alone does not: a backend that answers each list and then drops the stream would be asked in a hot loop.
 */
export class RetryPace {
  readonly #options: RetryPaceOptions;
  #failures = 0;
  /** Relists and resets since the last success; the first of them is not waited for. */
  #restarts = 0;
  #lastDelayMs = 0;
  #openedAt: number | undefined;

  constructor(options: RetryPaceOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#restarts = 0;
  }

  opened(): void {
    this.#openedAt = this.#options.clock.now();
  }

  /** The connection, if there was one, is gone. */
  ended(): void {
    const { clock, backoff } = this.#options;
    if (this.#openedAt === undefined) return;
    const livedMs = clock.now() - this.#openedAt;
    this.#openedAt = undefined;
    if (livedMs >= Math.max(backoff.baseMs, this.#lastDelayMs)) this.succeeded();
  }

  /** Before a list is made anew: at once, unless the last one led to nothing. */
  async beforeRestart(signal: AbortSignal): Promise<void> {
    if (this.#restarts++ > 0) await this.sleep(signal);
  }

  /** Waits for the backoff, or until the signal aborts. */
  sleep(signal: AbortSignal): Promise<void> {
    const { clock, random, backoff } = this.#options;
    if (signal.aborted) return Promise.resolve();
    this.#lastDelayMs = backoffDelayMs(this.#failures++, backoff, random);
    return abortableSleep(clock, this.#lastDelayMs, signal);
  }
}
