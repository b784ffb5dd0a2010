import {
  headSlot,
  headWord,
  isKey,
  isNoVersion,
  keyLimit,
  largeVector,
  NO_HEAD,
  olderVector,
  setHeadWord,
  setOlderVector,
} from './keys';
import { allocate, classBytes, classOf, isTight, release } from './slab';
import { Status } from './status';
import { commitOf, isVersionOf, LOW_BITS, TOP_BIT } from './versions';

/**
 * The versions of one key in commit order: the newest in the key record, the older ones in a vector.
 *
 * ```text
 *   record  | head = slot of 10 |
 *   vector  | start 2, class | count 3 | epoch |  .  .  [4] [6t] [8]  .  |   the numbers stand for slots of commits
 *             u24      u8      u32       u32      0  1   2   3    4   5        room 6 follows from the block's class
 *
 *   versionAt 0..3 = 4, 6t, 8, 10          slotAt(7) = 6t        slotAt(9) = 8        slotAt(3) = none
 * ```
 *
 * "Newest with commit <= R" is a binary search, also for a key that is written all the time; a chain of versions would
 * be walked from its end. Several versions may share a commit (store:C12); the last one counts.
 *
 * Compaction takes from the front, and does not even look at the key: it would visit each key many times, at a cache
 * miss each time. Whoever uses the vector next *trims* it, in place, by what the slots at its front have become:
 *
 * ```text
 *   freed 4, 6t     | start 2 | count 3 | .  .  [free] [of bar] [8] . |  -> trim ->  | start 4 | count 1 |
 * ```
 *
 * A freed slot holds no version or one of another key. Before a version is added the vector is trimmed, so it is never
 * this key that got the slot, and none is in the vector twice. When the newest version leaves the log a large vector is
 * released at once. A trimmed vector slides back when it is full and a third of it is empty in front; one that is nearly
 * empty moves to a smaller block when a version is added or room is made for one, never when one is read: a block for the
 * move is memory that `reserve` may have promised to an append.
 */

const COUNT: usize = 4;
const EPOCH: usize = 8;
const HEADER: usize = 12;
/** Tests start it shortly below the wrap. */
const FIRST_EPOCH: u32 = 0;
/** `start` has 24 bits; a vector that long slides back when they are used up. */
const START_MAX: u32 = 0xffffff;
/** A larger vector goes with the versions in it; letting go of a small one costs more than it is worth to others. */
const SMALL_ROOM_MAX: u32 = 16;
/** A vector this much larger than its content is worth copying into a smaller block. */
const SHRINK_FACTOR: u32 = 4;
const SHRINK_ROOM_MIN: u32 = 64;

/** How often versions have been freed. A vector that was trimmed in this epoch has nothing more to trim. */
let epoch: u32 = FIRST_EPOCH;

/** Vectors in use by size class: what `reserve` needs to know about the largest ones. */
const vectorsByClass: usize = memory.data(868, 16);

/** A bit for each class with vectors, in words of 64: looking through all classes at every write would cost more than the write. */
const classesInUse: usize = memory.data(32, 16);

/** The largest class below `sizeClass` that has vectors, 0 when there is none. */
export function classBelow(sizeClass: u32): u32 {
  let word = <i32>(sizeClass >> 6);
  let bits = load<u64>(classesInUse + ((<usize>word) << 3)) & (((<u64>1) << (sizeClass & 63)) - 1);
  while (bits == 0) {
    if (--word < 0) return 0;
    bits = load<u64>(classesInUse + ((<usize>word) << 3));
  }
  return ((<u32>word) << 6) + 63 - <u32>clz<u64>(bits);
}

export function vectorsOfClass(sizeClass: u32): u32 {
  return load<u32>(vectorsByClass + ((<usize>sizeClass) << 2));
}

/** Block size of the vector that replaces a full one of `count` slots. */
export function grownBytes(count: u32): usize {
  return HEADER + ((<usize>(count + (count >> 1) + 1)) << 2);
}

/** How many slots a vector of this class holds. */
export function roomOfClass(sizeClass: u32): u32 {
  const bytes = classBytes(sizeClass);
  return bytes < HEADER ? 0 : <u32>((bytes - HEADER) >> 2);
}

/** Number of versions of a key. */
export function historyLength(keyId: u32): u32 {
  if (isNoVersion(headWord(keyId))) return 0;
  const vector = trim(keyId);
  return vector == 0 ? 1 : load<u32>(vector, COUNT) + 1;
}

/** Slot of the key's `index`-th version, 0 = oldest; after `historyLength`, which trims. */
export function versionAt(keyId: u32, index: u32): i32 {
  const vector = olderVector(keyId);
  const older: u32 = vector == 0 ? 0 : load<u32>(vector, COUNT);
  if (index >= older) {
    assert(index == older);
    return <i32>(headWord(keyId) & LOW_BITS);
  }
  return load<i32>(slots(vector) + ((<usize>index) << 2));
}

/** Index of the key's first version with commit >= `revision`, or `length`, which is what `historyLength` says. */
export function firstSince(keyId: u32, length: u32, revision: f64): u32 {
  let low: u32 = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (commitOf(versionAt(keyId, middle)) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Slot of the newest version with commit <= `revision`, tombstones included; -1 none, -3 (Invalid) no such key. */
export function slotAt(keyId: i32, revision: f64): i32 {
  return isKey(keyId) ? newestAt(<u32>keyId, revision) : Status.Invalid;
}

export function newestAt(keyId: u32, revision: f64): i32 {
  const head = headSlot(<i32>keyId);
  if (head < 0 || commitOf(head) <= revision) return head;
  const vector = trim(keyId);
  if (vector == 0) return -1;
  const base = slots(vector);
  let low: u32 = 0;
  let high = load<u32>(vector, COUNT);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (commitOf(load<i32>(base + ((<usize>middle) << 2))) <= revision) low = middle + 1;
    else high = middle;
  }
  return low == 0 ? -1 : load<i32>(base + ((<usize>(low - 1)) << 2));
}

/** Makes sure that one more version can be pushed. False: memory is out. */
export function roomInHistory(keyId: u32): bool {
  // Tight: the block of a smaller vector could be one that is set aside.
  if (blockForHistory(keyId, !isTight()) == 0) return true;
  const vector = olderVector(keyId);
  return moveVector(keyId, vector, vector == 0 ? 0 : load<u32>(vector, COUNT));
}

/**
 * Makes room for one more version where that takes no memory: 0. Else the size of the block that it takes. `shrinks`: a
 * vector that is nearly empty moves to a smaller block; without memory for that it stays where it is.
 */
export function blockForHistory(keyId: u32, shrinks: bool): usize {
  if (isNoVersion(headWord(keyId))) return 0;
  const vector = trim(keyId);
  if (vector == 0) return grownBytes(0);
  const start = startOf(vector);
  const count = load<u32>(vector, COUNT);
  const room = roomOfClass(vectorClass(vector));
  if (shrinks && room >= SHRINK_ROOM_MIN && count * SHRINK_FACTOR < room && moveVector(keyId, vector, count)) return 0;
  if (start + count < room) return 0;
  if (start <= count >> 1) return grownBytes(count);
  slideBack(vector);
  return 0;
}

/** Adds the newest version of a key. Needs `roomInHistory`. */
export function pushVersion(keyId: u32, slot: i32, tombstone: bool): void {
  const head = headWord(keyId);
  if (!isNoVersion(head)) {
    const vector = olderVector(keyId);
    const count = load<u32>(vector, COUNT);
    store<u32>(slots(vector) + ((<usize>count) << 2), head & LOW_BITS);
    store<u32>(vector, count + 1, COUNT);
  }
  setHeadWord(keyId, tombstone ? <u32>slot | TOP_BIT : <u32>slot);
}

/** All versions but the newest have been freed: a large vector goes, a small one waits for the next version. */
export function dropOlder(keyId: u32): void {
  const vector = largeVector(keyId);
  if (vector == 0) return;
  releaseVector(vector);
  setOlderVector(keyId, 0, false);
}

/** All versions of a key have been freed. */
export function dropHistory(keyId: u32): void {
  const vector = olderVector(keyId);
  if (vector != 0) releaseVector(vector);
  setOlderVector(keyId, 0, false);
  setHeadWord(keyId, NO_HEAD);
}

/** Versions have been freed since the last call: vectors trimmed before are to be looked at again. */
export function noteFreed(): void {
  epoch++;
  if (epoch != 0) return;
  // After 2^32 calls a vector could look as if it had just been trimmed.
  for (let keyId: u32 = 0; keyId < keyLimit(); keyId++) {
    if (isKey(<i32>keyId) && olderVector(keyId) != 0) skipFreed(keyId, olderVector(keyId));
  }
}

/** Skips the freed versions at the front of the vector, for which it needs no memory; answers the vector. */
function trim(keyId: u32): usize {
  const vector = olderVector(keyId);
  if (vector != 0 && load<u32>(vector, EPOCH) != epoch) skipFreed(keyId, vector);
  return vector;
}

function skipFreed(keyId: u32, vector: usize): void {
  store<u32>(vector, epoch, EPOCH);
  const count = load<u32>(vector, COUNT);
  const base = slots(vector);
  if (count == 0 || isVersionOf(load<i32>(base), keyId)) return;
  let freed: u32 = 1;
  let high = count;
  while (freed < high) {
    const middle = (freed + high) >> 1;
    if (isVersionOf(load<i32>(base + ((<usize>middle) << 2)), keyId)) high = middle;
    else freed = middle + 1;
  }
  if (startOf(vector) + freed > START_MAX) {
    memory.copy(vector + HEADER, base + ((<usize>freed) << 2), (<usize>(count - freed)) << 2);
    store<u32>(vector, vectorClass(vector));
  } else {
    store<u32>(vector, load<u32>(vector) + (freed << 8));
  }
  store<u32>(vector, count - freed, COUNT);
}

/** Address of the first slot of a vector. */
@inline
function slots(vector: usize): usize {
  return vector + HEADER + ((<usize>startOf(vector)) << 2);
}

@inline
function startOf(vector: usize): u32 {
  return load<u32>(vector) >> 8;
}

function vectorClass(vector: usize): u32 {
  return load<u32>(vector) & 255;
}

function slideBack(vector: usize): void {
  memory.copy(vector + HEADER, slots(vector), (<usize>load<u32>(vector, COUNT)) << 2);
  store<u32>(vector, vectorClass(vector));
}

/** Copies a vector (0: none yet) into a block sized for `count` slots and half as many more. */
function moveVector(keyId: u32, vector: usize, count: u32): bool {
  const sizeClass = classOf(grownBytes(count));
  const block = allocate(classBytes(sizeClass));
  if (block == 0) return false;
  store<u32>(block, sizeClass);
  store<u32>(block, count, COUNT);
  // Only trimmed vectors are moved, or there was none.
  store<u32>(block, epoch, EPOCH);
  if (vector != 0) {
    memory.copy(block + HEADER, slots(vector), (<usize>count) << 2);
    releaseVector(vector);
  }
  countVector(sizeClass, 1);
  setOlderVector(keyId, block, roomOfClass(sizeClass) > SMALL_ROOM_MAX);
  return true;
}

function releaseVector(vector: usize): void {
  const sizeClass = vectorClass(vector);
  countVector(sizeClass, -1);
  release(vector, classBytes(sizeClass));
}

function countVector(sizeClass: u32, change: i32): void {
  const counter = vectorsByClass + ((<usize>sizeClass) << 2);
  const count = load<u32>(counter) + <u32>change;
  store<u32>(counter, count);
  if (count > 1) return;
  const word = classesInUse + ((<usize>(sizeClass >> 6)) << 3);
  const bit: u64 = (<u64>1) << (sizeClass & 63);
  store<u64>(word, count == 0 ? load<u64>(word) & ~bit : load<u64>(word) | bit);
}
