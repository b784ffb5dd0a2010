import type { LeaseId } from './lease.ts';
import type { Key, KeyRange, KeyValue, Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';

export interface GetOptions {
  /** Read as of this revision. @default 0, the newest */
  readonly revision?: Revision;
}

/** What rows are sorted by. `key` is the order of unsigned bytes, `value` that of the encoded bytes. */
export type SortTarget = 'key' | 'version' | 'create' | 'mod' | 'value';
export type SortOrder = 'ascend' | 'descend';

/**
 * Which rows of a range, and how. `count` is taken before these, `limit` after them (store:R9, R10).
 */
export interface RangeSelection {
  /** At most so many rows, an integer; 0 and below is no limit. @default 0 */
  readonly limit?: number;
  /** Rows without values. @default false */
  readonly keysOnly?: boolean;
  /** No rows, only `count`. @default false */
  readonly countOnly?: boolean;
  /** Ties are in ascending key order, whatever `sortOrder` is (store:R8). @default 'key' */
  readonly sortTarget?: SortTarget;
  /** @default 'ascend' */
  readonly sortOrder?: SortOrder;
  /** Leave out rows whose mod revision is below this one, an integer from 0 on; 0 is off (store:R11). @default 0 */
  readonly minModRevision?: Revision;
  /** Leave out those whose mod revision is above. The same range. @default 0 */
  readonly maxModRevision?: Revision;
  /** Leave out those whose create revision is below. The same range. @default 0 */
  readonly minCreateRevision?: Revision;
  /** Leave out those whose create revision is above. The same range. @default 0 */
  readonly maxCreateRevision?: Revision;
}

export type RangeRequest<K extends Key = string> = KeyRange<K> &
  RangeSelection & {
    /** Read as of this revision. @default 0, the newest */
    readonly revision?: Revision;
    /**
     * The `continue` of the page before: goes on behind its last row, at its revision, in the same data. Pages are in
     * ascending key order, so any other order is a TypeError with it.
     */
    readonly continue?: string;
  };

export interface RangeResult<V, K extends Key = string> {
  /** The store's revision when the range was served (store:R6), also when an older revision was read. */
  readonly revision: Revision;
  readonly kvs: readonly KeyValue<V, K>[];
  /** Keys in the range at the revision read, before `limit` and the bounds on revisions (store:R9). */
  readonly count: number;
  /** Whether `limit` cut rows off. */
  readonly more: boolean;
  /** Where the next page starts; only with `more`, and only in ascending key order. */
  readonly continue?: string;
}

/** What a put says about the key's lease (store:R16). Without any of these the key is detached from the one it had. */
export interface LeaseAttachment {
  /** Attach the key to this lease; the last put wins. '0' is none. `LeaseNotFoundError` if there is none of that id. */
  readonly lease?: LeaseId;
  /**
   * Give the key a lease of its own with this TTL, an integer from 1 to 9e12. It goes when the key leaves it, or
   * the last of those put into it by its id; on a replica it stays at the backend until its TTL, without keys. Excludes
   * `lease`.
   */
  readonly ttlMs?: number;
  /**
   * Keep the lease that the key has; `KeyNotFoundError` if the key is missing. Excludes `lease` and `ttlMs` (store:R15).
   * @default false
   */
  readonly ignoreLease?: boolean;
  /**
   * Keep the value that the key has; `KeyNotFoundError` if the key is missing. The value given must be `undefined`
   * (store:R15). @default false
   */
  readonly ignoreValue?: boolean;
}

export interface PutOptions extends SignalOptions, LeaseAttachment {
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
  /** With the option `ttlMs`: the lease that was made for the key. */
  readonly lease?: LeaseId;
}

export interface PutAllResult {
  /** Of the commit. */
  readonly revision: Revision;
  /** If any entry has `ttlMs`: one for each entry, in their order, the lease that was made for its key, or `undefined`. */
  readonly leases?: readonly (LeaseId | undefined)[];
}

/** One key of `putAll`. */
export interface PutEntry<V, K extends Key = string> extends Omit<LeaseAttachment, 'ignoreValue'> {
  readonly key: K;
  readonly value: V;
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
