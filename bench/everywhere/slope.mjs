// @ts-check
// How fast operations are whose runtime has no clock that can be trusted, or no compiler for benchmark.js: seen from outside.

const SAMPLES = 9;
/** The shorter of two calls takes about so long: its beginning, which both have, is small beside it. */
const CALL_MS = 120;
const COUNT_MAX = 1 << 22;

/**
 * A call with n operations takes a + n*b. With a call of 2n the beginning a is gone, and b is left. Of several such differences
 * the median counts, those below zero among them: without them it would lean towards what is slow.
 *
 * @param {string} name
 * @param {(count: number) => unknown} call
 * @param {{ now(): number }} clock milliseconds
 */
export async function measureSlope(name, call, clock = performance) {
  const time = async (/** @type {number} */ count) => {
    const start = clock.now();
    await call(count);
    return clock.now() - start;
  };
  let count = 64;
  while (count < COUNT_MAX && (await time(count)) < CALL_MS) count *= 2;
  const differences = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const one = await time(count);
    differences.push((await time(2 * count)) - one);
  }
  const median = medianOf(differences);
  if (!(median > 0)) throw new Error(`Cannot measure ${name}: ${count} operations take no time`);
  // A median of distances is two thirds of a standard deviation; of a median the error is 1.25 of one over the root of n.
  const deviation = 1.48 * medianOf(differences.map((difference) => Math.abs(difference - median)));
  const error = (1.25 * deviation) / Math.sqrt(SAMPLES);
  return { name, opsPerSecond: (count * 1000) / median, rme: (196 * error) / median, samples: SAMPLES };
}

/** @param {readonly number[]} values */
function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return /** @type {number} */ (sorted[sorted.length >> 1]);
}
