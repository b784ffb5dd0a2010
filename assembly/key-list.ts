import { removeEntry } from './index-join';
import { idsOf, keyWordAt } from './index-page';
import { internKey, liveKeyCount, setLive } from './key-index';
import { openRange, openWalk, pointKey, RangeKind, rangeKind, walkFrom, walkNext, walkTo } from './key-range';
import { BARE_HEAD, headWord, isKey, isLive, NO_HEAD, releaseKey, setHeadWord } from './keys';
import { OUTPUT_WORDS, outputPointer } from './scratch';
import { Status } from './status';
import { descend, descendToRank, leafPage, leafPosition, liveBefore } from './tree-path';
import { LOW_BITS, TOP_BIT } from './versions';

/**
 * The key index by itself: keys that are there or not, without versions and log. A core is used either this way or as
 * the versioned state of append.ts: a key entered here is live without a version and can get none.
 *
 * ```text
 *   insertKey b -> 0, a -> 1, c -> 2       listKeys [a, c) -> 1 0       rankOf c -> 2       keyAtRank 1 -> 0
 * ```
 *
 * A list copies the ids of leaf pages, four at a time; it touches nothing else of a key.
 */

/** Leaf and entry at which the next page of a list begins; no leaf when there is none. */
let nextLeaf: usize = 0;
let nextIndex: u32 = 0;
/** How many ids the list may still have. */
let left: u32 = 0;

/** Id of a key, which is in the index afterwards; Full, with nothing changed, when memory is out. */
export function insertKey(key: usize, length: usize): i32 {
  const keyId = internKey(key, length);
  if (keyId >= 0 && headWord(<u32>keyId) == NO_HEAD) {
    setHeadWord(<u32>keyId, BARE_HEAD);
    setLive(<u32>keyId, true);
  }
  return keyId;
}

/** Takes a key out of the index; its id is the next to be given out. Invalid: no such key, or one with versions. */
export function removeKey(keyId: i32): i32 {
  if (!isKey(keyId) || headWord(<u32>keyId) != BARE_HEAD) return Status.Invalid;
  const key = <u32>keyId;
  setLive(key, false);
  setHeadWord(key, NO_HEAD);
  removeEntry(key);
  releaseKey(key);
  return Status.Ok;
}

/**
 * Writes the ids of the range's live keys to the output, in key order, at most `limit` (0: all of them), as many as it
 * holds. Answers their number; when the output is full, `listKeysMore` has the rest.
 */
export function listKeys(pointer: usize, startLength: usize, endLength: i32, limit: u32): u32 {
  openRange(pointer, startLength, endLength);
  left = limit == 0 ? 0xffffffff : limit;
  nextLeaf = openWalk();
  nextIndex = nextLeaf == 0 ? 0 : walkFrom(nextLeaf);
  if (rangeKind() != RangeKind.Point) return listKeysMore();
  if (!isLive(pointKey())) return 0;
  store<u32>(outputPointer(), pointKey());
  return 1;
}

/** The next page of the last `listKeys`, as long as nothing else was asked or written since. */
export function listKeysMore(): u32 {
  const most: u32 = left < OUTPUT_WORDS ? left : OUTPUT_WORDS;
  const output = outputPointer();
  let written: u32 = 0;
  while (nextLeaf != 0 && written < most) {
    const stop = walkTo(nextLeaf);
    const ids = idsOf(nextLeaf);
    let index = nextIndex;
    while (index < stop && written < most) {
      // A page may be the last of the memory: nothing is read behind its entries.
      if (index + 4 <= stop && written + 4 <= most) {
        const four = v128.load(ids + ((<usize>index) << 2));
        if (i32x4.bitmask(four) == 0) {
          v128.store(output + ((<usize>written) << 2), four);
          index += 4;
          written += 4;
          continue;
        }
      }
      const word = keyWordAt(nextLeaf, index);
      index++;
      if ((word & TOP_BIT) != 0) continue;
      store<u32>(output + ((<usize>written) << 2), word);
      written++;
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

/** How many live keys come before a key, which need not be there. */
export function rankOf(key: usize, length: usize): u32 {
  descend(key, length);
  return liveBefore();
}

/** Id of the live key with so many live keys before it, or NotFound. */
export function keyAtRank(rank: u32): i32 {
  if (rank >= liveKeyCount()) return Status.NotFound;
  descendToRank(rank);
  return <i32>(keyWordAt(leafPage(), leafPosition()) & LOW_BITS);
}
