import { classBelow, grownBytes, roomOfClass, vectorsOfClass } from './history';
import { INNER_MAX, LEAF_MAX } from './index-page';
import { innerPageCount, leafPageCount, longestKeyBytes } from './key-index';
import { freeKeyCount, KEY_CHUNK_BYTES, keyTable } from './keys';
import { promise } from './memory';
import { freePageCount, PAGE_BYTES } from './pages';
import { LOG_COLUMNS, logDirectoryClaim, pagesAhead } from './revision-log';
import { classCount, setTight, worstClaim } from './slab';
import { Status } from './status';
import { CHUNK_RECORDS, directoryClaim } from './table';
import { treeHeight } from './tree-path';
import {
  FAR_BYTES,
  freeVersionCount,
  HEADER_CHUNK_BYTES,
  headerChunksFor,
  headerTable,
  VERSION_CHUNK_BYTES,
  versionTable,
} from './versions';

/**
 * How much memory the next appends can take at worst, so that a commit is refused before it begins or not at all.
 *
 * ```text
 *   a version     24 bytes (chunks of 256), 12 in the log (three pages of 1024), at most 24 far
 *   its history   every touched key may outgrow its vector once: the largest vectors in use, one per event; after that
 *                 a vector of n grows only by n/3 appends, so 32 bytes an event cover all later growth
 *   a new key     16 bytes (chunks of 256), its block, an entry in a leaf
 *   leaf pages    each leaf may be full and split once; the halves take 102 keys before they split again
 *   inner pages   one entry for each new leaf: the same on each level, with halves of 72; and one level more
 *   separators    one for each new leaf, no longer than the longest key
 * ```
 *
 * The sum is set aside in fresh memory (`promise`): about 1.5 times what a bulk load takes, a few pages for a small
 * commit. Free records and pages are taken into account, free slab blocks are not: when the limit does not allow the
 * sum, make-room.ts may still find what the commit needs, block by block.
 */

const VECTOR_BYTES_PER_EVENT: u32 = 32;
/** Far above any real request; keeps the sums within u32. */
const RECORDS_MAX: u32 = 0x01ffffff;
const KEY_BYTES_MAX: usize = 0x20000000;

/** Ok, or Full with nothing changed. `longest` bounds the length of each new key, `keyBytes` that of all together. */
export function reserve(events: u32, newKeys: u32, keyBytes: usize, longest: usize): Status {
  if (events > RECORDS_MAX || newKeys > RECORDS_MAX || keyBytes > KEY_BYTES_MAX) return Status.Full;
  if (longest > keyBytes) longest = keyBytes;
  const separator = separatorAhead(longest);
  const leaves = leavesAhead(newKeys);
  const logPages = pagesAhead(events);
  const pages = logPages * LOG_COLUMNS + leaves + innersAhead(leaves);
  const versionChunks = chunksFor(events, freeVersionCount());
  const keyChunks = chunksFor(newKeys, freeKeyCount());
  let need: u64 = pages > freePageCount() ? <u64>(pages - freePageCount()) * PAGE_BYTES : 0;
  const headerChunks = headerChunksFor(versionChunks);
  need +=
    <u64>versionChunks * VERSION_CHUNK_BYTES +
    <u64>headerChunks * HEADER_CHUNK_BYTES +
    <u64>keyChunks * KEY_CHUNK_BYTES;
  const blocks =
    <u64>events * (VECTOR_BYTES_PER_EVENT + <u32>FAR_BYTES) +
    <u64>keyBytes +
    ((<u64>newKeys) << 2) +
    <u64>leaves * (separator + 4) +
    outgrownVectors(events) +
    directoryClaim(versionTable, versionChunks) +
    directoryClaim(headerTable, headerChunks) +
    directoryClaim(keyTable, keyChunks) +
    logDirectoryClaim(logPages);
  need += worstClaim(blocks, <u64>events * 3 + newKeys + leaves);
  setTight(false);
  if (need < 0x7fffffff && promise(<usize>need)) return Status.Ok;
  promise(0);
  return Status.Full;
}

/** Length of the longest separator there may be with new keys no longer than that. */
export function separatorAhead(longest: usize): usize {
  return longest > longestKeyBytes() ? longest : longestKeyBytes();
}

export function leavesAhead(newKeys: u32): u32 {
  return least(newKeys, leafPageCount()) + newKeys / (LEAF_MAX >> 1);
}

export function innersAhead(leaves: u32): u32 {
  if (leaves == 0) return 0;
  // Full pages of the tree split once; each further split takes 72 entries, on the next level a seventieth of that.
  return least(leaves * treeHeight(), innerPageCount()) + leaves / (INNER_MAX >> 2) + 2;
}

/** What replaces the largest `events` vectors in use, if each of them is full. */
function outgrownVectors(events: u32): u64 {
  let bytes: u64 = 0;
  let sizeClass = classCount();
  while (events > 0) {
    sizeClass = classBelow(sizeClass);
    if (sizeClass == 0) break;
    const vectors = least(vectorsOfClass(sizeClass), events);
    bytes += <u64>vectors * grownBytes(roomOfClass(sizeClass));
    events -= vectors;
  }
  return bytes;
}

function chunksFor(records: u32, free: u32): u32 {
  return records <= free ? 0 : (records - free + CHUNK_RECORDS - 1) / CHUNK_RECORDS;
}

function least(a: u32, b: u32): u32 {
  return a < b ? a : b;
}
