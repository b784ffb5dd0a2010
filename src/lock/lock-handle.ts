import { LockReleasedError } from '../types/errors.ts';
import type { HeldLock, LockMode } from '../types/lock.ts';
import type { Claim, LockedRequest, LockNode } from './lock-node.ts';

/** The part of the lock that its handles call: at most once each for a handle. */
export interface HandleCalls {
  release(handle: Handle): void;
  /** It has just begun to read. */
  downgrade(handle: Handle): void;
}

/**
 * What a holder has. The lock keeps no reference to it, only counters: so one that is dropped without a release can be
 * noticed (L5), and a request that does not wait allocates this and nothing else (L8).
 */
export class Handle implements HeldLock, LockedRequest {
  readonly #calls: HandleCalls;
  readonly #node: LockNode;
  readonly #isPrefix: boolean;
  readonly #claim: Claim | undefined;
  /** When it was acquired, if anybody wants to know. */
  readonly #since: number;
  #isWrite: boolean;
  #isHeld = true;

  constructor(
    calls: HandleCalls,
    node: LockNode,
    isWrite: boolean,
    isPrefix: boolean,
    claim: Claim | undefined,
    since: number,
  ) {
    this.#calls = calls;
    this.#node = node;
    this.#isWrite = isWrite;
    this.#isPrefix = isPrefix;
    this.#claim = claim;
    this.#since = since;
  }

  get key(): string {
    const { key, parent } = this.#node;
    // The prefix of an empty first segment, which is not everything.
    return key === '' && parent !== undefined ? '/' : key;
  }

  get prefix(): boolean {
    return this.#isPrefix;
  }

  get mode(): LockMode {
    return this.#isWrite ? 'write' : 'read';
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#calls.release(this);
  }

  downgrade(): void {
    if (!this.#isHeld) throw new LockReleasedError('downgrade a lock', this.key);
    if (!this.#isWrite) return;
    this.#isWrite = false;
    this.#calls.downgrade(this);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** For the lock alone, as the rest below: holders see a `HeldLock`. */
  get node(): LockNode {
    return this.#node;
  }

  get isWrite(): boolean {
    return this.#isWrite;
  }

  get isPrefix(): boolean {
    return this.#isPrefix;
  }

  get order(): number {
    return 0;
  }

  get claim(): Claim | undefined {
    return this.#claim;
  }

  get since(): number {
    return this.#since;
  }
}
