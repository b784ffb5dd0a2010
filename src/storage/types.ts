import type { Backend } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import type { Codec } from '../types/codec.ts';
import type { Revision } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';

/** What a storage reads and writes of an object; the rest is the caller's affair. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Set on everything that is read, never stored; not on an object to be created. */
  readonly resourceVersion?: string;
  readonly labels?: { readonly [name: string]: string };
  readonly annotations?: { readonly [name: string]: string };
}

/**
 * How the state that is read relates to `resourceVersion`: at least as new, or exactly that one.
 */
export type ResourceVersionMatch = 'NotOlderThan' | 'Exact';

/** Options of `createStorage`. */
export interface StorageOptions<O extends KubernetesObject = KubernetesObject> {
  /** In front of every key, as whole segments: `/registry`. @default '', the whole store */
  readonly prefix?: string;
  /**
   * The backend that `store` is a replica of. It is asked for what the local window cannot answer: a list at a revision
   * that is only there, a limited list before the replica is ready (K27). @default none: such a list is `ExpiredError`, or waits
   */
  readonly backend?: Backend;
  /** How the values of `backend` are read: that of the store. @default jsonCodec() */
  readonly codec?: Codec<O>;
  /** How long to wait for a state that is new enough, in ms from 1 (K03). @default 3000 */
  readonly waitMs?: number;
  /** Reads that may wait at a time; above, `TooManyRequestsError`. An integer from 1. @default 1000 */
  readonly waitersMax?: number;
  /** Open watches; above, `TooManyRequestsError`. An integer from 1. @default 10000 */
  readonly watchesMax?: number;
  /**
   * Revisions that are pinned for lists in pages at a time; above, the one used longest ago is let go, so that its next
   * page may be `ExpiredError`. 0 pins none. @default 100
   */
  readonly pinsMax?: number;
  /** How long a page keeps the revision of the next one readable, in ms from 1. @default 60000 */
  readonly pinMs?: number;
  /** How often a watch that allows bookmarks gets one, in ms from 100 (K21). @default 60000 */
  readonly bookmarkMs?: number;
  /** How often an update or a delete tries, an integer from 1; then `UpdateConflictError`. @default 100 */
  readonly attemptsMax?: number;
  /** That of the store. @default the platform's */
  readonly clock?: Clock;
}

export interface GetOptions extends SignalOptions {
  /**
   * '' or left out: consistent, as new as anything that was completed before the call. '0': whatever is here. Another: at
   * least that one. @default ''
   */
  readonly resourceVersion?: string;
}

export interface ListOptions<O> extends SignalOptions {
  /**
   * '' or left out: consistent. '0': whatever is here, at once. Another: see `resourceVersionMatch`; excludes `continue`,
   * beside which '0' counts for nothing. @default ''
   */
  readonly resourceVersion?: string;
  /**
   * What `resourceVersion` means. Left out, it is `NotOlderThan`, but with a `limit` `Exact`, unless it is '0' (K06).
   */
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** What is below the key, instead of the one object of this key (K13). @default false */
  readonly recursive?: boolean;
  /** Which objects count. It gets them as they are read. Must not change them, and must not be async. @default all */
  readonly predicate?: (object: O) => boolean;
  /** At most so many items, an integer; 0 is no limit. @default 0 */
  readonly limit?: number;
  /** The `continue` of the page before. Only with `recursive`. */
  readonly continue?: string;
}

/** Items of one state, that of `metadata.resourceVersion`. Frozen. */
export interface ObjectList<O> {
  readonly metadata: {
    readonly resourceVersion: string;
    /** There if there may be more (K11). The next page is one of the same state (K09). */
    readonly continue?: string;
    /** How many items are left; only with `continue`, and only without a predicate (K08). */
    readonly remainingItemCount?: number;
  };
  readonly items: readonly O[];
}

export interface StorageWatchOptions<O> extends SignalOptions {
  /**
   * A position: what came after it. '' and '0' are the state that is here, as ADDED, then what comes after (K14, K15);
   * unless `sendInitialEvents` says otherwise. @default ''
   */
  readonly resourceVersion?: string;
  /** May be `NotOlderThan`, which is what it means anyway. */
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** What is below the key, instead of the one object of this key. @default false */
  readonly recursive?: boolean;
  /** As for `list`; objects that begin or cease to match are ADDED and DELETED (K20). */
  readonly predicate?: (object: O) => boolean;
  /** Deliver BOOKMARK events (K21). @default false */
  readonly allowWatchBookmarks?: boolean;
  /**
   * `true`: first all that is there, at a state not older than `resourceVersion` ('' is consistent), then, with bookmarks, one
   * that is annotated as the end of it (K16). `false`: no state, only what comes after (K17). @default as Kubernetes did before it had this
   */
  readonly sendInitialEvents?: boolean;
  /** The watch ends quietly after so many ms, from 1; a bookmark comes just before (K21). @default never */
  readonly timeoutMs?: number;
}

/** One change of one object. Frozen. */
export type StorageWatchEvent<O> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: O }
  | { readonly type: 'BOOKMARK'; readonly object: Bookmark };

/** Nothing but a position: everything up to it was delivered. */
export interface Bookmark {
  readonly metadata: {
    readonly resourceVersion: string;
    /** Of the one that ends the initial events: `{ 'k8s.io/initial-events-end': 'true' }`. */
    readonly annotations?: { readonly [name: string]: string };
  };
}

/**
 * The stream of a watch: one consumer. Errors come from `next()`: `ExpiredError` when its position is gone,
 * `ResourceVersionTooLargeError`, `TooManyRequestsError`, the signal's reason, `ClosedError`, what the predicate threw.
 */
export interface StorageWatch<O> extends AsyncIterableIterator<StorageWatchEvent<O>> {
  next(): Promise<IteratorResult<StorageWatchEvent<O>, undefined>>;
  /**
   * Nothing that is committed from now on; what was before can still be read, then the watch is done (K22). An initial state that
   * was not read yet is the newest one all the same.
   */
  stop(): void;
  /** Ends the watch at once. */
  return(): Promise<IteratorResult<StorageWatchEvent<O>, undefined>>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What an object must be for a write to happen. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface CreateOptions extends SignalOptions {
  /** The object is deleted after so many ms, from 1. @default never */
  readonly ttlMs?: number;
}

export interface DeleteObjectOptions<O> extends SignalOptions {
  readonly preconditions?: Preconditions;
  /** Refuses by throwing; may be async. Called again for each state that is tried. @default all may go */
  readonly validateDeletion?: (object: O) => void | PromiseLike<void>;
  /** What the caller believes to be the state: tried first, without a read (K25). Must have a `resourceVersion`. */
  readonly cachedExistingObject?: O;
}

export interface GuaranteedUpdateOptions<O> extends SignalOptions {
  /** Make it if it is not there: `tryUpdate` gets `undefined` then. @default false: `ObjectNotFoundError` */
  readonly ignoreNotFound?: boolean;
  readonly preconditions?: Preconditions;
  /** What the caller believes to be the state: tried first, without a read (K24). Must have a `resourceVersion`. */
  readonly cachedExistingObject?: O;
  /** The object is deleted after so many ms, from 1, if it is written. @default never, whatever was before */
  readonly ttlMs?: number;
}

export interface StorageStats {
  readonly watches: number;
  readonly waiters: number;
  /** Revisions that are pinned for lists in pages. */
  readonly pins: number;
}

/**
 * Objects by key over a store, in the words of Kubernetes' `storage.Interface`. Keys are paths: `/pods/ns1/web`.
 * Rules K01 and following ([docs/spec/storage.md](../../docs/spec/storage.md)).
 *
 * Every call rejects with `BadRequestError` for a key that is no path, and with TypeError or RangeError for options that
 * cannot be; after `close()` with `ClosedError`.
 */
export interface Storage<O extends KubernetesObject = KubernetesObject> {
  /**
   * @throws `ObjectNotFoundError`, `ResourceVersionTooLargeError`, `TooManyRequestsError`, `BadRequestError`, `ValueError` for a
   * value that is no object, `BackendError`, the signal's reason
   */
  get(key: string, options?: GetOptions): Promise<O>;
  /**
   * @throws as `get` does, but that nothing there is an empty list; `ExpiredError`
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   * import { createStorage, type KubernetesObject } from 'plimsoll/kubernetes';
   *
   * const storage = createStorage(await openStore<KubernetesObject>(), { prefix: '/registry' });
   * await storage.create('/pods/ns1/web', { metadata: { name: 'web', namespace: 'ns1' } });
   * let page = await storage.list('/pods', { recursive: true, limit: 500 });
   * while (page.metadata.continue !== undefined) {
   *   page = await storage.list('/pods', { recursive: true, limit: 500, continue: page.metadata.continue });
   * }
   * ```
   */
  list(key: string, options?: ListOptions<O>): Promise<ObjectList<O>>;
  /**
   * Changes of one object, or of what is below a key. What is wrong with the options throws here, the rest at `next()`.
   *
   * @throws `BadRequestError`, `TooManyRequestsError` above `watchesMax`
   */
  watch(key: string, options?: StorageWatchOptions<O>): StorageWatch<O>;
  /**
   * Resolves with the object as it is stored now, its `resourceVersion` set.
   *
   * @throws `KeyExistsError`, `BadRequestError` for an object with a `resourceVersion`, and as `Store.put`
   */
  create(key: string, object: O, options?: CreateOptions): Promise<O>;
  /**
   * Resolves with the last state, its `resourceVersion` that of the deletion (K19).
   *
   * @throws `ObjectNotFoundError`, `PreconditionError`, `UpdateConflictError`, what `validateDeletion` throws, and as `Store.delete`
   */
  delete(key: string, options?: DeleteObjectOptions<O>): Promise<O>;
  /**
   * Reads, calls `tryUpdate`, writes what it returns if nobody has written meanwhile; else again. What it returns must be
   * another object than it was given, which is frozen; its `resourceVersion` counts for nothing. No difference is no write (K24).
   *
   * @throws `ObjectNotFoundError`, `PreconditionError`, `UpdateConflictError`, what `tryUpdate` throws, and as `Store.put`
   * @example
   * ```ts
   * import { openStore } from 'plimsoll';
   * import { createStorage } from 'plimsoll/kubernetes';
   *
   * const storage = createStorage(await openStore<{ metadata: { name: string }; replicas: number }>());
   * await storage.create('/apps/web', { metadata: { name: 'web' }, replicas: 1 });
   * const scaled = await storage.guaranteedUpdate('/apps/web', (app) => ({ ...app!, replicas: 3 }));
   * console.log(scaled.replicas); // 3
   * ```
   */
  guaranteedUpdate(
    key: string,
    tryUpdate: (object: O | undefined) => O | PromiseLike<O>,
    options?: GuaranteedUpdateOptions<O>,
  ): Promise<O>;
  /** That of the newest state, as a consistent read would have it. */
  getCurrentResourceVersion(options?: SignalOptions): Promise<string>;
  /** The oldest revision that can be read here. */
  readonly compactRevision: Revision;
  stats(): StorageStats;
  /** Ends every watch and wait with `ClosedError`, lets go of every pin. The store stays open. May be called again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
