import { memoryPart, PARTS } from './account';
import { newestCommit } from './append';
import { commonPrefix, compareBytes, headAt } from './bytes';
import { historyLength, vectorsOfClass, versionAt } from './history';
import {
  blockAt,
  childAt,
  countOf,
  isLeaf,
  keyWordAt,
  levelOf,
  liveAt,
  maxOf,
  nextOf,
  prefixOf,
  separatorAt,
  storedHead,
  storedSecond,
} from './index-page';
import { innerPageCount, leafPageCount, liveIn, liveKeyCount } from './key-index';
import {
  headWord,
  isKey,
  isLive,
  isNoVersion,
  keyBlock,
  keyBucket,
  keyCount,
  keyLimit,
  keyTable,
  nextFreeKey,
} from './keys';
import { claimedBytes } from './memory';
import { freePageCount, nextFreePage, PAGE_BYTES, pageCount } from './pages';
import {
  bucketsFrom,
  commitAt,
  entryAt,
  logDirectoryBytes,
  logLength,
  logPageCount,
  NOTHING,
  pagesInCells,
  replacesFrom,
  slotsFrom,
} from './revision-log';
import { bytesInUse, classBytes, classCount, classOf, firstFree, freeBlocks } from './slab';
import { directoryBytes } from './table';
import { rootPage, treeHeight } from './tree-path';
import {
  commitOf,
  FAR_BYTES,
  farBlocks,
  freeInChunk,
  headerTable,
  isFar,
  isReplaced,
  isVersion,
  keyWordOf,
  LOW_BITS,
  nextOpenChunk,
  slotLimit,
  TOP_BIT,
  versionCount,
  versionTable,
} from './versions';

/**
 * Walks every structure and checks what the others rely on. For tests: O(everything), and it changes nothing.
 * Answers 0 or the number of the first broken statement:
 *
 * ```text
 *   index   1 level of a child is one below its parent's     2 pages are neither empty nor overfull; inner ones have
 *             two children and no separator 0
 *           3 prefix is the fences' common prefix            4 entries lie between the fences
 *           5 heads, seconds match bytes                     6 entries ascend
 *           7 live counts match                              8 leaf chain visits the leaves in order
 *           9 leaf flag = newest version is no put          10 every key is in the index once; page counts match
 *   keys   11 versions belong to the key                    12 commits ascend; the head word names the newest
 *          13 free list and number of keys add up
 *   slots  14 free list and number of versions add up       15 every version is in one history
 *   log    16 entries are versions in commit order          17 a key's entries are the newest of its history, in order
 *          18 no commit above the newest
 *   free   19 lists are as long as counted                   20 every slab block in use has an owner
 *   more   21 a version is marked replaced when it is not the newest of its key
 *          22 entries have the key's bucket, and the put before theirs as long as there is one
 *          23 the parts of memory are all there is
 * ```
 */

let failure: i32 = 0;
let leaves: u32 = 0;
let inners: u32 = 0;
let indexed: u32 = 0;
let lastLeaf: usize = 0;
/** Slab bytes with an owner found so far. */
let owned: usize = 0;

export function verify(): i32 {
  failure = 0;
  leaves = 0;
  inners = 0;
  indexed = 0;
  lastLeaf = 0;
  owned = 0;
  check(levelOf(rootPage()) == treeHeight(), 1);
  checkPage(rootPage(), 0, 0);
  check(lastLeaf == 0 || nextOf(lastLeaf) == 0, 8);
  check(liveIn(rootPage()) == liveKeyCount(), 7);
  check(indexed == keyCount() && leaves == leafPageCount() && inners == innerPageCount(), 10);
  checkKeys();
  checkSlots();
  checkLog();
  checkFree();
  checkOwned();
  checkAccount();
  return failure;
}

function check(holds: bool, statement: i32): void {
  if (!holds && failure == 0) failure = statement;
}

function checkPage(page: usize, low: usize, high: usize): void {
  const count = countOf(page);
  const isRoot = page == rootPage();
  check(count <= maxOf(page) && count >= (isLeaf(page) ? (isRoot ? 0 : 1) : 2), 2);
  const shared =
    low != 0 && high != 0 ? commonPrefix(low + 4, <usize>load<u32>(low), high + 4, <usize>load<u32>(high)) : 0;
  check(prefixOf(page) == shared, 3);
  for (let index: u32 = isLeaf(page) ? 0 : 1; index < count; index++) {
    const block = blockAt(page, index);
    check(low == 0 || compareBlocks(low, block) <= 0, 4);
    check(high == 0 || compareBlocks(block, high) < 0, 4);
    const length = <usize>load<u32>(block);
    check(storedHead(page, index) == headAt(block + 4, length, prefixOf(page)), 5);
    check(storedSecond(page, index) == headAt(block + 4, length, prefixOf(page) + 8), 5);
    if (index > (isLeaf(page) ? 0 : 1)) check(compareBlocks(blockAt(page, index - 1), block) < 0, 6);
  }
  if (isLeaf(page)) checkLeaf(page);
  else checkChildren(page, low, high);
}

function checkLeaf(page: usize): void {
  leaves++;
  check(lastLeaf == 0 || nextOf(lastLeaf) == page, 8);
  lastLeaf = page;
  for (let index: u32 = 0, count = countOf(page); index < count; index++) {
    const word = keyWordAt(page, index);
    indexed++;
    check(isKey(<i32>(word & LOW_BITS)), 10);
    check(isLive(word & LOW_BITS) == ((word & TOP_BIT) == 0), 9);
  }
}

function checkChildren(page: usize, low: usize, high: usize): void {
  inners++;
  check(separatorAt(page, 0) == 0, 2);
  for (let index: u32 = 0, count = countOf(page); index < count; index++) {
    const child = childAt(page, index);
    check(levelOf(child) + 1 == levelOf(page), 1);
    if (failure == 1) return;
    checkPage(
      child,
      index == 0 ? low : separatorAt(page, index),
      index + 1 == count ? high : separatorAt(page, index + 1),
    );
    check(liveAt(page, index) == liveIn(child), 7);
    if (index > 0) own(<usize>load<u32>(separatorAt(page, index)) + 4);
  }
}

function compareBlocks(a: usize, b: usize): i32 {
  return compareBytes(a + 4, <usize>load<u32>(a), b + 4, <usize>load<u32>(b));
}

function checkKeys(): void {
  let used: u32 = 0;
  let versions: u32 = 0;
  for (let keyId: u32 = 0; keyId < keyLimit(); keyId++) {
    if (!isKey(<i32>keyId)) continue;
    used++;
    own(<usize>load<u32>(keyBlock(keyId)) + 4);
    const length = historyLength(keyId);
    versions += length;
    check(isNoVersion(headWord(keyId)) == (length == 0), 12);
    let before: i32 = -1;
    for (let index: u32 = 0; index < length; index++) {
      const slot = versionAt(keyId, index);
      check(isVersion(slot) && (keyWordOf(slot) & LOW_BITS) == keyId, 11);
      if (failure != 0) return;
      check(before < 0 || commitOf(before) <= commitOf(slot), 12);
      check((isReplaced(slot) != 0) == index < length - 1, 21);
      before = slot;
    }
    check(before < 0 || (keyWordOf(before) & TOP_BIT) == (headWord(keyId) & TOP_BIT), 12);
  }
  check(used == keyCount(), 13);
  check(versions == versionCount(), 15);
  let free: u32 = 0;
  for (let keyId = nextFreeKey(-1); keyId >= 0 && free <= keyLimit(); keyId = nextFreeKey(keyId)) {
    check(!isKey(keyId), 13);
    free++;
  }
  check(free + used == keyLimit(), 13);
}

function checkSlots(): void {
  let used: u32 = 0;
  let far: u32 = 0;
  for (let slot: u32 = 0; slot < slotLimit(); slot++) {
    if (!isVersion(<i32>slot)) continue;
    used++;
    if (isFar(<i32>slot)) far++;
  }
  check(far == farBlocks(), 14);
  owned += <usize>far * FAR_BYTES;
  let free: u32 = 0;
  for (let chunk = nextOpenChunk(-1); chunk >= 0 && free <= slotLimit(); chunk = nextOpenChunk(chunk)) {
    check(freeInChunk(chunk) > 0, 14);
    free += freeInChunk(chunk);
  }
  check(used == versionCount() && free + used == slotLimit(), 14);
}

function checkLog(): void {
  const length = logLength();
  for (let index: u32 = 0; index < length; index++) {
    check(isVersion(entryAt(index)), 16);
    if (failure != 0) return;
    if (index > 0) check(commitAt(index - 1) <= commitAt(index), 16);
    checkEntry(index);
  }
  check(length == 0 || commitAt(length - 1) <= newestCommit(), 18);
}

/** A logged version is in its key's history, all that came after it there is younger, and it knows what it replaces. */
function checkEntry(index: u32): void {
  const slot = entryAt(index);
  const word = keyWordOf(slot);
  const keyId = word & LOW_BITS;
  check(load<u32>(slotsFrom(index)) == (<u32>slot | (word & TOP_BIT)), 16);
  check(load<u32>(bucketsFrom(index)) == keyBucket(keyId), 22);
  let place = historyLength(keyId);
  let other: i32 = -1;
  while (place > 0) {
    other = versionAt(keyId, --place);
    if (other == slot) break;
    check(commitOf(other) >= commitOf(slot), 17);
  }
  check(other == slot, 17);
  const before = place > 0 ? versionAt(keyId, place - 1) : -1;
  const isPut = before >= 0 && (keyWordOf(before) & TOP_BIT) == 0;
  check(load<u32>(replacesFrom(index)) == (isPut ? <u32>before : NOTHING), 22);
}

function checkFree(): void {
  for (let sizeClass: u32 = 1; sizeClass < classCount(); sizeClass++) {
    let length: u32 = 0;
    for (let block = firstFree(sizeClass); block != 0; block = load<usize>(block)) {
      if (++length > freeBlocks(sizeClass)) break;
    }
    check(length == freeBlocks(sizeClass), 19);
  }
  let pages: u32 = 0;
  for (let page = nextFreePage(0); page != 0 && pages <= freePageCount(); page = nextFreePage(page)) pages++;
  check(pages == freePageCount(), 19);
}

function checkOwned(): void {
  for (let sizeClass: u32 = 1; sizeClass < classCount(); sizeClass++) {
    owned += <usize>vectorsOfClass(sizeClass) * classBytes(sizeClass);
  }
  own(directoryBytes(versionTable));
  own(directoryBytes(headerTable));
  own(directoryBytes(keyTable));
  own(logDirectoryBytes());
  check(owned == bytesInUse(), 20);
}

function checkAccount(): void {
  let bytes: usize = 0;
  for (let part: u32 = 0; part < PARTS; part++) bytes += memoryPart(part);
  check(bytes == claimedBytes(), 23);
  check(pagesInCells() == logPageCount(), 23);
  check(<usize>pageCount() * PAGE_BYTES == memoryPart(1) + memoryPart(2) + memoryPart(3), 23);
}

function own(bytes: usize): void {
  if (bytes > 0) owned += classBytes(classOf(bytes));
}
