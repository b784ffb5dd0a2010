import { LimitExceededError, LockTimeoutError } from '../types/errors.ts';
import type { HeldLock, KeyedLockStats, LockStats } from '../types/lock.ts';
import { onAbort } from '../types/on-abort.ts';
import { ACTION, type LockRequest, type ResolvedLockOptions } from './keyed-options.ts';
import { count, countElsewhere, countHeld, isFree } from './lock-conflicts.ts';
import { Handle, type HandleCalls } from './lock-handle.ts';
import { type Claim, type LockedRequest, type LockNode, Waiter } from './lock-node.ts';
import { LockOwners } from './lock-owners.ts';
import { dequeue, enqueue, waitersOf } from './lock-queue.ts';
import { LockCounts } from './lock-stats.ts';
import type { LockTree } from './lock-tree.ts';
import { LostLocks } from './lost-locks.ts';
import { wake } from './wake.ts';

/**
 * The requests that are there, and how they come, hold and go.
 *
 * ```text
 *                enter: free                       release
 *   request ----------------------------> held --------------> gone
 *      |                                   ^  \_ downgrade: goes on as a reader
 *      |  wait: not free                   |
 *      '----------------> waits -----------'  the last earlier request in conflict is gone
 *                            '----------------------> gone     signal, timeout, close
 * ```
 *
 * Every step is synchronous and calls nobody but the clock; what waits is told through promises, so after the step. A step
 * out of the queue and the wake-up of those behind are one: nobody can come in between.
 */
export class LockTable {
  readonly #tree: LockTree;
  readonly #options: ResolvedLockOptions;
  readonly #owners = new LockOwners();
  readonly #counts = new LockCounts();
  readonly #lost: LostLocks | undefined;
  readonly #calls: HandleCalls = {
    release: (handle) => this.#release(handle),
    downgrade: (handle) => this.#downgrade(handle),
  };
  /** Made once, since a lock may be handed over a million times a second: it grants at the time of the wake-up. */
  readonly #grantNow = (waiter: Waiter): void => this.#grant(waiter, this.#wakeTime);
  #wakeTime = 0;
  #held = 0;
  #waiting = 0;
  #reads = 0;
  #writes = 0;
  #order = 0;

  constructor(tree: LockTree, options: ResolvedLockOptions) {
    this.#tree = tree;
    this.#options = options;
    if (options.debug) this.#lost = new LostLocks(options.logger, () => options.clock.now());
  }

  /** What the owner would hold. Throws `LockReentryError`, `LockOrderError`. */
  claim(node: LockNode, { owner, isPrefix, rank }: LockRequest): Claim | undefined {
    if (owner === undefined) return undefined;
    const claim = { owner, node, isPrefix, rank };
    this.#owners.check(claim, this.#options.debug, ACTION);
    return claim;
  }

  /** The lock, if nothing in conflict is there. Throws LimitExceededError. */
  enter(node: LockNode, isWrite: boolean, isPrefix: boolean, claim: Claim | undefined): Handle | undefined {
    const { locksMax, holdTimes, debug, clock } = this.#options;
    const actual = this.#held + this.#waiting + 1;
    if (actual > locksMax) throw new LimitExceededError(ACTION, { limit: 'locksMax', max: locksMax, actual });
    if (!isFree(node, isWrite, isPrefix)) return undefined;
    const since = holdTimes || debug ? clock.now() : 0;
    this.#come(node, isWrite, isPrefix, claim);
    return this.#hold(node, isWrite, isPrefix, claim, since);
  }

  /** Waits for the lock, which is not free. Throws LimitExceededError. */
  wait(node: LockNode, isWrite: boolean, request: LockRequest, claim: Claim | undefined): Promise<HeldLock> {
    const { waitersMax, clock } = this.#options;
    const { isPrefix, signal, timeoutMs } = request;
    const actual = this.#waiting + 1;
    if (actual > waitersMax) throw new LimitExceededError(ACTION, { limit: 'waitersMax', max: waitersMax, actual });
    const since = clock.now();
    return new Promise((resolve, reject) => {
      const blockers = countElsewhere(node, isWrite, isPrefix);
      const order = ++this.#order;
      const waiter = new Waiter({ node, isWrite, isPrefix, order, since, claim, blockers, signal, resolve, reject });
      this.#come(node, isWrite, isPrefix, claim);
      enqueue(waiter);
      this.#waiting++;
      this.#counts.queued();
      node.counts ??= new LockCounts();
      node.counts.queued();
      if (signal === undefined && timeoutMs === undefined) return;
      try {
        this.#bound(waiter, timeoutMs);
      } catch (error) {
        // Of a clock, or of what is a signal by half. Nobody would have the lock that is granted later.
        this.#cancel(waiter, error);
      }
    });
  }

  /** Ends every wait. */
  refuseAll(reason: () => unknown): void {
    const waiters = [...this.#tree.nodes()].flatMap(waitersOf).sort((left, right) => left.order - right.order);
    // All of them go before anybody could be granted what another one gives up.
    for (const waiter of waiters) this.#leaveQueue(waiter);
    for (const waiter of waiters) {
      this.#go(waiter, 0);
      waiter.reject(reason());
    }
  }

  stats(): KeyedLockStats {
    const { holdTimes } = this.#options;
    const facts = { reads: this.#reads, writes: this.#writes, held: this.#held, holdTimes };
    const { used } = this.#tree;
    return { ...this.#counts.report(facts), keys: used, idleKeys: this.#tree.idle(), lost: this.#lost?.count ?? 0 };
  }

  statsOf({ reads, writes, heldReaders, heldWriters, counts = new LockCounts() }: LockNode): LockStats {
    const { holdTimes } = this.#options;
    return counts.report({ reads, writes, held: heldReaders + heldWriters, holdTimes });
  }

  /** A request is there from now on. */
  #come(node: LockNode, isWrite: boolean, isPrefix: boolean, claim: Claim | undefined): void {
    if (!node.isUsed) this.#tree.use();
    count(node, isWrite, isPrefix, 1);
    if (claim !== undefined) this.#owners.add(claim);
  }

  /** It is not any more: wakes who waited for that, at the time `now`. */
  #go(request: LockedRequest, now: number): void {
    const { node, claim } = request;
    count(node, request.isWrite, request.isPrefix, -1);
    if (claim !== undefined) this.#owners.delete(claim);
    if (this.#waiting > 0) this.#wake(request, false, now);
    if (!node.isUsed) this.#tree.unuse(node);
  }

  #hold(node: LockNode, isWrite: boolean, isPrefix: boolean, claim: Claim | undefined, since: number): Handle {
    this.#held++;
    countHeld(node, isWrite, 1);
    if (isWrite) {
      this.#writes++;
      node.writes++;
    } else {
      this.#reads++;
      node.reads++;
    }
    const handle = new Handle(this.#calls, node, isWrite, isPrefix, claim, since);
    this.#lost?.held(handle);
    return handle;
  }

  #wake(left: LockedRequest, isDowngrade: boolean, now: number): void {
    this.#wakeTime = now;
    wake(left, isDowngrade, this.#grantNow);
  }

  #grant(waiter: Waiter, now: number): void {
    const { node, isWrite, isPrefix, claim } = waiter;
    // Its signal tells its listeners one by one, and another one has made room: the cancel that comes passes it on.
    if (waiter.signal?.aborted === true) {
      this.#cancelSoon(waiter, waiter.signal);
      return;
    }
    dequeue(waiter);
    this.#waiting--;
    waiter.stop?.();
    const waitMs = now - waiter.since;
    this.#counts.granted(isWrite, waitMs);
    node.counts?.granted(isWrite, waitMs);
    waiter.resolve(this.#hold(node, isWrite, isPrefix, claim, now));
  }

  #release(handle: Handle): void {
    const { node, isWrite, since } = handle;
    const { holdTimes, clock } = this.#options;
    const now = holdTimes || this.#waiting > 0 ? clock.now() : 0;
    this.#held--;
    countHeld(node, isWrite, -1);
    if (holdTimes) {
      this.#counts.released(isWrite, now - since);
      node.counts ??= new LockCounts();
      node.counts.released(isWrite, now - since);
    }
    this.#lost?.released(handle);
    this.#go(handle, now);
  }

  #downgrade(handle: Handle): void {
    const { node, isPrefix } = handle;
    const now = this.#waiting > 0 ? this.#options.clock.now() : 0;
    countHeld(node, true, -1);
    count(node, true, isPrefix, -1);
    countHeld(node, false, 1);
    count(node, false, isPrefix, 1);
    if (this.#waiting > 0) this.#wake(handle, true, now);
  }

  /** Sets what may end the wait, which may be over at once. */
  #bound(waiter: Waiter, timeoutMs: number | undefined): void {
    const { signal } = waiter;
    const stops: (() => void)[] = [];
    waiter.stop = () => {
      for (const stop of stops) stop();
    };
    if (timeoutMs !== undefined) {
      const late = () => this.#cancel(waiter, new LockTimeoutError(ACTION, { lock: waiter.node.key, timeoutMs }));
      stops.push(this.#options.clock.after(timeoutMs, late));
    }
    if (signal !== undefined) stops.push(onAbort(signal, (reason) => this.#cancel(waiter, reason)));
  }

  #cancel(waiter: Waiter, reason: unknown): void {
    if (!waiter.isWaiting) return;
    const now = this.#options.clock.now();
    this.#leaveQueue(waiter);
    this.#go(waiter, now);
    waiter.reject(reason);
  }

  /** None comes from a signal whose other listeners have stopped that, and nobody behind is to wait for it. */
  #cancelSoon(waiter: Waiter, signal: AbortSignal): void {
    queueMicrotask(() => this.#cancel(waiter, signal.reason));
  }

  #leaveQueue(waiter: Waiter): void {
    const { node, isWrite } = waiter;
    dequeue(waiter);
    this.#waiting--;
    waiter.stop?.();
    this.#counts.cancelled(isWrite);
    node.counts?.cancelled(isWrite);
  }
}
