import type { BackendWatchStream } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';

/** How often progress is asked for while a write waits to be applied, and every how many times `status` too (M24). */
const PROGRESS_INTERVAL_MS = 100;
const STATUS_EVERY_TICKS = 10;

export interface ProgressAskerOptions {
  /** Whether the backend has progress at all. */
  readonly isOffered: boolean;
  readonly clock: Pick<Clock, 'after'>;
  readonly logger: Logger;
  /** Whether anybody waits for a revision. */
  readonly isWanted: () => boolean;
  /** Where progress is not offered: asks what has changed, and applies that nothing has (M20). */
  readonly catchUp: () => Promise<void>;
  /** Asks the backend for its position, for what that answer says about the data (M24). */
  readonly status: () => Promise<unknown>;
}

/**
 * Asks for progress while writes wait to be applied (M3), one question at a time.
 *
 * ```text
 *   20 writes wait:  ask ................ progress 31        one question for all of them; what was acknowledged while
 *                        ^ more writes    ask again          it was under way may lie above the answer
 *   every 100 ms:    ask in any case                         a question may be lost
 * ```
 */
export class ProgressAsker {
  readonly #options: ProgressAskerOptions;
  #stream: BackendWatchStream | undefined;
  /** A progress item was asked for on this stream and has not come yet. */
  #isAwaited = false;
  #isAskedMeanwhile = false;
  #cancelTick: (() => void) | undefined;
  #isCheckingStatus = false;
  #isCatchingUp = false;

  constructor(options: ProgressAskerOptions) {
    this.#options = options;
  }

  /** A stream is open, or none any more. */
  follow(stream: BackendWatchStream | undefined): void {
    this.#stream = stream;
    this.#isAwaited = false;
    this.#isAskedMeanwhile = false;
    if (stream !== undefined && this.#options.isWanted()) this.#request();
  }

  /** Somebody has begun to wait. */
  ask(): void {
    if (this.#isAwaited) this.#isAskedMeanwhile = true;
    else this.#request();
    this.#tick(1);
  }

  /** A progress item has come; `true` if it was asked for. */
  answered(): boolean {
    const wasAwaited = this.#isAwaited;
    this.#isAwaited = false;
    return wasAwaited;
  }

  /** What came was applied, and who waited for it is settled. */
  applied(): void {
    if (this.#isAwaited || !this.#isAskedMeanwhile) return;
    this.#isAskedMeanwhile = false;
    if (this.#options.isWanted()) this.#request();
  }

  stop(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.#stream = undefined;
  }

  #request(): void {
    const { isOffered, logger } = this.#options;
    const stream = this.#stream;
    if (!isOffered && stream !== undefined) void this.#catchUp();
    if (!isOffered || stream?.requestProgress === undefined) return;
    this.#isAwaited = true;
    try {
      stream.requestProgress();
    } catch (error) {
      // The write that waits is committed; that this request failed must not make it look failed.
      logger.warn('The backend refused a request for progress', { error });
    }
  }

  /** While anybody waits: ask for progress, and now and then whether the data are still the same (M24). */
  #tick(count: number): void {
    const { clock, isWanted } = this.#options;
    if (this.#cancelTick !== undefined) return;
    this.#cancelTick = clock.after(PROGRESS_INTERVAL_MS, () => {
      this.#cancelTick = undefined;
      if (!isWanted()) return;
      this.#request();
      if (count % STATUS_EVERY_TICKS === 0) void this.#checkStatus();
      this.#tick(count + 1);
    });
  }

  /** At most one at a time. Who waits behind what it did not find asks again at the next tick. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    try {
      await this.#options.catchUp();
    } catch (error) {
      this.#options.logger.debug('What has changed at the backend is unknown', { error });
    } finally {
      this.#isCatchingUp = false;
    }
  }

  /** At most one at a time: a backend that hangs must not collect them. */
  async #checkStatus(): Promise<void> {
    if (this.#isCheckingStatus) return;
    this.#isCheckingStatus = true;
    try {
      await this.#options.status();
    } catch (error) {
      this.#options.logger.debug('The status of the backend is unknown', { error });
    } finally {
      this.#isCheckingStatus = false;
    }
  }
}
