// @ts-check
// Measures every case with benchmark.js, in the runtime that this runs in; prints a line of JSON with a mark.
import Original from 'benchmark';
import lodash from 'lodash';
import platform from 'platform';
import * as plimsoll from 'plimsoll';
import { CASES } from './cases.mjs';

/**
 * In a bundle benchmark.js finds neither its own packages nor a global object: it gets both, and every constructor that it
 * looks up there.
 */
const host = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (globalThis));
const globals = [
  'Array',
  'Date',
  'Error',
  'Function',
  'Math',
  'Object',
  'RegExp',
  'String',
  'setTimeout',
  'clearTimeout',
  'performance',
  'navigator',
  'document',
  'process',
];
const Benchmark = Original.runInContext({
  ...Object.fromEntries(globals.map((name) => [name, host[name]])),
  _: lodash,
  platform,
});
// What its compiled loops name.
host.Benchmark = Benchmark;

/**
 * @param {import('./cases.mjs').EverywhereCase} one
 * @param {number} seconds
 */
async function measure({ name, batch, open }, seconds) {
  const { run, check } = await open(plimsoll);
  /** @type {unknown} */
  let failure;
  const fn = async (/** @type {{ resolve(): void }} */ deferred) => {
    try {
      await run(batch);
    } catch (error) {
      failure ??= error;
    }
    deferred.resolve();
  };
  const options = { defer: true, minTime: 0.05, maxTime: seconds, minSamples: 10, fn };
  const result = await new Promise((resolve) => {
    const benchmark = new Benchmark(name, { ...options, onComplete: () => resolve(benchmark) });
    benchmark.run({ async: true });
  });
  const problem = result.error ?? failure ?? check();
  if (problem !== undefined) throw new Error(`Cannot measure ${name}: ${problem}`);
  return { name, opsPerSecond: result.hz * batch, rme: result.stats.rme, samples: result.stats.sample.length };
}

/** Of each case: told by a page's address, or by a variable. */
const given =
  host.location === undefined
    ? process.env.PLIMSOLL_SECONDS
    : new URL(String(host.location)).searchParams.get('seconds');
const seconds = Number(given ?? 1);
const results = [];
for (const one of CASES) results.push(await measure(one, seconds));
console.log(`PLIMSOLL-RESULT ${JSON.stringify(results)}`);
