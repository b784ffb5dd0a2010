import { checkMethods } from '../types/check-methods.ts';
import { ConflictError, KeyNotFoundError } from '../types/errors.ts';
import type { WatchEvent } from '../types/event.ts';
import type { KeyValue } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type {
  ObjectSource,
  SourceList,
  SourceObject,
  SourcePatch,
  SourcePatchResult,
  SourceWatchItem,
  SourceWatchOptions,
} from '../types/source.ts';
import type { Store } from '../types/store.ts';
import { checkNames } from './checks.ts';
import { equalData } from './diff.ts';
import { applyPatches } from './patch.ts';

/** Options of {@link createStoreSource}. */
export interface StoreSourceOptions {
  /** The keys that are objects. `''` is all of them. */
  readonly prefix: string;
}

/**
 * Makes the keys under a prefix objects of a controller.
 *
 * ```text
 *   store                                  source
 *   key                                    name
 *   key @ create revision @ identity       uid: deleted and put again is another object
 *   mod revision                           resourceVersion
 *   value                                  object
 * ```
 *
 * The store's identity is part of the uid, since an embedded store begins again at revision 1 with every process: without
 * it a record kept from an earlier process would be taken for that of a new object. Records under another identity are
 * those of objects that are gone, whatever their numbers.
 *
 * A patch reads the value, applies itself and puts the result, if nobody has put another one meanwhile; the key keeps its
 * lease.
 *
 * No key is ever `deleting`, and none has finalizers. Reads are those of the store: fresh on an embedded one; on a replica as fresh as that is,
 * for which {@link ObjectSource} makes an exception.
 *
 * @example
 * ```ts
 * import { createController, createEssenceHasher, createStoreSource, openStore } from 'plimsoll';
 *
 * const source = createStoreSource(await openStore<number>(), { prefix: 'jobs/' });
 * createController({ source, essence: createEssenceHasher({ defaults: false }) });
 * ```
 *
 * @throws TypeError for a prefix that is no string, and for unknown options.
 */
export function createStoreSource<V>(store: Store<V, string>, options: StoreSourceOptions): ObjectSource<V> {
  const action = 'create a store source';
  checkMethods('store', store, action, ['ready', 'range', 'get', 'watch']);
  checkNames(action, options, NAMES);
  if (typeof options.prefix !== 'string') throw new TypeError(`Cannot ${action}: prefix is not a string`);
  return new StoreSource(store, options.prefix);
}

const NAMES: readonly (keyof StoreSourceOptions)[] = ['prefix'];

/** Exported for the look at what its controller keeps beside it. */
export class StoreSource<V> implements ObjectSource<V> {
  readonly place: { readonly store: unknown; readonly prefix: string };
  readonly #store: Store<V, string>;
  readonly #prefix: string;
  /** Of the data that the last list was taken from: its revision is a position in no other. */
  #identity: string | undefined;

  constructor(store: Store<V, string>, prefix: string) {
    this.place = { store, prefix };
    this.#store = store;
    this.#prefix = prefix;
  }

  async list({ signal }: SignalOptions): Promise<SourceList<V>> {
    await this.#store.ready(signal === undefined ? {} : { signal });
    const { kvs, revision } = this.#store.range({ prefix: this.#prefix });
    this.#identity = this.#store.identity;
    return { resourceVersion: String(revision), items: kvs.map((kv) => this.#objectOf(kv)) };
  }

  async *watch({ after, signal }: SourceWatchOptions): AsyncGenerator<SourceWatchItem<V>, void, undefined> {
    const batches = this.#store.watch(
      { prefix: this.#prefix },
      {
        fromRevision: Number(after) + 1,
        ...(this.#identity === undefined ? {} : { identity: this.#identity }),
        ...(signal === undefined ? {} : { signal }),
      },
    );
    for await (const { events, revision } of batches) {
      for (const event of events) yield this.#itemOf(event);
      yield { type: 'bookmark', resourceVersion: String(revision) };
    }
  }

  async get(name: string, _options: SignalOptions): Promise<SourceObject<V> | undefined> {
    const kv = this.#store.get(name);
    return kv === undefined ? undefined : this.#objectOf(kv);
  }

  async patch(patch: SourcePatch, { signal }: SignalOptions): Promise<SourcePatchResult<V>> {
    const kv = this.#store.get(patch.name);
    if (kv === undefined || this.#objectOf(kv).uid !== patch.uid) return { type: 'gone' };
    const { modRevision } = kv;
    if (String(modRevision) !== patch.resourceVersion) return { type: 'conflict' };
    // What becomes of a V by a patch is as good a V as what anybody puts: a codec of the store's may refuse it.
    const value = applyPatches(kv.value, patch.patches) as V;
    if (equalData(value, kv.value)) return { type: 'patched', object: this.#objectOf(kv) };
    const options = { expect: { modRevision }, ignoreLease: true, ...(signal === undefined ? {} : { signal }) };
    try {
      const { revision } = await this.#store.put(patch.name, value, options);
      return { type: 'patched', object: this.#objectOf({ ...kv, value, modRevision: revision }) };
    } catch (error) {
      if (error instanceof ConflictError || error instanceof KeyNotFoundError) return { type: 'conflict' };
      throw error;
    }
  }

  compare(a: string, b: string): number {
    return Number(a) - Number(b);
  }

  owns(uid: string): boolean {
    return this.#identity === undefined || this.#identity === '' || uid.endsWith(`@${this.#identity}`);
  }

  #itemOf(event: WatchEvent<V>): SourceWatchItem<V> {
    const { kv } = event;
    if (event.type === 'put') {
      return { type: event.kv.version === 1 ? 'added' : 'modified', object: this.#objectOf(event.kv) };
    }
    // A tombstone does not say whose it is; it is newer than whatever lived under the key.
    return { type: 'deleted', name: kv.key, uid: undefined, resourceVersion: String(kv.modRevision) };
  }

  #objectOf(kv: KeyValue<V>): SourceObject<V> {
    const { identity } = this.#store;
    const life = `${kv.key}@${kv.createRevision}`;
    return {
      name: kv.key,
      uid: identity === '' ? life : `${life}@${identity}`,
      resourceVersion: String(kv.modRevision),
      deleting: false,
      object: kv.value,
    };
  }
}
