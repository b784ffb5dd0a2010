import { commonPrefix, compareBytes, headsAt } from './bytes';
import { keyBlock } from './keys';
import { LOW_BITS } from './versions';

/**
 * One page of the key index: 4 KiB, a leaf or an inner page of the B+tree of key-index.ts.
 *
 * ```text
 *   0         2         4           8         16
 *   | count u16 | level u16 | prefix u32 | next u32 | heads u64 ...
 *
 *   leaf  (level 0), 204 entries   | 16 heads | 1648 seconds | 3280 ids   u32, top bit set: no live version     | 4096
 *   inner (level n), 145 entries   | 16 heads | 1176 seconds | 2336 separators | 2916 children | 3496 live keys | 4076
 * ```
 *
 * `prefix` is the number of leading bytes that all keys of the page must share, because its two fences share them: the
 * fences are the separators left and right of the page in its ancestors. A *head* is the eight bytes behind that
 * prefix, a *second* the eight behind the head, so that a search stays in the page and looks at key bytes only where
 * sixteen bytes tie: each look is two cache misses, and with heads alone a search among keys of one application took
 * five of them. Nothing needs to check that the sought key has the prefix: it was led here between the same fences.
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
export const LEAF_MAX: u32 = 204;
export const INNER_MAX: u32 = 145;
const LEAF_SECONDS: usize = 1648;
const IDS: usize = 3280;
const INNER_SECONDS: usize = 1176;
const SEPARATORS: usize = 2336;
const CHILDREN: usize = 2916;
const LIVE: usize = 3496;
/** Heads are stored with the top bit flipped, for SIMD compares signed numbers only. */
const SIGN: u64 = 0x8000000000000000;
/** Heads between two that a search looks at first, and after that one by one. */
const STRIDE: u32 = 16;

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
  return load<u64>(page + HEADS + ((<usize>index) << 3)) ^ SIGN;
}

export function storedSecond(page: usize, index: u32): u64 {
  return load<u64>(secondsOf(page) + ((<usize>index) << 3));
}

@inline
function secondsOf(page: usize): usize {
  return page + (isLeaf(page) ? LEAF_SECONDS : INNER_SECONDS);
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
 *
 * Every 16th head is compared first, then the 16 of one stretch, all of them without a branch: the loads do not wait for
 * each other, as those of a binary search do.
 */
export function search(page: usize, from: u32, key: usize, length: usize, bound: i32): u32 {
  const heads = headsAt(key, length, prefixOf(page));
  const wanted = i64x2.extract_lane(heads, 0) ^ <i64>SIGN;
  const count = countOf(page);
  let low = headsBelow(page, count, wanted);
  // Entry 0 of an inner page has no separator, and head 0.
  if (low < from) low = from;
  if (low >= count || load<i64>(page + HEADS + ((<usize>low) << 3)) != wanted) return low;
  let high = wanted == i64.MAX_VALUE ? count : headsBelow(page, count, wanted + 1);
  const second = <u64>i64x2.extract_lane(heads, 1);
  const seconds = secondsOf(page);
  while (low < high) {
    const middle = (low + high) >> 1;
    const stored = load<u64>(seconds + ((<usize>middle) << 3));
    const order = stored < second ? -1 : stored > second ? 1 : compareEntry(page, middle, key, length);
    if (order < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of the first `count` heads are below `wanted`. */
function headsBelow(page: usize, count: u32, wanted: i64): u32 {
  const heads = page + HEADS;
  let below: u32 = 0;
  for (let index: u32 = STRIDE - 1; index < count; index += STRIDE) {
    below += <u32>(load<i64>(heads + ((<usize>index) << 3)) < wanted) * STRIDE;
  }
  const stretch = heads + ((<usize>below) << 3);
  if (STRIDE == 16 && below + STRIDE <= count) {
    const bound = i64x2.splat(wanted);
    // A lane is -1 where the head is below.
    const sum = i64x2.add(
      i64x2.add(fourBelow(bound, stretch), fourBelow(bound, stretch + 32)),
      i64x2.add(fourBelow(bound, stretch + 64), fourBelow(bound, stretch + 96)),
    );
    return below - <u32>(i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1));
  }
  const end = heads + ((<usize>count) << 3);
  for (let head = stretch; head < end; head += 8) below += <u32>(load<i64>(head) < wanted);
  return below;
}

@inline
function fourBelow(bound: v128, heads: usize): v128 {
  return i64x2.add(i64x2.gt_s(bound, v128.load(heads)), i64x2.gt_s(bound, v128.load(heads, 16)));
}

/** Whether the entry at `index` is the key. */
export function isEntry(page: usize, index: u32, key: usize, length: usize): bool {
  const heads = headsAt(key, length, prefixOf(page));
  return (
    storedHead(page, index) == <u64>i64x2.extract_lane(heads, 0) &&
    storedSecond(page, index) == <u64>i64x2.extract_lane(heads, 1) &&
    compareEntry(page, index, key, length) == 0
  );
}

/** Computes the head and the second of one entry from its bytes. */
export function writeHead(page: usize, index: u32): void {
  const block = blockAt(page, index);
  const length: usize = block == 0 ? 0 : <usize>load<u32>(block);
  const heads = headsAt(block + 4, length, prefixOf(page));
  store<i64>(page + HEADS + ((<usize>index) << 3), i64x2.extract_lane(heads, 0) ^ <i64>SIGN);
  store<i64>(secondsOf(page) + ((<usize>index) << 3), i64x2.extract_lane(heads, 1));
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
  memory.copy(secondsOf(target) + (to << 3), secondsOf(source) + (first << 3), size << 3);
  if (isLeaf(target)) {
    memory.copy(target + IDS + (to << 2), source + IDS + (first << 2), size << 2);
    return;
  }
  memory.copy(target + SEPARATORS + (to << 2), source + SEPARATORS + (first << 2), size << 2);
  memory.copy(target + CHILDREN + (to << 2), source + CHILDREN + (first << 2), size << 2);
  memory.copy(target + LIVE + (to << 2), source + LIVE + (first << 2), size << 2);
}
