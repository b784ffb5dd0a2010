import { firstSince, historyLength, versionAt } from './history';
import { keyWordAt } from './index-page';
import {
  contains,
  findBucket,
  openRange,
  openWalk,
  pointKey,
  RangeKind,
  rangeBucket,
  rangeKind,
  walkFrom,
  walkNext,
  walkTo,
} from './key-range';
import { headWord, isNoVersion } from './keys';
import { commitAt, entryAt, firstEntrySince, logLength, nextOfBucket } from './revision-log';
import { OUTPUT_WORDS, outputPointer } from './scratch';
import { commitOf, keyWordOf, LOW_BITS, TOP_BIT } from './versions';

/**
 * What a watcher asks of the log: the next commit that concerns it, the events of a commit, a replay.
 *
 * Two ways lead to the next match. Reading the log compares each entry's key with the range: right when matches are
 * frequent. Asking the index takes every key of the range and looks up its first version since: right when the range
 * is small and the log long. Which one it is shows only while reading, so the scan reads first and asks the index when
 * it has read in vain about as long as asking would take; neither choice can cost more than twice the better one.
 * Where all keys of the range have one bucket, reading is comparing the log's column of buckets, sixteen at a time.
 *
 * ```text
 *   log     5a 6b 6c 7b 8b 9b 9c ... 400b 401a        range [a, b), from 6
 *   read    ^ 512 entries without a match
 *   ask     a: history 5, 401 -> first since 400 is 401; nothing else in the range -> jump to 401
 * ```
 */

/** Filters of a watch: which events do not count. */
const NO_PUTS: i32 = 1;
const NO_DELETES: i32 = 2;
/** Entries read in vain before the index is asked; below it, asking would not pay even for one key. */
const PATIENCE_MIN: u32 = 64;
/** One key asked costs about as much as this many entries read. */
const KEY_COST: u32 = 4;

/** For as long as the log is; times BUCKET_BULK within u32. */
const PATIENCE_MAX: u32 = 0x07ffffff;
/** So many buckets are looked at in the time of one entry. */
const BUCKET_BULK: u32 = 16;

let filter: i32 = 0;
/** All keys of the range have one bucket: reading the log is comparing buckets. */
let isBucketed: bool = false;
/** Entries to read in vain before the index is asked again, in this request: what the last asking cost. */
let patience: u32 = PATIENCE_MIN;
/** Keys asked by the last `earliestSince`. */
let asked: u32 = 0;

/** Where the next page of `eventsAt` or `replay` begins. */
let nextEntry: u32 = 0;
/** The commit of the page's last event; for `eventsAt` that of all. */
let lastRead: f64 = 0;
/** Events of all pages of the replay so far, and how many it wants. */
let replayed: u32 = 0;
let replayMost: u32 = 0;

/** Smallest commit >= `from` with a matching event, 0 when there is none. */
export function nextCommit(pointer: usize, startLength: usize, endLength: i32, from: f64, eventFilter: i32): f64 {
  openRange(pointer, startLength, endLength);
  openScan(eventFilter);
  if (rangeKind() == RangeKind.Point) {
    // The base version of a key may be older than the log.
    const commit = firstOf(pointKey(), from > firstCommit() ? from : firstCommit());
    return commit == Infinity || logLength() == 0 ? 0 : commit;
  }
  const index = findMatch(firstEntrySince(from));
  return index == logLength() ? 0 : commitAt(index);
}

/**
 * Writes the matching slots of exactly that commit to the output, in append order, as many as it holds; answers their
 * number. When the output is full, `eventsMore` has the rest.
 */
export function eventsAt(pointer: usize, startLength: usize, endLength: i32, commit: f64, eventFilter: i32): u32 {
  openRange(pointer, startLength, endLength);
  filter = eventFilter;
  lastRead = commit;
  nextEntry = rangeKind() == RangeKind.Empty ? logLength() : firstEntrySince(commit);
  return eventsMore();
}

/** The next page of the last `eventsAt`, as long as nothing else was asked or written since. */
export function eventsMore(): u32 {
  const length = logLength();
  const output = outputPointer();
  let written: u32 = 0;
  for (; nextEntry < length && written < OUTPUT_WORDS && commitAt(nextEntry) == lastRead; nextEntry++) {
    const slot = entryAt(nextEntry);
    if (!matches(slot)) continue;
    store<i32>(output + ((<usize>written) << 2), slot);
    written++;
  }
  return written;
}

/**
 * Writes the matching slots from `from` on, as many as the output holds: whole commits, ending with the one in which
 * `most` events are reached (at least one). Answers their number; when the output is full, `replayMore` has the rest.
 */
export function replay(
  pointer: usize,
  startLength: usize,
  endLength: i32,
  from: f64,
  eventFilter: i32,
  most: u32,
): u32 {
  openRange(pointer, startLength, endLength);
  openScan(eventFilter);
  lastRead = -1;
  replayed = 0;
  replayMost = most == 0 ? 1 : most;
  nextEntry = firstEntrySince(from);
  return replayMore();
}

/** The next page of the last `replay`, as long as nothing else was asked or written since. */
export function replayMore(): u32 {
  const length = logLength();
  const output = outputPointer();
  let written: u32 = 0;
  while (nextEntry < length && written < OUTPUT_WORDS) {
    if (replayed >= replayMost) {
      if (commitAt(nextEntry) != lastRead) {
        nextEntry = length;
        break;
      }
      if (!matches(entryAt(nextEntry))) {
        nextEntry++;
        continue;
      }
    } else {
      nextEntry = findMatch(nextEntry);
      if (nextEntry == length) break;
    }
    const slot = entryAt(nextEntry);
    lastRead = commitOf(slot);
    store<i32>(output + ((<usize>written) << 2), slot);
    written++;
    replayed++;
    nextEntry++;
  }
  return written;
}

/** Number of log entries with commit >= `from`. */
export function entriesFrom(from: f64): u32 {
  return logLength() - firstEntrySince(from);
}

/** Commit of the n-th newest log entry (1 = newest), 0 when there are fewer. */
export function commitFromEnd(entries: u32): f64 {
  const length = logLength();
  return entries == 0 || entries > length ? 0 : commitAt(length - entries);
}

export function firstCommit(): f64 {
  return logLength() == 0 ? 0 : commitAt(0);
}

export function lastCommit(): f64 {
  return commitFromEnd(1);
}

function passes(keyWord: u32): bool {
  if (filter == 0) return true;
  return (keyWord & TOP_BIT) != 0 ? (filter & NO_DELETES) == 0 : (filter & NO_PUTS) == 0;
}

function matches(slot: i32): bool {
  const word = keyWordOf(slot);
  return passes(word) && contains(word & LOW_BITS);
}

/** Begins a request that calls `findMatch`, after `openRange`. */
function openScan(eventFilter: i32): void {
  filter = eventFilter;
  patience = PATIENCE_MIN;
  isBucketed = findBucket();
}

/** Index of the first matching entry in [index, length), or the length. */
function findMatch(index: u32): u32 {
  const length = logLength();
  if (rangeKind() == RangeKind.Empty) return length;
  // In entries read one by one; of those that only their bucket is looked at, as many as cost the same.
  const bulk: u32 = isBucketed ? BUCKET_BULK : 1;
  let missed: u32 = 0;
  while (index < length) {
    if (missed >= patience && rangeKind() != RangeKind.All) {
      const commit = commitAt(index);
      const found = earliestSince(commit, (length - index) / (KEY_COST * bulk) + 1);
      if (found == Infinity) return length;
      if (found > commit) index = firstEntrySince(found);
      // Not known: the range has too many keys for what is left. Reading on is then at worst half of all the work.
      patience = found < 0 ? PATIENCE_MAX : PATIENCE_MIN + asked * KEY_COST;
      missed = 0;
    }
    if (isBucketed) {
      const from = index;
      const most = (patience - missed) * BUCKET_BULK;
      index = nextOfBucket(from, length - from < most ? length : from + most, rangeBucket());
      if (index == length) return length;
      missed += (index - from) / BUCKET_BULK;
      if (missed >= patience) continue;
    }
    if (matches(entryAt(index))) return index;
    missed++;
    index++;
  }
  return length;
}

/** Smallest commit >= `from` of a matching version of the range's keys: Infinity none, -1 more than `most` keys. */
function earliestSince(from: f64, most: u32): f64 {
  asked = 0;
  if (rangeKind() == RangeKind.Point) {
    asked = 1;
    return firstOf(pointKey(), from);
  }
  let earliest: f64 = Infinity;
  for (let leaf = openWalk(); leaf != 0; leaf = walkNext(leaf)) {
    for (let index = walkFrom(leaf), stop = walkTo(leaf); index < stop; index++) {
      if (++asked > most) return -1;
      const commit = firstOf(keyWordAt(leaf, index) & LOW_BITS, from);
      if (commit < earliest) earliest = commit;
      if (earliest == from) return earliest;
    }
  }
  return earliest;
}

/** Commit of the key's first version since `from` that passes the filter; Infinity when there is none. */
function firstOf(keyId: u32, from: f64): f64 {
  const head = headWord(keyId);
  // Most keys have not changed since: one look at the newest version settles it.
  if (isNoVersion(head) || commitOf(<i32>(head & LOW_BITS)) < from) return Infinity;
  const length = historyLength(keyId);
  for (let index = firstSince(keyId, length, from); index < length; index++) {
    const slot = versionAt(keyId, index);
    if (passes(keyWordOf(slot))) return commitOf(slot);
  }
  return Infinity;
}
