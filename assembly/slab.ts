import { claim } from './memory';
import { dropFreePage, PAGE_BYTES } from './pages';

/**
 * Blocks of every size, with reuse: key bytes, separators, history vectors, directories, far numbers.
 *
 * A block belongs to a size class; freed blocks wait in the free list of their class (the link lies in the block).
 *
 * ```text
 *   class   1   2   3  ...  16 | 17  18 ...  24 | 25  26 ...  32 | 33 ...
 *   bytes   4   8  12  ...  64 | 72  80 ... 128 | 144 160 ... 256 | 288 ...      eight steps each doubling: <= 12.5% lost
 *
 *   allocate(51) -> class 13 (52 bytes)      allocate(65) -> class 17 (72)      allocate(129) -> class 25 (144)
 * ```
 *
 * Small blocks are cut from a shared *run*, whatever their class: a store with ten keys should not pay a page for each
 * size in use. A run is a fresh piece of memory or a large block nobody wants (the outgrown vector of a hot key). At
 * the memory limit any larger free block is cut up, for pages too, and then free pages are. So large garbage becomes small room; the
 * other direction does not exist, blocks are never joined: a workload whose key lengths drift leaves each class at its high-water mark.
 */

const CLASS_COUNT: u32 = 217;
const SMALL_MAX: usize = 1024;
const RUN_BYTES: usize = 8192;

/** A quarter of the address space; nothing the core asks for comes near. */
const BLOCK_MAX: usize = 0x40000000;

const lists: usize = memory.data(868, 16);
const counts: usize = memory.data(868, 16);
let run: usize = 0;
let runEnd: usize = 0;
let tight: bool = false;
let inUse: usize = 0;
let claimed: usize = 0;

/** The smallest class whose blocks hold `bytes`. */
export function classOf(bytes: usize): u32 {
  if (bytes <= 64) return bytes == 0 ? 1 : <u32>((bytes + 3) >> 2);
  const shift = 28 - <u32>clz<u32>(<u32>bytes - 1);
  return 17 + ((shift - 3) << 3) + ((<u32>(bytes - 1) >> shift) & 7);
}

/** Size of the blocks of a class. */
export function classBytes(sizeClass: u32): usize {
  if (sizeClass <= 16) return <usize>(sizeClass << 2);
  const step = sizeClass - 17;
  return <usize>((9 + (step & 7)) << (3 + (step >> 3)));
}

/** A block of at least `bytes`, 4-byte aligned, content undefined; 0 when memory is out. */
export function allocate(bytes: usize): usize {
  if (bytes > BLOCK_MAX) return 0;
  const sizeClass = classOf(bytes);
  const block = find(sizeClass);
  if (block != 0) inUse += classBytes(sizeClass);
  return block;
}

/** Gives back a block; `bytes` is what it was allocated with (or anything of the same class). */
export function release(block: usize, bytes: usize): void {
  const sizeClass = classOf(bytes);
  inUse -= classBytes(sizeClass);
  push(block, sizeClass);
}

/** Bytes of memory that blocks are or were cut from. */
export function blockBytes(): usize {
  return claimed;
}

/** Bytes of all blocks in use. */
export function bytesInUse(): usize {
  return inUse;
}

function find(sizeClass: u32): usize {
  const reused = pop(sizeClass);
  if (reused != 0) return reused;
  const size = classBytes(sizeClass);
  if (size > SMALL_MAX) {
    const block = claimBlock(size);
    return block != 0 ? block : cutLarger(sizeClass);
  }
  if (runEnd - run < size && !nextRun()) return cutLarger(sizeClass);
  const block = run;
  run += size;
  return block;
}

/**
 * An upper bound of what must be claimed for `count` blocks of together `bytes`. Class rounding and the ends of runs
 * cost 1/8 each, the smallest classes up to 7 bytes a block. Free blocks are not taken into account.
 */
export function worstClaim(bytes: u64, count: u64): u64 {
  return bytes + bytes / 3 + (count << 3) + 2 * RUN_BYTES;
}

/**
 * While memory is tight, free blocks are set aside for particular requests (make-room.ts): each request then takes the
 * smallest block that will do, and large ones are not turned into runs.
 */
export function setTight(isTight: bool): void {
  tight = isTight;
}

export function isTight(): bool {
  return tight;
}

/** First block of a free list, for `verify`. */
export function firstFree(sizeClass: u32): usize {
  return load<usize>(lists + ((<usize>sizeClass) << 2));
}

/** Length of a free list. */
export function freeBlocks(sizeClass: u32): u32 {
  return load<u32>(counts + ((<usize>sizeClass) << 2));
}

export function classCount(): u32 {
  return CLASS_COUNT;
}

function nextRun(): bool {
  if (tight) return false;
  let fresh: usize = 0;
  let size: usize = RUN_BYTES;
  for (let sizeClass = classOf(RUN_BYTES); sizeClass < CLASS_COUNT && fresh == 0; sizeClass++) {
    fresh = pop(sizeClass);
    size = classBytes(sizeClass);
  }
  if (fresh == 0) {
    fresh = claimBlock(RUN_BYTES);
    size = RUN_BYTES;
  }
  if (fresh == 0) return false;
  donate(run, runEnd);
  run = fresh;
  runEnd = fresh + size;
  return true;
}

function claimBlock(bytes: usize): usize {
  const block = claim(bytes);
  // Claims are rounded up to 16 bytes.
  if (block != 0) claimed += (bytes + 15) & ~(<usize>15);
  return block;
}

/** The last resort: a block cut from the smallest larger free one, or from a page that neither index nor log has in use. */
function cutLarger(sizeClass: u32): usize {
  for (let larger = sizeClass + 1; larger < CLASS_COUNT; larger++) {
    const block = pop(larger);
    if (block == 0) continue;
    donate(block + classBytes(sizeClass), block + classBytes(larger));
    return block;
  }
  const size = classBytes(sizeClass);
  if (size >= PAGE_BYTES) return 0;
  const page = dropFreePage();
  if (page == 0) return 0;
  claimed += PAGE_BYTES;
  donate(page + size, page + PAGE_BYTES);
  return page;
}

/** The other way round: a page of a block that nobody wants, or of the fresh memory that is left; 0 when there is none. */
export function cutPage(): usize {
  const page = allocate(PAGE_BYTES);
  if (page != 0) {
    inUse -= PAGE_BYTES;
    claimed -= PAGE_BYTES;
  }
  return page;
}

/** Puts [from, end) into the free lists, largest fitting class first. */
function donate(from: usize, end: usize): void {
  while (end - from >= 4) {
    let sizeClass = classOf(end - from);
    if (classBytes(sizeClass) > end - from) sizeClass--;
    push(from, sizeClass);
    from += classBytes(sizeClass);
  }
}

function push(block: usize, sizeClass: u32): void {
  const list = lists + ((<usize>sizeClass) << 2);
  store<usize>(block, load<usize>(list));
  store<usize>(list, block);
  store<u32>(counts + ((<usize>sizeClass) << 2), freeBlocks(sizeClass) + 1);
}

function pop(sizeClass: u32): usize {
  const list = lists + ((<usize>sizeClass) << 2);
  const block = load<usize>(list);
  if (block == 0) return 0;
  store<usize>(list, load<usize>(block));
  store<u32>(counts + ((<usize>sizeClass) << 2), freeBlocks(sizeClass) - 1);
  return block;
}
