import { bucketLength, bucketOf, SLASH } from './bucket';
import { compareBytes } from './bytes';
import { countOf, keyWordAt, nextOf, search } from './index-page';
import { findKey, liveKeyCount } from './key-index';
import { isLive, keyBlock, keyBucket, keyLimit } from './keys';
import { claimScratch, hasSpare } from './memory';
import { descend, leafPage, leafPosition, liveBefore } from './tree-path';
import { LOW_BITS } from './versions';

/**
 * The range a request is about, in one of five kinds (store:R7), and its two ends in the index.
 *
 * ```text
 *   bytes at `pointer`            endLength   kind
 *   | start |                     -1          Point: the key `start`
 *   | start |                      0          From: every key >= start (All when start is empty)
 *   | start | end |               > 0         Between: start <= key < end (Empty when start >= end)
 * ```
 *
 * Globals, because one request is served at a time and a result of several numbers cannot be returned. They hold until
 * the next request; the bytes must stay where they are until then.
 */

export const enum RangeKind {
  Empty,
  Point,
  From,
  Between,
  All,
}

let kind: RangeKind = RangeKind.Empty;
let start: usize = 0;
let startLength: usize = 0;
let end: usize = 0;
let endLength: usize = 0;
let point: i32 = -1;
let firstLeaf: usize = 0;
let firstIndex: u32 = 0;
let lastLeaf: usize = 0;
let bucket: u32 = 0;

export function openRange(pointer: usize, lengthOfStart: usize, lengthOfEnd: i32): RangeKind {
  start = pointer;
  startLength = lengthOfStart;
  end = pointer + lengthOfStart;
  endLength = <usize>lengthOfEnd;
  isMarked = false;
  compared = 0;
  markAfter = COMPARED_MIN;
  if (lengthOfEnd < 0) {
    point = findKey(start, startLength);
    kind = point < 0 ? RangeKind.Empty : RangeKind.Point;
  } else if (lengthOfEnd == 0) {
    kind = startLength == 0 ? RangeKind.All : RangeKind.From;
  } else {
    kind = compareBytes(start, startLength, end, endLength) < 0 ? RangeKind.Between : RangeKind.Empty;
  }
  return kind;
}

/**
 * Whether all keys of the range are known to have one bucket, then `rangeBucket`: the first and the end of them share the
 * directory, or the end is the first text behind it. To be asked once for a request: finding out reads the range's bytes.
 *
 * ```text
 *   /registry/pods/default/        to /registry/pods/default0         yes
 *   /registry/pods/default/web-1   to /registry/pods/default/web-2    yes
 *   /registry/pods/                to /registry/pods0                 no: every namespace has its own
 * ```
 */
export function findBucket(): bool {
  if (kind == RangeKind.Point) {
    bucket = keyBucket(<u32>point);
    return true;
  }
  if (kind != RangeKind.Between) return false;
  const length = bucketLength(start, startLength);
  if (length == 0 || endLength < length) return false;
  bucket = bucketOf(start, length);
  if (compareBytes(start, length - 1, end, length - 1) != 0) return false;
  // The directory ends with a slash, and behind that comes 0.
  const last = load<u8>(end + length - 1);
  return last == SLASH || (last == SLASH + 1 && endLength == length);
}

export function rangeBucket(): u32 {
  return bucket;
}

/** Keys compared before the keys of the range are marked in a bit set: below it, marking would not pay. */
const COMPARED_MIN: u32 = 256;
/** The bit set may take at most 1/32 of the memory that is free. */
const SPARE_SHIFT: usize = 6;
let bits: usize = 0;
let bitsCapacity: usize = 0;
let isMarked: bool = false;
let compared: u32 = 0;
let markAfter: u32 = COMPARED_MIN;
/** Walking over so many keys costs about one comparison. */
const KEYS_PER_COMPARISON: u32 = 8;

export function rangeKind(): RangeKind {
  return kind;
}

/** The key of a Point range. */
export function pointKey(): u32 {
  return <u32>point;
}

/**
 * Whether a key lies in the range. Comparing bytes costs cache misses for each key asked about, marking the range's keys
 * in a bit set once costs a walk over their leaves: after enough comparisons the keys are marked.
 */
export function contains(keyId: u32): bool {
  if (kind == RangeKind.All) return true;
  if (kind == RangeKind.Point) return keyId == <u32>point;
  if (kind == RangeKind.Empty) return false;
  if (isMarked) return ((load<u32>(bits + <usize>((keyId >> 5) << 2)) >> (keyId & 31)) & 1) != 0;
  if (++compared == markAfter) considerMarking();
  const block = keyBlock(keyId);
  const length = <usize>load<u32>(block);
  if (compareBytes(block + 4, length, start, startLength) < 0) return false;
  return kind == RangeKind.From || compareBytes(block + 4, length, end, endLength) < 0;
}

/** Marks when the comparisons made have cost about as much as marking will; else sets when to ask again. */
function considerMarking(): void {
  const cost = countNewest() / KEYS_PER_COMPARISON;
  if (compared < cost) {
    markAfter = cost;
    return;
  }
  const bytes = <usize>(((keyLimit() >> 5) + 1) << 2);
  if (bytes > bitsCapacity) {
    // Speed is worth a little of what is free, not what the next writes need.
    if (!hasSpare(bytes << SPARE_SHIFT)) return;
    const block = claimScratch(bytes << 1);
    // Without memory the comparisons go on.
    if (block == 0) return;
    bits = block;
    bitsCapacity = bytes << 1;
  }
  memory.fill(bits, 0, bytes);
  for (let leaf = openWalk(); leaf != 0; leaf = walkNext(leaf)) {
    for (let index = walkFrom(leaf), stop = walkTo(leaf); index < stop; index++) {
      const keyId = keyWordAt(leaf, index) & LOW_BITS;
      const word = bits + <usize>((keyId >> 5) << 2);
      store<u32>(word, load<u32>(word) | (1 << (keyId & 31)));
    }
  }
  isMarked = true;
}

/** Live keys of the range now, in O(log n). */
export function countNewest(): u32 {
  if (kind == RangeKind.All) return liveKeyCount();
  if (kind == RangeKind.Point) return isLive(<u32>point) ? 1 : 0;
  if (kind == RangeKind.Empty) return 0;
  descend(start, startLength);
  const before = liveBefore();
  if (kind == RangeKind.From) return liveKeyCount() - before;
  descend(end, endLength);
  return liveBefore() - before;
}

/**
 * Places the walk over the range's leaves (not for Point and Empty):
 * `for (let leaf = openWalk(); leaf != 0; leaf = walkNext(leaf))` with entries [walkFrom(leaf), walkTo(leaf)).
 */
export function openWalk(): usize {
  if (kind == RangeKind.Empty || kind == RangeKind.Point) return 0;
  descend(start, startLength);
  firstLeaf = leafPage();
  firstIndex = leafPosition();
  lastLeaf = 0;
  return firstLeaf;
}

export function walkNext(leaf: usize): usize {
  return leaf == lastLeaf ? 0 : nextOf(leaf);
}

export function walkFrom(leaf: usize): u32 {
  return leaf == firstLeaf ? firstIndex : 0;
}

/**
 * Also finds out whether the leaf is the last one, which a list with a limit seldom reaches. The range's end may lie
 * outside of what the page's prefix holds for, until it is known to lie between two of its keys.
 */
export function walkTo(leaf: usize): u32 {
  const count = countOf(leaf);
  if (kind != RangeKind.Between || count == 0 || isBelowEnd(keyWordAt(leaf, count - 1))) return count;
  lastLeaf = leaf;
  return isBelowEnd(keyWordAt(leaf, 0)) ? search(leaf, 0, end, endLength, 0) : 0;
}

function isBelowEnd(keyWord: u32): bool {
  const block = keyBlock(keyWord & LOW_BITS);
  return compareBytes(block + 4, <usize>load<u32>(block), end, endLength) < 0;
}
