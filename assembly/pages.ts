import { claim } from './memory';

/**
 * Fixed pages of 4 KiB: tree pages of the key index and pages of the revision log share one free list, so that what
 * compaction takes from the log is room for keys and the other way round.
 */

export const PAGE_BYTES: usize = 4096;

let free: usize = 0;
let freeCount: u32 = 0;
let claimedCount: u32 = 0;

/** A page, content undefined; 0 when memory is out. */
export function takePage(): usize {
  const page = free;
  if (page == 0) return claimPage();
  free = load<usize>(page);
  freeCount--;
  return page;
}

/** A free page that is a page no longer; 0 when none is free. */
export function dropFreePage(): usize {
  if (free == 0) return 0;
  claimedCount--;
  return takePage();
}

/** Makes sure that the next `count` pages can be taken. False: memory is out; what was claimed stays free. */
export function roomForPages(count: u32): bool {
  while (freeCount < count) {
    const page = claimPage();
    if (page == 0) return false;
    givePage(page);
  }
  return true;
}

/** A page that was none before. */
export function adoptPage(page: usize): void {
  claimedCount++;
  givePage(page);
}

export function givePage(page: usize): void {
  store<usize>(page, free);
  free = page;
  freeCount++;
}

/** First page of the free list (`page` 0) or the one behind `page`, for `verify`. */
export function nextFreePage(page: usize): usize {
  return page == 0 ? free : load<usize>(page);
}

export function freePageCount(): u32 {
  return freeCount;
}

/** Pages there are, in use or free. */
export function pageCount(): u32 {
  return claimedCount;
}

function claimPage(): usize {
  const page = claim(PAGE_BYTES);
  if (page != 0) claimedCount++;
  return page;
}
