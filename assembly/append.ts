import { pushVersion, roomInHistory } from './history';
import { setLive } from './key-index';
import { BARE_HEAD, headWord, isKey, keyBucket, NO_HEAD } from './keys';
import { NOTHING, pushEntry, roomForEntry } from './revision-log';
import { Status } from './status';
import { LOW_BITS, markReplaced, roomForVersion, TOP_BIT, writeVersion } from './versions';

/**
 * One put or tombstone enters three structures: the version table, its key's history, the log; a change between live
 * and not live also enters the index. Room for all is made first (room that stays unused is invisible), so that a
 * failure leaves nothing half done.
 *
 * ```text
 *   append(foo, commit 9, tombstone)      versions  slot 4 = { 9, foo!, ... }
 *                                         history   foo: [2] [7] -> [2] [7] [9t]
 *                                         log       ... 7 8 -> ... 7 8 9!, which replaces 7
 *                                         index     foo -> foo!, live counts above it - 1
 * ```
 */

let newest: f64 = 0;

/** The largest commit ever appended, also when compaction has emptied the log; 0 before the first. */
export function newestCommit(): f64 {
  return newest;
}

/** Appends a version and answers its slot; Full or Invalid change nothing. Commits never decrease. */
export function append(keyId: i32, commit: f64, mod: f64, create: f64, version: u32, lease: u32, tombstone: bool): i32 {
  if (!isKey(keyId) || !(commit >= newest)) return Status.Invalid;
  const key = <u32>keyId;
  // A key that is there without versions cannot get any.
  if (headWord(key) == BARE_HEAD) return Status.Invalid;
  if (!roomForVersion() || !roomForEntry() || !roomInHistory(key)) return Status.Full;
  const slot = writeVersion(key, tombstone, commit, mod, create, version, lease);
  if (slot < 0) return Status.Full;
  const before = headWord(key);
  const wasLive = (before & TOP_BIT) == 0;
  pushVersion(key, slot, tombstone);
  if (before != NO_HEAD) markReplaced(<i32>(before & LOW_BITS));
  // A tombstone before it goes by itself.
  pushEntry(tombstone ? <u32>slot | TOP_BIT : <u32>slot, wasLive ? before : NOTHING, keyBucket(key));
  newest = commit;
  if (wasLive == tombstone) setLive(key, !tombstone);
  return slot;
}
