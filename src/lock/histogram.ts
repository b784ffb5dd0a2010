/** Buckets of one doubling of time: a bucket is at most an eighth as wide as what it counts is long. */
const STEPS = 8;
/** One bucket for each microsecond below `STEPS`, then `STEPS` for each doubling up to 2^32. */
const BUCKETS = STEPS + 29 * STEPS;
const US_MAX = 2 ** 32 - 1;
const COUNT_MAX = 2 ** 32 - 1;

/**
 * Counts times in fixed buckets, so that a million of them take as much memory as one (L7).
 *
 * ```text
 *   us       0 1 2 ... 7 | 8 9 ... 15 | 16-17 18-19 ... 30-31 | 32-35 ... | ...      up to 71 minutes
 *   bucket   0 1 2 ... 7 | 8 9 ... 15 |  16    17   ...   23  |  24   ... | ... 239
 * ```
 *
 * A quantile is the upper end of its bucket: never below the true one, at most an eighth above it. What is longer than the
 * last bucket counts in it; the maximum is exact in any case.
 */
export class Histogram {
  readonly #counts: Uint32Array = new Uint32Array(BUCKETS);
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  get count(): number {
    return this.#count;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  /** Nothing below 0 is there to be counted: of a clock that went back, it is no time. */
  record(ms: number): void {
    const time = Math.max(0, ms);
    this.#count++;
    this.#sumMs += time;
    if (time > this.#maxMs) this.#maxMs = time;
    const bucket = bucketOf(time);
    const count = this.#counts[bucket] ?? 0;
    if (count < COUNT_MAX) this.#counts[bucket] = count + 1;
  }

  /** The least time that at least the part `q` of all does not exceed, with so many zeros beside what was recorded. */
  quantileMs(q: number, zeros: number): number {
    let left = Math.ceil(q * (this.#count + zeros)) - zeros;
    if (left <= 0) return 0;
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return bucket === BUCKETS - 1 ? this.#maxMs : Math.min(this.#maxMs, upperUs(bucket) / 1000);
    }
    return this.#maxMs;
  }
}

function bucketOf(ms: number): number {
  // Rounded up, so that the upper end of a bucket is a bound; but not for a digit that only a product of fractions has.
  const us = Math.min(US_MAX, Math.ceil(ms * 1000 - 1e-6)) >>> 0;
  if (us < STEPS) return us;
  const doubling = 31 - Math.clz32(us);
  return (doubling - 2) * STEPS + ((us >>> (doubling - 3)) % STEPS);
}

/** The last microsecond of a bucket. */
function upperUs(bucket: number): number {
  if (bucket < STEPS) return bucket;
  const width = 2 ** (Math.floor(bucket / STEPS) - 1);
  return (STEPS + (bucket % STEPS) + 1) * width - 1;
}
