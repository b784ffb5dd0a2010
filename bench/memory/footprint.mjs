// @ts-check
// How much memory there is, once nothing of it is garbage.
//
//   external (V8's count)  = WebAssembly memory + buffers of typed arrays + what else lies outside of the heap
//   heap                   = objects, Maps, arrays, strings
//
// V8 counts the linear memory as external; the store says how large it is, and it is taken out of there, so that no
// byte is counted twice. RSS is only a cross-check: it has pages that the heap has freed and not given back.

/**
 * @typedef {object} Footprint Bytes.
 * @property {number} heap
 * @property {number} wasm
 * @property {number} offHeap External without the linear memory.
 * @property {number} rss
 */

/**
 * Two collections in a row that differ by less have found everything. A large heap never comes to rest entirely: with
 * 625 MB, the figure after a collection goes up and down by 0.03 %. Nor does a small one, from which V8 drops compiled code
 * now and then: 16 kB are 0.16 bytes of each of 100,000 watchers.
 */
const SETTLED_PART = 0.0005;
const SETTLED_BYTES = 16_384;
const COLLECTIONS_MAX = 50;
/** More of the linear memory than this outside of V8's count of external memory: then it does not count it. */
const UNCOUNTED_BYTES = 1 << 20;

/**
 * @param {() => void} collectGarbage
 * @param {() => number} wasmBytes
 * @returns {Promise<Footprint>}
 */
export async function settledFootprint(collectGarbage, wasmBytes) {
  let last = Number.POSITIVE_INFINITY;
  for (let count = 0; count < COLLECTIONS_MAX; count++) {
    collectGarbage();
    // A turn, for what is freed by finalizers.
    await new Promise((resolve) => setImmediate(resolve));
    const { heapUsed, external, rss } = process.memoryUsage();
    if (Math.abs(last - heapUsed) < Math.max(SETTLED_BYTES, heapUsed * SETTLED_PART)) {
      const wasm = wasmBytes();
      return { heap: heapUsed, wasm, offHeap: external - wasm, rss };
    }
    last = heapUsed;
  }
  throw new Error(`Cannot measure memory: the heap does not come to rest within ${COLLECTIONS_MAX} collections`);
}

/**
 * @param {Footprint} before
 * @param {Footprint} after
 * @returns {Footprint}
 */
export function growth(before, after) {
  const offHeap = after.offHeap - before.offHeap;
  if (offHeap < -UNCOUNTED_BYTES) {
    throw new Error('Cannot measure memory: this runtime does not count WebAssembly memory as external');
  }
  return { heap: after.heap - before.heap, wasm: after.wasm - before.wasm, offHeap, rss: after.rss - before.rss };
}
