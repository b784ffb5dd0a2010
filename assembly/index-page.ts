import { commonPrefix, compareBytes, headAt } from './bytes';
import { keyBlock } from './keys';
import { LOW_BITS } from './versions';

/**
 * One page of the key index: 4 KiB, a leaf or an inner page of the B+tree of key-index.ts.
 *
 * ```text
 *   0         2         4           8         16
 *   | count u16 | level u16 | prefix u32 | next u32 | heads u64 ...
 *
 *   leaf  (level 0), 340 entries   | 16 heads | 2736 ids       u32, top bit set: no live version         | 4096
 *   inner (level n), 204 entries   | 16 heads | 1648 separators| 2464 children | 3280 live keys below    | 4096
 * ```
 *
 * `prefix` is the number of leading bytes that all keys of the page must share, because its two fences share them: the
 * fences are the separators left and right of the page in its ancestors. A *head* is the eight bytes behind that
 * prefix, so that a binary search touches one array and looks at key bytes only on a tie. Nothing needs to check that
 * the sought key has the prefix: it was led here between the same fences.
 *
 * ```text
 *   fences "/pods/a/" and "/pods/b":  prefix 6 = "/pods/"
 *   keys    /pods/a/db   /pods/a/web-1   /pods/a/web-2      heads  "a/db\0\0\0\0" < "a/web-1\0" < "a/web-2\0"
 * ```
 *
 * Entry 0 of an inner page has no separator: its child takes all that is below separator 1. A separator is a block of
 * its own with the shortest bytes that part its two pages; it outlives the key it was made from.
 */

const LEVEL: usize = 2;
const PREFIX: usize = 4;
const NEXT: usize = 8;
const HEADS: usize = 16;
export const LEAF_MAX: u32 = 340;
export const INNER_MAX: u32 = 204;
const IDS: usize = 2736;
const SEPARATORS: usize = 1648;
const CHILDREN: usize = 2464;
const LIVE: usize = 3280;

export function initPage(page: usize, level: u32): void {
  store<u16>(page, 0);
  store<u16>(page, <u16>level, LEVEL);
  store<u32>(page, 0, PREFIX);
  store<usize>(page, 0, NEXT);
}

@inline
export function countOf(page: usize): u32 {
  return <u32>load<u16>(page);
}

export function setCount(page: usize, count: u32): void {
  store<u16>(page, <u16>count);
}

@inline
export function isLeaf(page: usize): bool {
  return load<u16>(page, LEVEL) == 0;
}

export function levelOf(page: usize): u32 {
  return <u32>load<u16>(page, LEVEL);
}

@inline
export function prefixOf(page: usize): usize {
  return <usize>load<u32>(page, PREFIX);
}

export function setPrefix(page: usize, prefix: usize): void {
  store<u32>(page, <u32>prefix, PREFIX);
}

/** The leaf to the right, 0 at the end. */
@inline
export function nextOf(page: usize): usize {
  return load<usize>(page, NEXT);
}

export function setNext(page: usize, next: usize): void {
  store<usize>(page, next, NEXT);
}

export function maxOf(page: usize): u32 {
  return isLeaf(page) ? LEAF_MAX : INNER_MAX;
}

/** Address of a leaf's key words: id, top bit set for a key without a live version. */
@inline
export function idsOf(page: usize): usize {
  return page + IDS;
}

export function keyWordAt(page: usize, index: u32): u32 {
  return load<u32>(page + IDS + ((<usize>index) << 2));
}

export function setKeyWord(page: usize, index: u32, word: u32): void {
  store<u32>(page + IDS + ((<usize>index) << 2), word);
}

export function separatorAt(page: usize, index: u32): usize {
  return load<usize>(page + SEPARATORS + ((<usize>index) << 2));
}

export function setSeparator(page: usize, index: u32, block: usize): void {
  store<usize>(page + SEPARATORS + ((<usize>index) << 2), block);
}

@inline
export function childAt(page: usize, index: u32): usize {
  return load<usize>(page + CHILDREN + ((<usize>index) << 2));
}

export function setChild(page: usize, index: u32, child: usize): void {
  store<usize>(page + CHILDREN + ((<usize>index) << 2), child);
}

/** Address of an inner page's live counts. */
@inline
export function liveOf(page: usize): usize {
  return page + LIVE;
}

export function liveAt(page: usize, index: u32): u32 {
  return load<u32>(page + LIVE + ((<usize>index) << 2));
}

export function setLiveAt(page: usize, index: u32, live: u32): void {
  store<u32>(page + LIVE + ((<usize>index) << 2), live);
}

/** The length-prefixed bytes an entry is ordered by. */
export function blockAt(page: usize, index: u32): usize {
  return isLeaf(page) ? keyBlock(keyWordAt(page, index) & LOW_BITS) : separatorAt(page, index);
}

export function storedHead(page: usize, index: u32): u64 {
  return load<u64>(page + HEADS + ((<usize>index) << 3));
}

/** Order of an entry's bytes against a key. */
export function compareEntry(page: usize, index: u32, key: usize, length: usize): i32 {
  const block = blockAt(page, index);
  const prefix = prefixOf(page);
  const own = <usize>load<u32>(block);
  assert(own >= prefix && length >= prefix);
  return compareBytes(block + 4 + prefix, own - prefix, key + prefix, length - prefix);
}

/**
 * First entry in [from, count) that is not below the key (`bound` 0), or that is above it (`bound` 1).
 */
export function search(page: usize, from: u32, key: usize, length: usize, bound: i32): u32 {
  const wanted = headAt(key, length, prefixOf(page));
  let low = from;
  let high = countOf(page);
  while (low < high) {
    const middle = (low + high) >> 1;
    const head = storedHead(page, middle);
    const order = head < wanted ? -1 : head > wanted ? 1 : compareEntry(page, middle, key, length);
    if (order < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Computes the head of one entry from its bytes. */
export function writeHead(page: usize, index: u32): void {
  const block = blockAt(page, index);
  const head = block == 0 ? 0 : headAt(block + 4, <usize>load<u32>(block), prefixOf(page));
  store<u64>(page + HEADS + ((<usize>index) << 3), head);
}

/** Sets the fences' common prefix; rewrites the heads when it is another one. Fences are blocks, 0 for none. */
export function setFences(page: usize, low: usize, high: usize): void {
  let prefix: usize = 0;
  if (low != 0 && high != 0) {
    prefix = commonPrefix(low + 4, <usize>load<u32>(low), high + 4, <usize>load<u32>(high));
  }
  if (prefix == prefixOf(page)) return;
  store<u32>(page, <u32>prefix, PREFIX);
  for (let index: u32 = 0, count = countOf(page); index < count; index++) writeHead(page, index);
}

/** Opens a gap for one entry at `index` (all columns; the caller fills it). */
export function openGap(page: usize, index: u32): void {
  const count = countOf(page);
  assert(index <= count && count < maxOf(page));
  moveEntries(page, index + 1, page, index, count - index);
  setCount(page, count + 1);
}

/** Takes the entry at `index` out of all columns. */
export function closeGap(page: usize, index: u32): void {
  const count = countOf(page);
  assert(index < count);
  moveEntries(page, index, page, index + 1, count - index - 1);
  setCount(page, count - 1);
}

/** Copies `count` entries between pages of one level, heads included (right only while the prefixes are equal). */
export function moveEntries(target: usize, at: u32, source: usize, from: u32, count: u32): void {
  const to = <usize>at;
  const first = <usize>from;
  const size = <usize>count;
  memory.copy(target + HEADS + (to << 3), source + HEADS + (first << 3), size << 3);
  if (isLeaf(target)) {
    memory.copy(target + IDS + (to << 2), source + IDS + (first << 2), size << 2);
    return;
  }
  memory.copy(target + SEPARATORS + (to << 2), source + SEPARATORS + (first << 2), size << 2);
  memory.copy(target + CHILDREN + (to << 2), source + CHILDREN + (first << 2), size << 2);
  memory.copy(target + LIVE + (to << 2), source + LIVE + (first << 2), size << 2);
}
