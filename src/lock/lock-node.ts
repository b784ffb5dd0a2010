import type { HeldLock } from '../types/lock.ts';
import type { LockCounts } from './lock-stats.ts';

/**
 * A key, or a prefix of keys, in the tree of whole `/` segments, with what is requested at it and below it.
 *
 * ```text
 *   requests: write a/b/x (held), read a/c (held), write prefix a/b (waits)
 *
 *   ''      1 reader below, 2 writers below
 *   a       1 reader below, 2 writers below
 *   a/b     1 writer (a prefix), 1 writer below          a/c   1 reader, held
 *   a/b/x   1 writer, held
 * ```
 *
 * Counters are of requests that are *there*, held or waiting: a newcomer has to wait behind both alike. With them it takes
 * one look at each ancestor to know whether a request is free to enter, whatever the number of keys and requests.
 */
export class LockNode {
  readonly key: string;
  readonly parent: LockNode | undefined;
  /** Segments. */
  readonly depth: number;
  /** Nodes right below that are in the tree. */
  children = 0;

  /** At this node, as a key or as a prefix. */
  readers = 0;
  writers = 0;
  /** Those of them that hold the lock; of writers there is one at most. */
  heldReaders = 0;
  heldWriters = 0;
  /** Those that are about everything below too. */
  prefixReaders = 0;
  prefixWriters = 0;
  /** At nodes further down. */
  readersBelow = 0;
  writersBelow = 0;

  /** Acquisitions, for statistics. */
  reads = 0;
  writes = 0;
  /** What else there is to tell, from the first wait on. */
  counts: LockCounts | undefined = undefined;
  /** Who waits, if somebody does or did. */
  queue: LockQueue | undefined = undefined;

  /** Its place in the list of keys that were used last. */
  isRemembered = false;
  older: LockNode | undefined = undefined;
  newer: LockNode | undefined = undefined;

  constructor(key: string, parent: LockNode | undefined) {
    this.key = key;
    this.parent = parent;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  get isUsed(): boolean {
    return this.readers + this.writers > 0;
  }

  /** Whether one was ever acquired here, as far as it is remembered. */
  get wasLocked(): boolean {
    return this.reads + this.writes > 0 || this.counts !== undefined;
  }
}

/** What an owner holds or waits for. */
export interface Claim {
  readonly owner: unknown;
  readonly node: LockNode;
  readonly isPrefix: boolean;
  readonly rank: number | undefined;
}

/** A request that is there: the handle of one that holds, or one that waits. */
export interface LockedRequest {
  readonly node: LockNode;
  readonly isWrite: boolean;
  readonly isPrefix: boolean;
  readonly claim: Claim | undefined;
  /** Its place among those that had to wait; 0 for one that holds: who waits for that one came later. */
  readonly order: number;
}

/** What a request that waits is made of. */
export interface WaiterFacts {
  readonly node: LockNode;
  readonly isWrite: boolean;
  readonly isPrefix: boolean;
  readonly claim: Claim | undefined;
  readonly signal: AbortSignal | undefined;
  /** Ascending in the order of requests, from 1. */
  readonly order: number;
  readonly since: number;
  /** Earlier requests at other nodes that are in conflict with it. */
  readonly blockers: number;
  readonly resolve: (held: HeldLock) => void;
  readonly reject: (reason: unknown) => void;
}

/** One request that waits. */
export class Waiter implements LockedRequest {
  readonly node: LockNode;
  readonly isWrite: boolean;
  readonly isPrefix: boolean;
  readonly claim: Claim | undefined;
  readonly signal: AbortSignal | undefined;
  readonly order: number;
  readonly since: number;
  readonly resolve: (held: HeldLock) => void;
  readonly reject: (reason: unknown) => void;
  /** Those that are still there. */
  blockers: number;
  /** Neither granted nor cancelled. */
  isWaiting = true;
  /** Ends the timer and the listener, if there are any. */
  stop: (() => void) | undefined = undefined;

  previous: Waiter | undefined = undefined;
  next: Waiter | undefined = undefined;

  constructor(facts: WaiterFacts) {
    this.node = facts.node;
    this.isWrite = facts.isWrite;
    this.isPrefix = facts.isPrefix;
    this.claim = facts.claim;
    this.signal = facts.signal;
    this.order = facts.order;
    this.since = facts.since;
    this.blockers = facts.blockers;
    this.resolve = facts.resolve;
    this.reject = facts.reject;
  }
}

/** Waiters in the order of their requests; any of them may leave. */
export class WaiterList {
  first: Waiter | undefined = undefined;
  #last: Waiter | undefined = undefined;

  add(waiter: Waiter): void {
    waiter.previous = this.#last;
    if (this.#last === undefined) this.first = waiter;
    else this.#last.next = waiter;
    this.#last = waiter;
  }

  delete(waiter: Waiter): void {
    const { previous, next } = waiter;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    waiter.previous = undefined;
    waiter.next = undefined;
  }
}

/**
 * Who waits at one node, and who waits elsewhere because of it.
 *
 * ```text
 *   requests at a/b, in order      W1 (held)   R2   R3   W4   R5   W6
 *   readers                        R2 R3 R5                          the first batch ends where the first writer came
 *   writers                        W4 W6
 *   prefixes                       those of them that are about what is below too
 *   blocked                        waiters further down that came after a prefix here which is in conflict with them
 * ```
 *
 * Two lists in place of one, so that the next writer is found behind any number of readers.
 */
export class LockQueue {
  readonly readers: WaiterList = new WaiterList();
  readonly writers: WaiterList = new WaiterList();
  prefixes: Set<Waiter> | undefined = undefined;
  blocked: Set<Waiter> | undefined = undefined;
}
