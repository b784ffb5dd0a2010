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
import { outputRegion } from './scratch';
import { Status } from './status';
import { keyWordOf, LOW_BITS, TOP_BIT } from './versions';

/**
 * Lists and counts at one revision. At the newest one a list copies head slots from the key records, skipping the
 * entries that the leaf marks as not live; at an older one every key of the range is asked for its version.
 */

/**
 * Writes the live slots of the range at `revision` to the output, in key order, at most `limit` (0: all of them).
 * Answers their number, or Full when the output region cannot hold them.
 */
export function range(pointer: usize, startLength: usize, endLength: i32, revision: f64, limit: u32): i32 {
  openRange(pointer, startLength, endLength);
  const most: u32 = limit == 0 ? 0xffffffff : limit;
  if (rangeKind() == RangeKind.Point) return rangePoint(revision);
  return revision >= newestCommit() ? rangeNewest(most) : rangeAt(revision, most);
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

function rangePoint(revision: f64): i32 {
  const slot = liveAt(pointKey(), revision);
  if (slot < 0) return 0;
  store<i32>(outputRegion(4), slot);
  return 1;
}

function rangeNewest(most: u32): i32 {
  let written: u32 = 0;
  for (let leaf = openWalk(); leaf != 0 && written < most; leaf = walkNext(leaf)) {
    const from = walkFrom(leaf);
    const stop = walkTo(leaf);
    const output = outputRegion((<usize>(written + stop - from)) << 2);
    if (output == 0) return Status.Full;
    for (let index = from; index < stop && written < most; index++) {
      const word = keyWordAt(leaf, index);
      if ((word & TOP_BIT) != 0) continue;
      store<u32>(output + ((<usize>written) << 2), headWord(word));
      written++;
    }
  }
  return <i32>written;
}

function rangeAt(revision: f64, most: u32): i32 {
  let written: u32 = 0;
  for (let leaf = openWalk(); leaf != 0 && written < most; leaf = walkNext(leaf)) {
    const from = walkFrom(leaf);
    const stop = walkTo(leaf);
    const output = outputRegion((<usize>(written + stop - from)) << 2);
    if (output == 0) return Status.Full;
    for (let index = from; index < stop && written < most; index++) {
      const slot = liveAt(keyWordAt(leaf, index) & LOW_BITS, revision);
      if (slot < 0) continue;
      store<i32>(output + ((<usize>written) << 2), slot);
      written++;
    }
  }
  return <i32>written;
}
