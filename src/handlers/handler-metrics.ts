/** Upper ends of the buckets of durations, in ms. The last bucket has none. */
export const BUCKET_MS: readonly number[] = Object.freeze([
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000,
]);

/** Times that were taken, in ms. */
export interface DurationStats {
  readonly count: number;
  readonly sumMs: number;
  readonly maxMs: number;
  /** How many took at most `leMs`, and more than the bucket before says; the last one has `leMs: Infinity`. */
  readonly buckets: readonly { readonly leMs: number; readonly count: number }[];
}

/** Figures of one handler, its subs and its `retire` hook counted in. Counts are since the start. */
export interface HandlerStats {
  /** Calls begun, those to rebuild included. */
  readonly calls: number;
  /** Calls of the moment. */
  readonly running: number;
  readonly successes: number;
  readonly temporaryFailures: number;
  readonly permanentFailures: number;
  /** Calls that counted for nothing. */
  readonly superseded: number;
  /** Calls that took longer than `timeoutMs`; they count as failures, too. */
  readonly timeouts: number;
  /** Calls begun after a failure on the same input. */
  readonly retries: number;
  /** From the beginning of a call to its end or its timeout. */
  readonly run: DurationStats;
  /**
   * From when a call was due to its beginning: in line, behind other calls of its object, at a limit, and while its intent
   * was written. The wait of a retry is not in it.
   */
  readonly wait: DurationStats;
  /** Objects that it has something to do or to try again for, by the newest state that a pass has looked at. */
  readonly behind: number;
  /** For how long the oldest of them has been so, in ms; 0 if there is none. */
  readonly lagMs: number;
}

class Durations {
  readonly #counts: number[] = [...BUCKET_MS, 0].fill(0);
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  record(ms: number): void {
    this.#count++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
    let bucket = 0;
    while (bucket < BUCKET_MS.length && ms > (BUCKET_MS[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  get stats(): DurationStats {
    return {
      count: this.#count,
      sumMs: this.#sumMs,
      maxMs: this.#maxMs,
      buckets: this.#counts.map((count, bucket) => ({ leMs: BUCKET_MS[bucket] ?? Number.POSITIVE_INFINITY, count })),
    };
  }
}

/** The figures of one handler as they are counted. Fixed in size: nothing of it grows with calls, objects or subs. */
export class HandlerMetrics {
  readonly #run = new Durations();
  readonly #wait = new Durations();
  #calls = 0;
  #running = 0;
  #successes = 0;
  #temporaryFailures = 0;
  #permanentFailures = 0;
  #superseded = 0;
  #timeouts = 0;
  #retries = 0;

  begun(waitMs: number, isRetry: boolean): void {
    this.#calls++;
    this.#running++;
    if (isRetry) this.#retries++;
    this.#wait.record(Math.max(0, waitMs));
  }

  ended(runMs: number, isLate: boolean): void {
    this.#running--;
    if (isLate) this.#timeouts++;
    this.#run.record(Math.max(0, runMs));
  }

  judged(kind: 'ok' | 'temporary' | 'permanent' | 'superseded'): void {
    switch (kind) {
      case 'ok':
        this.#successes++;
        break;
      case 'temporary':
        this.#temporaryFailures++;
        break;
      case 'permanent':
        this.#permanentFailures++;
        break;
      case 'superseded':
        this.#superseded++;
        break;
    }
  }

  stats(behind: number, lagMs: number): HandlerStats {
    return {
      calls: this.#calls,
      running: this.#running,
      successes: this.#successes,
      temporaryFailures: this.#temporaryFailures,
      permanentFailures: this.#permanentFailures,
      superseded: this.#superseded,
      timeouts: this.#timeouts,
      retries: this.#retries,
      run: this.#run.stats,
      wait: this.#wait.stats,
      behind,
      lagMs,
    };
  }
}
