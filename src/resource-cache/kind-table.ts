import { Bucket } from './bucket.ts';
import { Entry } from './entry.ts';
import { type GroupKind, groupKindText } from './resource-key.ts';
import type { Slots } from './slots.ts';

/** The objects of one kind: by their key, and in one bucket for each namespace. */
export class KindTable<T, I> {
  readonly groupKind: GroupKind;
  readonly text: string;
  readonly entries: Map<string, Entry<T, I>> = new Map();
  readonly buckets: Map<string, Bucket<T, I>> = new Map();
  /** Somebody brings its objects. */
  isFed = false;
  /** Entries by bucket, whether they have a state or not: a bucket goes with its last one. */
  readonly #known = new Map<Bucket<T, I>, number>();
  /** Those of the store: all kinds share them. */
  readonly #slots: Slots;

  constructor(groupKind: GroupKind, slots: Slots) {
    this.#slots = slots;
    this.groupKind = Object.freeze({ group: groupKind.group, kind: groupKind.kind });
    this.text = groupKindText(groupKind);
  }

  /** The entry of a key, made if it is new. `isNew` is told the buckets that are. */
  entry(local: string, where: { namespace: string; name: string }, isNew: (bucket: Bucket<T, I>) => void): Entry<T, I> {
    const found = this.entries.get(local);
    if (found !== undefined) return found;
    const { namespace, name } = where;
    let bucket = this.buckets.get(namespace);
    if (bucket === undefined) {
      bucket = new Bucket<T, I>(this.groupKind, namespace);
      this.buckets.set(namespace, bucket);
      isNew(bucket);
    }
    this.#known.set(bucket, (this.#known.get(bucket) ?? 0) + 1);
    const key = Object.freeze({ ...this.groupKind, namespace, name });
    const entry = new Entry<T, I>(key, { local, bucket, slot: this.#slots.take() });
    this.entries.set(local, entry);
    return entry;
  }

  /** Forgets an entry that has nothing left; tells its bucket, if that was the last one. */
  forget(entry: Entry<T, I>): Bucket<T, I> | undefined {
    const { local, key } = entry;
    const bucket = this.buckets.get(key.namespace);
    if (bucket === undefined || this.entries.get(local) !== entry) return undefined;
    this.entries.delete(local);
    this.#slots.release(entry.slot);
    const left = (this.#known.get(bucket) ?? 0) - 1;
    if (left > 0) {
      this.#known.set(bucket, left);
      return undefined;
    }
    this.#known.delete(bucket);
    this.buckets.delete(bucket.namespace);
    return bucket;
  }
}
