import { givePage, takePage } from './pages';
import { allocate, classBytes, classOf, release } from './slab';
import { commitOf } from './versions';

/**
 * The log: the slots of all puts and tombstones that a watch may still want, in commit order. A ring whose cells are
 * pages of 1024 slots: growing moves page numbers, never entries, and pages that compaction empties go back.
 *
 * ```text
 *   directory (4 pages, mask 3)   page number n lies in cell n & mask
 *   cell    0      1      2      3
 *        | n=8  | n=9  |  .   | n=7  |     first = 7*1024 + 1000      end = 9*1024 + 3
 *           full  3 in          24 in      length = 24 + 1024 + 3
 *
 *   a fourth page takes cell 2; a fifth doubles the directory: n=7 moves from 7 & 3 = 3 to 7 & 7 = 7, n=8 to 0 ...
 * ```
 *
 * Positions are u32 and wrap; they start shortly below 2^32, so that every store that sees 4096 events has passed the
 * wrap. Callers count entries from the oldest (0) to the newest (length - 1).
 */

const PAGE_SHIFT: u32 = 10;
const OFFSET_MASK: u32 = 1023;
const FIRST_CELLS: u32 = 16;
const FIRST_POSITION: u32 = 0xfffff000;

let directory: usize = 0;
let cells: u32 = 0;
let first: u32 = FIRST_POSITION;
let end: u32 = FIRST_POSITION;

export function logLength(): u32 {
  return end - first;
}

/** Slot of the `index`-th entry, 0 = oldest. */
@inline
export function entryAt(index: u32): i32 {
  const position = first + index;
  return load<i32>(load<usize>(cell(position >> PAGE_SHIFT)) + ((<usize>(position & OFFSET_MASK)) << 2));
}

/** Commit revision of the `index`-th entry. */
export function commitAt(index: u32): f64 {
  return commitOf(entryAt(index));
}

/** Index of the first entry with commit >= `revision`, the length when there is none. Near the end it is cheap. */
export function firstEntrySince(revision: f64): u32 {
  let high = end - first;
  let low: u32 = 0;
  // Most callers ask about the last few commits: step back from the end, doubling, before halving.
  for (let step: u32 = 1; step <= high; step <<= 1) {
    const probe = high - step;
    if (commitAt(probe) < revision) {
      low = probe + 1;
      break;
    }
    high = probe;
  }
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    if (commitAt(middle) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Makes sure that one more entry can be pushed. False: memory is out. */
export function roomForEntry(): bool {
  if ((end & OFFSET_MASK) != 0) return true;
  const next = end >> PAGE_SHIFT;
  if (pagesInUse() == cells && !growDirectory()) return false;
  if (load<usize>(cell(next)) != 0) return true;
  const page = takePage();
  if (page == 0) return false;
  store<usize>(cell(next), page);
  return true;
}

/** Adds the newest entry. Needs `roomForEntry`. */
export function pushEntry(slot: i32): void {
  store<i32>(load<usize>(cell(end >> PAGE_SHIFT)) + ((<usize>(end & OFFSET_MASK)) << 2), slot);
  end++;
}

/** Takes the oldest entry out of the log. */
export function shiftEntry(): void {
  assert(first != end);
  const page = first >> PAGE_SHIFT;
  first++;
  if ((first & OFFSET_MASK) != 0) return;
  givePage(load<usize>(cell(page)));
  store<usize>(cell(page), 0);
}

/** Pages that the next `entries` entries will take. */
export function pagesAhead(entries: u32): u32 {
  const open: u32 = (0 - end) & OFFSET_MASK;
  return entries <= open ? 0 : (entries - open + OFFSET_MASK) >> PAGE_SHIFT;
}

/** Bytes that directories for `pages` more pages may take, nothing when the present one has the cells. */
export function logDirectoryClaim(pages: u32): usize {
  const need = pagesInUse() + pages + 1;
  return need <= cells ? 0 : (<usize>(need + FIRST_CELLS)) << 4;
}

/** Makes sure that the directory has cells for `pages` more pages. False: memory is out. */
export function roomForCells(pages: u32): bool {
  while (pagesInUse() + pages + 1 > cells) {
    if (!growDirectory()) return false;
  }
  return true;
}

/** Size of the directory's block, for `verify`. */
export function logDirectoryBytes(): usize {
  return (<usize>cells) << 2;
}

/** Pages between the oldest and the newest entry, the partly filled ones included. */
export function pagesInUse(): u32 {
  const length = end - first;
  return length == 0 ? 0 : (((first & OFFSET_MASK) + length - 1) >> PAGE_SHIFT) + 1;
}

@inline
function cell(page: u32): usize {
  return directory + ((<usize>(page & (cells - 1))) << 2);
}

function growDirectory(): bool {
  const wanted = cells == 0 ? FIRST_CELLS : cells << 1;
  const fresh = allocate((<usize>wanted) << 2);
  if (fresh == 0) return false;
  assert(classBytes(classOf((<usize>wanted) << 2)) == (<usize>wanted) << 2);
  memory.fill(fresh, 0, (<usize>wanted) << 2);
  const old = first >> PAGE_SHIFT;
  for (let page: u32 = 0; page < cells; page++) {
    store<usize>(fresh + ((<usize>((old + page) & (wanted - 1))) << 2), load<usize>(cell(old + page)));
  }
  if (directory != 0) release(directory, (<usize>cells) << 2);
  directory = fresh;
  cells = wanted;
  return true;
}
