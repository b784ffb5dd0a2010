import {
  type Key,
  type KeyRange,
  openStore,
  type Store,
  type Watch,
  type WatchBatch,
  type WatchOptions,
} from 'plimsoll';

/** A store with the given keys, each put once in this order: the revisions 2, 3, 4, ... */
export async function storeOf(...keys: string[]): Promise<Store<string>> {
  const store = await openStore<string>();
  for (const key of keys) await store.put(key, `value of ${key}`);
  return store;
}

/** The next `count` batches of a watch, which have to be there. */
export async function take<V, K extends Key>(watch: Watch<V, K>, count: number): Promise<WatchBatch<V, K>[]> {
  const batches: WatchBatch<V, K>[] = [];
  while (batches.length < count) {
    const { value } = await watch.next();
    if (value === undefined) throw new Error(`The watch ended after ${batches.length} batches`);
    batches.push(value);
  }
  return batches;
}

/** A batch as text: `7: put a, delete b`. */
export function text<V>(batch: WatchBatch<V>): string {
  return `${batch.revision}: ${batch.events.map(({ type, kv }) => `${type} ${kv.key}`).join(', ')}`;
}

/** What a watch from `fromRevision` on gives, as text; there have to be so many batches. */
export async function replay(
  store: Store<string>,
  range: KeyRange,
  count: number,
  options: WatchOptions,
): Promise<string[]> {
  const watch = store.watch(range, options);
  const batches = await take(watch, count);
  await watch.return();
  return batches.map(text);
}

/** A key with create, mod and version: `a(2,3,2)`. */
export function numbers(store: Store<string>, key: string, revision = 0): string {
  const kv = store.get(key, { revision });
  return kv === undefined ? 'none' : `${kv.key}(${kv.createRevision},${kv.modRevision},${kv.version})`;
}
