/**
 * Linear memory: one bump region, grown geometrically, never given back (a WebAssembly memory cannot shrink; dropping
 * the instance frees it). Reuse is the affair of slab.ts and pages.ts, above this file. Only this file calls
 * `memory.grow`.
 *
 * ```text
 *   0            __heap_base        top                  top + promised      memory.size()
 *   | static data | claimed blocks ... | promised to appends | free, grown ahead |     ... up to limitBytes
 * ```
 *
 * Every allocation is checked against `limitBytes` and answers 0 instead of trapping, so that a caller can refuse the
 * request with nothing changed (StoreFullError). What `promise` set aside for coming appends is out of reach of the
 * scratch regions: a large read between `reserve` and `append` fails before it could make the append fail.
 */

const PAGE: usize = 65536;
/** Blocks are 16-byte aligned: SIMD loads and f64 columns need no care. */
const ALIGN: usize = 16;

let top: usize = (__heap_base + (ALIGN - 1)) & ~(ALIGN - 1);
let limitBytes: usize = 0x7fff0000;
let promised: usize = 0;
let scratch: usize = 0;

/** Sets the limit; lower than what is in use is legal and means: nothing more. */
export function setMemoryLimit(bytes: usize): void {
  limitBytes = bytes;
}

/** Bytes handed out so far, static data included. */
export function claimedBytes(): usize {
  return top;
}

/** Of them, what lay there before the first claim, and what `claimScratch` handed out. */
export function fixedBytes(): usize {
  return (__heap_base + (ALIGN - 1)) & ~(ALIGN - 1);
}

export function scratchBytes(): usize {
  return scratch;
}

/** Whether `bytes` more could be claimed; grows the memory so that the claim itself cannot fail. */
export function ensure(bytes: usize): bool {
  const need = top + ((bytes + (ALIGN - 1)) & ~(ALIGN - 1));
  if (need < top || need > limitBytes) return false;
  const have = <usize>memory.size() * PAGE;
  if (need <= have) return true;
  const missing = (need - have + PAGE - 1) / PAGE;
  // A quarter ahead: growing is 5 to 440 us a call, so it must be rare; doubling would waste half of a large store.
  let ahead = <usize>memory.size() >> 2;
  // Never ahead of the limit: it bounds the whole memory, not only what is claimed.
  const most = limitBytes > have ? (limitBytes - have + PAGE - 1) / PAGE : missing;
  if (ahead > most) ahead = most;
  if (ahead < missing) ahead = missing;
  if (memory.grow(<i32>ahead) >= 0) return true;
  return memory.grow(<i32>missing) >= 0;
}

/** Sets `bytes` aside for the blocks the next appends will claim; replaces the promise before. False: no room. */
export function promise(bytes: usize): bool {
  promised = 0;
  if (!ensure(bytes)) return false;
  promised = bytes;
  return true;
}

/** A new block of at least `bytes`, 16-aligned, content undefined unless fresh; 0 when the limit forbids it. */
export function claim(bytes: usize): usize {
  if (!ensure(bytes)) return 0;
  const block = top;
  const size = (bytes + (ALIGN - 1)) & ~(ALIGN - 1);
  top += size;
  promised = promised > size ? promised - size : 0;
  return block;
}

/** Like `claim`, for what no append depends on: leaves the promised bytes alone. */
export function claimScratch(bytes: usize): usize {
  const kept = promised;
  // The sum may pass 2^32 and come out small; `ensure` sees only the sum.
  if (bytes + kept + ALIGN < bytes || !ensure(bytes + kept + ALIGN)) return 0;
  const before = top;
  const block = claim(bytes);
  scratch += top - before;
  promised = kept;
  return block;
}

/** Whether so many bytes more could be claimed without touching the promise. Nothing grows. */
export function hasSpare(bytes: usize): bool {
  const need = <u64>top + <u64>promised + <u64>bytes;
  return need <= <u64>limitBytes;
}
