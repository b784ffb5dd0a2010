import {
  childAt,
  closeGap,
  countOf,
  INNER_MAX,
  isLeaf,
  keyWordAt,
  LEAF_MAX,
  liveAt,
  maxOf,
  moveEntries,
  nextOf,
  openGap,
  separatorAt,
  setChild,
  setCount,
  setFences,
  setLiveAt,
  setNext,
  setSeparator,
  writeHead,
} from './index-page';
import { countFreed } from './key-index';
import { keyBlock, releaseBlock } from './keys';
import { givePage } from './pages';
import {
  descend,
  endsAt,
  forgetEnd,
  highFence,
  leafPage,
  leafPosition,
  lowFence,
  pathIndex,
  pathPage,
  plantRoot,
  rootPage,
  setStep,
  treeHeight,
} from './tree-path';
import { LOW_BITS } from './versions';

/**
 * Removing keys from the index. A page less than a quarter full is joined with a neighbour under the same parent when
 * both fit into one page. Joining needs no memory, so compaction works at the memory limit.
 *
 * ```text
 *   before   [ - | "g" | "p" ]          after removing h, i           [ - | "p" ]
 *            {a b c} {g h i} {p q}      (quarter = 2)                 {a b c g} {p q}
 *
 *   inner pages: the separator between the two comes down      [ - | b ] "k" [ - | t ]  ->  [ - | b | k | t ]
 * ```
 *
 * A half-empty page next to full ones stays as it is: balancing them would write two pages to gain nothing. An empty
 * leaf always fits into its neighbour, and it has one, because an inner page keeps at least two children: when a join
 * leaves it one and its own neighbours are too full to take it, it borrows one of theirs.
 */

/** Takes a key that has no versions and is not live out of the index. */
export function removeEntry(keyId: u32): void {
  if (!endsAt(keyId)) {
    const block = keyBlock(keyId);
    descend(block + 4, <usize>load<u32>(block));
  }
  assert((keyWordAt(leafPage(), leafPosition()) & LOW_BITS) == keyId);
  closeGap(leafPage(), leafPosition());
  forgetEnd();
  if (countOf(leafPage()) < LEAF_MAX >> 2) settle(leafPage());
}

/** Joins underfull pages from the leaf upwards, and drops roots that have only one child. */
function settle(page: usize): void {
  let depth = treeHeight();
  while (depth > 0) {
    const parent = pathPage(depth - 1);
    const index = pathIndex(depth - 1);
    if (index > 0 && countOf(childAt(parent, index - 1)) + countOf(page) <= maxOf(page)) {
      join(parent, index - 1, depth);
    } else if (index + 1 < countOf(parent) && countOf(page) + countOf(childAt(parent, index + 1)) <= maxOf(page)) {
      join(parent, index, depth);
    } else {
      if (!isLeaf(page) && countOf(page) == 1) borrow(parent, index, depth);
      return;
    }
    depth--;
    page = parent;
    if (countOf(page) >= INNER_MAX >> 2) return;
  }
  while (treeHeight() > 0 && countOf(rootPage()) == 1) {
    const old = rootPage();
    plantRoot(childAt(old, 0), treeHeight() - 1);
    countFreed(old);
    givePage(old);
  }
}

/** Moves the entries of child `index` + 1 to the end of child `index`; the path's page at `depth` is one of the two. */
function join(parent: usize, index: u32, depth: u32): void {
  const left = childAt(parent, index);
  const right = childAt(parent, index + 1);
  const separator = separatorAt(parent, index + 1);
  setStep(depth - 1, parent, index);
  const low = lowFence(depth);
  setStep(depth - 1, parent, index + 1);
  const high = highFence(depth);
  const kept = countOf(left);
  const moved = countOf(right);
  setFences(left, low, high);
  moveEntries(left, kept, right, 0, moved);
  if (isLeaf(left)) {
    setNext(left, nextOf(right));
    releaseBlock(separator);
  } else {
    setSeparator(left, kept, separator);
  }
  setCount(left, kept + moved);
  for (let entry = kept; entry < kept + moved; entry++) writeHead(left, entry);
  setLiveAt(parent, index, liveAt(parent, index) + liveAt(parent, index + 1));
  closeGap(parent, index + 1);
  countFreed(right);
  givePage(right);
}

/** Gives the only child of inner page `index` a brother: the nearest child of a neighbour, which is nearly full. */
function borrow(parent: usize, index: u32, depth: u32): void {
  const fromLeft = index > 0;
  const boundary = fromLeft ? index : index + 1;
  const left = childAt(parent, boundary - 1);
  const right = childAt(parent, boundary);
  const down = separatorAt(parent, boundary);
  let up: usize = 0;
  let live: u32 = 0;
  if (fromLeft) {
    const last = countOf(left) - 1;
    up = separatorAt(left, last);
    live = liveAt(left, last);
    openGap(right, 0);
    setChild(right, 0, childAt(left, last));
    setLiveAt(right, 0, live);
    setSeparator(right, 0, 0);
    setSeparator(right, 1, down);
    setCount(left, last);
  } else {
    up = separatorAt(right, 1);
    live = liveAt(right, 0);
    openGap(left, 1);
    setChild(left, 1, childAt(right, 0));
    setLiveAt(left, 1, live);
    setSeparator(left, 1, down);
    closeGap(right, 0);
    setSeparator(right, 0, 0);
  }
  setSeparator(parent, boundary, up);
  writeHead(parent, boundary);
  const change = fromLeft ? live : 0 - live;
  setLiveAt(parent, boundary - 1, liveAt(parent, boundary - 1) - change);
  setLiveAt(parent, boundary, liveAt(parent, boundary) + change);
  setStep(depth - 1, parent, boundary - 1);
  refence(left, lowFence(depth), up);
  setStep(depth - 1, parent, boundary);
  refence(right, up, highFence(depth));
}

/** Fences that may have moved both ways: the heads of moved entries are rewritten in any case. */
function refence(page: usize, low: usize, high: usize): void {
  setFences(page, low, high);
  for (let entry: u32 = 0, count = countOf(page); entry < count; entry++) writeHead(page, entry);
}
