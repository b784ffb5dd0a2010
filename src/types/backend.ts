import type { LeaseId } from './lease.ts';
import type { RangeSelection } from './requests.ts';
import type { Revision } from './revision.ts';

/**
 * The contract between the list manager and what stands behind it. **Experimental**: it may change before 1.0.
 * Promises B1-B12 are those of `docs/spec/list-manager.md`; a backend that breaks one is found out
 * (violations are counted and repaired) but can make reads older than they need be. `testBackend` of `plimsoll/testing`
 * checks all of it (`docs/backends.md`).
 *
 * Keys and values are bytes here; codecs and key text are the replica's affair. Requests are only read, answers are the
 * caller's. Every call takes a `signal`: aborted before the call means no effect, and the rejection is its reason.
 */
export interface Backend {
  readonly capabilities: BackendCapabilities;
  /** All ranges at ONE revision (the newest, or `revision`), keys ascending. Linearizable (B2). */
  range(request: BackendRangeRequest): Promise<BackendRangeResponse>;
  /** The newest revision and the identity of the data. Linearizable (B2). */
  status(request: BackendCallOptions): Promise<BackendPosition>;
  /** One ordered stream over all the ranges, `open` first (B4). Ends by a `CompactedError` or a `BackendError`. */
  watch(request: BackendWatchRequest): BackendWatchStream;
  /**
   * Compare, then one branch, as one commit. Acknowledged at R only when nothing <= R can still commit (B3). See
   * {@link BackendTxnRequest}.
   */
  txn(request: BackendTxnRequest): Promise<BackendTxnResponse>;
  /**
   * Drops the history below `revision`: reads and watches may start at `revision` and above from then on (store:R22).
   * `CompactedError` at or below what was compacted already, `FutureRevisionError` above the newest revision.
   */
  compact(request: { readonly revision: Revision } & BackendCallOptions): Promise<void>;
  /** There if and only if `capabilities.leases`. */
  readonly leases?: BackendLeases | undefined;
  /**
   * Lets go of connections and timers. Called by whoever made the backend, when no store uses it any more: a store never
   * does. Streams and calls that are still open may end with any error. One that ends with `ClosedError` tells a store that is
   * there all the same to give up: else it would try again for ever.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface BackendCapabilities {
  /** `requestProgress` exists on its streams and keeps B5. */
  readonly progress: boolean;
  /**
   * `false` for a source that can only be read: a write on the replica is an `UnsupportedError` at once, and `txn` is
   * never called. Its history may still be compacted.
   */
  readonly writable: boolean;
  /**
   * `leases` exists, and puts attach keys to them. Without it a put never names a lease other than '0'.
   *
   * Transactions have no capability of their own: nested ones, compares over ranges and every option are part of `txn`. A
   * backend that cannot do all of it rejects such a request with an `UnsupportedError`, and nothing was written.
   *
   * @default false
   */
  readonly leases?: boolean;
}

export interface BackendCallOptions {
  readonly signal?: AbortSignal;
}

/** Identity names the data set; (identity, revision) is a position. `''` when the backend cannot name its data. */
export interface BackendPosition {
  readonly identity: string;
  readonly revision: Revision;
}

/** Half-open, unsigned bytes. `end: undefined` is the point `start`; an empty `end` is "no upper bound". */
export interface ByteRange {
  readonly start: Uint8Array;
  readonly end?: Uint8Array;
}

export interface BackendKeyValue {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
  readonly lease: string;
}

/**
 * The list manager of today asks for whole ranges only. The optional fields are part of the contract all the same: a
 * backend has to honour them, so that lists in pages and partial relists, which need them, find them there.
 */
export interface BackendRangeRequest extends BackendCallOptions {
  /** Disjoint, in key order. */
  readonly ranges: readonly ByteRange[];
  /** Read as of this revision; rejects with `CompactedError` or `FutureRevisionError`. @default the newest */
  readonly revision?: Revision;
  /** Leave out rows with a smaller mod revision. @default 0 */
  readonly minModRevision?: Revision;
  /** At most so many rows, the first ones; 0 is no limit. @default 0 */
  readonly limit?: number;
  /** Rows with an empty value. @default false */
  readonly keysOnly?: boolean;
  /** No rows, only `count`. @default false */
  readonly countOnly?: boolean;
}

export interface BackendRangeResponse extends BackendPosition {
  /** The one that was read. */
  readonly revision: Revision;
  /** Number of keys in the ranges, before `limit` and `minModRevision`. */
  readonly count: number;
  readonly kvs: readonly BackendKeyValue[];
}

export interface BackendWatchRequest extends BackendCallOptions {
  readonly ranges: readonly ByteRange[];
  /** Inclusive. Below the backend's compacted revision the stream ends with `CompactedError` (B6). */
  readonly fromRevision: Revision;
}

export type BackendEvent =
  | { readonly type: 'put'; readonly kv: BackendKeyValue }
  | { readonly type: 'delete'; readonly key: Uint8Array; readonly modRevision: Revision };

export type BackendWatchItem =
  | ({ readonly type: 'open' } & BackendPosition)
  | { readonly type: 'change'; readonly revision: Revision; readonly events: readonly BackendEvent[] }
  | { readonly type: 'progress'; readonly revision: Revision };

export interface BackendWatchStream extends AsyncIterable<BackendWatchItem> {
  /**
   * Asks for a progress item once everything sent so far is proven complete. Only with `capabilities.progress`, and there too
   * it may be missing, or go: where the server behind this one stream cannot prove it. The replica asks what has changed then
   * (M20), as without the capability.
   */
  readonly requestProgress?: (() => void) | undefined;
}

/**
 * One condition: on the key, or on every key of the range, where an empty range is as one missing key (store:R18). A missing
 * key is 0 for the numbers and the lease; its value satisfies nothing, not even `!=` (store:R17).
 */
export type BackendCompare = {
  readonly target: 'value' | 'create' | 'mod' | 'version' | 'lease';
  readonly result: '=' | '!=' | '<' | '>';
  /** Bytes for `value`, a lease id (compared as a number) for `lease`, else a number. */
  readonly value: Uint8Array | number | string;
} & (
  | { readonly key: Uint8Array; readonly range?: undefined }
  | { readonly range: ByteRange; readonly key?: undefined }
);

export type BackendOperation =
  | BackendPutOperation
  | BackendDeleteOperation
  | BackendRangeOperation
  | BackendTxnOperation;

export interface BackendPutOperation {
  readonly type: 'put';
  readonly key: Uint8Array;
  /** Empty with `ignoreValue`. */
  readonly value: Uint8Array;
  /** Attach the key to this lease, `LeaseNotFoundError` if there is none; '0' detaches it (store:R16). @default '0' */
  readonly lease?: LeaseId;
  /** Keep the value; `KeyNotFoundError` if the key is missing (store:R15). @default false */
  readonly ignoreValue?: boolean;
  /** Keep the lease; `KeyNotFoundError` if the key is missing. Excludes `lease` (store:R15). @default false */
  readonly ignoreLease?: boolean;
  /** Tell the state before. A backend may also tell it unasked. @default false */
  readonly prevKv?: boolean;
}

export interface BackendDeleteOperation {
  readonly type: 'delete';
  readonly range: ByteRange;
  /** Tell the states before. A backend may also tell them unasked. @default false */
  readonly prevKv?: boolean;
}

export interface BackendRangeOperation extends RangeSelection {
  readonly type: 'range';
  readonly range: ByteRange;
  /**
   * As of this revision, without the transaction's own writes; `CompactedError` or `FutureRevisionError`. 0 is the newest,
   * with them. @default 0
   */
  readonly revision?: Revision;
}

export interface BackendTxnOperation {
  readonly type: 'txn';
  readonly compare: readonly BackendCompare[];
  readonly then: readonly BackendOperation[];
  readonly else: readonly BackendOperation[];
}

/**
 * All compares must hold for `then`, otherwise `else` runs (store:R19); those of nested transactions too see the state before
 * the whole transaction. Operations run in order and see the writes before them.
 *
 * Refused, whether the branch would run or not: one that writes a key twice (`DuplicateKeyError`, store:R20). Refused only
 * where it runs: an unknown lease, a missing key, a revision that cannot be read. What is refused has written nothing. At
 * least 128 compares and 128 operations a branch are taken; above, a backend may refuse with `LimitExceededError` (store:R21).
 */
export interface BackendTxnRequest extends BackendCallOptions {
  readonly compare: readonly BackendCompare[];
  readonly then: readonly BackendOperation[];
  readonly else: readonly BackendOperation[];
}

export type BackendOperationResponse =
  | { readonly type: 'put'; readonly prevKv?: BackendKeyValue }
  | { readonly type: 'delete'; readonly deleted: number; readonly prevKvs?: readonly BackendKeyValue[] }
  | {
      readonly type: 'range';
      /** Number of keys in the range, before `limit` and the bounds on revisions (store:R9). */
      readonly count: number;
      readonly kvs: readonly BackendKeyValue[];
      /**
       * Whether `limit` cut rows off. Needed where a bound on revisions left rows out too.
       *
       * @default with as many rows as `limit`: whether `count` is above, else false
       */
      readonly more?: boolean;
    }
  | {
      readonly type: 'txn';
      readonly succeeded: boolean;
      readonly responses: readonly BackendOperationResponse[];
    };

export interface BackendTxnResponse extends BackendPosition {
  readonly succeeded: boolean;
  /** One for each operation of the branch that ran, in its order. */
  readonly responses: readonly BackendOperationResponse[];
}

/**
 * Leases (store:R39, R40, R43, R44). One that expires or is revoked is gone with all its keys as one commit, deletes in key
 * order (store:R41). None expires before its TTL has passed since the last renewal; how much later is the backend's affair,
 * but until then it and its keys are there for every call (store:R42).
 *
 * Every answer is a position: its revision is not below anything acknowledged or reported before the question (B2).
 */
export interface BackendLeases {
  /**
   * `ttlMs` is an integer from 1 to 9e12; a backend may grant more than was asked for, never less. `LeaseExistsError` for an
   * `id` in use. Without `id` the backend makes one.
   */
  grant(request: { readonly ttlMs: number; readonly id?: LeaseId } & BackendCallOptions): Promise<BackendLeaseAnswer>;
  /** The whole TTL again. `LeaseNotFoundError` for one that is gone: it never revives (store:R40). */
  keepAlive(request: { readonly id: LeaseId } & BackendCallOptions): Promise<BackendLeaseAnswer>;
  /**
   * `revision` is that of the deletes, or the present one if no key was attached. `LeaseNotFoundError` for one that is gone.
   */
  revoke(
    request: { readonly id: LeaseId } & BackendCallOptions,
  ): Promise<BackendPosition & { readonly deleted: number }>;
  /** `status` is `undefined` for a lease that is gone. */
  timeToLive(
    request: { readonly id: LeaseId; readonly keys?: boolean } & BackendCallOptions,
  ): Promise<BackendPosition & { readonly status: BackendLeaseStatus | undefined }>;
  /** Ids of all leases, ascending as numbers. */
  list(request: BackendCallOptions): Promise<BackendPosition & { readonly leases: readonly LeaseId[] }>;
}

export interface BackendLeaseAnswer extends BackendPosition {
  readonly id: LeaseId;
  /** What was granted. */
  readonly ttlMs: number;
}

export interface BackendLeaseStatus {
  readonly id: LeaseId;
  readonly grantedTtlMs: number;
  /** Above 0: what is due is gone. */
  readonly remainingMs: number;
  /** With the option `keys`, ascending. */
  readonly keys?: readonly Uint8Array[];
}
