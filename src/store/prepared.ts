import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Revision } from '../types/revision.ts';
import type { Compare } from '../types/txn.ts';
import type { PreparedSelection } from './selection.ts';

/** Requests after they were checked and encoded: key text for keys, cells for values (see `ValuePolicy`). */

/** What a put does with the lease of its key (store:R15, R16). */
export type PreparedLease =
  | { readonly type: 'id'; readonly id: string }
  /** A lease for this key alone. */
  | { readonly type: 'own'; readonly ttlMs: number }
  /** The one that the key has; the key must be there. */
  | { readonly type: 'keep' };

/**
 * A put checked and encoded. What can fail is what only the state knows: what is not there (a lease, a key whose value or
 * lease is to stay), memory and `limits.leases`, and a value before, if it is asked for, that the codec cannot read.
 */
export interface PreparedPut {
  readonly type: 'put';
  readonly text: string;
  /** `undefined` with `ignoreValue`. */
  readonly cell: unknown;
  /** The key must be there, and keeps its value. */
  readonly ignoreValue: boolean;
  readonly lease: PreparedLease;
  readonly prevKv: boolean;
}

/** A transaction checked and encoded. What can fail is what only the state knows: as with a put, and revisions to read at. */
export interface PreparedTxn {
  readonly compare: readonly PreparedCompare[];
  readonly then: readonly PreparedOperation[];
  readonly else: readonly PreparedOperation[];
}

export interface PreparedCompare {
  readonly range: ResolvedRange;
  readonly target: Compare<unknown>['target'];
  readonly result: Compare<unknown>['result'];
  readonly value: number | string | Uint8Array;
}

export interface PreparedDelete {
  readonly type: 'delete';
  readonly range: ResolvedRange;
  readonly prevKv: boolean;
}

export interface PreparedRange {
  readonly type: 'range';
  readonly range: ResolvedRange;
  /** 0 is the newest, own writes included. */
  readonly revision: Revision;
  readonly selection: PreparedSelection;
}

export type PreparedOperation = PreparedPut | PreparedDelete | PreparedRange | ({ readonly type: 'txn' } & PreparedTxn);
