import { claimScratch } from './memory';

/**
 * The regions through which data crosses the boundary, overwritten by the next call: a view on them is valid until then.
 * Only the input grows (the old block is lost to the bump region, which doubling bounds to the final size). The others
 * are static, so that at the memory limit every list, replay and step of compaction still works, and no read ever takes
 * memory away from writes. What does not fit is delivered in pages: `range` and `rangeMore`, `replay` and `replayMore`.
 *
 * ```text
 *   input  : bytes written by the host   | 64 zero bytes |   SIMD reads of 16/64 bytes may run past the end
 *   output : OUTPUT_WORDS u32 results written by the core, read by the host as one Uint32Array view
 *   key    : KEY_REGION_BYTES; longer keys go through the input region
 * ```
 */

const PAD: usize = 64;
/** Above this a request is refused: doubling a capacity would pass 2^31. */
const REGION_MAX: usize = 0x40000000;
const KEY_REGION_BYTES: usize = 8192;
/** Results of one page: so few that they cost no store much, so many that the calls for a long list do not count. */
export const OUTPUT_WORDS: u32 = 4096;

let inputBlock: usize = 0;
let inputCapacity: usize = 0;
const outputBlock: usize = memory.data(16384, 16);
const keyBlock: usize = memory.data(8192, 16);

/** Pointer to an input region of at least `bytes` plus the zero padding, or 0 when memory is out. */
export function inputRegion(bytes: usize): usize {
  // The first call makes a region also for no bytes at all: 0 as an answer means that memory is out.
  if (bytes > inputCapacity || inputBlock == 0) {
    if (bytes > REGION_MAX) return 0;
    let capacity: usize = inputCapacity == 0 ? 4096 : inputCapacity;
    while (capacity < bytes) capacity <<= 1;
    const block = claimScratch(capacity + PAD);
    if (block == 0) return 0;
    inputBlock = block;
    inputCapacity = capacity;
  }
  // Stores, because a fill is a call into the engine, at each digest of an object.
  for (let offset: usize = 0; offset < PAD; offset += 16) v128.store(inputBlock + bytes + offset, i64x2.splat(0));
  return inputBlock;
}

/** The output region, the same for the life of the instance. */
export function outputPointer(): usize {
  return outputBlock;
}

/** How many results a page holds at most; a call that fills it may have more to say. */
export function outputWords(): u32 {
  return OUTPUT_WORDS;
}

/** Pointer to the key region, the same for the life of the instance. */
export function keyRegion(): usize {
  return keyBlock;
}

export function keyRegionBytes(): usize {
  return KEY_REGION_BYTES;
}
