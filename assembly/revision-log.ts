import { findWord } from './bytes';
import { givePage, takePage } from './pages';
import { allocate, release } from './slab';
import { commitOf, LOW_BITS } from './versions';

/**
 * The log: all puts and tombstones that a watch may still want, in commit order. A ring whose cells are three pages of
 * 1024 numbers, a page for each column: growing moves page numbers, never entries.
 *
 * ```text
 *   slot       | 4 | 9 | 5!| ...      top bit: a tombstone
 *   replaces   | - | 2 | 4 | ...      slot of the put before it of the same key, which compaction frees with this entry
 *   bucket     | b | c | b | ...      of the key (bucket.ts)
 *
 *   directory (4 cells, mask 3)   page number n lies in cell n & mask
 *   cell    0      1      2      3
 *        | n=8  | n=9  |  .   | n=7  |     first = 7*1024 + 1000      end = 9*1024 + 3
 *           full  3 in          24 in      length = 24 + 1024 + 3
 *
 *   a fourth page takes cell 2; a fifth doubles the directory: n=7 moves from 7 & 3 = 3 to 7 & 7 = 7, n=8 to 0 ...
 * ```
 *
 * The pages of a cell that compaction empties wait in the cell ahead, if that has none yet: so a log of constant length
 * needs no memory, and a full store that compacts as it deletes cannot get stuck at the end of a page.
 *
 * Positions are u32 and wrap; they start shortly below 2^32, so that every store that sees 4096 events has passed the
 * wrap. Callers count entries from the oldest (0) to the newest (length - 1).
 */

const PAGE_SHIFT: u32 = 10;
const OFFSET_MASK: u32 = 1023;
const FIRST_CELLS: u32 = 16;
const FIRST_POSITION: u32 = 0xfffff000;

/** Columns, and the pages of one cell. */
export const LOG_COLUMNS: u32 = 3;
const CELL_BYTES: usize = 12;
const SLOTS: usize = 0;
const REPLACES: usize = 4;
const BUCKETS: usize = 8;

/** In the column of replaced puts: there is none, or it is no longer this entry's to free. */
export const NOTHING: u32 = 0xffffffff;

let pagesHeld: u32 = 0;
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
  return <i32>(load<u32>(slotsFrom(index)) & LOW_BITS);
}

// From an entry on, columns are contiguous for `runLength` entries.

/** Address of the `index`-th entry's slot, top bit set for a tombstone. */
@inline
export function slotsFrom(index: u32): usize {
  return column(first + index, SLOTS);
}

/** Address of the slot of the put that the `index`-th entry replaces, or NOTHING. */
@inline
export function replacesFrom(index: u32): usize {
  return column(first + index, REPLACES);
}

/** Address of the `index`-th entry's bucket. */
@inline
export function bucketsFrom(index: u32): usize {
  return column(first + index, BUCKETS);
}

/** Entries from the `index`-th on that lie in the same page, at most `most`. */
@inline
export function runLength(index: u32, most: u32): u32 {
  const rest = OFFSET_MASK + 1 - ((first + index) & OFFSET_MASK);
  return rest < most ? rest : most;
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

/** Index of the first entry in [index, stop) of this bucket, or `stop`. */
export function nextOfBucket(index: u32, stop: u32, bucket: u32): u32 {
  while (index < stop) {
    const run = runLength(index, stop - index);
    const found = findWord(bucketsFrom(index), run, bucket);
    index += found;
    if (found < run) return index;
  }
  return stop;
}

/** Makes sure that one more entry can be pushed. False: memory is out. */
export function roomForEntry(): bool {
  if ((end & OFFSET_MASK) != 0) return true;
  const next = end >> PAGE_SHIFT;
  if (pagesInUse() == cells && !growDirectory()) return false;
  for (let part: usize = 0; part < CELL_BYTES; part += 4) {
    if (load<usize>(cell(next) + part) != 0) continue;
    const page = takePage();
    // Pages taken before wait in their cell for the next attempt.
    if (page == 0) return false;
    store<usize>(cell(next) + part, page);
    pagesHeld++;
  }
  return true;
}

/** Adds the newest entry. Needs `roomForEntry`. */
export function pushEntry(slotWord: u32, replaces: u32, bucket: u32): void {
  store<u32>(column(end, SLOTS), slotWord);
  store<u32>(column(end, REPLACES), replaces);
  store<u32>(column(end, BUCKETS), bucket);
  end++;
}

/** Takes the oldest entries out of the log: a `runLength` of them. */
export function shiftEntries(count: u32): void {
  assert(count <= end - first);
  const page = first >> PAGE_SHIFT;
  first += count;
  if (count == 0 || (first & OFFSET_MASK) != 0) return;
  const spare = cell(cellAhead());
  for (let part: usize = 0; part < CELL_BYTES; part += 4) {
    const emptied = load<usize>(cell(page) + part);
    store<usize>(cell(page) + part, 0);
    if (load<usize>(spare + part) == 0) {
      store<usize>(spare + part, emptied);
      continue;
    }
    givePage(emptied);
    pagesHeld--;
  }
}

/**
 * Moves all entries to the beginning of the oldest one's page, so that the room in front of them is behind them. Nobody else
 * knows positions. Without it a full store would be stuck at the end of a page that one entry keeps from being emptied.
 */
export function slideEntries(): void {
  const distance = first & OFFSET_MASK;
  for (let position = first; position != end; position++) {
    for (let part: usize = 0; part < CELL_BYTES; part += 4) {
      store<u32>(column(position - distance, part), load<u32>(column(position, part)));
    }
  }
  first -= distance;
  end -= distance;
}

/** Cells that the next `entries` entries will take. */
export function pagesAhead(entries: u32): u32 {
  const open: u32 = (0 - end) & OFFSET_MASK;
  const ahead: u32 = entries <= open ? 0 : (entries - open + OFFSET_MASK) >> PAGE_SHIFT;
  return ahead > 0 && hasSpare() ? ahead - 1 : ahead;
}

/** Bytes that directories for `pages` more cells may take, nothing when the present one has the cells. */
export function logDirectoryClaim(pages: u32): usize {
  const need = pagesInUse() + pages + 2;
  return need <= cells ? 0 : <usize>(need + FIRST_CELLS) * (4 * CELL_BYTES);
}

/** Makes sure that the directory has `pages` more cells. False: memory is out. */
export function roomForCells(pages: u32): bool {
  while (pagesInUse() + pages + 2 > cells) {
    if (!growDirectory()) return false;
  }
  return true;
}

/** Size of the directory's block, for `verify`. */
export function logDirectoryBytes(): usize {
  return <usize>cells * CELL_BYTES;
}

/** Cells between the oldest and the newest entry, the partly filled ones included. */
export function pagesInUse(): u32 {
  const length = end - first;
  return length == 0 ? 0 : (((first & OFFSET_MASK) + length - 1) >> PAGE_SHIFT) + 1;
}

/** The cell that the log will enter next. */
function cellAhead(): u32 {
  return (end + OFFSET_MASK) >> PAGE_SHIFT;
}

/** Pages that the log holds, the spare ones included. */
export function logPageCount(): u32 {
  return pagesHeld;
}

/** The same, counted in the directory, for `verify`. */
export function pagesInCells(): u32 {
  let pages: u32 = 0;
  for (let at = directory, stop = directory + logDirectoryBytes(); at < stop; at += 4) {
    if (load<usize>(at) != 0) pages++;
  }
  return pages;
}

/** Whether it has its pages already. */
function hasSpare(): bool {
  return pagesInUse() < cells && load<usize>(cell(cellAhead()) + BUCKETS) != 0;
}

@inline
function cell(page: u32): usize {
  return directory + <usize>(page & (cells - 1)) * CELL_BYTES;
}

@inline
function column(position: u32, part: usize): usize {
  return load<usize>(cell(position >> PAGE_SHIFT) + part) + ((<usize>(position & OFFSET_MASK)) << 2);
}

function growDirectory(): bool {
  const wanted = cells == 0 ? FIRST_CELLS : cells << 1;
  const bytes = <usize>wanted * CELL_BYTES;
  const fresh = allocate(bytes);
  if (fresh == 0) return false;
  memory.fill(fresh, 0, bytes);
  const old = first >> PAGE_SHIFT;
  for (let page: u32 = 0; page < cells; page++) {
    memory.copy(fresh + <usize>((old + page) & (wanted - 1)) * CELL_BYTES, cell(old + page), CELL_BYTES);
  }
  if (directory != 0) release(directory, <usize>cells * CELL_BYTES);
  directory = fresh;
  cells = wanted;
  return true;
}
