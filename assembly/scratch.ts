import { claim } from './memory';

/**
 * The two regions through which data crosses the boundary. Both grow (the old block is lost to the bump region, which
 * doubling bounds to the final size) and are overwritten by the next call: a view on them is valid until then.
 *
 * ```text
 *   input  : bytes written by the host   | 64 zero bytes |   SIMD reads of 16/64 bytes may run past the end
 *   output : u32 results written by the core, read by the host as one Uint32Array view
 * ```
 */

const PAD: usize = 64;

let inputBlock: usize = 0;
let inputCapacity: usize = 0;
let outputBlock: usize = 0;
let outputCapacity: usize = 0;

/** Pointer to an input region of at least `bytes` plus the zero padding, or 0 when memory is out. */
export function inputRegion(bytes: usize): usize {
  if (bytes > inputCapacity) {
    let capacity: usize = inputCapacity == 0 ? 4096 : inputCapacity;
    while (capacity < bytes) capacity <<= 1;
    const block = claim(capacity + PAD);
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
    let capacity: usize = outputCapacity == 0 ? 4096 : outputCapacity;
    while (capacity < bytes) capacity <<= 1;
    const block = claim(capacity);
    if (block == 0) return 0;
    if (outputCapacity > 0) memory.copy(block, outputBlock, outputCapacity);
    outputBlock = block;
    outputCapacity = capacity;
  }
  return outputBlock;
}

export function outputPointer(): usize {
  return outputBlock;
}
