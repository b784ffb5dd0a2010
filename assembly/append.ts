import { pushVersion, roomInHistory } from './history';
import { setLive } from './key-index';
import { isKey, isLive } from './keys';
import { pushEntry, roomForEntry } from './revision-log';
import { Status } from './status';
import { roomForVersion, writeVersion } from './versions';

/**
 * One put or tombstone enters three structures: the version table, its key's history, the log; a change between live
 * and not live also enters the index. Room for all is made first (room that stays unused is invisible), so that a
 * failure leaves nothing half done.
 *
 * ```text
 *   append(foo, commit 9, tombstone)      versions  slot 4 = { 9, foo!, ... }
 *                                         history   foo: [2] [7] -> [2] [7] [9t]
 *                                         log       ... 7 8 -> ... 7 8 9
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
  if (!roomForVersion() || !roomForEntry() || !roomInHistory(key)) return Status.Full;
  const slot = writeVersion(key, tombstone, commit, mod, create, version, lease);
  if (slot < 0) return Status.Full;
  const wasLive = isLive(key);
  pushVersion(key, slot, tombstone);
  pushEntry(slot);
  newest = commit;
  if (wasLive == tombstone) setLive(key, !tombstone);
  return slot;
}
