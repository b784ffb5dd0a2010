/**
 * The ABI: every exported function, one line each, no logic. All numbers are i32 or f64 (revisions are exact in f64 up
 * to 2^53-1); i64 would cost a BigInt at each call. Pointers and lengths are bytes. `src/core/abi.ts` mirrors this list
 * and a test compares the two.
 */

// memory
export { inputRegion, outputPointer } from './scratch';
export { claimedBytes, setMemoryLimit } from './memory';
