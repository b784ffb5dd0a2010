/**
 * The ABI: every exported function, one line each, no logic. All numbers are i32 or f64 (revisions are exact in f64 up
 * to 2^53-1); i64 would cost a BigInt at each call. Pointers and lengths are bytes. `src/core/abi.ts` mirrors this list
 * and a test compares the two.
 */

// memory
export { inputRegion, outputPointer, outputWords } from './scratch';
export { claimedBytes, setMemoryLimit } from './memory';
export { memoryPart } from './account';

// essence
export {
  essenceAlgorithm,
  essenceAnnotationNodes,
  essenceDigest,
  essenceEscape,
  essenceEscapes,
  essenceFault,
  essenceFaultOffset,
  essenceHash,
  essenceRegion,
  essenceRuleIndex,
  essenceRuleName,
  essenceRuleNode,
  essenceRules,
  essenceScan,
} from './essence';

// keys and versions
export { keyRegion, keyRegionBytes } from './scratch';
export { findKey, internKey, liveKeyCount } from './key-index';
export { insertKey, keyAtRank, listKeys, listKeysMore, rankOf, removeKey } from './key-list';
export { headSlot, keyCount, keyLength, keyPointer } from './keys';
export { reserve } from './reserve';
export { reserveExact } from './make-room';
export { append } from './append';
export { slotAt } from './history';
export {
  commitRevision,
  createRevision,
  keyOfVersion,
  leaseTag,
  modRevision,
  tombstoneFlag,
  versionCount,
  versionNumber,
} from './versions';

// reads at a revision, the log, compaction
export { count, range, rangeMore } from './reads';
export {
  commitFromEnd,
  entriesFrom,
  eventsAt,
  eventsMore,
  firstCommit,
  lastCommit,
  nextCommit,
  replay,
  replayMore,
} from './log-scan';
export { logLength } from './revision-log';
export { compactStep } from './compaction';
export { verify } from './verify';
