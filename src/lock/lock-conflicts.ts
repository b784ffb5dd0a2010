import type { LockNode } from './lock-node.ts';

/** Whether nothing that is there is in conflict with such a request. */
export function isFree(node: LockNode, isWrite: boolean, isPrefix: boolean): boolean {
  if (node.writers > 0 || (isWrite && node.readers > 0)) return false;
  if (isPrefix && (node.writersBelow > 0 || (isWrite && node.readersBelow > 0))) return false;
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (above.prefixWriters > 0 || (isWrite && above.prefixReaders > 0)) return false;
  }
  return true;
}

/** How many requests at *other* nodes are in conflict with such a request. */
export function countElsewhere(node: LockNode, isWrite: boolean, isPrefix: boolean): number {
  let count = 0;
  if (isPrefix) count += node.writersBelow + (isWrite ? node.readersBelow : 0);
  for (let above = node.parent; above !== undefined; above = above.parent) {
    count += above.prefixWriters + (isWrite ? above.prefixReaders : 0);
  }
  return count;
}

/** A request comes (`by` 1) or goes (-1). Whether it holds is counted elsewhere. */
export function count(node: LockNode, isWrite: boolean, isPrefix: boolean, by: 1 | -1): void {
  if (isWrite) {
    node.writers += by;
    if (isPrefix) node.prefixWriters += by;
    for (let above = node.parent; above !== undefined; above = above.parent) above.writersBelow += by;
  } else {
    node.readers += by;
    if (isPrefix) node.prefixReaders += by;
    for (let above = node.parent; above !== undefined; above = above.parent) above.readersBelow += by;
  }
}

/** A request begins (`by` 1) or ends (-1) to hold its lock. */
export function countHeld(node: LockNode, isWrite: boolean, by: 1 | -1): void {
  if (isWrite) node.heldWriters += by;
  else node.heldReaders += by;
}
