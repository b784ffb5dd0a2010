import { type LockNode, LockQueue, type Waiter } from './lock-node.ts';

function queueOf(node: LockNode): LockQueue {
  node.queue ??= new LockQueue();
  return node.queue;
}

/** Those of one node, in no particular order. */
export function waitersOf({ queue }: LockNode): readonly Waiter[] {
  const waiters: Waiter[] = [];
  for (const list of queue === undefined ? [] : [queue.readers, queue.writers]) {
    for (let waiter = list.first; waiter !== undefined; waiter = waiter.next) waiters.push(waiter);
  }
  return waiters;
}

/** Puts a waiter behind all others. */
export function enqueue(waiter: Waiter): void {
  const { node, isWrite, isPrefix } = waiter;
  const queue = queueOf(node);
  (isWrite ? queue.writers : queue.readers).add(waiter);
  if (isPrefix) {
    queue.prefixes ??= new Set();
    queue.prefixes.add(waiter);
  }
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (above.prefixWriters === 0 && (!isWrite || above.prefixReaders === 0)) continue;
    const { blocked = new Set() } = queueOf(above);
    queueOf(above).blocked = blocked.add(waiter);
  }
}

/** Takes a waiter out, wherever it stands: it is granted, or gives up. */
export function dequeue(waiter: Waiter): void {
  waiter.isWaiting = false;
  const { node, isWrite, isPrefix } = waiter;
  const queue = queueOf(node);
  (isWrite ? queue.writers : queue.readers).delete(waiter);
  if (isPrefix) queue.prefixes?.delete(waiter);
  for (let above = node.parent; above !== undefined; above = above.parent) above.queue?.blocked?.delete(waiter);
}
