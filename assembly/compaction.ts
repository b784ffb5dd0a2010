import { dropOldest, startHistoryAt } from './history';
import { removeEntry } from './index-join';
import { headWord, NO_HEAD, oldestSlot, releaseKey } from './keys';
import { commitAt, entryAt, logLength, shiftEntry } from './revision-log';
import { OUTPUT_WORDS, outputPointer } from './scratch';
import { Status } from './status';
import { commitOf, keyWordOf, LOW_BITS, releaseVersion, TOP_BIT } from './versions';

/**
 * Physical compaction to C, in steps of a bounded number of log entries (store:R22-R24). Each entry with commit <= C
 * frees what it supersedes; entries below C then leave the log, entries at C stay (a watch may start there).
 *
 * ```text
 *   foo:  put 2, put 4, delete 6, put 8      log 2 4 6t 8          (t = tombstone)
 *
 *   C = 4   entry 2 leaves; entry 4 stays and frees 2              log 4 6t 8    versions 4 6t 8
 *   C = 5   entry 4 leaves, its version stays: the base            log 6t 8      versions 4 6t 8
 *   C = 6   entry 6t stays and frees 4                             log 6t 8      versions 6t 8
 *   C = 7   entry 6t leaves and is freed itself                    log 8         versions 8
 * ```
 *
 * Every version is freed exactly once, by the entry behind it or, a tombstone, by leaving. An entry that leaves frees
 * all versions before its own, also of its own commit; one that stays frees only those of older commits, because a
 * watch at C still delivers the others. So a read at >= C finds the same before, between and after the steps. And since
 * every entry does so in turn, at most one version lies before its own: the key's oldest.
 *
 * ```text
 *   log   | left ... | first: next to leave ... | C  C  C | C  C | newer ...
 *                                                 swept     next to sweep
 * ```
 */

let target: f64 = 0;
/** How many entries from the log's start have freed what they supersede, though they stay. */
let swept: u32 = 0;

let freed: u32 = 0;
let dropped: u32 = 0;
let freedMax: u32 = 0;
const output: usize = outputPointer();

/** An entry frees at most the version before its own, and its own: a step takes as many as its output can report. */
const WORDS_PER_ENTRY: u32 = 3;
const HEADER_WORDS: u32 = 5;
const ENTRIES_MAX: u32 = (OUTPUT_WORDS - HEADER_WORDS) / WORDS_PER_ENTRY;

/**
 * Works on at most `budget` entries, and at most on as many as the output can report. Output, in u32: freed slots,
 * dropped keys, 1 when there is nothing left to do for this C, offset of the dropped keys, entries worked on; then from
 * word 5 the slots, and from the offset the keys. Invalid: C decreases.
 */
export function compactStep(revision: f64, budget: u32): i32 {
  if (!(revision >= target)) return Status.Invalid;
  target = revision;
  const most: u32 = budget < ENTRIES_MAX ? budget : ENTRIES_MAX;
  let left = most;
  freed = 0;
  dropped = 0;
  freedMax = left << 1;
  for (; left > 0 && logLength() > 0 && commitAt(0) < revision; left--) {
    leave(entryAt(0));
    shiftEntry();
    if (swept > 0) swept--;
  }
  for (; left > 0 && swept < logLength() && commitAt(swept) <= revision; left--) {
    supersede(entryAt(swept));
    swept++;
  }
  // Both phases: entries swept for an earlier C may still have to leave.
  const length = logLength();
  const isDone = (length == 0 || commitAt(0) >= revision) && (swept == length || commitAt(swept) > revision);
  store<u32>(output, freed);
  store<u32>(output, dropped, 4);
  store<u32>(output, isDone ? 1 : 0, 8);
  store<u32>(output, HEADER_WORDS + freedMax, 12);
  store<u32>(output, most - left, 16);
  return Status.Ok;
}

/** Entries at C that are swept already, for `verify`. */
export function sweptEntries(): u32 {
  return swept;
}

/** The oldest entry leaves the log: its version becomes the key's base, or goes too when it is a tombstone. */
function leave(slot: i32): void {
  const word = keyWordOf(slot);
  const keyId = word & LOW_BITS;
  const base = oldestSlot(keyId);
  if (base != slot) {
    startHistoryAt(keyId, slot);
    free(base);
  }
  if ((word & TOP_BIT) == 0) return;
  dropOldest(keyId);
  free(slot);
  if (headWord(keyId) != NO_HEAD) return;
  removeEntry(keyId);
  releaseKey(keyId);
  store<u32>(output + ((<usize>(HEADER_WORDS + freedMax + dropped)) << 2), keyId);
  dropped++;
}

/** An entry at C frees the version of an older commit. */
function supersede(slot: i32): void {
  const keyId = keyWordOf(slot) & LOW_BITS;
  const base = oldestSlot(keyId);
  if (commitOf(base) == commitOf(slot)) return;
  startHistoryAt(keyId, slot);
  free(base);
}

function free(slot: i32): void {
  releaseVersion(slot);
  assert(freed < freedMax);
  store<i32>(output + ((<usize>(HEADER_WORDS + freed)) << 2), slot);
  freed++;
}
