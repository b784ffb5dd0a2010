import { blockForHistory, grownBytes } from './history';
import { pagesForKey } from './key-index';
import { isKey, roomForKeys } from './keys';
import { adoptPage, roomForPages } from './pages';
import { innersAhead, leavesAhead, separatorAhead } from './reserve';
import { LOG_COLUMNS, pagesAhead, roomForCells, slideEntries } from './revision-log';
import { OUTPUT_WORDS, outputPointer } from './scratch';
import { allocate, cutPage, release, setTight } from './slab';
import { Status } from './status';
import { roomForVersions } from './versions';

/**
 * The narrow way to reserve, at the memory limit: instead of a bound on fresh memory, every block that the commit might
 * need, that of the next version of each key among them, is allocated once and put back. This is what makes deletes and compaction help a full store: their blocks are in free lists, out of reach of a bound.
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

/** Blocks set aside so far, linked through their first words; the second word is the size asked for. None between calls. */
let held: usize = 0;

/**
 * Room for one version of each of `known` keys, all different, whose ids lie in the output region, and of each of `newKeys`
 * (if it is one, of that at `key`), without far numbers; and for `ahead` deletes of any keys whose history is compacted. So what a full store gets back of two
 * deleted keys is room for the next delete, and it can be emptied. Ok, or Full: what was claimed on the way stays free for
 * later. No key has taken a block then, which might be the one that the next delete of another key was promised; at most it
 * has changed its own for a smaller one.
 */
export function reserveExact(key: usize, longest: usize, known: u32, newKeys: u32, ahead: u32): Status {
  if (known > OUTPUT_WORDS || newKeys > OUTPUT_WORDS || ahead > OUTPUT_WORDS) return Status.Full;
  setTight(true);
  const events = known + newKeys + ahead;
  let leaves = leavesAhead(newKeys);
  let pages = leaves + innersAhead(leaves);
  if (newKeys == 1) {
    pages = pagesForKey(key, longest);
    leaves = pages;
  }
  if (pagesAhead(events) > 0) slideEntries();
  const cells = pagesAhead(events);
  const isRoom =
    holdForHistories(known) &&
    roomForVersions(events) &&
    roomForKeys(newKeys) &&
    roomForCells(cells) &&
    hold(grownBytes(0), ahead) &&
    hold(longest + 4, newKeys) &&
    hold(separatorAhead(longest) + 4, leaves) &&
    pagesFromBlocks(cells * LOG_COLUMNS + pages);
  while (held != 0) {
    const block = held;
    held = load<usize>(block);
    release(block, load<usize>(block, 4));
  }
  setTight(isRoom);
  return isRoom ? Status.Ok : Status.Full;
}

/** Last, so that what becomes a page is no block that a request was promised. */
function pagesFromBlocks(count: u32): bool {
  while (!roomForPages(count)) {
    const page = cutPage();
    if (page == 0) return false;
    adoptPage(page);
  }
  return true;
}

function holdForHistories(known: u32): bool {
  for (let index: u32 = 0; index < known; index++) {
    const keyId = load<i32>(outputPointer() + ((<usize>index) << 2));
    if (!isKey(keyId)) return false;
    // Smaller now or not at all: later that could take a block that is set aside for another request.
    const bytes = blockForHistory(<u32>keyId, true);
    if (!hold(bytes, <u32>(bytes > 0))) return false;
  }
  return true;
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
