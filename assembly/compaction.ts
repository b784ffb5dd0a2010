import { dropHistory, dropOlder, noteFreed } from './history';
import { removeEntry } from './index-join';
import { releaseKey } from './keys';
import {
  commitAt,
  entryAt,
  firstEntrySince,
  logLength,
  NOTHING,
  replacesFrom,
  runLength,
  shiftEntries,
  slotsFrom,
} from './revision-log';
import { OUTPUT_WORDS, outputPointer } from './scratch';
import { Status } from './status';
import { commitOf, countReleased, isReplaced, keyWordOf, LOW_BITS, releaseMasked, releaseVersion } from './versions';

/**
 * Physical compaction to C, in steps of a bounded number of log entries (store:R22-R24). Each entry with commit <= C
 * frees the put it replaces; entries below C then leave the log, entries at C stay (a watch may start there).
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
 * Every version is freed exactly once: a put by the entry that replaces it, a tombstone by leaving. An entry that leaves
 * frees the put before it also when both are of one commit; one that stays does so only when that is of an older one,
 * because a watch at C still delivers the others, and then forgets it. So a read at >= C finds the same before, between
 * and after the steps.
 *
 * ```text
 *   log   | left ... | first: next to leave ... | C  C  C | C  C | newer ...
 *                                                 swept     next to sweep
 * ```
 *
 * What this needs to know of a million entries it reads in their order, from two columns of the log and from headers of
 * version chunks. Only the newest version of a key, when it leaves, leads to the key: its history is over.
 */

let target: f64 = 0;
/** How many entries from the log's start have freed what they supersede, though they stay. */
let swept: u32 = 0;

let freed: u32 = 0;
let dropped: u32 = 0;
/** Of the keys dropped those of the last run. */
let ended: u32 = 0;
let freedMax: u32 = 0;
const output: usize = outputPointer();
/** Newest versions of their keys that leave with a run of entries: puts, now the only version. */
const bases: usize = memory.data(4096, 16);

/** An entry frees at most the version before its own, and its own: a step takes as many as its output can report. */
const WORDS_PER_ENTRY: u32 = 3;
const HEADER_WORDS: u32 = 5;
const ENTRIES_MAX: u32 = (OUTPUT_WORDS - HEADER_WORDS) / WORDS_PER_ENTRY;
/** A key that goes leaves the index, its record and the caller's table: as much work as so many entries more. */
const KEY_WORK: u32 = 16;

/**
 * Does work for at most `budget` entries, and at most for as many as the output can report; the last of it may be a key
 * that goes. Output, in u32: freed slots, dropped keys, 1 when there is nothing left to do for this C, offset of the
 * dropped keys, work done; then from word 5 the slots, and from the offset the keys. Invalid: C decreases.
 */
export function compactStep(revision: f64, budget: u32): i32 {
  if (!(revision >= target)) return Status.Invalid;
  target = revision;
  const most: u32 = budget < ENTRIES_MAX ? budget : ENTRIES_MAX;
  let left = most;
  freed = 0;
  dropped = 0;
  freedMax = left << 1;
  left = leave(firstEntrySince(revision), left);
  for (; left > 0 && swept < logLength() && commitAt(swept) <= revision; left--) {
    stay(swept);
    swept++;
  }
  if (freed > 0) noteFreed();
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

/** Lets the oldest entries leave, `count` of them or as many as the budget allows; answers what is left of it. */
function leave(count: u32, budget: u32): u32 {
  let left = count;
  while (left > 0 && budget > 0) {
    const run = leaveRun(runLength(0, left < budget ? left : budget), budget);
    left -= run;
    const work = run + KEY_WORK * ended;
    budget = work < budget ? budget - work : 0;
  }
  const gone = count - left;
  swept = swept > gone ? swept - gone : 0;
  return budget;
}

/** Lets a run leave, or the part of it that is within the budget; answers how many entries, and in `ended` how many keys. */
function leaveRun(run: u32, budget: u32): u32 {
  const slots = slotsFrom(0);
  const replaces = replacesFrom(0);
  const start = output + ((<usize>(HEADER_WORDS + freed)) << 2);
  let next = start;
  let ends = bases;
  ended = 0;
  let stop = (<usize>run) << 2;
  for (let offset: usize = 0; offset < stop; offset += 4) {
    const word = load<u32>(slots + offset);
    const replaced = load<u32>(replaces + offset);
    // Without a branch: a tenth of the entries replace nothing, and which ones no processor guesses.
    const isPut: u32 = <u32>(replaced != NOTHING);
    releaseMasked(<i32>replaced, 0 - isPut);
    store<u32>(next, replaced);
    next += <usize>(isPut << 2);
    const slot = word & LOW_BITS;
    const isNewest: u32 = isReplaced(<i32>slot) ^ 1;
    store<u32>(ends, slot);
    ends += <usize>(isNewest << 2);
    if (word != slot) {
      if (isNewest != 0) {
        ends -= 4;
        dropKey(keyWordOf(<i32>slot) & LOW_BITS);
        ended++;
        if (KEY_WORK * ended >= budget) stop = offset + 4;
      }
      releaseVersion(<i32>slot);
      store<u32>(next, slot);
      next += 4;
    }
  }
  const gone = <u32>(stop >> 2);
  shiftEntries(gone);
  // In two passes, so that the cache misses of many keys overlap.
  for (let base = bases; base < ends; base += 4) store<u32>(base, keyWordOf(load<i32>(base)) & LOW_BITS);
  for (let base = bases; base < ends; base += 4) dropOlder(load<u32>(base));
  countFreed(<u32>((next - start) >> 2));
  return gone;
}

/** The newest version, a tombstone, leaves the log: nothing is left of the key. */
function dropKey(keyId: u32): void {
  dropHistory(keyId);
  removeEntry(keyId);
  releaseKey(keyId);
  store<u32>(output + ((<usize>(HEADER_WORDS + freedMax + dropped)) << 2), keyId);
  dropped++;
}

/** An entry at C frees the put before it, if that is of an older commit. */
function stay(index: u32): void {
  const replaces = replacesFrom(index);
  const replaced = load<u32>(replaces);
  const slot = entryAt(index);
  if (replaced == NOTHING || commitOf(<i32>replaced) == commitOf(slot)) return;
  store<u32>(replaces, NOTHING);
  releaseVersion(<i32>replaced);
  store<u32>(output + ((<usize>(HEADER_WORDS + freed)) << 2), replaced);
  countFreed(1);
  if (isReplaced(slot) == 0) dropOlder(keyWordOf(slot) & LOW_BITS);
}

function countFreed(count: u32): void {
  countReleased(count);
  freed += count;
}
