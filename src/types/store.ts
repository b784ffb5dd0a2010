import type { WatchBatch, WatchEvent } from './event.ts';
import type { Key, KeyRange, KeyValue, Revision } from './revision.ts';

/**
 * Options of everything that can be cancelled. The call rejects with the signal's reason as it is, not wrapped.
 *
 * A signal that has aborted before the start means: no effect at all. One that aborts while a write of a replica is under
 * way says nothing about the write: it may be committed (as with `BackendError.maybeCommitted`), so read, then decide.
 * Once the answer is there and only its application is waited for, the rejection is a `NotAppliedError`, which says so.
 */
export interface SignalOptions {
  readonly signal?: AbortSignal;
}

/**
 * A revisioned, watchable key-value store: the embedded one, or a replica of a backend. Both keep the same contract.
 *
 * Reads are local and synchronous and see one snapshot, that of `revision`. Writes resolve once they are visible here.
 *
 * Every member but `epoch`, `identity` and `close` throws `ClosedError` after `close()`. On a replica that is broken for
 * good, every member but these and `stats` throws what broke it. Reads of a replica throw `NotReadyError` before its first list, and `NotCachedError` outside its prefixes. Everything
 * that is given a key or a range throws TypeError for what is none, `InvalidKeyError` for an empty key, and
 * `LimitExceededError` for one above 65535 bytes. Options with an unknown name are a TypeError that names it.
 */
export interface Store<V = unknown, K extends Key = string> {
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
   * The newest state of a key, or the state at `revision`; `undefined` if it did not exist then.
   *
   * @throws `CompactedError`, `FutureRevisionError`, `ValueError` with the key for a value that the codec cannot read
   */
  get(key: K, options?: GetOptions): KeyValue<V, K> | undefined;
  /**
   * Keys of a range in unsigned byte order.
   *
   * @throws `CompactedError`, `FutureRevisionError`, `ValueError` as `get` does; RangeError for a `continue` of another
   * range, `IdentityChangedError` for one of other data
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
   * writes a key twice, `LimitExceededError` above 128 compares or operations of a branch
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
   * Changes of a range from a revision on, in order, without gap. See {@link WatchOptions}.
   *
   * @throws TypeError and RangeError for options that contradict, RangeError for an empty range. What ends a watch, a
   * start that is too old included, is thrown by its `next()`: see {@link Watch}
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
   * @throws `CompactedError` at or below `compactRevision`, `FutureRevisionError`, RangeError for what is no revision;
   * TypeError from inside a codec; a replica also what the backend throws
   */
  compact(revision: Revision, options?: SignalOptions): Promise<CompactResult>;
  /** Works also on a replica that is not ready or broken for good. */
  stats(): StoreStats;
  /** Ends every watch and wait with `ClosedError`. Never rejects; may be called again. The backend stays open. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface GetOptions {
  /** Read as of this revision. @default 0, the newest */
  readonly revision?: Revision;
}

export type RangeRequest<K extends Key = string> = KeyRange<K> & {
  /** Read as of this revision. @default 0, the newest */
  readonly revision?: Revision;
  /** At most so many rows; 0 is no limit. @default 0 */
  readonly limit?: number;
  /** Rows without values. @default false */
  readonly keysOnly?: boolean;
  /** No rows, only `count`. @default false */
  readonly countOnly?: boolean;
  /** The `continue` of the page before: goes on behind its last row, at its revision, in the same data. */
  readonly continue?: string;
};

export interface RangeResult<V, K extends Key = string> {
  /** The store's revision when the range was served (store:R6), also when an older revision was read. */
  readonly revision: Revision;
  readonly kvs: readonly KeyValue<V, K>[];
  /** Keys in the range at the revision read, before `limit` (store:R9). */
  readonly count: number;
  /** Whether `limit` cut rows off. */
  readonly more: boolean;
  /** Where the next page starts; only with `more`. */
  readonly continue?: string;
}

export interface PutOptions extends SignalOptions {
  /** Write only if the key's mod revision is this one; 0 for "must not exist". Else `ConflictError`. */
  readonly expect?: { readonly modRevision: Revision };
  /** Return the state before. @default false */
  readonly prevKv?: boolean;
}

export interface PutResult<V, K extends Key = string> {
  /** Of the commit. */
  readonly revision: Revision;
  /** With the option `prevKv`: the state before; absent if the key was. */
  readonly prevKv?: KeyValue<V, K>;
}

export interface DeleteOptions extends SignalOptions {
  /** Only with a single key. */
  readonly expect?: { readonly modRevision: Revision };
  /** Return the states before. @default false */
  readonly prevKv?: boolean;
}

export interface DeleteResult<V, K extends Key = string> {
  /** Of the commit, or the present one if nothing was hit. */
  readonly revision: Revision;
  /** How many keys were hit. */
  readonly deleted: number;
  /** With the option `prevKv`: what they were, in key order. */
  readonly prevKvs?: readonly KeyValue<V, K>[];
}

/** One condition. A missing key counts as 0 for the numbers; its value satisfies nothing, not even `!=` (store:R17). */
export type Compare<V, K extends Key = string> =
  | { readonly key: K; readonly target: 'value'; readonly result: CompareResult; readonly value: V }
  | {
      readonly key: K;
      readonly target: 'create' | 'mod' | 'version';
      readonly result: CompareResult;
      readonly value: number;
    }
  | { readonly key: K; readonly target: 'lease'; readonly result: CompareResult; readonly value: string };

export type CompareResult = '=' | '!=' | '<' | '>';

export type Operation<V, K extends Key = string> =
  | { readonly type: 'put'; readonly key: K; readonly value: V; readonly prevKv?: boolean }
  | ({ readonly type: 'delete'; readonly prevKv?: boolean } & KeyRange<K>)
  | ({
      readonly type: 'range';
      readonly limit?: number;
      readonly keysOnly?: boolean;
      readonly countOnly?: boolean;
    } & KeyRange<K>);

/** All compares must hold for `then`, otherwise `else` runs; either branch is one commit at one revision (store:R2, R19). */
export interface TxnRequest<V, K extends Key = string> {
  readonly compare?: readonly Compare<V, K>[];
  readonly then?: readonly Operation<V, K>[];
  readonly else?: readonly Operation<V, K>[];
}

export type OperationResult<V, K extends Key = string> =
  | { readonly type: 'put'; readonly prevKv?: KeyValue<V, K> }
  | { readonly type: 'delete'; readonly deleted: number; readonly prevKvs?: readonly KeyValue<V, K>[] }
  | {
      readonly type: 'range';
      readonly kvs: readonly KeyValue<V, K>[];
      readonly count: number;
      readonly more: boolean;
    };

export interface TxnResult<V, K extends Key = string> {
  /** Of the commit, or the present one if the branch wrote nothing. */
  readonly revision: Revision;
  /** Whether all compares held, so that `then` ran and not `else`. */
  readonly succeeded: boolean;
  /** One for each operation of the branch that ran, in its order. */
  readonly responses: readonly OperationResult<V, K>[];
}

/** Which events a watch leaves out. */
export type WatchFilter = 'noput' | 'nodelete';

export interface WatchOptions extends SignalOptions {
  /**
   * First revision to deliver, inclusive; 0 is "what comes after this call"; a future one waits (store:R27).
   * Below the window: `CompactedError` with the smallest legal start. @default 0
   */
  readonly fromRevision?: Revision;
  /** Only together with `fromRevision`: the identity that revision belongs to; another one is `IdentityChangedError`. */
  readonly identity?: string;
  /**
   * First one batch with the present state (also when empty, and whatever `filter` says: it holds for what follows),
   * then changes, without a gap. Excludes `fromRevision`. @default false
   */
  readonly initial?: boolean;
  /** Events carry the state just before. @default false */
  readonly prevKv?: boolean;
  /** Leave out these events; batches without an event left are not delivered (store:R32). @default none */
  readonly filter?: WatchFilter;
  /**
   * What happens to a consumer that is more than `lagEventsMax` log entries behind (M14): `lag` keeps replaying until
   * compaction passes it; `coalesce` gets the difference to the newest state as one span; `close` ends with
   * `SlowWatcherError`. @default 'lag'
   */
  readonly onSlow?: 'lag' | 'coalesce' | 'close';
  /** Bound for `coalesce` and `close`, in log entries. @default 1000 */
  readonly lagEventsMax?: number;
}

/**
 * The stream of a watch: single consumer, no queue of its own. `break` and `return()` end it quietly; an aborted
 * signal makes `next()` reject with the signal's reason; compaction with `CompactedError`, once; a replaced data set
 * with `IdentityChangedError`; closing the store with `ClosedError`.
 */
export interface Watch<V, K extends Key = string> extends AsyncIterableIterator<WatchBatch<V, K>> {
  next(): Promise<IteratorResult<WatchBatch<V, K>, undefined>>;
  return(): Promise<IteratorResult<WatchBatch<V, K>, undefined>>;
  /** Everything up to here was delivered to the consumer (M30). */
  readonly progressRevision: Revision;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CompactResult {
  /** What was asked for. */
  readonly requested: Revision;
  /** Where the low watermark is now: higher if the request fell into a hole. */
  readonly compactRevision: Revision;
}

/** Figures of the moment; cheap enough to ask often. Bytes are the core's linear memory, values not included. */
export interface StoreStats {
  readonly keys: number;
  readonly logEntries: number;
  readonly storedVersions: number;
  readonly watchers: { readonly idle: number; readonly pending: number };
  readonly memoryBytes: number;
  /** Replica only: broken backend promises met (M6), relists, and connections so far. */
  readonly replica?: { readonly violations: number; readonly relists: number; readonly connections: number };
}

export type { KeyRange, KeyValue, WatchBatch, WatchEvent };
