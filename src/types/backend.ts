import type { Revision } from './revision.ts';

/**
 * The contract between the list manager and what stands behind it. **Experimental**: it may change before 1.0.
 * Promises B1-B10 are those of `docs/spec/list-manager.md`; a backend that breaks one is found out
 * (violations are counted and repaired) but can make reads older than they need be.
 *
 * Keys and values are bytes here; codecs and key text are the replica's affair.
 */
export interface Backend {
  readonly capabilities: BackendCapabilities;
  /** All ranges at ONE revision (the newest, or `revision`), keys ascending. Linearizable (B2). */
  range(request: BackendRangeRequest): Promise<BackendRangeResponse>;
  /** The newest revision and the identity of the data. Linearizable (B2). */
  status(request: BackendCallOptions): Promise<BackendPosition>;
  /** One ordered stream over all the ranges, `open` first (B4). Ends by a `CompactedError` or a `BackendError`. */
  watch(request: BackendWatchRequest): BackendWatchStream;
  /** Compare, then one branch, as one commit. Acknowledged at R only when nothing <= R can still commit (B3). */
  txn(request: BackendTxnRequest): Promise<BackendTxnResponse>;
  /** Drops the history below `revision`. */
  compact(request: { readonly revision: Revision } & BackendCallOptions): Promise<void>;
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
  /** Asks for a progress item once everything sent so far is proven complete. Only with `capabilities.progress`. */
  requestProgress?(): void;
}

export interface BackendCompare {
  readonly key: Uint8Array;
  readonly target: 'value' | 'create' | 'mod' | 'version' | 'lease';
  readonly result: '=' | '!=' | '<' | '>';
  readonly value: Uint8Array | number | string;
}

export type BackendOperation =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array; readonly lease?: string }
  | { readonly type: 'delete'; readonly range: ByteRange; readonly prevKv?: boolean }
  | { readonly type: 'range'; readonly range: ByteRange; readonly limit?: number; readonly keysOnly?: boolean };

export interface BackendTxnRequest extends BackendCallOptions {
  readonly compare: readonly BackendCompare[];
  readonly then: readonly BackendOperation[];
  readonly else: readonly BackendOperation[];
}

export type BackendOperationResponse =
  | { readonly type: 'put'; readonly prevKv?: BackendKeyValue }
  | { readonly type: 'delete'; readonly deleted: number; readonly prevKvs?: readonly BackendKeyValue[] }
  | { readonly type: 'range'; readonly count: number; readonly kvs: readonly BackendKeyValue[] };

export interface BackendTxnResponse extends BackendPosition {
  readonly succeeded: boolean;
  readonly responses: readonly BackendOperationResponse[];
}
