import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { type OpenStoreOptions, openStore } from '../../../src/open-store.ts';
import { createStorage } from '../../../src/storage/create-storage.ts';
import type { Storage, StorageOptions, StorageWatch, StorageWatchEvent } from '../../../src/storage/types.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend } from '../../../src/types/backend.ts';
import type { Store } from '../../../src/types/store.ts';

/** An object of the tests. */
export interface Thing {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: { readonly [name: string]: string };
  };
  readonly spec?: number | null;
}

export interface Rig {
  readonly kind: 'embedded' | 'replica';
  readonly storage: Storage<Thing>;
  readonly store: Store<Thing>;
  readonly clock: VirtualClock;
  /** What a replica is one of. */
  readonly backend: Backend | undefined;
  /** The data themselves: the store, or what the backend is made of. */
  readonly truth: Truth;
  /** Waits for a promise, moving the clock only if it must. */
  run<T>(promise: PromiseLike<T>): Promise<T>;
  /** What a promise is rejected with. */
  refusal(promise: PromiseLike<unknown>): Promise<Error>;
}

/** Writes behind the storage's back. */
export interface Truth {
  readonly revision: number;
  put(key: string, value: unknown): Promise<number>;
  delete(key: string): Promise<number>;
  /** Several keys as one commit. */
  putAll(entries: Readonly<Record<string, unknown>>): Promise<number>;
  compact(revision: number): Promise<unknown>;
}

export interface RigOptions {
  readonly storage?: Partial<StorageOptions<Thing>>;
  readonly store?: Partial<OpenStoreOptions<Thing>>;
  /** Around the backend of a replica. */
  readonly wrap?: (backend: Backend, clock: VirtualClock) => Backend;
  /** Give the storage the backend too. */
  readonly isBackendGiven?: boolean;
  /** Do not wait until a replica is ready. */
  readonly isNotReady?: boolean;
}

export const PREFIX = '/registry';

export async function openRig(kind: Rig['kind'], options: RigOptions = {}): Promise<Rig> {
  const clock = createVirtualClock();
  const open = kind === 'embedded' ? await openEmbedded(clock, options) : await openReplica(clock, options);
  const { store, backend } = open;
  const given = options.isBackendGiven === true && backend !== undefined ? { backend } : {};
  const storage = createStorage<Thing>(store, { prefix: PREFIX, clock, ...given, ...options.storage });
  const run = <T>(promise: PromiseLike<T>) => settled(clock, promise);
  const refusal = (promise: PromiseLike<unknown>) =>
    run(
      Promise.resolve(promise).then(
        (value) => new Error(`nothing was refused: ${JSON.stringify(value)}`),
        (error: Error) => error,
      ),
    );
  return { kind, storage, clock, run, refusal, ...open };
}

async function openEmbedded(clock: VirtualClock, options: RigOptions) {
  const store = await openStore<Thing>({ clock, random: () => 0.5, ...options.store });
  return { store, backend: undefined, truth: truthOf(store as Store<unknown>) };
}

async function openReplica(clock: VirtualClock, options: RigOptions) {
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random: () => 0.25 });
  const memory = createMemoryBackend(data);
  const backend = options.wrap === undefined ? memory : options.wrap(memory, clock);
  const store = await openStore<Thing>({ backend, clock, random: () => 0.5, ...options.store, waitReady: false });
  if (options.isNotReady !== true) await settled(clock, store.ready());
  const encode = (text: string) => new TextEncoder().encode(text);
  const truth: Truth = {
    get revision() {
      return data.revision;
    },
    put: async (key, value) => (await data.put(encode(key), encode(JSON.stringify(value)))).revision,
    delete: async (key) => (await data.delete(encode(key))).revision,
    putAll: async (entries) => {
      const all = Object.entries(entries).map(([key, value]) => ({
        key: encode(key),
        value: encode(JSON.stringify(value)),
      }));
      return (await data.putAll(all)).revision;
    },
    compact: (revision) => data.compact(revision),
  };
  return { store, backend, truth };
}

function truthOf(store: Store<unknown>): Truth {
  return {
    get revision() {
      return store.revision;
    },
    put: async (key, value) => (await store.put(key, value)).revision,
    delete: async (key) => (await store.delete(key)).revision,
    putAll: async (entries) =>
      (await store.putAll(Object.entries(entries).map(([key, value]) => ({ key, value })))).revision,
    compact: (revision) => store.compact(revision),
  };
}

async function settled<T>(clock: VirtualClock, promise: PromiseLike<T>): Promise<T> {
  let isSettled = false;
  const done = () => {
    isSettled = true;
  };
  promise.then(done, done);
  // One of these may wait for another, which has just moved the clock: nothing is stuck before it stays so.
  for (let idle = 0; idle < 5; ) {
    await clock.settle();
    if (isSettled) return promise;
    idle = (await clock.advanceToNext()) ? 0 : idle + 1;
  }
  throw new Error('it waits, and no timer does');
}

export const KINDS = ['embedded', 'replica'] as const;

/** Runs a test on an embedded store, or on a replica of one. */
export async function withRig(
  kind: Rig['kind'],
  test: (rig: Rig) => Promise<void>,
  options: RigOptions = {},
): Promise<void> {
  const rig = await openRig(kind, options);
  await test(rig);
  await rig.storage.close();
  await rig.store.close();
}

export function thing(name: string, spec = 1, labels?: Readonly<Record<string, string>>): Thing {
  return { metadata: { name, ...(labels === undefined ? {} : { labels }) }, spec };
}

/** `name=spec@resourceVersion`. */
export function brief({ metadata, spec }: Thing): string {
  return `${metadata?.name}=${spec}@${metadata?.resourceVersion}`;
}

export function briefEvent(event: StorageWatchEvent<Thing>): string {
  if (event.type !== 'BOOKMARK') return `${event.type} ${brief(event.object)}`;
  const { resourceVersion, annotations } = event.object.metadata;
  return `BOOKMARK @${resourceVersion}${annotations === undefined ? '' : ` ${Object.keys(annotations)}`}`;
}

/** Everything that a watch delivers without the clock moving. */
export class Reader {
  readonly events: string[] = [];
  error: unknown;
  isDone = false;
  readonly #watch: StorageWatch<Thing>;
  readonly #clock: VirtualClock;
  #isWaiting = false;
  #told = 0;

  constructor(watch: StorageWatch<Thing>, clock: VirtualClock) {
    this.#watch = watch;
    this.#clock = clock;
  }

  /** What has come since the last call. */
  async more(): Promise<readonly string[]> {
    for (;;) {
      const before = this.events.length;
      if (!this.#isWaiting && !this.isDone) void this.#read();
      await this.#clock.settle();
      if (this.events.length > before || !(this.#isWaiting || this.isDone)) continue;
      const news = this.events.slice(this.#told);
      this.#told = this.events.length;
      return news;
    }
  }

  async #read(): Promise<void> {
    this.#isWaiting = true;
    try {
      const { value, done } = await this.#watch.next();
      if (done === true) this.isDone = true;
      else this.events.push(briefEvent(value));
    } catch (error) {
      this.error = error;
      this.isDone = true;
    }
    this.#isWaiting = false;
  }
}
