import type { Pins } from '../store/pins.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { Key } from '../types/revision.ts';
import { untilAborted } from '../types/until-aborted.ts';
import { compareAll } from './consistency.ts';
import type { Sides } from './sides.ts';

export interface ConsistencyKeeperOptions<V, K extends Key> extends Sides<V, K> {
  /** ms between two checks, on average. */
  readonly intervalMs: number | undefined;
  readonly clock: Pick<Clock, 'after'>;
  readonly random: Random;
  readonly logger: Logger;
  readonly pins: Pins;
  /** Whether there is a state to compare: ready, and its stream open. */
  readonly isLive: () => boolean;
  /** What is here is not what is there. */
  readonly onDifferent: (reason: string) => void;
}

/** A check that takes longer is given up: what it holds back of history is held for no longer either. */
const CHECK_MS_MAX = 60_000;
const PINNED_BYTES_MAX = 67_108_864;

/**
 * Compares all that is here with all that is there, again and again (M44). Nothing of it is needed as long as the backend keeps
 * its promises and this code has no fault: it is for the day when one of the two is not true.
 *
 * The first check and each next one come after half the interval to one and a half, at random, so that replicas that were
 * started together do not list together. What goes wrong with a check is logged, and the next one tries again.
 */
export class ConsistencyKeeper<V, K extends Key> {
  readonly stats = { checks: 0, inconsistencies: 0 };
  readonly #options: ConsistencyKeeperOptions<V, K>;
  #cancelTimer: (() => void) | undefined;
  #ending = new AbortController();

  /** Starts nothing. */
  constructor(options: ConsistencyKeeperOptions<V, K>) {
    this.#options = options;
  }

  start(): void {
    const { intervalMs, clock, random } = this.#options;
    if (intervalMs === undefined) return;
    this.#cancelTimer = clock.after(Math.max(1, Math.floor(intervalMs * (0.5 + random()))), () => void this.#turn());
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#ending.abort(new Error('the store was closed'));
  }

  /** The data were replaced: a check of the old ones proves nothing. */
  reset(): void {
    this.#ending.abort(new Error('the data were replaced'));
    this.#ending = new AbortController();
  }

  async #turn(): Promise<void> {
    const { isLive, logger } = this.#options;
    try {
      if (isLive()) await this.#check();
    } catch (error) {
      logger.debug('The consistency with the backend could not be checked', { error });
    }
    if (this.#cancelTimer !== undefined) this.start();
  }

  async #check(): Promise<void> {
    const { mvcc, pins, clock, onDifferent } = this.#options;
    const { revision } = mvcc.window;
    const pin = pins.pin(revision, { owner: 'consistency check', ttlMs: CHECK_MS_MAX, bytes: PINNED_BYTES_MAX });
    const ended = this.#ending.signal;
    const late = new AbortController();
    const cancel = clock.after(CHECK_MS_MAX, () => late.abort(new Error('the check took too long')));
    let different: string | undefined;
    try {
      const compare = (signal: AbortSignal) => compareAll(this.#options, revision, signal);
      different = await untilAborted(compare, [ended, late.signal, pin.signal]);
    } finally {
      pin.release();
      cancel();
    }
    this.stats.checks++;
    if (different === undefined) return;
    this.stats.inconsistencies++;
    onDifferent(different);
  }
}
