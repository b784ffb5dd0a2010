import { NO_OPTIONS } from '../store/checks.ts';
import { ClosedError } from '../types/errors.ts';
import type {
  AcquireOptions,
  HeldLock,
  KeyedLock,
  KeyedLockOptions,
  KeyedLockStats,
  LockMode,
  LockStats,
  TryAcquireOptions,
} from '../types/lock.ts';
import {
  ACTION,
  acquireRequest,
  isWriteMode,
  type LockRequest,
  PLAIN,
  resolveLockOptions,
  tryRequest,
} from './keyed-options.ts';
import type { LockNode } from './lock-node.ts';
import { LockTable } from './lock-table.ts';
import { LockTree } from './lock-tree.ts';

/**
 * Makes locks by key: for many readers or one writer each, in the order of the requests, across keys and prefixes of keys
 * (L1-L8). Keys are paths of `/` segments, and to lock one as a prefix is to lock everything below it.
 *
 * Promised: no two holders in conflict; nobody waits for a request that came later and is in conflict with theirs; no
 * wake-up is lost, whatever is cancelled and when; nothing is left of a request that is over. Not promised: that holders
 * release; that locks of two owners are taken in one order (use `rank`); anything about other processes.
 *
 * @throws TypeError for a wrong or unknown option, RangeError for an impossible number
 * @example
 * ```ts
 * import { createKeyedLock } from 'plimsoll';
 *
 * const locks = createKeyedLock();
 * const held = locks.tryAcquire('apps/web', 'write') ?? (await locks.acquire('apps/web', 'write', { timeoutMs: 1000 }));
 * try {
 *   console.log(locks.tryAcquire('apps', 'read', { prefix: true })); // undefined: a key below is being written
 * } finally {
 *   held.release();
 * }
 * ```
 */
export function createKeyedLock(options: KeyedLockOptions = {}): KeyedLock {
  const resolved = resolveLockOptions(options);
  const tree = new LockTree(resolved.idleKeysMax);
  return new Locks(tree, new LockTable(tree, resolved));
}

/** What users see: checks what it is given, finds the node, and asks the table. */
export class Locks implements KeyedLock {
  readonly #tree: LockTree;
  readonly #table: LockTable;
  #isClosed = false;

  constructor(tree: LockTree, table: LockTable) {
    this.#tree = tree;
    this.#table = table;
  }

  tryAcquire(key: string, mode: LockMode, options: TryAcquireOptions = NO_OPTIONS): HeldLock | undefined {
    const isWrite = isWriteMode(mode, ACTION);
    const request = options === NO_OPTIONS ? PLAIN : tryRequest(options);
    if (this.#isClosed) throw new ClosedError(ACTION);
    const node = this.#nodeOf(key, request);
    try {
      return this.#table.enter(node, isWrite, request.isPrefix, this.#table.claim(node, request));
    } finally {
      // A request that was refused leaves nothing behind.
      this.#tree.settle(node);
    }
  }

  acquire(key: string, mode: LockMode, options: AcquireOptions = NO_OPTIONS): Promise<HeldLock> {
    try {
      return this.#acquire(key, mode, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #acquire(key: string, mode: LockMode, options: AcquireOptions): Promise<HeldLock> {
    const isWrite = isWriteMode(mode, ACTION);
    const request = options === NO_OPTIONS ? PLAIN : acquireRequest(options);
    request.signal?.throwIfAborted();
    // After everything that may be the user's: a getter or a signal may have closed it.
    if (this.#isClosed) throw new ClosedError(ACTION);
    const node = this.#nodeOf(key, request);
    try {
      const claim = this.#table.claim(node, request);
      const held = this.#table.enter(node, isWrite, request.isPrefix, claim);
      return held === undefined ? this.#table.wait(node, isWrite, request, claim) : Promise.resolve(held);
    } finally {
      this.#tree.settle(node);
    }
  }

  stats(): KeyedLockStats;
  stats(key: string): LockStats | undefined;
  stats(key?: string): KeyedLockStats | LockStats | undefined {
    if (key === undefined) return this.#table.stats();
    const node = key === '' ? this.#tree.root : this.#tree.find(key);
    return node !== undefined && (node.isUsed || node.wasLocked) ? this.#table.statsOf(node) : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#table.refuseAll(() => new ClosedError(ACTION));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #nodeOf(key: string, request: LockRequest): LockNode {
    return request.isPrefix ? this.#tree.prefix(key) : this.#tree.node(key);
  }
}
