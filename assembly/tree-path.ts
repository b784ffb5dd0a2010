import { countTopBits, sumWords } from './bytes';
import {
  childAt,
  countOf,
  idsOf,
  isEntry,
  keyWordAt,
  liveAt,
  liveOf,
  search,
  separatorAt,
  setLiveAt,
} from './index-page';
import { TOP_BIT } from './versions';

/**
 * The way from the root to one leaf, as the last `descend` went. Insert, remove and the live counts work on it; a page
 * holds no pointer to its parent, which splits and joins would have to mend.
 *
 * ```text
 *   depth 0   root     [ a | m | t ]       pathIndex(0) = 1
 *   depth 1   inner        [ m | p ]       pathIndex(1) = 0
 *   depth 2   leaf           { m1 m4 o2 }  position = 2 for the key "o2", and for "n"
 *
 *   fences of the leaf: lowFence(2) = "m" (from depth 0), highFence(2) = "p" (from depth 1)
 * ```
 */

/** Inner pages hold at least two children, so 32 levels are more than 2^31 keys can fill. */
const DEPTH_MAX: u32 = 32;

const pages: usize = memory.data(128, 16);
const indexes: usize = memory.data(128, 16);

/** The first root is static: an empty index needs no memory and cannot fail to exist. */
let root: usize = memory.data(4096, 16);
let height: u32 = 0;
let leaf: usize = 0;
let position: u32 = 0;

const NO_KEY: u32 = 0xffffffff;
/** The key whose entry the path is known to end at, NO_KEY when it is not known. */
let pathKey: u32 = NO_KEY;

export function rootPage(): usize {
  return root;
}

/** Levels of inner pages above the leaves. */
export function treeHeight(): u32 {
  return height;
}

export function plantRoot(page: usize, levels: u32): void {
  assert(levels < DEPTH_MAX);
  root = page;
  height = levels;
}

/** Goes to the leaf whose fences enclose the key; `leafPosition` is the first entry not below it. */
export function descend(key: usize, length: usize): void {
  pathKey = NO_KEY;
  let page = root;
  for (let depth: u32 = 0; depth < height; depth++) {
    const index = search(page, 1, key, length, 1) - 1;
    setStep(depth, page, index);
    page = childAt(page, index);
  }
  leaf = page;
  position = search(page, 0, key, length, 0);
}

/** Whether the path still ends at this key: spares whoever comes right after `findKey` and `internKey` a descent. */
export function endsAt(keyId: u32): bool {
  return pathKey == keyId;
}

export function markEnd(keyId: u32): void {
  pathKey = keyId;
}

/** The path's end has been taken away. */
export function forgetEnd(): void {
  pathKey = NO_KEY;
}

export function leafPage(): usize {
  return leaf;
}

export function leafPosition(): u32 {
  return position;
}

/** Whether the entry at the path's end is the key itself. */
export function isFound(key: usize, length: usize): bool {
  return position < countOf(leaf) && isEntry(leaf, position, key, length);
}

export function setStep(depth: u32, page: usize, index: u32): void {
  store<usize>(pages + ((<usize>depth) << 2), page);
  store<u32>(indexes + ((<usize>depth) << 2), index);
}

export function pathPage(depth: u32): usize {
  return load<usize>(pages + ((<usize>depth) << 2));
}

export function pathIndex(depth: u32): u32 {
  return load<u32>(indexes + ((<usize>depth) << 2));
}

/** The separator left of the path's page at `depth`, 0 when nothing bounds it. */
export function lowFence(depth: u32): usize {
  while (depth-- > 0) {
    const index = pathIndex(depth);
    if (index > 0) return separatorAt(pathPage(depth), index);
  }
  return 0;
}

/** The separator right of the path's page at `depth`, 0 when nothing bounds it. */
export function highFence(depth: u32): usize {
  while (depth-- > 0) {
    const index = pathIndex(depth) + 1;
    if (index < countOf(pathPage(depth))) return separatorAt(pathPage(depth), index);
  }
  return 0;
}

/** Adds `change` to the live counts above the path's leaf. */
export function addLive(change: i32): void {
  for (let depth: u32 = 0; depth < height; depth++) {
    const page = pathPage(depth);
    const index = pathIndex(depth);
    setLiveAt(page, index, liveAt(page, index) + <u32>change);
  }
}

/** Goes to the live key with so many live keys before it; there is one. */
export function descendToRank(rank: u32): void {
  pathKey = NO_KEY;
  let page = root;
  for (let depth: u32 = 0; depth < height; depth++) {
    let index: u32 = 0;
    for (let live = liveAt(page, 0); live <= rank; live = liveAt(page, index)) {
      rank -= live;
      index++;
    }
    setStep(depth, page, index);
    page = childAt(page, index);
  }
  leaf = page;
  position = 0;
  for (; rank > 0 || (keyWordAt(page, position) & TOP_BIT) != 0; position++) {
    if ((keyWordAt(page, position) & TOP_BIT) == 0) rank--;
  }
}

/** Live keys before the path's position. */
export function liveBefore(): u32 {
  let before: u32 = position - countTopBits(idsOf(leaf), position);
  for (let depth: u32 = 0; depth < height; depth++) before += sumWords(liveOf(pathPage(depth)), pathIndex(depth));
  return before;
}
