import type { Random } from '../types/random.ts';

export interface EstimateSettings {
  readonly capMs: number;
  readonly floorMs: number;
  readonly priorMs: number;
  readonly driftMax: number;
}

/** Samples before what is assumed without any is given up: of a leader's answers from idle (WL3), and of the watch (WL4). */
const SAMPLES_NEEDED = 5;
/** Taken off the window for timers that are late (WL4). */
const SLACK_MS = 50;

/**
 * What a follower has learnt of its watch and of its leader, and the window that follows from it.
 *
 * ```text
 *   0        low                          high      cap
 *   |---------|~~~~~~ drawn here ~~~~~~~~~~|---------|         low    minimum, at most 0.6 high
 *                                              |               high   cap less drift, the watch and slack
 *                                              1.25 λ, drift, slack
 * ```
 *
 * Estimates shrink by samples, never by time: a night of silence teaches nothing (WL8).
 */
export class Estimates {
  readonly #settings: EstimateSettings;
  #gap = 0;
  #latency: number | undefined;
  #latencySamples = 0;
  #idleSamples = 0;

  constructor(settings: EstimateSettings) {
    this.#settings = settings;
  }

  get gapMs(): number {
    return this.#gap;
  }

  get watchLatencyMs(): number | undefined {
    return this.#latency;
  }

  /** The smallest silence after which a follower may act (WL3). */
  get minimumMs(): number {
    const { floorMs, priorMs } = this.#settings;
    const minimum = Math.max(floorMs, 1.5 * this.#gap, 2.5 * (this.#latency ?? 0));
    return this.#idleSamples < SAMPLES_NEEDED ? Math.max(minimum, priorMs) : minimum;
  }

  /** How long the leader took for a change; from idle, if nothing else kept it busy (WL8). */
  sampleGap(sampleMs: number, isIdle: boolean): void {
    if (isIdle) {
      this.#gap = Math.max(sampleMs, 0.9 * this.#gap + 0.1 * sampleMs);
      this.#idleSamples++;
    } else if (sampleMs > this.#gap) {
      this.#gap = sampleMs;
    }
  }

  /**
   * How long the watch took (WL9). An outage of the watch, or of the process, looks like a slow watch; what is above half
   * of the cap would leave no window at all, and counts as that.
   */
  sampleLatency(sampleMs: number): void {
    const sample = Math.min(Math.max(0, sampleMs), this.#settings.capMs / 2);
    const last = this.#latency;
    this.#latencySamples++;
    this.#latency = last === undefined ? sample : Math.max(sample, 0.9 * last + 0.1 * sample);
  }

  /**
   * Draws a window evenly between the smallest and the longest silence; where both cannot hold, the cap does (WL4, WL5). A few
   * samples do not show how late a watch can be, the less since those of reads and conflicts begin after the commit.
   */
  draw(random: Random): number {
    const { capMs, driftMax } = this.#settings;
    const measured = 1.25 * (this.#latency ?? 0);
    const late = this.#latencySamples < SAMPLES_NEEDED ? Math.max(capMs / 5, measured) : measured;
    const high = Math.max(0, (1 - driftMax) * capMs - late - SLACK_MS);
    const low = Math.min(this.minimumMs, 0.6 * high);
    return low + random() * (high - low);
  }
}
