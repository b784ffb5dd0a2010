import type { BackendWatchStream } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';

/** How often progress is asked for while a write waits to be applied, and every how many times `status` too (M24). */
const PROGRESS_INTERVAL_MS = 100;
const STATUS_EVERY_TICKS = 10;
/** A question that has no answer by then is given up, and asked again: an answer that got lost must not be the last. */
const QUESTION_MS_MAX = 5_000;

export interface ProgressAskerOptions {
  /** Whether the backend has progress, and is believed. */
  readonly isOffered: () => boolean;
  readonly clock: Pick<Clock, 'after'>;
  readonly logger: Logger;
  /** Whether anybody waits for a revision. */
  readonly isWanted: () => boolean;
  /** Where progress is not offered: asks what has changed, and applies that nothing has (M20). */
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  /** Asks the backend for its position, for what that answer says about the data (M24). */
  readonly status: (signal: AbortSignal) => Promise<unknown>;
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
  /** Under way: at most one of each, for a backend that hangs must not collect them. */
  readonly #underWay = new Set<'catchUp' | 'status'>();

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

  /** A progress item has come and was applied, and who waited for it is settled. */
  answered(): void {
    this.#isAwaited = false;
    if (!this.#isAskedMeanwhile) return;
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
    if (stream === undefined) return;
    if (!isOffered() || stream.requestProgress === undefined) {
      void this.#askOnce('catchUp');
      return;
    }
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
      if (count % STATUS_EVERY_TICKS === 0) void this.#askOnce('status');
      this.#tick(count + 1);
    });
  }

  /** Who waits behind what it did not find asks again at the next tick. */
  async #askOnce(question: 'catchUp' | 'status'): Promise<void> {
    if (this.#underWay.has(question)) return;
    const { clock, logger } = this.#options;
    const late = new AbortController();
    const cancel = clock.after(QUESTION_MS_MAX, () => late.abort(new Error('the answer came too late')));
    this.#underWay.add(question);
    try {
      await this.#options[question](late.signal);
    } catch (error) {
      logger.debug('A question about the position of the backend has no answer', { question, error });
    } finally {
      this.#underWay.delete(question);
      cancel();
    }
  }
}
