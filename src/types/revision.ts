/**
 * A position in a store's history: a safe integer, checked wherever it comes in (D8).
 *
 * An empty embedded store is at revision 1 and its first write gets 2 (store:R1). On a replica the numbers are the
 * backend's and may skip: revision `R` says "every change up to and including R is in the snapshot" (M1).
 */
export type Revision = number;

/** The key types of a store: text (compared as UTF-8) or raw bytes, fixed by the option `keys`. */
export type Key = string | Uint8Array;

/** One live key at one revision, in etcd's words. Frozen. */
export interface KeyValue<V, K extends Key = string> {
  readonly key: K;
  /** The stored value. Objects are deep-frozen private copies; bytes are a copy of their own. Absent with `keysOnly`. */
  readonly value: V;
  /** Revision of the put that began the key's present generation. */
  readonly createRevision: Revision;
  /** Revision of the last put. On a replica: the backend's, also when a relist brought the key. */
  readonly modRevision: Revision;
  /** Number of puts since the key was created, starting at 1 (store:R3). */
  readonly version: number;
  /** Decimal lease id, `'0'` for none. */
  readonly lease: string;
}

/**
 * Which keys a request is about. Order is that of unsigned bytes; a prefix is a byte prefix, so `prefix: 'a/b'`
 * includes `a/bc` (write `a/b/` for a path boundary). `prefix: ''` is the whole keyspace; `start` without `end` is
 * every key from `start` on; `start >= end` selects nothing (store:R7).
 */
export type KeyRange<K extends Key = string> =
  | { readonly key: K }
  | { readonly prefix: K }
  | { readonly start: K; readonly end?: K };
