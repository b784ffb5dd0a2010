import { ClosedError } from '../types/errors.ts';
import type { Bucket } from './bucket.ts';
import { checkPin, type Pin } from './pins.ts';
import type { Resource } from './resource.ts';
import { type GroupKind, groupKindText, localKey, type ResourceKey } from './resource-key.ts';
import type { ResourceTables } from './resource-tables.ts';

/** What a handler can see of the namespace of its object. */
export interface NamespaceView<T, I> {
  /** Empty: what is in no namespace. */
  readonly namespace: string;
  /** The commit whose state this is: that of the call or a later one; exactly that of the call with `snapshotView`. */
  readonly seq: number;
  /** Throws RangeError for a key of another namespace. */
  get(key: Omit<ResourceKey, 'namespace'> & { readonly namespace?: string }): Resource<T, I> | undefined;
  /** Those of a kind, or all; frozen, without an order. */
  list(groupKind?: GroupKind): readonly Resource<T, I>[];
}

/** The namespace as it is whenever it is asked: it moves on with the cache. */
export class LiveView<T, I> implements NamespaceView<T, I> {
  readonly namespace: string;
  readonly #tables: ResourceTables<T, I>;

  constructor(tables: ResourceTables<T, I>, namespace: string) {
    this.#tables = tables;
    this.namespace = namespace;
  }

  get seq(): number {
    return this.#tables.seq;
  }

  get(key: Omit<ResourceKey, 'namespace'> & { readonly namespace?: string }): Resource<T, I> | undefined {
    checkNamespace(key, this.namespace);
    const entry = this.#tables.kinds.get(groupKindText(key))?.entries.get(localKey(this.namespace, key.name));
    return entry?.current?.resource;
  }

  list(groupKind?: GroupKind): readonly Resource<T, I>[] {
    return joined(bucketsOf(this.#tables, this.namespace, groupKind), (bucket) => bucket.list());
  }
}

/** The namespace at one commit, for as long as a call takes. Throws ClosedError after it, and PinBrokenError for one that was given up. */
export class ExactView<T, I> implements NamespaceView<T, I> {
  readonly namespace: string;
  readonly #tables: ResourceTables<T, I>;
  readonly #pin: Pin;
  #isClosed = false;

  constructor(tables: ResourceTables<T, I>, namespace: string, pin: Pin) {
    this.#tables = tables;
    this.namespace = namespace;
    this.#pin = pin;
  }

  get seq(): number {
    return this.#pin.seq;
  }

  get(key: Omit<ResourceKey, 'namespace'> & { readonly namespace?: string }): Resource<T, I> | undefined {
    this.#check();
    checkNamespace(key, this.namespace);
    const entry = this.#tables.kinds.get(groupKindText(key))?.entries.get(localKey(this.namespace, key.name));
    return entry?.at(this.#pin.seq)?.resource;
  }

  list(groupKind?: GroupKind): readonly Resource<T, I>[] {
    this.#check();
    return joined(bucketsOf(this.#tables, this.namespace, groupKind), (bucket) => bucket.listAt(this.#pin.seq));
  }

  close(): void {
    this.#isClosed = true;
  }

  #check(): void {
    if (this.#isClosed) throw new ClosedError('read the view of a call that has ended');
    checkPin(this.#pin);
  }
}

/** Those of a namespace, of a kind, of both, or all. */
export function bucketsOf<T, I>(
  tables: ResourceTables<T, I>,
  namespace: string | undefined,
  groupKind: GroupKind | undefined,
): readonly Bucket<T, I>[] {
  if (groupKind === undefined) {
    if (namespace !== undefined) return [...(tables.namespaces.get(namespace) ?? [])];
    return [...tables.namespaces.values()].flatMap((buckets) => [...buckets]);
  }
  if (namespace === undefined) return [...(tables.kinds.get(groupKindText(groupKind))?.buckets.values() ?? [])];
  const bucket = bucketOf(tables, namespace, groupKind);
  return bucket === undefined ? [] : [bucket];
}

export function bucketOf<T, I>(
  tables: ResourceTables<T, I>,
  namespace: string,
  groupKind: GroupKind,
): Bucket<T, I> | undefined {
  return tables.kinds.get(groupKindText(groupKind))?.buckets.get(namespace);
}

/** Of one bucket its own list, so that nothing is copied. */
export function joined<T, I>(
  buckets: readonly Bucket<T, I>[],
  list: (bucket: Bucket<T, I>) => readonly Resource<T, I>[],
): readonly Resource<T, I>[] {
  const [only] = buckets;
  if (buckets.length === 1 && only !== undefined) return list(only);
  return Object.freeze(buckets.flatMap(list));
}

function checkNamespace({ namespace }: { readonly namespace?: string }, own: string): void {
  if (namespace === undefined || namespace === own) return;
  throw new RangeError(`Cannot read a view: it is of the namespace "${own}", the key is of "${namespace}"`);
}
