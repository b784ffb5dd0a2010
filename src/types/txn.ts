import type { LeaseId } from './lease.ts';
import type { LeaseAttachment, RangeSelection } from './requests.ts';
import type { Key, KeyRange, KeyValue, Revision } from './revision.ts';

/**
 * One condition. A missing key counts as 0 for the numbers; its value satisfies nothing, not even `!=` (store:R17). Over a
 * prefix or an interval it must hold for every key there; an empty one is as one missing key (store:R18).
 */
export type Compare<V, K extends Key = string> = KeyRange<K> &
  (
    | { readonly target: 'value'; readonly result: CompareResult; readonly value: V }
    | { readonly target: 'create' | 'mod' | 'version'; readonly result: CompareResult; readonly value: number }
    | { readonly target: 'lease'; readonly result: CompareResult; readonly value: LeaseId }
  );

export type CompareResult = '=' | '!=' | '<' | '>';

export type Operation<V, K extends Key = string> =
  | ({ readonly type: 'put'; readonly key: K; readonly prevKv?: boolean } & PutValue<V> &
      Omit<LeaseAttachment, 'ignoreValue'>)
  | ({ readonly type: 'delete'; readonly prevKv?: boolean } & KeyRange<K>)
  | ({
      readonly type: 'range';
      /** As of this revision, without the transaction's own writes; 0 is the newest, with them. @default 0 */
      readonly revision?: Revision;
    } & KeyRange<K> &
      RangeSelection)
  | ({ readonly type: 'txn' } & TxnRequest<V, K>);

/** A put has a value, or keeps the one that the key has; `KeyNotFoundError` if the key is missing (store:R15). */
export type PutValue<V> =
  | { readonly value: V; readonly ignoreValue?: false }
  | { readonly value?: undefined; readonly ignoreValue: true };

/**
 * All compares must hold for `then`, otherwise `else` runs; either branch is one commit at one revision (store:R2, R19).
 * Operations run in order and see the writes before them. Compares, those of nested transactions too, see the state
 * before the whole transaction.
 *
 * A branch that would write one key twice is refused, whether it runs or not (store:R20): two puts, or a put of a key that a
 * delete of the same branch covers. The two branches of one nested transaction may both put a key.
 */
export interface TxnRequest<V, K extends Key = string> {
  readonly compare?: readonly Compare<V, K>[];
  readonly then?: readonly Operation<V, K>[];
  readonly else?: readonly Operation<V, K>[];
}

export type OperationResult<V, K extends Key = string> =
  | { readonly type: 'put'; readonly prevKv?: KeyValue<V, K>; readonly lease?: LeaseId }
  | { readonly type: 'delete'; readonly deleted: number; readonly prevKvs?: readonly KeyValue<V, K>[] }
  | {
      readonly type: 'range';
      readonly kvs: readonly KeyValue<V, K>[];
      readonly count: number;
      readonly more: boolean;
    }
  | {
      readonly type: 'txn';
      readonly succeeded: boolean;
      readonly responses: readonly OperationResult<V, K>[];
    };

export interface TxnResult<V, K extends Key = string> {
  /** Of the commit, or the present one if the branch wrote nothing. */
  readonly revision: Revision;
  /** Whether all compares held, so that `then` ran and not `else`. */
  readonly succeeded: boolean;
  /** One for each operation of the branch that ran, in its order. */
  readonly responses: readonly OperationResult<V, K>[];
}
