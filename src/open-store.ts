import { MemoryEngine } from './backends/memory-engine.ts';
import { ReplicaEngine } from './cache/replica-engine.ts';
import { coreModule } from './core/module.ts';
import { createCoordinate } from './lock/store-coordination.ts';
import type { BackoffOptions } from './queue/backoff.ts';
import { checkChoice, checkMembers } from './store/checks.ts';
import { jsonCodec } from './store/codecs.ts';
import { KeptRows } from './store/kept-rows.ts';
import { KeySpace } from './store/keyspace.ts';
import { type ResolvedLimits, resolveLimits } from './store/limits.ts';
import { Mvcc } from './store/mvcc.ts';
import type { Retention } from './store/retention.ts';
import { VersionedState } from './store/state.ts';
import { TypedStore } from './store/typed-store.ts';
import { EncodedValues, PlainValues, TrustedValues, type ValuePolicy } from './store/values.ts';
import { systemClock } from './system/system-clock.ts';
import { systemRandom } from './system/system-random.ts';
import type { Backend } from './types/backend.ts';
import { checkInteger } from './types/check-integer.ts';
import { CLOCK_METHODS, checkMethods } from './types/check-methods.ts';
import { checkSignal } from './types/check-signal.ts';
import type { Clock } from './types/clock.ts';
import type { Codec } from './types/codec.ts';
import type { Limits } from './types/limits.ts';
import type { Logger } from './types/logger.ts';
import type { Random } from './types/random.ts';
import type { Key, KeyValue, Revision } from './types/revision.ts';
import type { SignalOptions } from './types/signal.ts';
import type { Store } from './types/store.ts';

/** Options of {@link openStore}. Those in the second half need a `backend`. */
export interface OpenStoreOptions<V, K extends Key = string> extends SignalOptions {
  /**
   * Type of the keys: `utf8` strings or `bytes`. Both sort by unsigned bytes. @default 'utf8'
   */
  readonly keys?: K extends string ? 'utf8' : 'bytes';
  /**
   * Values to bytes and back. An embedded store without one keeps strings, bytes and plain JSON data as they are; a
   * replica needs bytes always. @default none for an embedded store, `jsonCodec()` for a replica
   */
  readonly codec?: Codec<V>;
  /**
   * How an embedded store without a codec keeps values.
   *
   * `copied`: bytes are copied in and out, objects kept as a deep-frozen private copy. `trusted`: values are shared,
   * which is faster and breaks history if anybody changes one; with a codec it is a TypeError. @default 'copied'
   */
  readonly values?: 'copied' | 'trusted';
  /** How much history stays readable and watchable. @default { events: 10000 } */
  readonly retention?: Retention;
  /**
   * Bound of the core's linear memory in bytes, values not included (`limits.storeBytes` bounds those); at the bound writes
   * get `StoreFullError`, and a replica stays where it is (M35). From 1048576 (1 MiB) to 2147418112, else RangeError. @default 2147418112
   */
  readonly memoryBytesMax?: number;
  /** Bounds of requests and of the contents; each has a default. */
  readonly limits?: Limits;
  /** What `createSnapshot()` made: the store starts with it. Embedded stores only. */
  readonly snapshot?: Uint8Array;
  /**
   * The data set keeps the identity that the snapshot has, so that positions of watches stay valid. Only for a store whose
   * original is not written any more: two that go on from one snapshot are two data sets. @default false, a new identity
   */
  readonly keepIdentity?: boolean;
  /** @default the platform's clock */
  readonly clock?: Clock;
  /**
   * Chance for jitter, and for the identity of an embedded store: two stores made with one seed have one identity, so
   * never give a seeded one to stores whose data could meet. @default the platform's randomness
   */
  readonly random?: Random;

  /**
   * What stands behind the store. Without one the store is an embedded one and IS the data. Calls of a backend have no
   * timeout of their own: one that neither answers nor fails is waited for.
   */
  readonly backend?: Backend;
  /** Which part of the backend's keyspace is replicated; reads elsewhere are `NotCachedError`. @default [''] */
  readonly prefixes?: readonly K[];
  /** Resolve only when reads are answered; `false` to get the store at once and `ready()` later. @default true */
  readonly waitReady?: boolean;
  /**
   * Wait between attempts to reach the backend. What is left out has the defaults of a store, which are shorter than
   * those of handlers. @default { baseMs: 50, factor: 2, maxMs: 10000, jitter: 0.2 }
   */
  readonly backoff?: BackoffOptions;
  /**
   * How old the state may be that `get` and `range` answer from, in ms from 1; they throw `StaleError` when nothing proves
   * that it is not older (M21). The backend is asked where it is every third of it. @default no bound
   */
  readonly maxStaleMs?: number;
  /**
   * About how often, in ms from 1, all that is here is compared with all that the backend has, a thousand rows a question (M44).
   * What differs is counted in `stats().replica.inconsistencies` and listed again. A check reads the whole of the replicated
   * prefixes, so choose minutes: 300,000 is what Kubernetes' API server takes for its cache (KEP-4988). @default never
   */
  readonly consistencyCheckMs?: number;
  /** What it throws is dropped: a logger cannot break a store. @default silence */
  readonly logger?: Logger;
}

/**
 * Opens a store: an embedded one, or, with a `backend`, a replica of it. Both keep the contract of {@link Store}.
 *
 * Rejects with TypeError and RangeError for options that cannot be, with the signal's reason, with a `BackendError` that is
 * permanent, with `SnapshotError` for bytes that are no snapshot of such a store, and with `StoreFullError` for a snapshot
 * that does not fit; what was opened is closed then.
 *
 * With a backend it waits for the first list, and tries again for ever while the backend is away: give it a signal with
 * a timeout, or `waitReady: false`. The signal is heard until the store is there, not after.
 *
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 *
 * const store = await openStore<string>();
 * await store.put('config/theme', 'dark');
 * console.log(store.get('config/theme')?.value, store.revision); // dark 2
 * await store.close();
 * ```
 *
 * @example
 * ```ts
 * import { type Backend, openStore } from 'plimsoll';
 *
 * async function openReplica(backend: Backend) {
 *   return openStore<{ image: string }>({ backend, prefixes: ['apps/'], signal: AbortSignal.timeout(10_000) });
 * }
 * ```
 */
export function openStore<V = unknown, K extends string = string>(
  options?: OpenStoreOptions<V, K>,
): Promise<Store<V, K>>;
/** A store whose keys are not (only) text: `keys` has to be said, since types are gone at run time. */
export function openStore<V = unknown, K extends Key = Uint8Array>(
  options: OpenStoreOptions<V, K> & { readonly keys: NonNullable<OpenStoreOptions<V, K>['keys']> },
): Promise<Store<V, K>>;
export async function openStore<V, K extends Key>(options: OpenStoreOptions<V, K> = {}): Promise<Store<V, K>> {
  const own = ownOptions(options);
  checkOptions(own);
  own.signal?.throwIfAborted();
  const { backend } = own;
  return backend === undefined ? openEmbedded(own) : openReplica(own, backend);
}

async function openEmbedded<V, K extends Key>(options: OpenStoreOptions<V, K>): Promise<Store<V, K>> {
  const limits = resolveLimits(options.limits);
  const mvcc = new Mvcc<V, K>(...parts(options, limits, policy(options, limits), 1));
  const { clock = systemClock, random = systemRandom, retention = {} } = options;
  const engine = new MemoryEngine(mvcc, { clock, random, limits, retention });
  const { snapshot, keepIdentity = false, signal } = options;
  const store = new TypedStore(engine, mvcc, { coordinate: createCoordinate({ clock, random }) });
  if (snapshot === undefined) return store;
  try {
    await engine.restore(snapshot, keepIdentity, signal);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return store;
}

async function openReplica<V, K extends Key>(options: OpenStoreOptions<V, K>, backend: Backend): Promise<Store<V, K>> {
  const limits = resolveLimits(options.limits);
  const values = new EncodedValues<V>(options.codec ?? (jsonCodec() as Codec<V>), limits.valueBytes);
  const mvcc = new Mvcc<V, K>(...parts(options, limits, values, 0));
  const { clock = systemClock, random = systemRandom, prefixes, retention = {}, backoff, logger } = options;
  const { maxStaleMs, consistencyCheckMs } = options;
  const engine = new ReplicaEngine(mvcc, {
    backend,
    clock,
    random,
    limits,
    retention,
    ...(prefixes === undefined ? {} : { prefixes }),
    ...(backoff === undefined ? {} : { backoff }),
    ...(maxStaleMs === undefined ? {} : { maxStaleMs }),
    ...(consistencyCheckMs === undefined ? {} : { consistencyCheckMs }),
    ...(logger === undefined ? {} : { logger }),
  });
  const replica = new TypedStore(engine, mvcc, { coordinate: createCoordinate({ clock, random }) });
  engine.start();
  if (options.waitReady === false) return replica;
  try {
    await replica.ready(options.signal === undefined ? {} : { signal: options.signal });
  } catch (error) {
    await replica.close();
    throw error;
  }
  return replica;
}

function parts<V, K extends Key>(
  options: OpenStoreOptions<V, K>,
  limits: ResolvedLimits,
  values: ValuePolicy<V>,
  revision: Revision,
): ConstructorParameters<typeof Mvcc<V, K>> {
  const keys = new KeySpace<K>(options.keys ?? 'utf8', { bytesMax: limits.keyBytes });
  const { memoryBytesMax } = options;
  const core = memoryBytesMax === undefined ? {} : { memoryBytesMax };
  const isBounded = limits.storeBytes !== Number.POSITIVE_INFINITY;
  const sizes = isBounded ? { sizes: { max: limits.storeBytes, size: (cell: unknown) => values.size(cell) } } : {};
  const kept = new KeptRows<KeyValue<V, K>>();
  return [new VersionedState({ ...core, ...sizes, kept, module: coreModule(), keys, revision }), keys, values, kept];
}

function policy<V, K extends Key>(options: OpenStoreOptions<V, K>, { valueBytes }: ResolvedLimits): ValuePolicy<V> {
  if (options.values === 'trusted') return new TrustedValues<V>(valueBytes);
  return options.codec === undefined ? new PlainValues<V>(valueBytes) : new EncodedValues(options.codec, valueBytes);
}

const ACTION = 'open a store';

const NAMES: ReadonlySet<string> = new Set<keyof OpenStoreOptions<unknown>>([
  'backend',
  'backoff',
  'clock',
  'codec',
  'consistencyCheckMs',
  'keepIdentity',
  'keys',
  'limits',
  'logger',
  'maxStaleMs',
  'memoryBytesMax',
  'prefixes',
  'random',
  'retention',
  'signal',
  'snapshot',
  'values',
  'waitReady',
]);

const EMBEDDED_ONLY = ['values', 'snapshot', 'keepIdentity'] as const;
/** What they bound is the backend's. */
const EMBEDDED_LIMITS = ['leases'] as const;
const REPLICA_ONLY = ['prefixes', 'waitReady', 'backoff', 'maxStaleMs', 'consistencyCheckMs', 'logger'] as const;

/** What the seams must have for a store to work; a part that lacks one fails here, not at its first use. */
const SEAMS = {
  backend: ['range', 'status', 'watch', 'txn', 'compact'],
  clock: CLOCK_METHODS,
  codec: ['encode', 'decode'],
  logger: ['debug', 'info', 'warn', 'error'],
} as const;

/** Of a backend that says it has leases. */
const LEASE_SEAM = ['grant', 'keepAlive', 'revoke', 'timeToLive', 'list'] as const;

/** Options whose members are numbers, judged after they were checked. */
const NESTED: ReadonlySet<string> = new Set<keyof OpenStoreOptions<unknown>>(['limits', 'retention', 'backoff']);

/**
 * The options as they are now, each read once, so that what is checked is what is used; also those of the nested ones that are
 * objects. Unknown options are refused, not ignored.
 */
function ownOptions<V, K extends Key>(options: OpenStoreOptions<V, K>): OpenStoreOptions<V, K> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const own: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) continue;
    const isNested = NESTED.has(name) && typeof value === 'object' && value !== null && !Array.isArray(value);
    own[name] = isNested ? { ...value } : value;
  }
  return own;
}

/** Contradicting options are refused, not ignored. */
function checkOptions<V, K extends Key>(options: OpenStoreOptions<V, K>): void {
  if (options.keys !== undefined) checkChoice('keys', options.keys, ACTION, ['utf8', 'bytes']);
  if (options.values !== undefined) checkChoice('values', options.values, ACTION, ['copied', 'trusted']);
  if (options.values === 'trusted' && options.codec !== undefined) {
    throw new TypeError('Cannot open a store: values: trusted and a codec exclude each other');
  }
  checkTypes(options);
  checkSeams(options);
  if (options.backend !== undefined) {
    for (const name of EMBEDDED_ONLY) {
      if (options[name] === undefined) continue;
      throw new TypeError(`Cannot open a store: ${name} is for embedded stores only`);
    }
    for (const name of EMBEDDED_LIMITS) {
      if (options.limits?.[name] === undefined) continue;
      throw new TypeError(`Cannot open a store: limits.${name} is for embedded stores only`);
    }
    return;
  }
  for (const name of REPLICA_ONLY) {
    if (options[name] !== undefined) throw new TypeError(`Cannot open a store: ${name} needs a backend`);
  }
}

function checkTypes<V, K extends Key>(options: OpenStoreOptions<V, K>): void {
  const {
    consistencyCheckMs,
    keepIdentity,
    maxStaleMs,
    memoryBytesMax,
    prefixes,
    random,
    signal,
    snapshot,
    waitReady,
  } = options;
  if (snapshot !== undefined && !(snapshot instanceof Uint8Array)) {
    throw new TypeError('Cannot open a store: snapshot is not a Uint8Array');
  }
  if (keepIdentity !== undefined && typeof keepIdentity !== 'boolean') {
    throw new TypeError('Cannot open a store: keepIdentity is not a boolean');
  }
  if (keepIdentity !== undefined && snapshot === undefined) {
    throw new TypeError('Cannot open a store: keepIdentity needs a snapshot');
  }
  if (maxStaleMs !== undefined) checkInteger('maxStaleMs', maxStaleMs, ACTION, 1, Number.MAX_SAFE_INTEGER);
  // An interval that a timer of any host can wait for, half as long again.
  if (consistencyCheckMs !== undefined)
    checkInteger('consistencyCheckMs', consistencyCheckMs, ACTION, 1, 1_000_000_000);
  if (memoryBytesMax !== undefined) checkInteger('memoryBytesMax', memoryBytesMax, ACTION, 1_048_576, 0x7fff0000);
  if (prefixes !== undefined && !Array.isArray(prefixes)) {
    throw new TypeError('Cannot open a store: prefixes is not an array');
  }
  if (random !== undefined && typeof random !== 'function') {
    throw new TypeError('Cannot open a store: random is not a function');
  }
  if (waitReady !== undefined && typeof waitReady !== 'boolean') {
    throw new TypeError('Cannot open a store: waitReady is not a boolean');
  }
  checkSignal(signal, ACTION);
}

function checkSeams<V, K extends Key>(options: OpenStoreOptions<V, K>): void {
  for (const [name, members] of Object.entries(SEAMS)) {
    const seam: unknown = options[name as keyof typeof SEAMS];
    if (seam !== undefined) checkMethods(name, seam, ACTION, members);
  }
  if (options.backend === undefined) return;
  const { capabilities, leases } = options.backend;
  if (typeof capabilities !== 'object' || capabilities === null) {
    throw new TypeError('Cannot open a store: backend has no capabilities');
  }
  if (capabilities.leases === true) checkMethods('backend.leases', leases, ACTION, LEASE_SEAM);
}
