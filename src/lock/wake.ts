import type { LockedRequest, LockQueue, Waiter } from './lock-node.ts';

/**
 * Wakes who is free to enter now that a request has gone, or (`isDowngrade`) only reads from now on; the counters know it
 * already. The rule of the whole lock is one sentence: *a request holds its
 * lock as soon as no earlier request in conflict with it is there*, held or waiting. It gives L1 and L2, and across the
 * tree: whoever waits for a prefix cannot be starved by keys below it, and holds up later requests below it only.
 *
 * ```text
 *   at the same node     readers up to the first writer; that writer, when nobody holds and no earlier reader waits
 *   at another node      a count of earlier requests in conflict, taken at arrival, that goes down to 0
 * ```
 *
 * A grant frees nobody, so that one pass is enough. What it looks at: the waiters that are freed, readers that came before
 * the first writer here but wait for a prefix above, prefixes that wait above, and if a prefix has left, who waits below.
 */
export function wake(left: LockedRequest, isDowngrade: boolean, grant: (waiter: Waiter) => void): void {
  const { node } = left;
  if (node.queue !== undefined) wakeHere(node.queue, left.isWrite || isDowngrade, grant);
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (above.queue?.prefixes !== undefined) unblock(above.queue.prefixes, left, isDowngrade, grant);
  }
  if (left.isPrefix && node.queue?.blocked !== undefined) unblock(node.queue.blocked, left, isDowngrade, grant);
}

/** Those that came earlier have not counted it; who only reads has not counted a reader, and who writes waits on behind one. */
function unblock(
  waiters: ReadonlySet<Waiter>,
  left: LockedRequest,
  isDowngrade: boolean,
  grant: (waiter: Waiter) => void,
): void {
  for (const waiter of waiters) {
    const isFreed = isDowngrade ? !waiter.isWrite : waiter.isWrite || left.isWrite;
    if (waiter.order < left.order || !isFreed) continue;
    waiter.blockers--;
    if (mayEnter(waiter)) grant(waiter);
  }
}

function wakeHere({ readers, writers }: LockQueue, wasWrite: boolean, grant: (waiter: Waiter) => void): void {
  const writer = writers.first;
  // A reader that leaves frees no reader.
  let reader = wasWrite ? readers.first : undefined;
  while (reader !== undefined && (writer === undefined || reader.order < writer.order)) {
    const { next } = reader;
    if (mayEnter(reader)) grant(reader);
    reader = next;
  }
  if (writer !== undefined && mayEnter(writer)) grant(writer);
}

/** Whether nothing earlier in conflict is there, at its node and elsewhere. */
function mayEnter({ node, isWrite, order, blockers }: Waiter): boolean {
  if (blockers > 0 || node.heldWriters > 0) return false;
  const reader = node.queue?.readers.first;
  const writer = node.queue?.writers.first;
  if (!isWrite) return writer === undefined || order < writer.order;
  return node.heldReaders === 0 && writer?.order === order && (reader === undefined || order < reader.order);
}
