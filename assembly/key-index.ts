import { commonPrefix, compareBytes, countTopBits, sumWords } from './bytes';
import {
  blockAt,
  countOf,
  INNER_MAX,
  idsOf,
  initPage,
  keyWordAt,
  LEAF_MAX,
  levelOf,
  liveOf,
  moveEntries,
  nextOf,
  openGap,
  prefixOf,
  separatorAt,
  setChild,
  setCount,
  setFences,
  setKeyWord,
  setLiveAt,
  setNext,
  setPrefix,
  setSeparator,
  writeHead,
} from './index-page';
import { copyBlock, createKey, keyBlock, releaseBlock, releaseKey, roomForKey } from './keys';
import { roomForPages, takePage } from './pages';
import { Status } from './status';
import {
  addLive,
  descend,
  endsAt,
  highFence,
  isFound,
  leafPage,
  leafPosition,
  lowFence,
  markEnd,
  pathIndex,
  pathPage,
  plantRoot,
  treeHeight,
} from './tree-path';
import { LOW_BITS, TOP_BIT } from './versions';

/**
 * The ordered index: a B+tree over key bytes in unsigned order. Keys with only history (newest version a tombstone)
 * stay in it until compaction drops them; live keys are counted in every subtree, so that a count of a range is two
 * descents.
 *
 * ```text
 *   inner            [ - | "/pods/b" | "/svc" ]         children with live counts 2, 1, 1
 *                     /        |          \
 *   leaves   { /pods/a/x     { /pods/b/y   { /svc/web }
 *              /pods/a/z }     /pods/c! }                ! = not live
 *
 *   count ["/pods/", "/pods0")  =  liveBefore("/pods0") - liveBefore("/pods/")  =  3 - 0
 * ```
 *
 * A full page is halved, so that each half takes half a page of inserts before it splits again (`reserve` counts on
 * it). The last leaf is the exception: an insert at its end starts a new page and leaves a full one, because snapshots
 * arrive in ascending order and half-full pages would double their index.
 */

let liveTotal: u32 = 0;
let leafCount: u32 = 1;
let innerCount: u32 = 0;
let longestKey: usize = 0;
/** The page the last split of a leaf made. */
let lastRight: usize = 0;

/** Id of a key, or NotFound. */
export function findKey(key: usize, length: usize): i32 {
  descend(key, length);
  if (!isFound(key, length)) return Status.NotFound;
  const keyId = keyWordAt(leafPage(), leafPosition()) & LOW_BITS;
  markEnd(keyId);
  return <i32>keyId;
}

/** Id of a key, made when absent (not live, without versions); Full, with nothing changed, when memory is out. */
export function internKey(key: usize, length: usize): i32 {
  const known = findKey(key, length);
  if (known >= 0) return known;
  if (!roomForKey()) return Status.Full;
  const keyId = createKey(key, length);
  if (keyId < 0) return Status.Full;
  if (!insertEntry(<u32>keyId, key, length)) {
    releaseKey(<u32>keyId);
    return Status.Full;
  }
  if (length > longestKey) longestKey = length;
  return keyId;
}

/** Marks a key live or not and mends the counts above it. */
export function setLive(keyId: u32, live: bool): void {
  if (!endsAt(keyId)) {
    const block = keyBlock(keyId);
    descend(block + 4, <usize>load<u32>(block));
    markEnd(keyId);
  }
  assert((keyWordAt(leafPage(), leafPosition()) & LOW_BITS) == keyId);
  setKeyWord(leafPage(), leafPosition(), live ? keyId : keyId | TOP_BIT);
  const change = live ? 1 : -1;
  addLive(change);
  liveTotal += change;
}

export function liveKeyCount(): u32 {
  return liveTotal;
}

export function leafPageCount(): u32 {
  return leafCount;
}

export function innerPageCount(): u32 {
  return innerCount;
}

export function longestKeyBytes(): usize {
  return longestKey;
}

/** Keeps the page counts when index-join.ts frees a page. */
export function countFreed(page: usize): void {
  if (levelOf(page) == 0) leafCount--;
  else innerCount--;
}

/** Pages that this key takes when it is inserted. */
export function pagesForKey(key: usize, length: usize): u32 {
  descend(key, length);
  return splitsAhead();
}

/** Pages an insert at the path's end takes: one for each full page from the leaf up, one more above a full root. */
function splitsAhead(): u32 {
  if (countOf(leafPage()) < LEAF_MAX) return 0;
  let splits: u32 = 1;
  for (let depth = treeHeight(); depth > 0; depth--) {
    if (countOf(pathPage(depth - 1)) < INNER_MAX) return splits;
    splits++;
  }
  return splits + 1;
}

/** Enters a new key at the path's end. False: no memory for a separator or pages, nothing changed. */
function insertEntry(keyId: u32, key: usize, length: usize): bool {
  let page = leafPage();
  let index = leafPosition();
  if (countOf(page) == LEAF_MAX) {
    const separator = splitLeaf(page, index, key, length);
    if (separator == 0) return false;
    const cut = countOf(page);
    if (index > cut || (index == cut && startsRight(separator, key, length))) {
      index -= cut;
      page = lastRight;
    }
  } else {
    markEnd(keyId);
  }
  openGap(page, index);
  setKeyWord(page, index, keyId | TOP_BIT);
  writeHead(page, index);
  return true;
}

/** Whether the key belongs right of the separator. */
function startsRight(separator: usize, key: usize, length: usize): bool {
  return compareBytes(separator + 4, <usize>load<u32>(separator), key, length) <= 0;
}

/** Splits the full leaf of the path, where the new key is to go at `index`. Answers the separator, 0 without memory. */
function splitLeaf(left: usize, index: u32, key: usize, length: usize): usize {
  const ascending = index == LEAF_MAX && nextOf(left) == 0;
  const cut: u32 = ascending ? LEAF_MAX : LEAF_MAX >> 1;
  const before = blockAt(left, cut - 1);
  let first = key;
  let firstLength = length;
  if (!ascending) {
    first = blockAt(left, cut) + 4;
    firstLength = <usize>load<u32>(first - 4);
  }
  // The shortest bytes above `before` and not above `first`.
  const separator = copyBlock(first, commonPrefix(before + 4, <usize>load<u32>(before), first, firstLength) + 1);
  if (separator == 0) return 0;
  // Not before: at the limit a block may be cut from a free page.
  if (!roomForPages(splitsAhead())) {
    releaseBlock(separator);
    return 0;
  }
  const right = freshPage(0);
  leafCount++;
  lastRight = right;
  setNext(right, nextOf(left));
  setNext(left, right);
  halve(left, right, cut, separator, treeHeight());
  insertChild(left, separator, right);
  return separator;
}

/** Moves the entries from `cut` on to the fresh page `right` and gives both pages their fences. */
function halve(left: usize, right: usize, cut: u32, separator: usize, depth: u32): void {
  const low = lowFence(depth);
  const high = highFence(depth);
  const moved = countOf(left) - cut;
  setPrefix(right, prefixOf(left));
  moveEntries(right, 0, left, cut, moved);
  setCount(right, moved);
  setCount(left, cut);
  setFences(left, low, separator);
  setFences(right, separator, high);
}

/** Enters the new page `right` next to `left` in the inner pages above, splitting those that are full. */
function insertChild(left: usize, separator: usize, right: usize): void {
  for (let depth = treeHeight(); depth > 0; depth--) {
    let page = pathPage(depth - 1);
    let index = pathIndex(depth - 1) + 1;
    const whole = page;
    let above: usize = 0;
    let sibling: usize = 0;
    if (countOf(page) == INNER_MAX) {
      const ascending = index == INNER_MAX && highFence(depth - 1) == 0;
      // An inner page keeps at least two children (index-join.ts counts on it).
      const cut: u32 = ascending ? INNER_MAX - 1 : INNER_MAX >> 1;
      above = separatorAt(page, cut);
      sibling = splitInner(page, cut, above, depth - 1);
      if (index > cut) {
        page = sibling;
        index -= cut;
      }
    }
    setLiveAt(page, index - 1, liveIn(left));
    openGap(page, index);
    setSeparator(page, index, separator);
    setChild(page, index, right);
    setLiveAt(page, index, liveIn(right));
    writeHead(page, index);
    if (above == 0) return;
    left = whole;
    separator = above;
    right = sibling;
  }
  growRoot(left, separator, right);
}

/** Splits a full inner page; the separator at `cut` moves up, to become the fence between the two. */
function splitInner(page: usize, cut: u32, above: usize, depth: u32): usize {
  const sibling = freshPage(levelOf(page));
  innerCount++;
  halve(page, sibling, cut, above, depth);
  setSeparator(sibling, 0, 0);
  writeHead(sibling, 0);
  return sibling;
}

/** One of those that `splitsAhead` counted. */
function freshPage(level: u32): usize {
  const page = takePage();
  assert(page != 0);
  initPage(page, level);
  return page;
}

function growRoot(left: usize, separator: usize, right: usize): void {
  const page = freshPage(levelOf(left) + 1);
  innerCount++;
  setCount(page, 2);
  setSeparator(page, 0, 0);
  setChild(page, 0, left);
  setLiveAt(page, 0, liveIn(left));
  setSeparator(page, 1, separator);
  setChild(page, 1, right);
  setLiveAt(page, 1, liveIn(right));
  writeHead(page, 0);
  writeHead(page, 1);
  plantRoot(page, treeHeight() + 1);
}

/** Live keys in and below a page. */
export function liveIn(page: usize): u32 {
  const count = countOf(page);
  return levelOf(page) == 0 ? count - countTopBits(idsOf(page), count) : sumWords(liveOf(page), count);
}
