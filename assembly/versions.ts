import { allocate, release } from './slab';
import { addChunk, CHUNK_RECORDS, chunkCount, record } from './table';

/**
 * Versions: one record for each put or tombstone, found by its slot. The host keeps the value in an array by slot.
 *
 * ```text
 *   0        8     12        16         20            24
 *   | commit | key | version | mod back | create back |
 *     f64      u32   u32       u32        u32
 *
 *   key          top bit: tombstone; rest: key id
 *   mod back     commit - mod. The two differ after a relist, which commits old changes under one new number (M10)
 *   create back  commit - create; NONE stands for create = 0, a tombstone's (store:R5)
 * ```
 *
 * Three f64 would make 32 bytes. Distances are short: all but the oldest keys of a very long history fit in u32. Those
 * that do not keep both numbers in a far block of 24 bytes, and so does a version with a lease tag, which the store does
 * without: mod back is then FAR and create back its address.
 *
 * ```text
 *   put foo at 7, created at 5              | 7   | foo | 2 | 0   | 2     |
 *   its delete at 9                         | 9   | foo!| 0 | 0   | NONE  |
 *   relist at 2^40 of a key put at 3        | 2^40| bar | 1 | FAR | 0x...c0 | -> { mod 3, create 3, lease 0 }
 * ```
 *
 * Which slots are free stands in headers, one for each chunk of 256 records, and chunks with free slots are linked:
 *
 * ```text
 *   header (72 bytes)   | linked u32 | next u32 | 8 words of bits, 1 = free | 8 words, 1 = replaced |
 *
 *   firstOpen -> chunk 7 (3 free) -> chunk 2 (256 free) -> -1        both are linked, chunks without a free slot not
 * ```
 *
 * A version is *replaced* when its key has a newer one. Freeing a version, and seeing that it is its key's newest, thus
 * does not touch records, which by then are cold. The headers lie in a table of their own, close together: in front of
 * their chunks, each would be on another page of the machine's memory, and compaction would wait for its page tables.
 */

const VERSION_BYTES: usize = 24;
const KEY: usize = 8;
const NUMBER: usize = 12;
const MOD_BACK: usize = 16;
const CREATE_BACK: usize = 20;

export const FAR_BYTES: usize = 24;
const FAR: u32 = 0xffffffff;
const NONE: u32 = 0xfffffffe;
export const TOP_BIT: u32 = 0x80000000;
export const LOW_BITS: u32 = 0x7fffffff;

const HEADER_BYTES: usize = 72;
const NEXT_OPEN: usize = 4;
const BITS: usize = 8;
/** From a word of the free bits to that of the replaced bits. */
const REPLACED: usize = 32;
export const VERSION_CHUNK_BYTES: usize = 6144;
export const HEADER_CHUNK_BYTES: usize = 18432;

export const versionTable: usize = memory.data(12, 16);
export const headerTable: usize = memory.data(12, 16);
/** First chunk with a free slot, -1 when all are in use. */
let firstOpen: i32 = -1;
let used: u32 = 0;
/** Far blocks in use: while there are none, freeing need not look for one. */
let farCount: u32 = 0;

@inline
function at(slot: i32): usize {
  return record(versionTable, <u32>slot, VERSION_BYTES);
}

/** Header of a chunk. */
@inline
function header(chunk: u32): usize {
  return record(headerTable, chunk, HEADER_BYTES);
}

/** Makes sure that one more version can be written. False: memory is out. */
export function roomForVersion(): bool {
  return firstOpen >= 0 || addOpenChunk();
}

/** The same for `count` versions. */
export function roomForVersions(count: u32): bool {
  while (freeVersionCount() < count) {
    if (!addOpenChunk()) return false;
  }
  return true;
}

/** Writes a version and answers its slot, or -1 when a far block was needed and memory is out. */
export function writeVersion(
  keyId: u32,
  tombstone: bool,
  commit: f64,
  mod: f64,
  create: f64,
  version: u32,
  lease: u32,
): i32 {
  let modBack = distance(commit, mod);
  let createBack = create == 0 ? NONE : distance(commit, create);
  if (modBack == FAR || createBack == FAR || lease != 0) {
    const far = allocate(FAR_BYTES);
    if (far == 0) return -1;
    store<f64>(far, mod);
    store<f64>(far, create, 8);
    store<u32>(far, lease, 16);
    modBack = FAR;
    createBack = <u32>far;
    farCount++;
  }
  const slot = takeSlot();
  const block = at(slot);
  store<f64>(block, commit);
  store<u32>(block, tombstone ? keyId | TOP_BIT : keyId, KEY);
  store<u32>(block, version, NUMBER);
  store<u32>(block, modBack, MOD_BACK);
  store<u32>(block, createBack, CREATE_BACK);
  return slot;
}

/** Frees a version; `countReleased` is to follow, once for all of them. */
@inline
export function releaseVersion(slot: i32): void {
  releaseMasked(slot, 0xffffffff);
}

/** The same with `mask` all ones; with `mask` 0 nothing happens, and no branch has to be predicted for it. */
@inline
export function releaseMasked(slot: i32, mask: u32): void {
  const known = slot & <i32>mask;
  if (farCount > 0 && mask != 0) releaseFar(at(known));
  const chunk = header(<u32>known >> 8);
  const word = chunk + BITS + <usize>(((<u32>known & 255) >> 5) << 2);
  const bit: u32 = (1 << (<u32>known & 31)) & mask;
  const bits = load<u32>(word);
  assert((bits & bit) == 0);
  store<u32>(word, bits | bit);
  if (load<u32>(chunk) == 0 && mask != 0) link(chunk, known >> 8);
}

export function countReleased(count: u32): void {
  used -= count;
}

/** Puts a chunk that got its first free slot into the list of those that have some. */
function link(chunk: usize, index: i32): void {
  store<u32>(chunk, 1);
  store<i32>(chunk, firstOpen, NEXT_OPEN);
  firstOpen = index;
}

/** Notes that the key of `slot` has a newer version. */
@inline
export function markReplaced(slot: i32): void {
  const word = bitsWord(slot);
  store<u32>(word, load<u32>(word, REPLACED) | (1 << (<u32>slot & 31)), REPLACED);
}

/** 1 when the key of `slot`, which holds a version, has a newer one. */
@inline
export function isReplaced(slot: i32): u32 {
  return (load<u32>(bitsWord(slot), REPLACED) >> (<u32>slot & 31)) & 1;
}

/** Whether `slot` holds a version of this key. */
@inline
export function isVersionOf(slot: i32, keyId: u32): bool {
  return ((load<u32>(bitsWord(slot)) >> (<u32>slot & 31)) & 1) == 0 && (load<u32>(at(slot), KEY) & LOW_BITS) == keyId;
}

/** The word of free bits that has the slot's. */
@inline
function bitsWord(slot: i32): usize {
  return header(<u32>slot >> 8) + BITS + <usize>(((<u32>slot & 255) >> 5) << 2);
}

function releaseFar(block: usize): void {
  if (load<u32>(block, MOD_BACK) != FAR) return;
  release(load<usize>(block, CREATE_BACK), FAR_BYTES);
  farCount--;
}

/** Whether `slot` holds a version. */
export function isVersion(slot: i32): bool {
  if (<u32>slot >= slotLimit()) return false;
  return ((load<u32>(bitsWord(slot)) >> (<u32>slot & 31)) & 1) == 0;
}

// The getters of the ABI: NaN or -1 when the slot holds nothing, so that one call both checks and reads.

export function commitRevision(slot: i32): f64 {
  return isVersion(slot) ? commitOf(slot) : NaN;
}

export function modRevision(slot: i32): f64 {
  if (!isVersion(slot)) return NaN;
  const block = at(slot);
  const back = load<u32>(block, MOD_BACK);
  return back == FAR ? load<f64>(load<usize>(block, CREATE_BACK)) : load<f64>(block) - <f64>back;
}

export function createRevision(slot: i32): f64 {
  if (!isVersion(slot)) return NaN;
  const block = at(slot);
  const back = load<u32>(block, CREATE_BACK);
  if (load<u32>(block, MOD_BACK) == FAR) return load<f64>(<usize>back, 8);
  return back == NONE ? 0 : load<f64>(block) - <f64>back;
}

export function versionNumber(slot: i32): f64 {
  return isVersion(slot) ? <f64>load<u32>(at(slot), NUMBER) : NaN;
}

export function leaseTag(slot: i32): f64 {
  if (!isVersion(slot)) return NaN;
  return isFar(slot) ? <f64>load<u32>(load<usize>(at(slot), CREATE_BACK), 16) : 0;
}

export function keyOfVersion(slot: i32): i32 {
  return isVersion(slot) ? <i32>(load<u32>(at(slot), KEY) & LOW_BITS) : -1;
}

export function tombstoneFlag(slot: i32): i32 {
  return isVersion(slot) ? <i32>(load<u32>(at(slot), KEY) >> 31) : -1;
}

// Unchecked, for slots that come from the log or from a key's history.

export function commitOf(slot: i32): f64 {
  return load<f64>(at(slot));
}

/** Key id, top bit set for a tombstone. */
export function keyWordOf(slot: i32): u32 {
  return load<u32>(at(slot), KEY);
}

export function versionCount(): u32 {
  return used;
}

export function freeVersionCount(): u32 {
  return slotLimit() - used;
}

/** Slots there are, in use or free. */
export function slotLimit(): u32 {
  return chunkCount(versionTable) * CHUNK_RECORDS;
}

/** For `verify`: far blocks in use. */
export function farBlocks(): u32 {
  return farCount;
}

/** Whether a version has a far block. */
export function isFar(slot: i32): bool {
  return load<u32>(at(slot), MOD_BACK) == FAR;
}

/** For `verify`: first chunk with free slots (`chunk` -1) or the one after `chunk`, and how many it has. */
export function nextOpenChunk(chunk: i32): i32 {
  return chunk < 0 ? firstOpen : load<i32>(header(<u32>chunk), NEXT_OPEN);
}

export function freeInChunk(chunk: i32): u32 {
  const words = header(<u32>chunk) + BITS;
  let free: u32 = 0;
  for (let word: usize = 0; word < 32; word += 4) free += popcnt<u32>(load<u32>(words + word));
  return free;
}

/** commit - revision when it is a whole number that fits, else FAR. */
function distance(commit: f64, revision: f64): u32 {
  const back = commit - revision;
  return back >= 0 && back < <f64>NONE && floor<f64>(back) == back ? <u32>back : FAR;
}

/** Header chunks that `count` more version chunks take. There is one to spare when memory was out after it. */
export function headerChunksFor(count: u32): u32 {
  const need = (chunkCount(versionTable) + count + CHUNK_RECORDS - 1) / CHUNK_RECORDS;
  const have = chunkCount(headerTable);
  return need > have ? need - have : 0;
}

function addOpenChunk(): bool {
  if (headerChunksFor(1) > 0 && !addChunk(headerTable, HEADER_CHUNK_BYTES)) return false;
  if (!addChunk(versionTable, VERSION_CHUNK_BYTES)) return false;
  const index = chunkCount(versionTable) - 1;
  const chunk = header(index);
  memory.fill(chunk + BITS, 0xff, <usize>(CHUNK_RECORDS >> 3));
  link(chunk, <i32>index);
  return true;
}

/** The lowest free slot of the first open chunk. */
function takeSlot(): i32 {
  assert(firstOpen >= 0);
  const index = firstOpen;
  const chunk = header(<u32>index);
  let word: u32 = 0;
  while (load<u32>(chunk + BITS + ((<usize>word) << 2)) == 0) word++;
  const bits = load<u32>(chunk + BITS + ((<usize>word) << 2));
  store<u32>(chunk + BITS + ((<usize>word) << 2), bits & (bits - 1));
  const replaced = chunk + BITS + REPLACED + ((<usize>word) << 2);
  store<u32>(replaced, load<u32>(replaced) & ~(bits & (0 - bits)));
  if ((bits & (bits - 1)) == 0 && !v128.any_true(v128.or(v128.load(chunk, BITS), v128.load(chunk, BITS + 16)))) {
    store<u32>(chunk, 0);
    firstOpen = load<i32>(chunk, NEXT_OPEN);
  }
  used++;
  return (index << 8) + <i32>((word << 5) + ctz<u32>(bits));
}
