/**
 * The exports of the core module as TypeScript sees them: the mirror of `assembly/exports.ts` (a test compares the
 * names). Only files of `src/core/` touch these; what lies above uses `Core`, `KeyIndex` and the essence hasher.
 */
export interface MemoryExports {
  readonly memory: WebAssembly.Memory;
  /** Pointer to an input region of `bytes` plus 64 zero bytes; 0 when the memory limit forbids it. */
  inputRegion(bytes: number): number;
  /** Where the last call left its u32 results. */
  outputPointer(): number;
  /** How many u32 results the output region holds; a call that fills it may have more to say. */
  outputWords(): number;
  claimedBytes(): number;
  /** Bytes of one part of them, `assembly/account.ts`. */
  memoryPart(part: number): number;
  setMemoryLimit(bytes: number): void;
}

/** The essence scan and hash, `assembly/essence.ts`. */
export interface EssenceExports {
  /** Makes room for the rules, once, before the first scan; node ids start at 1. */
  essenceRules(nodeCount: number, edgeCount: number, root: number): number;
  essenceRuleNode(node: number, flags: number, any: number): void;
  /** The name is the first `length` bytes of the input region. */
  essenceRuleName(node: number, length: number, child: number): number;
  essenceRuleIndex(node: number, index: number, child: number): void;
  essenceAnnotationNodes(prefixes: number, domains: number, markers: number): void;
  /**
   * Canonicalises the first `length` bytes of the input region, as `Reading` of `assembly/essence.ts` says: the length of
   * the canonical text, or a status.
   */
  essenceScan(length: number, reading: number): number;
  /** The same, and hashes the canonical text: what `essenceHash` answers, or a status. */
  essenceDigest(length: number, reading: number): number;
  /** How many bytes more the text at a pointer needs as a JSON string, and writes it as one. */
  essenceEscapes(pointer: number, length: number): number;
  essenceEscape(pointer: number, length: number, extra: number): void;
  essenceFault(): number;
  essenceFaultOffset(): number;
  /** `Algorithm` of `assembly/essence.ts`, and the halves of XXH3's seed. */
  essenceAlgorithm(algorithm: number, seedLow: number, seedHigh: number): void;
  /**
   * Hashes bytes of the memory; a pointer to the ASCII text of the digest, always the same one: 9 bytes of tag, then 32
   * digits or 64.
   */
  essenceHash(pointer: number, length: number): number;
  /** Where the core keeps what; 0 is the canonical text. */
  essenceRegion(region: number): number;
}

/**
 * The key index and the revision log. A range is `(pointer, startLength, endLength)`: the bytes of `start`, right behind
 * them those of `end`; `endLength` 0 is "no upper bound", -1 the point `start` (`assembly/key-range.ts`). Slots and key
 * ids are non-negative; where a slot or id that names nothing would be answered as a number, the answer is NaN or -1.
 */
export interface KeyLogExports {
  /** Pointer to the fixed region for short keys, and its size. */
  keyRegion(): number;
  keyRegionBytes(): number;
  /** `STATUS_OK` or `STATUS_FULL`, `assembly/reserve.ts`. */
  reserve(events: number, newKeys: number, newKeyBytes: number, longestKeyBytes: number): number;
  /** The same, `assembly/make-room.ts`: `known` ids are in the output region. */
  reserveExact(key: number, longestKeyBytes: number, known: number, newKeys: number, deletesAhead: number): number;
  internKey(pointer: number, length: number): number;
  findKey(pointer: number, length: number): number;
  /** Of the key index by itself, `assembly/key-list.ts`: keys that are there without versions. */
  insertKey(pointer: number, length: number): number;
  removeKey(keyId: number): number;
  listKeys(pointer: number, startLength: number, endLength: number, limit: number): number;
  listKeysMore(): number;
  rankOf(pointer: number, length: number): number;
  keyAtRank(rank: number): number;
  /** 0 for an id that names no key. */
  keyPointer(keyId: number): number;
  keyLength(keyId: number): number;
  append(
    keyId: number,
    commit: number,
    mod: number,
    create: number,
    version: number,
    lease: number,
    tombstone: number,
  ): number;
  headSlot(keyId: number): number;
  slotAt(keyId: number, revision: number): number;
  commitRevision(slot: number): number;
  modRevision(slot: number): number;
  createRevision(slot: number): number;
  versionNumber(slot: number): number;
  leaseTag(slot: number): number;
  keyOfVersion(slot: number): number;
  tombstoneFlag(slot: number): number;
  range(pointer: number, startLength: number, endLength: number, revision: number, limit: number): number;
  /** The next page of the last `range`; `eventsMore` and `replayMore` are the same for theirs. */
  rangeMore(): number;
  count(pointer: number, startLength: number, endLength: number, revision: number): number;
  nextCommit(pointer: number, startLength: number, endLength: number, from: number, filter: number): number;
  eventsAt(pointer: number, startLength: number, endLength: number, commit: number, filter: number): number;
  eventsMore(): number;
  replay(
    pointer: number,
    startLength: number,
    endLength: number,
    from: number,
    filter: number,
    eventsMax: number,
  ): number;
  replayMore(): number;
  entriesFrom(from: number): number;
  commitFromEnd(entries: number): number;
  logLength(): number;
  firstCommit(): number;
  lastCommit(): number;
  /** Output: freed slots, dropped keys, done, offset of the dropped keys, entries done; `assembly/compaction.ts`. */
  compactStep(revision: number, budget: number): number;
  keyCount(): number;
  liveKeyCount(): number;
  versionCount(): number;
  /** 0, or the number of the first broken statement of `assembly/verify.ts`. */
  verify(): number;
}

export interface CoreExports extends MemoryExports, EssenceExports, KeyLogExports {}

/** The largest number that arrives in the core as itself; more is a smaller one there. */
export const U32_MAX = 0xffffffff;

/** Status codes of `assembly/status.ts`. */
export const STATUS_OK = 0;
export const STATUS_NOT_FOUND = -1;
export const STATUS_FULL = -2;
export const STATUS_INVALID = -3;
