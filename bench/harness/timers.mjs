// @ts-check
import { createRequire } from 'node:module';
import { keep } from './sink.mjs';

/**
 * @typedef {import('./measure.mjs').Contestant} Contestant
 * @typedef {{ hz: number, count: number, error?: unknown, run(options: object): void }} Benchmark
 * @typedef {new (name: string, fn: () => void, options: object) => Benchmark} BenchmarkClass
 */

/**
 * Measures `operation` with benchmark.js, one sample a call: it finds a number of calls that takes `slotMs` and times
 * them. Samples of one contestant one after the other are what it does by itself, and what rounds are here to avoid.
 *
 * Two of its habits matter. It compiles its loop anew for every sample, so a sample starts with a cold loop around warm
 * work. And it inlines the source text of a test with a set-up, which loses the scope of a closure; no test here has one.
 *
 * @param {number} slotMs
 * @returns {(contestant: Contestant) => number} operations per second
 */
export function createBenchmarkTimer(slotMs) {
  /** @type {BenchmarkClass} */
  const Benchmark = createRequire(import.meta.url)('benchmark');
  // What the turn before found out, so that only the warm-up has to search.
  /** @type {WeakMap<Contestant, number>} */
  const counts = new WeakMap();
  return (contestant) => {
    const { name, operation } = contestant;
    if (operation === undefined) throw new TypeError(`Cannot measure ${name}: it has neither operation nor sweep`);
    const options = { minTime: slotMs / 1000, maxTime: 0, minSamples: 1, initCount: counts.get(contestant) ?? 1 };
    const benchmark = new Benchmark(name, () => keep(operation()), options);
    benchmark.run({ async: false });
    if (benchmark.error !== undefined) throw benchmark.error;
    if (!Number.isFinite(benchmark.hz) || benchmark.hz <= 0) {
      throw new RangeError(`Cannot measure ${name}: benchmark.js gives ${benchmark.hz} operations per second`);
    }
    counts.set(contestant, benchmark.count);
    return benchmark.hz;
  };
}

/**
 * Collects all garbage now, so that nobody pays for what the one before left behind. In Node and Deno V8 hands it out as `gc` when
 * it is told to (bench/harness/runtimes.mjs); what is found to be free it then sweeps on threads of its own, after the call.
 *
 * @returns {() => void}
 */
export function garbageCollector() {
  const host = /** @type {{ gc?: () => void, Bun?: { gc(force: boolean): void } }} */ (globalThis);
  const { gc, Bun } = host;
  if (Bun !== undefined) return () => Bun.gc(true);
  if (gc === undefined) throw new TypeError('Cannot measure: the runtime was started without a way to collect garbage');
  return () => gc();
}

/** With so long a pause no step of a compaction was seen to lose its processor; nothing says when V8 has ended. */
const REST_MS = 50;

/**
 * The same, and resolves when its threads have had the time to end: on two cores they take the processor away from who is measured, 4 ms
 * at a time, which is most of the longest step of a compaction.
 *
 * @returns {() => Promise<void>}
 */
export function restingCollector() {
  const collect = garbageCollector();
  return async () => {
    collect();
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
  };
}
