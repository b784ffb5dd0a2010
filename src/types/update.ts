import type { LeaseAttachment } from './requests.ts';
import type { Key, Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';

/**
 * What an update must not have missed when it commits (store:R50). `serializable-snapshot`: all reads are of the state at the
 * first read, nothing read or written has changed since (but that a key which was only written is gone, as in etcd).
 * `serializable`: the same, but for what was only written. `repeatable-reads`: reads are of the newest state, nothing read has
 * changed since. `read-committed`: no check.
 */
export type Isolation = 'serializable-snapshot' | 'serializable' | 'repeatable-reads' | 'read-committed';

export interface UpdateOptions extends SignalOptions {
  /** @default 'serializable-snapshot' */
  readonly isolation?: Isolation;
  /** Runs after the first one, an integer from 0 on; then `ConflictError`. @default 100 */
  readonly retries?: number;
}

/**
 * What the function of `store.update` works on. Writes are kept until it returns, and seen by its own reads; a value is kept
 * as it is until then, so an object must not be changed after it was put.
 */
export interface UpdateTxn<V, K extends Key = string> {
  /** The value of a key, `undefined` if it is missing. */
  get(key: K): V | undefined;
  /** Its mod revision as read, 0 if it is missing. */
  modRevision(key: K): Revision;
  put(key: K, value: V, options?: Omit<LeaseAttachment, 'ignoreValue'>): void;
  delete(key: K): void;
}

export interface UpdateResult<R> {
  /** Of the commit, or the present one if nothing was written. */
  readonly revision: Revision;
  /** What the function returned in the run that was committed. */
  readonly value: R;
  /** How often it ran. */
  readonly attempts: number;
}
