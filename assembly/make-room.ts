import { classBelow, grownBytes, roomOfClass, vectorsOfClass } from './history';
import { roomForKeys } from './keys';
import { roomForPages } from './pages';
import { pagesAhead, roomForCells } from './revision-log';
import { allocate, classCount, release, setTight } from './slab';
import { FAR_BYTES, roomForVersions } from './versions';

/**
 * The narrow way to reserve, for small commits at the memory limit: instead of a bound on fresh memory, every block the
 * commit might need is allocated once and put back. This is what makes deletes and compaction help a full store: their
 * blocks are in free lists, out of reach of a bound.
 *
 * ```text
 *   set aside     one block per possible request      48  48  64  112
 *   requests      take the smallest that will do      40 -> 48     60 -> 64     100 -> 112
 * ```
 *
 * Smallest first never takes a block that a larger request needs while a smaller one would do, so any requests that are
 * each covered by a block of their own can be served in any order. Until the next `reserve` the slab is *tight*: it does
 * not turn large free blocks into runs.
 */

/** A transaction has at most 128 operations on each side (store:R21); larger loads go the wide way or not at all. */
const EVENTS_MAX: u32 = 128;

/** Blocks set aside so far, linked through their first words; the second word is the size asked for. */
let held: usize = 0;

/** False: there is no room; what was claimed on the way stays free for later. */
export function makeRoom(events: u32, newKeys: u32, longest: usize, separator: usize, leaves: u32, pages: u32): bool {
  if (events > EVENTS_MAX || newKeys > EVENTS_MAX) return false;
  setTight(true);
  held = 0;
  const isRoom =
    roomForVersions(events) &&
    roomForKeys(newKeys) &&
    roomForCells(pagesAhead(events)) &&
    holdVectors(events) &&
    hold(FAR_BYTES, events) &&
    hold(longest + 4, newKeys) &&
    hold(separator + 4, leaves) &&
    roomForPages(pages);
  while (held != 0) {
    const block = held;
    held = load<usize>(block);
    release(block, load<usize>(block, 4));
  }
  if (!isRoom) setTight(false);
  return isRoom;
}

function hold(bytes: usize, count: u32): bool {
  const size: usize = bytes < 8 ? 8 : bytes;
  for (let index: u32 = 0; index < count; index++) {
    const block = allocate(size);
    if (block == 0) return false;
    store<usize>(block, held);
    store<usize>(block, size, 4);
    held = block;
  }
  return true;
}

/** First growth of the largest vectors, and what growth can follow within the same commit. */
function holdVectors(events: u32): bool {
  let left = events;
  let sizeClass = classCount();
  while (left > 0) {
    sizeClass = classBelow(sizeClass);
    if (sizeClass == 0) break;
    const vectors = min<u32>(vectorsOfClass(sizeClass), left);
    if (!hold(grownBytes(roomOfClass(sizeClass)), vectors)) return false;
    left -= vectors;
  }
  // A further growth to n slots takes n/3 appends: the i-th largest of them has at most 3 x events / i slots.
  for (let rank: u32 = 1; rank <= events; rank++) {
    if (!hold(grownBytes((events * 3) / rank), 1)) return false;
  }
  return true;
}
