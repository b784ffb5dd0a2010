import { checkMembers, checkOptions } from '../store/checks.ts';
import { jsonCodec } from '../store/codecs.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkMethods } from '../types/check-methods.ts';
import { ClosedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { Store } from '../types/store.ts';
import { BackendRows } from './backend-rows.ts';
import { Freshness } from './freshness.ts';
import { StorageKeys } from './keys.ts';
import { Lister } from './lister.ts';
import { ObjectWatches } from './object-watches.ts';
import { PagePins } from './page-pins.ts';
import type {
  CreateOptions,
  DeleteObjectOptions,
  GetOptions,
  GuaranteedUpdateOptions,
  KubernetesObject,
  ListOptions,
  ObjectList,
  Storage,
  StorageOptions,
  StorageStats,
  StorageWatch,
  StorageWatchOptions,
} from './types.ts';
import { Writer } from './writes.ts';

const ACTION = 'create a storage';
const NAMES: ReadonlySet<string> = new Set<keyof StorageOptions>([
  'attemptsMax',
  'backend',
  'bookmarkMs',
  'clock',
  'codec',
  'pinMs',
  'pinsMax',
  'prefix',
  'waitMs',
  'waitersMax',
  'watchesMax',
]);
const SIGNAL_ONLY: ReadonlySet<string> = new Set<keyof SignalOptions>(['signal']);
/** What a timer of any host can wait for. */
const MS_MAX = 0x7fffffff;

/**
 * Objects by key over a store, as Kubernetes keeps them over etcd: lists that say of which state they are and go on in pages of
 * it, watches from a resource version, with bookmarks, and compare and set (K01 and following).
 *
 * The store may be an embedded one or a replica, and stays the caller's. A stored object has no `resourceVersion`: it is the mod
 * revision of its key, so that whoever writes to the store directly is seen, too.
 *
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { createStorage, type KubernetesObject } from 'plimsoll/kubernetes';
 *
 * const store = await openStore<KubernetesObject>();
 * const storage = createStorage(store, { prefix: '/registry' });
 * await storage.create('/pods/ns1/web', { metadata: { name: 'web', namespace: 'ns1' } });
 * const { items, metadata } = await storage.list('/pods/ns1', { recursive: true });
 * console.log(items.length, metadata.resourceVersion); // 1 2
 * await storage.close();
 * await store.close();
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be
 */
export function createStorage<O extends KubernetesObject = KubernetesObject>(
  store: Store<O>,
  options: StorageOptions<O> = {},
): Storage<O> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const own = { ...options };
  if (typeof store !== 'object' || store === null || typeof store.range !== 'function') {
    throw new TypeError(`Cannot ${ACTION}: the store is none`);
  }
  const { prefix = '', clock = systemClock, codec = jsonCodec<O>(), backend } = own;
  if (typeof prefix !== 'string' || !prefix.isWellFormed()) {
    throw new TypeError(`Cannot ${ACTION}: prefix is ${shown(prefix)}, not a text`);
  }
  checkMethods('clock', clock, ACTION, ['now', 'after']);
  checkMethods('codec', codec, ACTION, ['encode', 'decode']);
  if (backend !== undefined) checkMethods('backend', backend, ACTION, ['range']);
  return new StoreStorage(store, {
    prefix,
    clock,
    backend: backend === undefined ? undefined : new BackendRows(backend, codec),
    waitMs: number('waitMs', own.waitMs, 3000, 1, MS_MAX),
    waitersMax: number('waitersMax', own.waitersMax, 1000, 1),
    watchesMax: number('watchesMax', own.watchesMax, 10_000, 1),
    pinsMax: number('pinsMax', own.pinsMax, 100, 0),
    pinMs: number('pinMs', own.pinMs, 60_000, 1, MS_MAX),
    bookmarkMs: number('bookmarkMs', own.bookmarkMs, 60_000, 100, MS_MAX),
    attemptsMax: number('attemptsMax', own.attemptsMax, 100, 1),
  });
}

interface ResolvedOptions<O extends KubernetesObject> extends Required<Omit<StorageOptions<O>, 'backend' | 'codec'>> {
  readonly backend: BackendRows<O> | undefined;
}

class StoreStorage<O extends KubernetesObject> implements Storage<O> {
  readonly #store: Store<O>;
  readonly #freshness: Freshness;
  readonly #pins: PagePins;
  readonly #lister: Lister<O>;
  readonly #writer: Writer<O>;
  readonly #watches: ObjectWatches<O>;
  readonly #life = new AbortController();

  constructor(store: Store<O>, options: ResolvedOptions<O>) {
    const { prefix, clock, backend, waitMs, waitersMax, watchesMax, pinsMax, pinMs, bookmarkMs, attemptsMax } = options;
    const keys = new StorageKeys(prefix);
    const lifetime = this.#life.signal;
    this.#store = store;
    this.#freshness = new Freshness({ store, prefix: keys.root, clock, waitMs, waitersMax, lifetime });
    this.#pins = new PagePins({ store, max: pinsMax, ttlMs: pinMs });
    const { freshness, pins } = { freshness: this.#freshness, pins: this.#pins };
    this.#lister = new Lister({ store, keys, freshness, pins, backend });
    this.#writer = new Writer({ store, keys, freshness, attemptsMax });
    this.#watches = new ObjectWatches({ store, keys, freshness, clock, bookmarkMs, max: watchesMax });
  }

  async get(key: string, options: GetOptions = {}): Promise<O> {
    this.#checkOpen('get an object');
    return this.#lister.get(key, options);
  }

  async list(key: string, options: ListOptions<O> = {}): Promise<ObjectList<O>> {
    this.#checkOpen('list objects');
    return this.#lister.list(key, options);
  }

  watch(key: string, options: StorageWatchOptions<O> = {}): StorageWatch<O> {
    this.#checkOpen('watch objects');
    return this.#watches.open(key, options);
  }

  async create(key: string, object: O, options: CreateOptions = {}): Promise<O> {
    this.#checkOpen('create an object');
    return this.#writer.create(key, object, options);
  }

  async delete(key: string, options: DeleteObjectOptions<O> = {}): Promise<O> {
    this.#checkOpen('delete an object');
    return this.#writer.delete(key, options);
  }

  async guaranteedUpdate(
    key: string,
    tryUpdate: (object: O | undefined) => O | PromiseLike<O>,
    options: GuaranteedUpdateOptions<O> = {},
  ): Promise<O> {
    this.#checkOpen('update an object');
    return this.#writer.guaranteedUpdate(key, tryUpdate, options);
  }

  async getCurrentResourceVersion(options: SignalOptions = {}): Promise<string> {
    const action = 'get the current resource version';
    this.#checkOpen(action);
    const signal = checkOptions(options, SIGNAL_ONLY, action);
    await this.#freshness.until({ kind: 'consistent' }, action, signal);
    return String(this.#store.revision);
  }

  get compactRevision(): Revision {
    this.#checkOpen('read the compact revision');
    return this.#store.compactRevision;
  }

  stats(): StorageStats {
    return { watches: this.#watches.size, waiters: this.#freshness.waiters, pins: this.#pins.size };
  }

  async close(): Promise<void> {
    if (this.#life.signal.aborted) return;
    this.#life.abort(new ClosedError('wait for a storage'));
    this.#watches.close();
    this.#pins.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #checkOpen(action: string): void {
    if (this.#life.signal.aborted) throw new ClosedError(action);
  }
}

function number(name: string, value: unknown, without: number, min: number, max?: number): number {
  if (value === undefined) return without;
  checkInteger(name, value, ACTION, min, max);
  return value;
}
