import { allocate, release } from './slab';
import { addChunk, CHUNK_RECORDS, chunkAt, chunkCount, record } from './table';

/**
 * Versions: one record for each put or tombstone, found by its slot. The host keeps the value in an array by slot.
 *
 * ```text
 *   0        8     12        16      20          24            28
 *   | commit | key | version | lease | mod back  | create back |
 *     f64      u32   u32       u32     u32         u32
 *
 *   key          top bit: tombstone; rest: key id
 *   mod back     commit - mod. The two differ after a relist, which commits old changes under one new number (M10)
 *   create back  commit - create; NONE stands for create = 0, a tombstone's (store:R5)
 * ```
 *
 * Three f64 would make 36 bytes. Distances are short: all but the oldest keys of a very long history fit in u32. Those
 * that do not keep both numbers in a far block of 16 bytes: mod back is then FAR and create back its address.
 *
 * ```text
 *   put foo at 7, created at 5              | 7   | foo | 2 | 0 | 0   | 2     |
 *   its delete at 9                         | 9   | foo!| 0 | 0 | 0   | NONE  |
 *   relist at 2^40 of a key put at 3        | 2^40| bar | 1 | 0 | FAR | 0x...c0 | -> { mod 3, create 3 }
 * ```
 *
 * 28 bytes are 4-byte aligned: the f64 may straddle a word, which WebAssembly allows.
 *
 * Which slots are free stands in the chunks' headers, and chunks with free slots are linked:
 *
 * ```text
 *   chunk   | free u32 | next u32 | 8 words of bits, 1 = free | ... 64 | 256 records |
 *
 *   firstOpen -> chunk 7 (3 free) -> chunk 2 (256 free) -> -1
 * ```
 *
 * Freeing a version thus does not touch its record, which by then is cold: compaction runs at the speed of the headers.
 */

const VERSION_BYTES: usize = 28;
const KEY: usize = 8;
const NUMBER: usize = 12;
const LEASE: usize = 16;
const MOD_BACK: usize = 20;
const CREATE_BACK: usize = 24;

export const FAR_BYTES: usize = 16;
const FAR: u32 = 0xffffffff;
const NONE: u32 = 0xfffffffe;
export const TOP_BIT: u32 = 0x80000000;
export const LOW_BITS: u32 = 0x7fffffff;

const CHUNK_HEADER: usize = 64;
const NEXT_OPEN: usize = 4;
const BITS: usize = 8;
export const VERSION_CHUNK_BYTES: usize = 7232;

export const versionTable: usize = memory.data(12, 16);
/** First chunk with a free slot, -1 when all are in use. */
let firstOpen: i32 = -1;
let used: u32 = 0;
/** Far blocks in use: while there are none, freeing need not look for one. */
let farCount: u32 = 0;

@inline
function at(slot: i32): usize {
  return record(versionTable, <u32>slot, VERSION_BYTES) + CHUNK_HEADER;
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
  if (modBack == FAR || createBack == FAR) {
    const far = allocate(FAR_BYTES);
    if (far == 0) return -1;
    store<f64>(far, mod);
    store<f64>(far, create, 8);
    modBack = FAR;
    createBack = <u32>far;
    farCount++;
  }
  const slot = takeSlot();
  const block = at(slot);
  store<f64>(block, commit);
  store<u32>(block, tombstone ? keyId | TOP_BIT : keyId, KEY);
  store<u32>(block, version, NUMBER);
  store<u32>(block, lease, LEASE);
  store<u32>(block, modBack, MOD_BACK);
  store<u32>(block, createBack, CREATE_BACK);
  return slot;
}

export function releaseVersion(slot: i32): void {
  if (farCount > 0) releaseFar(at(slot));
  const chunk = chunkAt(versionTable, <u32>slot >> 8);
  const word = chunk + BITS + <usize>(((<u32>slot & 255) >> 5) << 2);
  const bit: u32 = 1 << (<u32>slot & 31);
  const bits = load<u32>(word);
  assert((bits & bit) == 0);
  store<u32>(word, bits | bit);
  const free = load<u32>(chunk);
  store<u32>(chunk, free + 1);
  used--;
  if (free > 0) return;
  store<i32>(chunk, firstOpen, NEXT_OPEN);
  firstOpen = slot >> 8;
}

function releaseFar(block: usize): void {
  if (load<u32>(block, MOD_BACK) != FAR) return;
  release(load<usize>(block, CREATE_BACK), FAR_BYTES);
  farCount--;
}

/** Whether `slot` holds a version. */
export function isVersion(slot: i32): bool {
  if (<u32>slot >= slotLimit()) return false;
  const chunk = chunkAt(versionTable, <u32>slot >> 8);
  const bits = load<u32>(chunk + BITS + <usize>(((<u32>slot & 255) >> 5) << 2));
  return ((bits >> (<u32>slot & 31)) & 1) == 0;
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
  return isVersion(slot) ? <f64>load<u32>(at(slot), LEASE) : NaN;
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

/** For `verify`: far blocks in use, and whether a version has one. */
export function farBlocks(): u32 {
  return farCount;
}

export function isFar(slot: i32): bool {
  return load<u32>(at(slot), MOD_BACK) == FAR;
}

/** For `verify`: first chunk with free slots (`chunk` -1) or the one after `chunk`, and how many it counts. */
export function nextOpenChunk(chunk: i32): i32 {
  return chunk < 0 ? firstOpen : load<i32>(chunkAt(versionTable, <u32>chunk), NEXT_OPEN);
}

export function freeInChunk(chunk: i32): u32 {
  return load<u32>(chunkAt(versionTable, <u32>chunk));
}

/** commit - revision when it is a whole number that fits, else FAR. */
function distance(commit: f64, revision: f64): u32 {
  const back = commit - revision;
  return back >= 0 && back < <f64>NONE && floor<f64>(back) == back ? <u32>back : FAR;
}

function addOpenChunk(): bool {
  if (!addChunk(versionTable, VERSION_CHUNK_BYTES)) return false;
  const index = chunkCount(versionTable) - 1;
  const chunk = chunkAt(versionTable, index);
  store<u32>(chunk, CHUNK_RECORDS);
  store<i32>(chunk, firstOpen, NEXT_OPEN);
  memory.fill(chunk + BITS, 0xff, <usize>(CHUNK_RECORDS >> 3));
  firstOpen = <i32>index;
  return true;
}

/** The lowest free slot of the first open chunk. */
function takeSlot(): i32 {
  assert(firstOpen >= 0);
  const index = firstOpen;
  const chunk = chunkAt(versionTable, <u32>index);
  let word: u32 = 0;
  while (load<u32>(chunk + BITS + ((<usize>word) << 2)) == 0) word++;
  const bits = load<u32>(chunk + BITS + ((<usize>word) << 2));
  store<u32>(chunk + BITS + ((<usize>word) << 2), bits & (bits - 1));
  const free = load<u32>(chunk) - 1;
  store<u32>(chunk, free);
  if (free == 0) firstOpen = load<i32>(chunk, NEXT_OPEN);
  used++;
  return (index << 8) + <i32>((word << 5) + ctz<u32>(bits));
}
