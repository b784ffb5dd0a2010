// @ts-check
// How fast operations are whose runtime has no clock that can be trusted, or no compiler for benchmark.js: seen from outside.

const SAMPLES = 9;
/** The shorter of two calls takes about so long: its beginning, which both have, is small beside it. */
const CALL_MS = 120;
const COUNT_MAX = 1 << 22;

/**
 * A call with n operations takes a + n*b. With a call of 2n the beginning a is gone, and b is left.
 *
 * @param {string} name
 * @param {(count: number) => Promise<void>} call
 */
export async function measureSlope(name, call) {
  const time = async (/** @type {number} */ count) => {
    const start = performance.now();
    await call(count);
    return performance.now() - start;
  };
  let count = 64;
  while (count < COUNT_MAX && (await time(count)) < CALL_MS) count *= 2;
  const rates = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const [one, two] = [await time(count), await time(2 * count)];
    // Noise larger than the work: nothing was measured.
    if (two > one) rates.push((count * 1000) / (two - one));
  }
  if (rates.length < SAMPLES / 2) throw new Error(`Cannot measure ${name}: ${count} operations take no time`);
  rates.sort((a, b) => a - b);
  const median = /** @type {number} */ (rates[rates.length >> 1]);
  const distances = rates.map((rate) => Math.abs(rate - median)).sort((a, b) => a - b);
  // A median of distances is two thirds of a standard deviation; of a median the error is 1.25 of one over the root of n.
  const error = (1.48 * 1.25 * /** @type {number} */ (distances[distances.length >> 1])) / Math.sqrt(rates.length);
  return { name, opsPerSecond: median, rme: (196 * error) / median, samples: rates.length };
}
