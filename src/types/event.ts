import type { Key, KeyValue, Revision } from './revision.ts';

/** A key was written. `prevKv` (on request) is its state just before; absent for a create, or when compaction took it. */
export interface PutEvent<V, K extends Key = string> {
  readonly type: 'put';
  readonly kv: KeyValue<V, K>;
  readonly prevKv?: KeyValue<V, K>;
}

/** A key was deleted. Like etcd's tombstone it carries the key and the revision of the delete only (store:R5). */
export interface DeleteEvent<V, K extends Key = string> {
  readonly type: 'delete';
  readonly kv: { readonly key: K; readonly modRevision: Revision };
  readonly prevKv?: KeyValue<V, K>;
}

export type WatchEvent<V, K extends Key = string> = PutEvent<V, K> | DeleteEvent<V, K>;

/**
 * What a watch yields: everything that happened to its range at one revision, or, with `span`, the exact difference
 * between the states at `after` and at `revision` (M9). Never half a transaction.
 *
 * ```text
 *   ordinary batch     one commit            { revision: 7, events: [a, b] }
 *   span batch         relist or coalescing  { after: 9, revision: 30, span: true, events: [...] }   keys ascending
 *   initial batch      list of list+watch    { revision: 12, initial: true, events: [put, put] }     also when empty
 *   progress batch     on request, or timed  { revision: 15, progress: true, events: [] }
 * ```
 */
export interface WatchBatch<V, K extends Key = string> {
  readonly revision: Revision;
  /** Only on a span: the revision whose state the span starts from. */
  readonly after?: Revision;
  readonly span?: true;
  readonly initial?: true;
  /** Nothing happened: everything up to `revision` was delivered (store:R34). */
  readonly progress?: true;
  readonly events: readonly WatchEvent<V, K>[];
}
