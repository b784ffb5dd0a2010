import type { Clock } from '../types/clock.ts';
import { StaleError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Revision } from '../types/revision.ts';
import { Freshness } from './freshness.ts';

export interface FreshnessKeeperOptions {
  readonly maxStaleMs: number | undefined;
  readonly clock: Pick<Clock, 'after' | 'now'>;
  readonly logger: Logger;
  readonly sync: (signal: AbortSignal) => Promise<unknown>;
}

/** So often within `maxStaleMs`: one answer may be late, and another get lost. */
const QUESTIONS = 3;

/** Keeps a replica as fresh as `maxStaleMs` asks for (M21): asks every third of it, whether anybody reads or not. */
export class FreshnessKeeper {
  readonly #options: FreshnessKeeperOptions;
  /** Without a bound nobody asks how fresh the state is, and nothing is noted. */
  readonly #freshness: Freshness | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: FreshnessKeeperOptions) {
    this.#options = options;
    this.#freshness = options.maxStaleMs === undefined ? undefined : new Freshness(options.clock);
  }

  answered(sentAt: number, revision: Revision): void {
    this.#freshness?.answered(sentAt, revision);
  }

  applied(revision: Revision): void {
    this.#freshness?.applied(revision);
  }

  reset(): void {
    this.#freshness?.reset();
  }

  /** Throws `StaleError`. */
  check(action: string): void {
    const { maxStaleMs } = this.#options;
    if (maxStaleMs === undefined || this.#freshness === undefined) return;
    const ageMs = Math.ceil(this.#freshness.ageMs);
    if (ageMs > maxStaleMs) throw new StaleError(action, { ageMs, maxStaleMs });
  }

  start(): void {
    const { maxStaleMs, clock } = this.#options;
    if (maxStaleMs === undefined) return;
    this.#cancel = clock.after(Math.max(1, Math.floor(maxStaleMs / QUESTIONS)), () => {
      void this.#ask(maxStaleMs);
      this.start();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** A question that is not answered within `maxStaleMs` proves nothing any more, so at most three are under way. */
  async #ask(maxStaleMs: number): Promise<void> {
    const { clock, logger, sync } = this.#options;
    const late = new AbortController();
    const cancel = clock.after(maxStaleMs, () => late.abort(new Error('the answer came too late')));
    try {
      await sync(late.signal);
    } catch (error) {
      logger.debug('How old the state is could not be asked', { error });
    } finally {
      cancel();
    }
  }
}
