/**
 * Bounds of a store's requests, and of what it holds; `leases` is for embedded stores only. At a bound: a typed error, and nothing
 * is written (store:R21).
 */
export interface Limits {
  /** Bytes of a key, at most 65535. `LimitExceededError` above. @default 65535 */
  readonly keyBytes?: number;
  /**
   * Bytes of a value as encoded: UTF-8 of a string, a codec's bytes, else JSON text. `LimitExceededError` above.
   * Shared values (`values: 'trusted'`) are measured only if they are strings or bytes. @default 1572864 (1.5 MiB)
   */
  readonly valueBytes?: number;
  /** Compares, and operations of a branch, nested ones on top (store:R21). `LimitExceededError` above. @default 128 */
  readonly txnOperations?: number;
  /**
   * Bytes of all keys and values in one transaction or `putAll`: of compares and of both branches, nested ones too.
   * `LimitExceededError` above. @default 16777216 (16 MiB)
   */
  readonly txnBytes?: number;
  /**
   * Bytes of the retained values, history included, that a put may bring the store to. `StoreFullError` above; deletes go
   * on, and compaction makes room. Judged before the put: what it replaces counts, and what retention will trim behind it.
   * Shared values that are not strings or bytes count nothing.
   *
   * On a replica it bounds what is kept here, not what the backend takes: one that does not fit gives up history, then the
   * difference to the newest list, and else stays at its last true state and tries again (M35). @default no bound
   */
  readonly storeBytes?: number;
  /**
   * Leases at a time, as a commit leaves them (store:M41). `LimitExceededError` above; those of a snapshot are taken, whatever their number. A TypeError with a
   * `backend`, whose affair it is. @default 1000000
   */
  readonly leases?: number;
  /** Watches at a time. `LimitExceededError` above. @default 1000000 */
  readonly watches?: number;
  /** Pins at a time. `LimitExceededError` above. @default 1000 */
  readonly pins?: number;
}
