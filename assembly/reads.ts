import { newestCommit } from './append';
import { newestAt } from './history';
import { keyWordAt } from './index-page';
import {
  countNewest,
  openRange,
  openWalk,
  pointKey,
  RangeKind,
  rangeKind,
  walkFrom,
  walkNext,
  walkTo,
} from './key-range';
import { headWord } from './keys';
import { OUTPUT_WORDS, outputPointer } from './scratch';
import { keyWordOf, LOW_BITS, TOP_BIT } from './versions';

/**
 * Lists and counts at one revision. At the newest one a list copies head slots from the key records, skipping the
 * entries that the leaf marks as not live; at an older one every key of the range is asked for its version.
 *
 * A list longer than the output region comes in pages; the walk stands where the last one ended.
 *
 * ```text
 *   leaf   | a b c d | e f g h | i j k l |       page 1: b c d e f     nextLeaf, nextIndex: g
 *              ^range         ^next              page 2: g h i j
 * ```
 */

/** Leaf and entry at which the next page begins; no leaf when there is none. */
let nextLeaf: usize = 0;
let nextIndex: u32 = 0;
/** How many slots the list may still have. */
let left: u32 = 0;
let readAt: f64 = 0;
let isNewest: bool = false;

/**
 * Writes the live slots of the range at `revision` to the output, in key order, at most `limit` (0: all of them), as
 * many as it holds. Answers their number; when the output is full, `rangeMore` has the rest.
 */
export function range(pointer: usize, startLength: usize, endLength: i32, revision: f64, limit: u32): u32 {
  openRange(pointer, startLength, endLength);
  left = limit == 0 ? 0xffffffff : limit;
  readAt = revision;
  isNewest = revision >= newestCommit();
  // For a point and for nothing there is no walk.
  nextLeaf = openWalk();
  nextIndex = nextLeaf == 0 ? 0 : walkFrom(nextLeaf);
  return rangeKind() == RangeKind.Point ? rangePoint(revision) : rangeMore();
}

/** The next page of the last `range`, as long as nothing else was asked or written since. */
export function rangeMore(): u32 {
  const most: u32 = left < OUTPUT_WORDS ? left : OUTPUT_WORDS;
  const output = outputPointer();
  let written: u32 = 0;
  while (nextLeaf != 0 && written < most) {
    const stop = walkTo(nextLeaf);
    let index = nextIndex;
    if (isNewest) {
      for (; index < stop && written < most; index++) {
        const word = keyWordAt(nextLeaf, index);
        if ((word & TOP_BIT) != 0) continue;
        store<u32>(output + ((<usize>written) << 2), headWord(word));
        written++;
      }
    } else {
      for (; index < stop && written < most; index++) {
        const slot = liveAt(keyWordAt(nextLeaf, index) & LOW_BITS, readAt);
        if (slot < 0) continue;
        store<i32>(output + ((<usize>written) << 2), slot);
        written++;
      }
    }
    if (index < stop) {
      nextIndex = index;
      break;
    }
    nextLeaf = walkNext(nextLeaf);
    nextIndex = nextLeaf == 0 ? 0 : walkFrom(nextLeaf);
  }
  left -= written;
  return written;
}

/** Number of live keys of the range at `revision`; O(log n) at the newest, else one lookup for each key. */
export function count(pointer: usize, startLength: usize, endLength: i32, revision: f64): u32 {
  openRange(pointer, startLength, endLength);
  if (revision >= newestCommit()) return countNewest();
  if (rangeKind() == RangeKind.Point) return liveAt(pointKey(), revision) < 0 ? 0 : 1;
  let found: u32 = 0;
  for (let leaf = openWalk(); leaf != 0; leaf = walkNext(leaf)) {
    for (let index = walkFrom(leaf), stop = walkTo(leaf); index < stop; index++) {
      if (liveAt(keyWordAt(leaf, index) & LOW_BITS, revision) >= 0) found++;
    }
  }
  return found;
}

/** Slot of the put that is the key's state at `revision`, -1 when it does not exist there. */
function liveAt(keyId: u32, revision: f64): i32 {
  const slot = newestAt(keyId, revision);
  return slot >= 0 && (keyWordOf(slot) & TOP_BIT) == 0 ? slot : -1;
}

function rangePoint(revision: f64): u32 {
  const slot = liveAt(pointKey(), revision);
  if (slot < 0) return 0;
  store<i32>(outputPointer(), slot);
  return 1;
}
