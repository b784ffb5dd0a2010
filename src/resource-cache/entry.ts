import type { DeletedReason } from '../kubernetes/informer-delta.ts';
import type { Resource } from './resource.ts';
import type { ResourceKey } from './resource-key.ts';

/**
 * One state, and under what it can be found: what has to be undone when it goes.
 *
 * ```text
 *   entry.current          the state now, or undefined
 *   entry.older            the state before it, of seq <= s < until, and so on; only while a snapshot may read it
 * ```
 */
export interface Version<T, I> {
  readonly entry: Entry<T, I>;
  resource: Resource<T, I>;
  /** Under what its parents are: uids, names, marks (see `links.ts`). */
  parents: readonly string[];
  /** Marks that it offers to children. */
  offers: readonly string[];
  /** Values by user index, in the order of the indexes. */
  values: readonly (readonly string[])[];
  /** The commit that ended it; 0 while it is the current one. */
  until: number;
  older: Version<T, I> | undefined;
  /** That it is the `older` of; none for the first one of `entry.older`. */
  newer: Version<T, I> | undefined;
}

/** Where the entries of one kind and namespace are (`bucket.ts`). */
export interface EntryBucket<T, I> {
  /** `group/kind`. */
  readonly kind: string;
  readonly namespace: string;
  set(entry: Entry<T, I>, resource: Resource<T, I>): void;
  remove(entry: Entry<T, I>, isGhost: boolean): void;
  forget(ghost: Entry<T, I>): void;
}

/** A change that has come in and is not applied yet (`pending.ts`). */
export interface PendingChange<T, I> {
  readonly entry: Entry<T, I>;
  /** The life that it is about. */
  readonly uid: string;
  /** The state to come; `undefined` for the end of that life. */
  object: T | undefined;
  readonly end: LifeEnd<T> | undefined;
}

export interface LifeEnd<T> {
  /** The last state, if anybody told. */
  readonly final: T | undefined;
  readonly reason: DeletedReason;
}

/** One key: the same object for as long as there is anything under it, whichever lives come and go. */
export class Entry<T, I> {
  readonly key: ResourceKey;
  /** Among the objects of its kind. */
  readonly local: string;
  readonly bucket: EntryBucket<T, I>;
  /** Among all entries of the store, for as long as it is remembered (`slots.ts`). */
  readonly slot: number;
  /** Where it is in its bucket; -1 while it has no current state. */
  place = -1;
  current: Version<T, I> | undefined = undefined;
  older: Version<T, I> | undefined = undefined;
  /** The newest change that waits to be applied. */
  pending: PendingChange<T, I> | undefined = undefined;

  constructor(key: ResourceKey, { local, bucket, slot }: Pick<Entry<T, I>, 'local' | 'bucket' | 'slot'>) {
    this.key = key;
    this.local = local;
    this.bucket = bucket;
    this.slot = slot;
  }

  /** The state at a commit; right for the current one, and for what a pin holds. */
  at(seq: number): Version<T, I> | undefined {
    const { current } = this;
    if (current !== undefined && current.resource.seq <= seq) return current;
    for (let version = this.older; version !== undefined; version = version.older) {
      if (version.resource.seq <= seq) return seq < version.until ? version : undefined;
    }
    return undefined;
  }

  /** Nothing is left of it, so nobody needs to remember it. */
  get isEmpty(): boolean {
    return this.current === undefined && this.older === undefined && this.pending === undefined;
  }
}
