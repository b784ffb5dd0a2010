import { bucketOf } from './bucket';
import { allocate, release } from './slab';
import { addChunk, CHUNK_RECORDS, chunkCount, record } from './table';
import { LOW_BITS, TOP_BIT } from './versions';

/**
 * Keys: a small integer for each distinct key in the index, and what hangs on it.
 *
 * ```text
 *   record (16 bytes)                      block (slab)
 *   | block | head | older | bucket |  ->  | length u32 | bytes ... |
 *
 *   block   0 while the id waits for reuse; the link is then in `head`
 *   head    slot of the newest version, top bit set when it is a tombstone; NO_HEAD, BARE_HEAD for a key without versions
 *   older   vector of the versions before it (history.ts), 0 when there is none; lowest bit set for a large one
 *   bucket  what keys of one directory have in common (bucket.ts): the log has it too, for replays
 * ```
 *
 * The newest version and whether it lives are thus one load away from the id, without touching the version record:
 * a list of the newest state reads leaf pages and these records only.
 */

const KEY_RECORD_BYTES: usize = 16;
export const KEY_CHUNK_BYTES: usize = 4096;
const HEAD: usize = 4;
const OLDER: usize = 8;
const BUCKET: usize = 12;
/** Blocks are 4-byte aligned. */
const LARGE: usize = 1;
/** Not a slot: a tombstone with slot 2^31-1 would look the same, so slots stay below that. */
export const NO_HEAD: u32 = 0xffffffff;
/** The same for a key that is live without a version (key-list.ts). */
export const BARE_HEAD: u32 = 0x7fffffff;

export const keyTable: usize = memory.data(12, 16);
let keyEnd: u32 = 0;
let freeKey: i32 = -1;
let freeCount: u32 = 0;

@inline
function at(keyId: u32): usize {
  return record(keyTable, keyId, KEY_RECORD_BYTES);
}

/** Makes sure that one more key record exists. False: memory is out. */
export function roomForKey(): bool {
  if (freeKey >= 0 || keyEnd < chunkCount(keyTable) * CHUNK_RECORDS) return true;
  return addChunk(keyTable, KEY_CHUNK_BYTES);
}

/** The same for `count` records. */
export function roomForKeys(count: u32): bool {
  while (freeKeyCount() < count) {
    if (!addChunk(keyTable, KEY_CHUNK_BYTES)) return false;
  }
  return true;
}

/** A new key id with a copy of the bytes and no versions, or -1 when memory is out. Needs `roomForKey`. */
export function createKey(bytes: usize, length: usize): i32 {
  const block = copyBlock(bytes, length);
  if (block == 0) return -1;
  const keyId = freeKey >= 0 ? <u32>freeKey : keyEnd++;
  if (freeKey >= 0) {
    freeKey = load<i32>(at(keyId), HEAD);
    freeCount--;
  }
  store<usize>(at(keyId), block);
  store<u32>(at(keyId), NO_HEAD, HEAD);
  store<usize>(at(keyId), 0, OLDER);
  store<u32>(at(keyId), bucketOf(bytes, length), BUCKET);
  return <i32>keyId;
}

/** Forgets a key without versions; the id is the next to be reused. */
export function releaseKey(keyId: u32): void {
  assert(headWord(keyId) == NO_HEAD && olderVector(keyId) == 0);
  releaseBlock(keyBlock(keyId));
  store<usize>(at(keyId), 0);
  store<i32>(at(keyId), freeKey, HEAD);
  freeKey = <i32>keyId;
  freeCount++;
}

/** A length-prefixed copy of `length` bytes: key bytes and separators. 0 when memory is out. */
export function copyBlock(bytes: usize, length: usize): usize {
  const block = allocate(length + 4);
  if (block == 0) return 0;
  store<u32>(block, <u32>length);
  memory.copy(block + 4, bytes, length);
  return block;
}

export function releaseBlock(block: usize): void {
  release(block, <usize>load<u32>(block) + 4);
}

export function isKey(keyId: i32): bool {
  return <u32>keyId < keyEnd && load<usize>(at(<u32>keyId)) != 0;
}

/** Address of the key's bytes, 0 for an id that names no key. */
export function keyPointer(keyId: i32): usize {
  return isKey(keyId) ? keyBlock(<u32>keyId) + 4 : 0;
}

export function keyLength(keyId: i32): u32 {
  return isKey(keyId) ? load<u32>(keyBlock(<u32>keyId)) : 0;
}

@inline
export function keyBlock(keyId: u32): usize {
  return load<usize>(at(keyId));
}

@inline
export function headWord(keyId: u32): u32 {
  return load<u32>(at(keyId), HEAD);
}

export function setHeadWord(keyId: u32, word: u32): void {
  store<u32>(at(keyId), word, HEAD);
}

export function olderVector(keyId: u32): usize {
  return load<usize>(at(keyId), OLDER) & ~(<usize>LARGE);
}

/** The vector if it is a large one, else 0. */
@inline
export function largeVector(keyId: u32): usize {
  const word = load<usize>(at(keyId), OLDER);
  return (word & LARGE) != 0 ? word & ~(<usize>LARGE) : 0;
}

export function setOlderVector(keyId: u32, vector: usize, isLarge: bool): void {
  store<usize>(at(keyId), isLarge ? vector | LARGE : vector, OLDER);
}

@inline
export function keyBucket(keyId: u32): u32 {
  return load<u32>(at(keyId), BUCKET);
}

/** Whether a head word names no version. */
@inline
export function isNoVersion(word: u32): bool {
  return (word | TOP_BIT) == NO_HEAD;
}

/** Whether the newest version is a put, or the key is there without one. */
export function isLive(keyId: u32): bool {
  return (headWord(keyId) & TOP_BIT) == 0;
}

/** Slot of the newest version, -1 for a key without versions, -3 (Invalid) for an id that names no key. */
export function headSlot(keyId: i32): i32 {
  if (!isKey(keyId)) return -3;
  const word = headWord(<u32>keyId);
  return isNoVersion(word) ? -1 : <i32>(word & LOW_BITS);
}

export function keyCount(): u32 {
  return keyEnd - freeCount;
}

export function freeKeyCount(): u32 {
  return chunkCount(keyTable) * CHUNK_RECORDS - keyCount();
}

/** Ids ever used, and the free list, for `verify`. */
export function keyLimit(): u32 {
  return keyEnd;
}

export function nextFreeKey(keyId: i32): i32 {
  return keyId < 0 ? freeKey : load<i32>(at(<u32>keyId), HEAD);
}
