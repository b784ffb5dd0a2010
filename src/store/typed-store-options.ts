import type { StoreCoordination } from '../types/coordination.ts';
import type { Key } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { KeySpace } from './keyspace.ts';

/** Makes the locks and elections of a store, or of a part of it; `keys` are those of the part. */
export type Coordinate = <V, K extends Key>(
  store: Store<V, K>,
  keys: Pick<KeySpace<K>, 'base' | 'mode'>,
) => StoreCoordination<V, K>;

export interface TypedStoreOptions {
  /** Of a prefix; closing it closes nothing but its watches. @default false */
  readonly isPart?: boolean;
  /** Locks and elections are built on top of a store: whoever puts it together brings them. */
  readonly coordinate: Coordinate;
  /** For those: transactions decide, so `get` and `range` may be as old as they are, whatever `maxStaleMs` is. @default false */
  readonly isOfAnyAge?: boolean;
}
