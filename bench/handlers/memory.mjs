// @ts-check
// What a contestant takes for its objects, beside the store that it works on.
import { World } from './load.mjs';

/**
 * @typedef {object} Memory Bytes of the JavaScript heap an object.
 * @property {number} restBytes What becomes free when the contestant is let go at rest, its store being kept.
 * @property {number} peakBytes The most that was in use under load, above the start; garbage and the store included.
 */

/**
 * The steady load once more, off the clock, since looking at the heap takes time.
 *
 * @param {import('./contestants.mjs').Kit} kit
 * @param {import('./contestants.mjs').Entry} entry
 * @param {{ objects: number, changes: number }} size
 * @param {() => void} collectGarbage
 * @returns {Promise<Memory>}
 */
export async function memoryOf(kit, entry, { objects, changes }, collectGarbage) {
  const world = await World.open(kit, entry, { objects, isSlow: false });
  const start = await settled(collectGarbage);
  let peak = start;
  const sample = () => {
    peak = Math.max(peak, heapUsed());
  };
  await world.changeAll(changes, { sample });
  sample();
  world.begin();
  const rest = await settled(collectGarbage);
  await world.closeRunning();
  const without = await settled(collectGarbage);
  await world.close();
  return { restBytes: Math.round((rest - without) / objects), peakBytes: Math.round((peak - start) / objects) };
}

/** Twice, with a turn in between, for what is only let go by finalizers. @param {() => void} collectGarbage */
async function settled(collectGarbage) {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 1));
  collectGarbage();
  return heapUsed();
}

function heapUsed() {
  return process.memoryUsage().heapUsed;
}
