import type { Lease, LeaseId } from './lease.ts';
import type { Key, KeyValue, Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';
import type { TxnRequest, TxnResult } from './txn.ts';

/**
 * Locks and elections over a store, as etcd's recipes (store:R46, R47, R49): whoever waits has a key below the name, attached to
 * a lease, and the oldest key owns the name.
 *
 * ```text
 *   name "jobs"     jobs/4a1   create revision 7    owner, fencing token 7
 *                   jobs/4b0   create revision 9    waits for 4a1 to go, looks at no other key
 *                   jobs/4a9   create revision 12   waits for 4b0
 * ```
 *
 * Names are text, in stores of bytes too, where their UTF-8 is meant. The part behind the slash is the lease's id in hex, as
 * etcd's own clients write it. Every key below `name/` counts, so a name that is below another one holds that up too.
 *
 * Not promised (store:R51): that nobody else owns the name while `signal` has not aborted. A process that was stopped cannot
 * hear of its loss in time. What must not be done twice is written with the fencing token: `txn`, or `guard`.
 */
export interface StoreCoordination<V, K extends Key> {
  /**
   * Waits until the name is owned, in the order of arrival. The lock has a lease of its own, which renews itself, unless it
   * is given one.
   *
   * @throws the signal's reason, `LockTimeoutError` after `timeoutMs`; `SessionExpiredError` when the lease or the key is lost
   * while it waits, at once; `LockReentryError` for a second lock of one lease on one name; as `grantLease` and `txn` do.
   * Whatever it throws, its key goes again
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<string>();
   * const lock = await store.acquireLock('jobs/1', { ttlMs: 10_000, timeoutMs: 60_000 });
   * await lock.txn({ then: [{ type: 'put', key: 'result/1', value: 'done' }] }); // only while the lock is held
   * await lock.release();
   * ```
   */
  acquireLock(name: string, options?: AcquireLockOptions): Promise<StoreLock<V, K>>;
  /**
   * The lock if nobody has it and nobody waits for it, else `undefined`: that somebody else has it is an answer, no error.
   *
   * @throws as `acquireLock` does
   */
  tryLock(name: string, options?: TryLockOptions): Promise<StoreLock<V, K> | undefined>;
  /**
   * Takes up a lock that another process acquired and wrote down with `toJSON`, if it is held still: its lease renews itself
   * here from now on. Whoever had it must not use it any more; both have the same token, so fencing cannot tell them apart.
   *
   * @throws `LockLostError` if it is not held any more, `LockReentryError` if this store has it, `IdentityChangedError` for a token
   * of other data; TypeError for what is no token; as `txn` does
   */
  resumeLock(token: LockToken, options?: SignalOptions): Promise<StoreLock<V, K>>;
  /**
   * Waits to be elected, and publishes the value as the leader's.
   *
   * @throws as `acquireLock` does, and as `put` does for the value
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<string>();
   * const leadership = await store.campaign('leader', 'host-1');
   * console.log(store.leader('leader')?.value); // host-1
   * await leadership.proclaim('host-1, ready');
   * await leadership.resign();
   * ```
   */
  campaign(name: string, value: V, options?: AcquireLockOptions): Promise<Leadership<V, K>>;
  /**
   * Takes up a leadership that another process was elected to and wrote down with `toJSON`, as `resumeLock` does a lock. Its
   * `value` is what was published last.
   *
   * @throws `NotLeaderError` if it is lost; as `resumeLock` does, and `ValueError` for a value that the codec cannot read
   */
  resumeLeadership(token: LockToken, options?: SignalOptions): Promise<Leadership<V, K>>;
  /** The key and value of the leader, as this store has it now; `undefined` if there is none. @throws as `range` does */
  leader(name: string): KeyValue<V, K> | undefined;
  /**
   * The present leader's key and value, then each new one, and each new value of a leader, in order. A slow reader may miss
   * what was overtaken, never the newest. It ends by `break`, `return()`, or with an error as a watch does.
   *
   * @throws from `next()`: the signal's reason, `IdentityChangedError`, `ClosedError`, `ValueError`
   */
  observe(name: string, options?: SignalOptions): AsyncIterableIterator<KeyValue<V, K>>;
}

export interface TryLockOptions extends SignalOptions {
  /** TTL of the lease that is made for it, in ms, an integer from 1 on. Excludes `lease`. @default 10000 */
  readonly ttlMs?: number;
  /** A lease of this store, by its handle. Releasing the lock leaves it. Excludes `ttlMs`. @default one that is made for it */
  readonly lease?: Lease;
}

export interface AcquireLockOptions extends TryLockOptions {
  /** `LockTimeoutError` after so many ms, an integer from 1 on. @default no limit */
  readonly timeoutMs?: number;
}

/** What locks and leaderships have in common: the ownership of a name. */
export interface Ownership<V, K extends Key> {
  readonly name: string;
  /** The key that stands for it in the store, or the view, that it was acquired through. */
  readonly key: K;
  /**
   * The key's create revision: every later owner of the name has a larger one (store:R47). A store of another kind that is
   * given it with each write, and refuses smaller ones than it has seen, is fenced too.
   */
  readonly fencingToken: Revision;
  readonly lease: Lease;
  /**
   * Aborts when it is lost or given up. The reason is the lease's (`LeaseLostError`, `ClosedError`, `IdentityChangedError`),
   * or `LockLostError` (of a leadership `NotLeaderError`) when the key was deleted, by whomever.
   */
  readonly signal: AbortSignal;
  /**
   * The request as a part of one that runs only if this is owned still (store:R47), for the same store. Its answer's
   * `succeeded` is that of the ownership; what the request itself says is the one response. Nesting uses one compare and one
   * operation of `limits.txnOperations`.
   */
  guard(request: TxnRequest<V, K>): TxnRequest<V, K>;
  /**
   * Runs a request only if this is owned still, and answers as `store.txn` would have.
   *
   * @throws `LockLostError`, of a leadership `NotLeaderError`, and nothing was written; as `store.txn` does
   */
  txn(request: TxnRequest<V, K>, options?: SignalOptions): Promise<TxnResult<V, K>>;
}

/** A lock that is held, until it is released or `signal` aborts. */
export interface StoreLock<V = unknown, K extends Key = string> extends Ownership<V, K>, AsyncDisposable {
  /**
   * Gives the lock up: `signal` aborts, then the key is deleted, with a lease of its own also that. Nothing to do is no error,
   * so it may be called again, also after an error: until it has succeeded the lock may be held for as long as its lease.
   *
   * @throws as `delete` and `revokeLease` do
   */
  release(): Promise<void>;
  /** What another process needs to take it up: see `resumeLock`. Plain data. */
  toJSON(): LockToken;
}

/** A lock or a leadership, written down. (identity, fencing token) is a position in one data set. */
export interface LockToken {
  readonly identity: string;
  readonly name: string;
  readonly leaseId: LeaseId;
  readonly fencingToken: Revision;
  /** Whether the lease was made for this lock and goes with it. */
  readonly ownsLease: boolean;
}

/** Having been elected, until it is resigned or `signal` aborts. */
export interface Leadership<V = unknown, K extends Key = string> extends Ownership<V, K>, AsyncDisposable {
  /** What was published last. */
  readonly value: V;
  /**
   * Publishes another value.
   *
   * @throws `NotLeaderError`, and nothing was written; as `put` does
   */
  proclaim(value: V, options?: SignalOptions): Promise<void>;
  /** Gives the leadership up, as `release` does a lock. */
  resign(): Promise<void>;
  /** What another process needs to take it up: see `resumeLeadership`. Plain data. */
  toJSON(): LockToken;
}
