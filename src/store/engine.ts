import type {
  GrantLeaseOptions,
  KeepAliveResult,
  Lease,
  LeaseId,
  LeaseStatus,
  ResumeLeaseOptions,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import type { Pin, PinOptions } from '../types/pin.ts';
import type { DeleteResult, PutResult } from '../types/requests.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { CompactResult, StoreStats } from '../types/store.ts';
import type { TxnResult } from '../types/txn.ts';
import type { Watch, WatchOptions } from '../types/watch.ts';
import type { ResolvedLimits } from './limits.ts';
import type { Mvcc } from './mvcc.ts';
import type { PreparedDelete, PreparedPut, PreparedTxn } from './prepared.ts';

/** A write that was checked, and what the caller said about it. */
export interface WriteCall {
  /** For messages: "put a key". */
  readonly action: string;
  readonly signal: AbortSignal | undefined;
}

/** What a call of the engine may answer: an embedded store at once, a replica later. */
export type Answer<T> = T | Promise<T>;

/**
 * What stands behind the typed face of a store, and in what embedded stores and replicas differ: who commits writes, what
 * has to be so before a read, where leases are.
 *
 * ```text
 *   TypedStore (whole store) --\
 *                               >--- StoreEngine --- VersionedState, watches, leases
 *   TypedStore (a prefix) -----/
 * ```
 *
 * Requests come checked and encoded; which keys and values they were, the `Mvcc` that comes with each call knows.
 */
export interface StoreEngine {
  readonly epoch: number;
  readonly identity: string;
  readonly limits: ResolvedLimits;
  /** Aborts when the store is closed or broken for good; `checkOpen` says which. */
  readonly lifetime: AbortSignal;

  ready(signal: AbortSignal | undefined): Promise<void>;
  /** Before everything that reads. Throws `ClosedError` and `NotReadyError`; commits what is due (M31). */
  beginRead(action: string): void;
  /** Before what answers from the newest state here. Throws `StaleError`. */
  checkFresh(action: string): void;
  /** Resolves once all that was committed before the call is visible here (M19). */
  sync(call: WriteCall): Promise<Revision>;
  /** Before what needs only an open store. Throws `ClosedError`. */
  checkOpen(action: string): void;
  /** Throws `NotCachedError` for a range outside of what is replicated. */
  checkCovers(range: ResolvedRange, action: string): void;
  checkCoversKey(text: string, action: string): void;
  /** Before user code of a write runs, which must not write itself (M8). Throws `ClosedError`, TypeError. */
  beginWrite(action: string): void;
  endWrite(): void;

  put<V, K extends Key>(
    mvcc: Mvcc<V, K>,
    put: PreparedPut,
    expected: Revision | undefined,
    call: WriteCall,
  ): Answer<PutResult<V, K>>;
  delete<V, K extends Key>(
    mvcc: Mvcc<V, K>,
    request: PreparedDelete,
    expected: Revision | undefined,
    call: WriteCall,
  ): Answer<DeleteResult<V, K>>;
  txn<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn, call: WriteCall): Answer<TxnResult<V, K>>;

  watch<V, K extends Key>(mvcc: Mvcc<V, K>, range: ResolvedRange, options: WatchOptions): Watch<V, K>;
  /** Ends the watches that were opened through these eyes, with `ClosedError`. */
  endWatches(mvcc: Mvcc<never, never>): void;

  compact(revision: Revision, call: WriteCall): Promise<CompactResult>;
  pin(revision: Revision, options: Required<PinOptions>): Pin;
  createSnapshot(call: WriteCall): Promise<Uint8Array>;

  /** With `keepAlive` the call's signal goes on to end the renewals. */
  grantLease(options: GrantLeaseOptions, call: WriteCall): Promise<Lease>;
  resumeLease(id: LeaseId, options: ResumeLeaseOptions, call: WriteCall): Promise<Lease>;
  revokeLease(id: LeaseId, call: WriteCall): Promise<RevokeLeaseResult>;
  keepAliveLease(id: LeaseId, call: WriteCall): Promise<KeepAliveResult>;
  leaseTimeToLive(id: LeaseId, options: TimeToLiveOptions, call: WriteCall): Promise<LeaseStatus | undefined>;
  leases(call: WriteCall): Promise<readonly LeaseId[]>;

  stats(): StoreStats;
  close(): Promise<void>;
}
