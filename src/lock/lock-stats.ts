import type { LockModeStats, LockStats, LockTimes } from '../types/lock.ts';
import { Histogram } from './histogram.ts';

/** What there is to count of one mode, besides acquisitions: those are counted where it costs least. */
class ModeCounts {
  cancelled = 0;
  /** Of those that had to wait. */
  waits: Histogram | undefined;
  holds: Histogram | undefined;
}

/** What is counted of one key, or of all (L7). */
export class LockCounts {
  readonly #read = new ModeCounts();
  readonly #write = new ModeCounts();
  #waiting = 0;
  #waitingMax = 0;

  get waiting(): number {
    return this.#waiting;
  }

  queued(): void {
    this.#waiting++;
    if (this.#waiting > this.#waitingMax) this.#waitingMax = this.#waiting;
  }

  granted(isWrite: boolean, waitMs: number): void {
    this.#waiting--;
    const counts = this.#of(isWrite);
    counts.waits ??= new Histogram();
    counts.waits.record(waitMs);
  }

  cancelled(isWrite: boolean): void {
    this.#waiting--;
    this.#of(isWrite).cancelled++;
  }

  released(isWrite: boolean, holdMs: number): void {
    const counts = this.#of(isWrite);
    counts.holds ??= new Histogram();
    counts.holds.record(holdMs);
  }

  #of(isWrite: boolean): ModeCounts {
    return isWrite ? this.#write : this.#read;
  }

  report(facts: { reads: number; writes: number; held: number; holdTimes: boolean }): LockStats {
    const { reads, writes, held, holdTimes } = facts;
    return {
      read: modeStats(this.#read, reads, holdTimes),
      write: modeStats(this.#write, writes, holdTimes),
      held,
      waiting: this.#waiting,
      waitingMax: this.#waitingMax,
    };
  }
}

function modeStats(counts: ModeCounts, acquisitions: number, holdTimes: boolean): LockModeStats {
  const { waits, holds, cancelled } = counts;
  const contended = waits?.count ?? 0;
  return {
    acquisitions,
    contended,
    cancelled,
    waits: times(waits, acquisitions - contended),
    ...(holdTimes ? { holds: times(holds, 0) } : {}),
  };
}

function times(histogram: Histogram | undefined, zeros: number): LockTimes {
  const { count, sumMs, maxMs } = histogram ?? NO_TIMES;
  const quantile = (q: number): number => histogram?.quantileMs(q, zeros) ?? 0;
  return {
    count: count + zeros,
    sumMs,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    p999Ms: quantile(0.999),
    maxMs,
  };
}

const NO_TIMES = { count: 0, sumMs: 0, maxMs: 0 };
