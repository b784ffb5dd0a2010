import type { Codec } from './codec.ts';
import type { StoreCoordination } from './coordination.ts';
import type {
  GrantLeaseOptions,
  KeepAliveResult,
  Lease,
  LeaseId,
  LeaseStatus,
  ResumeLeaseOptions,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from './lease.ts';
import type { Pin, PinOptions } from './pin.ts';
import type {
  DeleteOptions,
  DeleteResult,
  GetOptions,
  PutAllResult,
  PutEntry,
  PutOptions,
  PutResult,
  RangeRequest,
  RangeResult,
} from './requests.ts';
import type { Key, KeyRange, KeyValue, Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';
import type { TxnRequest, TxnResult } from './txn.ts';
import type { UpdateOptions, UpdateResult, UpdateTxn } from './update.ts';
import type { Watch, WatchOptions } from './watch.ts';

/**
 * A revisioned, watchable key-value store: the embedded one, or a replica of a backend. Both keep the same contract.
 *
 * Reads are local and synchronous and see one snapshot, that of `revision`. Writes resolve once they are visible here.
 *
 * Every member but `epoch`, `identity` and `close` throws `ClosedError` after `close()`. On a replica that is broken for
 * good, every member but these and `stats` throws what broke it. Reads of a replica throw `NotReadyError` before its first
 * list, and `NotCachedError` outside its prefixes. Everything that is given a key or a range throws TypeError for what is
 * none, `InvalidKeyError` for an empty key, and `LimitExceededError` for one above `limits.keyBytes` (65535). Options with
 * an unknown name are a TypeError that names it.
 */
export interface Store<V = unknown, K extends Key = string> extends StoreCoordination<V, K> {
  /** The high watermark: every change up to and including it is in the snapshot. */
  readonly revision: Revision;
  /** The low watermark: the oldest readable revision; 0 before the first compaction of an embedded store. */
  readonly compactRevision: Revision;
  /** Rises by one whenever the data behind the store was replaced (M24); 1 at first. */
  readonly epoch: number;
  /** Names the data set; (identity, revision) is a position. */
  readonly identity: string;
  /**
   * Resolves once reads are answered. There is no time limit but the signal's: a replica tries for ever.
   *
   * @throws `BackendError` that is permanent, `ClosedError`, the signal's reason
   */
  ready(options?: SignalOptions): Promise<void>;

  /**
   * A barrier: resolves once everything that had been committed before the call is visible here. On a replica it asks the
   * backend where it is, and waits until that is applied (M19); `sync()`, then a read, is as good as a read of the backend. On an
   * embedded store it is always so. Resolves with the revision that was waited for; where a list or an answer that nothing
   * has changed went past it, that can be neither read at nor started from: `store.revision` can.
   *
   * @throws `BackendError` when the backend could not be asked, `IdentityChangedError` when its data were replaced meanwhile,
   * `ClosedError`, the signal's reason
   * @example
   * ```ts
   * import { type Backend, openStore } from 'plimsoll';
   *
   * async function readNewest(backend: Backend, key: string) {
   *   const store = await openStore<string>({ backend });
   *   await store.sync({ signal: AbortSignal.timeout(5_000) });
   *   return store.get(key)?.value;
   * }
   * ```
   */
  sync(options?: SignalOptions): Promise<Revision>;

  /**
   * The newest state of a key, or the state at `revision`; `undefined` if it did not exist then.
   *
   * @throws `CompactedError`, `FutureRevisionError`, `ValueError` with the key for a value that the codec cannot read;
   * TypeError and RangeError for a `revision` that is no safe integer
   */
  get(key: K, options?: GetOptions): KeyValue<V, K> | undefined;
  /**
   * Keys of a range in unsigned byte order.
   *
   * @throws `CompactedError`, `FutureRevisionError`, `ValueError` as `get` does; TypeError and RangeError for options that
   * cannot be; RangeError for a `continue` whose place is not in the range, `IdentityChangedError` for one of other data
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<number>();
   * await store.put('jobs/1', 10);
   * let page = store.range({ prefix: 'jobs/', limit: 100 });
   * for (const { key, value } of page.kvs) console.log(key, value);
   * while (page.continue !== undefined) page = store.range({ prefix: 'jobs/', limit: 100, continue: page.continue });
   * ```
   */
  range(request: RangeRequest<K>): RangeResult<V, K>;

  /**
   * Writes one key, as a commit of its own.
   *
   * @throws `ConflictError` when `expect` does not hold, `ValueError` and what the codec throws, `StoreFullError`;
   * TypeError from inside a codec or another write. A replica: `BackendError`, `NotAppliedError`, `IdentityChangedError`,
   * `UnsupportedError` in front of a backend that can only be read
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<number>();
   * const { revision } = await store.put('counter', 1, { expect: { modRevision: 0 } }); // only if it is not there
   * await store.put('counter', 2, { expect: { modRevision: revision } }); // only if nobody wrote it since
   * ```
   */
  put(key: K, value: V, options?: PutOptions): Promise<PutResult<V, K>>;
  /** With `ignoreValue`: the key keeps the value it has. */
  put(key: K, value: undefined, options: PutOptions & { readonly ignoreValue: true }): Promise<PutResult<V, K>>;
  /**
   * Writes several keys as one commit, in their order. No entry at all uses no revision. Bounded by `limits.txnBytes` alone,
   * not by the number of operations of a transaction.
   *
   * @throws as `put` does; `DuplicateKeyError` for a key that is there twice
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<number>();
   * const { revision } = await store.putAll([{ key: 'a', value: 1 }, { key: 'b', value: 2 }]);
   * console.log(store.get('b')?.modRevision === revision); // true
   * ```
   */
  putAll(entries: readonly PutEntry<V, K>[], options?: SignalOptions): Promise<PutAllResult>;
  /**
   * Deletes one key or a range, as one commit. A delete that hits nothing uses no revision (store:R4).
   *
   * @throws as `put` does; TypeError for an `expect` on more than a single key
   */
  delete(range: K | KeyRange<K>, options?: DeleteOptions): Promise<DeleteResult<V, K>>;
  /**
   * Compares, then runs one of two branches, as one commit. See {@link TxnRequest}.
   *
   * @throws as `put` does, but that a compare which does not hold is no error; `DuplicateKeyError` for a branch that
   * writes a key twice, `LimitExceededError` above `limits.txnOperations` (128) compares or operations of a branch;
   * `CompactedError` and `FutureRevisionError` for a range at a revision that cannot be read
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<string>();
   * const { succeeded } = await store.txn({
   *   compare: [{ key: 'leader', target: 'create', result: '=', value: 0 }],
   *   then: [{ type: 'put', key: 'leader', value: 'me' }],
   *   else: [{ type: 'range', key: 'leader' }],
   * });
   * console.log(succeeded); // true
   * ```
   */
  txn(request: TxnRequest<V, K>, options?: SignalOptions): Promise<TxnResult<V, K>>;

  /**
   * Runs `fn`, then commits what it wrote if nothing it depends on has changed since; otherwise runs it again (store:R50).
   * `fn` may be async and must not have effects of its own, since it may run often. It may write up to
   * `limits.txnOperations` (128) keys, and depend on as many: those it read and, if it read any, with the default isolation
   * those it only wrote too.
   *
   * @throws what `fn` throws, then nothing was written; `ConflictError` when the retries are used up, `CompactedError` if
   * each time compaction took the snapshot; as `txn` does, so
   * `LimitExceededError` for more keys
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<number>();
   * const { value } = await store.update((txn) => {
   *   const next = (txn.get('counter') ?? 0) + 1;
   *   txn.put('counter', next);
   *   return next;
   * });
   * console.log(value); // 1
   * ```
   */
  update<R>(fn: (txn: UpdateTxn<V, K>) => R | PromiseLike<R>, options?: UpdateOptions): Promise<UpdateResult<R>>;

  /**
   * Changes of a range from a revision on, in order, without gap. See {@link WatchOptions}.
   *
   * @throws TypeError and RangeError for options that contradict, RangeError for a range whose start is not below its end,
   * `LimitExceededError` above `limits.watches`. What ends a watch, a start that is too old included, is thrown by its
   * `next()`: see {@link Watch}
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<string>();
   * await store.put('jobs/1', 'queued');
   * for await (const { revision, events } of store.watch({ prefix: 'jobs/' }, { initial: true })) {
   *   for (const { type, kv } of events) console.log(revision, type, kv.key); // 2 put jobs/1
   *   break;
   * }
   * ```
   */
  watch(range: KeyRange<K>, options?: WatchOptions): Watch<V, K>;

  /**
   * Drops history below `revision`: reads and watches may start at `revision` and above from then on (store:R22). A
   * replica waits until it has that revision, then compacts its backend too (M17).
   *
   * @throws `CompactedError` at or below `compactRevision`, `FutureRevisionError`, TypeError and RangeError for what is no
   * revision; TypeError from inside a codec; a replica also what the backend throws, and `NotAppliedError` when the backend is
   * compacted and the wait for the own window was cut short
   */
  compact(revision: Revision, options?: SignalOptions): Promise<CompactResult>;
  /**
   * Keeps every revision from `revision` on readable until it is released or broken (M16, M18).
   *
   * @throws `CompactedError`, `FutureRevisionError`, TypeError and RangeError; `LimitExceededError` above `limits.pins`
   */
  pin(revision: Revision, options: PinOptions): Pin;

  /**
   * Grants a lease (store:R39). On a replica all five calls about leases are its backend's: they throw `UnsupportedError`
   * in front of one that has no leases, else `BackendError`, and `IdentityChangedError` when the data are replaced meanwhile.
   *
   * @throws `LeaseExistsError` for an id in use; `LimitExceededError` for a TTL above 9e12 ms and above `limits.leases`;
   * TypeError and RangeError for what is no TTL or no id; a replica: see above
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   *
   * const store = await openStore<string>();
   * const lease = await store.grantLease({ ttlMs: 10_000 });
   * await store.put('workers/1', 'here', { lease: lease.id });
   * await lease.revoke();
   * console.log(store.get('workers/1')); // undefined
   * ```
   */
  grantLease(options: GrantLeaseOptions & SignalOptions): Promise<Lease>;
  /**
   * A handle of a lease that was granted elsewhere; the lease has its whole TTL again. Of who has a handle of it here, it is
   * the same one.
   *
   * @throws as `keepAliveLease` does
   */
  resumeLease(id: LeaseId, options?: ResumeLeaseOptions & SignalOptions): Promise<Lease>;
  /**
   * Deletes the keys of a lease, as one commit, and forgets it (store:R41). A replica waits until it has that commit.
   *
   * @throws `LeaseNotFoundError` for one that is gone; TypeError and RangeError for what is no id; `StoreFullError` when the
   * deletes do not fit, and the lease is there as before; a replica: as `grantLease`, and `NotAppliedError`
   */
  revokeLease(id: LeaseId, options?: SignalOptions): Promise<RevokeLeaseResult>;
  /**
   * The lease has its whole TTL again (store:R40).
   *
   * @throws `LeaseNotFoundError` for one that is gone; TypeError and RangeError for what is no id; a replica: as `grantLease`
   */
  keepAliveLease(id: LeaseId, options?: SignalOptions): Promise<KeepAliveResult>;
  /**
   * What is left of a lease; `undefined` for one that is not there.
   *
   * @throws TypeError and RangeError for what is no id; a replica: as `grantLease`
   */
  leaseTimeToLive(id: LeaseId, options?: TimeToLiveOptions & SignalOptions): Promise<LeaseStatus | undefined>;
  /**
   * Ids of all leases, ascending as numbers.
   *
   * @throws a replica: as `grantLease`
   */
  leases(options?: SignalOptions): Promise<readonly LeaseId[]>;

  /**
   * The part of this store below a prefix, as a store of its own: keys are given and returned without the prefix, values
   * may have another codec. The empty key, which a view takes, is the prefix itself. Of the whole store are revisions,
   * `compact`, `stats`, leases and pins; so `limits.keyBytes` bounds the whole key, and `leaseTimeToLive` with `keys` lists
   * whole keys. `close` ends the watches and updates of this view, which refuses every call from then on, and leaves the store
   * and views of the view open.
   *
   * @throws TypeError for what is no prefix, `LimitExceededError` for one above `limits.keyBytes`
   * @example
   * ```ts
   * import { jsonCodec, openStore } from 'plimsoll';
   *
   * const store = await openStore<unknown>();
   * const jobs = store.prefix('jobs/', { codec: jsonCodec<{ state: string }>() });
   * await jobs.put('1', { state: 'queued' });
   * console.log(jobs.get('1')?.value.state); // queued
   * ```
   */
  prefix<W = V>(prefix: K, options?: PrefixOptions<W>): Store<W, K>;

  /**
   * The whole store as bytes: state, readable history, leases with what is left of them. `openStore({ snapshot })` makes a
   * store of it, on any runtime.
   *
   * @throws `UnsupportedError` on a replica and on a view of a prefix; `ValueError` for a value that has no bytes
   * (`values: 'trusted'`); `StoreFullError` when the end of a lease needed the memory that this one held; `ClosedError` also
   * when the store is closed meanwhile; the signal's reason
   */
  createSnapshot(options?: SignalOptions): Promise<Uint8Array>;

  /** Works also on a replica that is not ready or broken for good. */
  stats(): StoreStats;
  /** Ends every watch and wait with `ClosedError`. Never rejects; may be called again. The backend stays open. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface PrefixOptions<W> {
  /** Values of this part of the store, whatever the store's own codec is. @default the store's */
  readonly codec?: Codec<W>;
}

export interface CompactResult {
  /** What was asked for. */
  readonly requested: Revision;
  /** Where the low watermark is now: higher if the request fell into a hole, lower while a pin holds it back (M16). */
  readonly compactRevision: Revision;
}

/**
 * Figures of the moment, of the whole store; cheap enough to ask often. On a replica they are those of its copy, not of its
 * backend.
 */
export interface StoreStats {
  /** Keys that are there at the newest revision. */
  readonly keys: number;
  /**
   * Entries of the log, one for each key that a commit changed; what compaction has yet to give back counts.
   * `retention.events` bounds those of `compactRevision` and above.
   */
  readonly logEntries: number;
  /** Versions of keys that are stored, tombstones too: live keys and their history. Compaction brings it down in slices. */
  readonly storedVersions: number;
  /** Open watches. `pending`: there is something that they have not delivered yet; `idle`: the rest (M26). */
  readonly watchers: { readonly idle: number; readonly pending: number };
  /**
   * Size of the core's linear memory in bytes: keys, versions, log and index, not the values. What is free in it
   * counts. `memoryBytesMax` bounds it.
   */
  readonly memoryBytes: number;
  /** Bytes of the retained values, as encoded, history included; there only with `limits.storeBytes`, which bounds them. */
  readonly valueBytes?: number;
  /** Leases that there are. On a replica: handles that it granted and that are not known to be gone. */
  readonly leases: number;
  /**
   * Who holds history back, oldest revision first. `bytes` are those of the values, as encoded, that commits after the pin's
   * revision wrote: what its own option `bytes` bounds. They are no part of `memoryBytes`.
   */
  readonly pins: readonly { readonly owner: string; readonly revision: Revision; readonly bytes: number }[];
  /**
   * Replica only, so far: broken backend promises met (M6), relists, connections, and of `consistencyCheckMs` (M44) the checks
   * that came to their end and those that found a difference. A difference counts as a violation too.
   */
  readonly replica?: {
    readonly violations: number;
    readonly relists: number;
    readonly connections: number;
    readonly checks: number;
    readonly inconsistencies: number;
  };
}
