import { claimScratch } from './memory';

/**
 * The regions through which data crosses the boundary. Input and output grow (the old block is lost to the bump
 * region, which doubling bounds to the final size) and are overwritten by the next call: a view on them is valid until
 * then. The key region never moves and never grows, so that the host may keep one view for all its short keys.
 *
 * ```text
 *   input  : bytes written by the host   | 64 zero bytes |   SIMD reads of 16/64 bytes may run past the end
 *   output : u32 results written by the core, read by the host as one Uint32Array view
 *   key    : KEY_REGION_BYTES, static; longer keys go through the input region
 * ```
 *
 * The first output block is static too: compaction must be able to report at the memory limit.
 */

const PAD: usize = 64;
/** Above this a request is refused: doubling a capacity would pass 2^31. */
const REGION_MAX: usize = 0x40000000;
const KEY_REGION_BYTES: usize = 8192;
const FIRST_OUTPUT_BYTES: usize = 4096;

let inputBlock: usize = 0;
let inputCapacity: usize = 0;
let outputBlock: usize = memory.data(4096, 16);
let outputCapacity: usize = FIRST_OUTPUT_BYTES;
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
  memory.fill(inputBlock + bytes, 0, PAD);
  return inputBlock;
}

/** Pointer to an output region of at least `bytes`, or 0. What was written before is kept when it has to grow. */
export function outputRegion(bytes: usize): usize {
  if (bytes > outputCapacity) {
    if (bytes > REGION_MAX) return 0;
    let capacity = outputCapacity;
    while (capacity < bytes) capacity <<= 1;
    const block = claimScratch(capacity);
    if (block == 0) return 0;
    memory.copy(block, outputBlock, outputCapacity);
    outputBlock = block;
    outputCapacity = capacity;
  }
  return outputBlock;
}

export function outputPointer(): usize {
  return outputBlock;
}

/** What the output region holds without growing. */
export function outputCapacityBytes(): usize {
  return outputCapacity;
}

/** Pointer to the key region, the same for the life of the instance. */
export function keyRegion(): usize {
  return keyBlock;
}

export function keyRegionBytes(): usize {
  return KEY_REGION_BYTES;
}
