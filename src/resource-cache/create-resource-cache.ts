import { createInformer } from '../kubernetes/create-informer.ts';
import type { InformerOptions } from '../kubernetes/informer-types.ts';
import type { KubernetesTransport } from '../kubernetes/transport.ts';
import { type BackoffOptions, resolveBackoff } from '../queue/backoff.ts';
import { checkMembers } from '../store/checks.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemRandom } from '../system/system-random.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkMethods } from '../types/check-methods.ts';
import { requiredPredicate } from '../types/predicate.ts';
import type { Random } from '../types/random.ts';
import { shown } from '../types/shown.ts';
import type { ApiResource, Discover } from './api-resource.ts';
import { resolveStoreOptions } from './create-resource-store.ts';
import { limitLists } from './limit-lists.ts';
import { ResourceCache } from './resource-cache.ts';
import type { ResourceStoreOptions } from './resource-store.ts';

export interface ResourceCacheOptions<T = unknown, I = undefined> extends ResourceStoreOptions<T, I> {
  readonly transport: KubernetesTransport;
  /** Which kinds there are, as `discoverWith` finds out. */
  readonly discover: Discover;
  /** Which of them are kept. What it throws counts as a failed discovery. @default all */
  readonly includes?: (resource: ApiResource) => boolean;
  /** Only these namespaces, with a watch for each kind in each of them; kinds in no namespace are watched as they are. @default all */
  readonly namespaces?: readonly string[];
  /** List requests that are under way at a time, from 1. @default 50 */
  readonly listConcurrency?: number;
  /** From one discovery to the next, in ms from 1000; changes of CustomResourceDefinitions and unknown kinds begin one earlier. @default 600000 */
  readonly discoveryMs?: number;
  /** From such a sign to the discovery, in ms, from 0: definitions take a while to be served. @default 1000 */
  readonly discoveryDelayMs?: number;
  /** How long a discovery may take, in ms from 1; then it has failed, and is tried again. @default 60000 */
  readonly discoveryTimeoutMs?: number;
  /** Pauses after a discovery that failed. @default 2 s, doubled up to 30 s, up to half of it taken away by chance */
  readonly backoff?: BackoffOptions;
  /** Of the informers: pages, deadlines, pauses. @default those of `createInformer`, and lists in pages */
  readonly informer?: Pick<
    InformerOptions<T>,
    | 'backoff'
    | 'compare'
    | 'connectTimeoutMs'
    | 'inactivityMs'
    | 'listTimeoutMs'
    | 'pageLimit'
    | 'relistMs'
    | 'retryAfterMaxMs'
    | 'selectors'
    | 'tombstoneMs'
    | 'tombstonesMax'
    | 'watchTimeoutSeconds'
  >;
  /** @default the platform's chance */
  readonly random?: Random;
}

const ACTION = 'create a resource cache';
const INFORMER_NAMES: ReadonlySet<string> = new Set([
  'backoff',
  'compare',
  'connectTimeoutMs',
  'inactivityMs',
  'listTimeoutMs',
  'pageLimit',
  'relistMs',
  'retryAfterMaxMs',
  'selectors',
  'tombstoneMs',
  'tombstonesMax',
  'watchTimeoutSeconds',
]);
const INT32_MAX = 0x7fffffff;
const BACKOFF = { baseMs: 2000, factor: 2, maxMs: 30_000, jitter: 0.5 } as const;

/**
 * All kinds of a cluster in one store, kept up to date: see {@link ResourceCache}. Nothing is asked of the server before `start()`.
 *
 * @example
 * ```ts
 * import { createFetchTransport, createResourceCache, discoverWith } from 'plimsoll/kubernetes';
 *
 * async function countPods(baseUrl: string): Promise<number> {
 *   const cache = createResourceCache({
 *     transport: createFetchTransport({ baseUrl }),
 *     discover: discoverWith(async (path, { signal }) => (await fetch(baseUrl + path, { signal })).json()),
 *   });
 *   cache.start();
 *   const { kinds } = await cache.synced();
 *   for (const { kind, phase, reason } of kinds) if (phase === 'failed') console.error(kind, reason);
 *   const { length } = cache.store.list({ group: '', kind: 'Pod' });
 *   await cache.close();
 *   return length;
 * }
 * console.log(typeof countPods); // function
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be
 */
export function createResourceCache<T = unknown, I = undefined>(
  options: ResourceCacheOptions<T, I>,
): ResourceCache<T, I> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`Cannot ${ACTION}: the options are not an object`);
  const {
    transport,
    discover,
    includes = () => true,
    namespaces,
    listConcurrency = 50,
    informer = {},
    ...rest
  } = options;
  const { discoveryMs = 600_000, discoveryDelayMs = 1000, discoveryTimeoutMs = 60_000, ...others } = rest;
  const { random = systemRandom, backoff, ...storeOptions } = others;
  const resolved = resolveStoreOptions<T, I>(storeOptions, ACTION);
  for (const [name, value] of Object.entries({ discover, includes, random })) {
    if (typeof value !== 'function')
      throw new TypeError(`Cannot ${ACTION}: ${name} is ${shown(value)}, not a function`);
  }
  checkMethods('transport', transport, ACTION, ['list', 'watch']);
  checkMembers(informer, INFORMER_NAMES, ACTION, 'informer is not an object', 'option of an informer');
  checkNamespaces(namespaces);
  checkInteger('listConcurrency', listConcurrency, ACTION, 1);
  checkInteger('discoveryMs', discoveryMs, ACTION, 1000);
  checkInteger('discoveryDelayMs', discoveryDelayMs, ACTION, 0);
  checkInteger('discoveryTimeoutMs', discoveryTimeoutMs, ACTION, 1, INT32_MAX);
  const { clock, logger } = resolved;
  checkInformer<T>({ ...informer, transport, clock, random });
  return new ResourceCache<T, I>({
    store: resolved,
    discovery: {
      discover,
      clock,
      random,
      backoff: resolveBackoff(backoff, BACKOFF, ACTION),
      timeoutMs: discoveryTimeoutMs,
      everyMs: discoveryMs,
      delayMs: discoveryDelayMs,
    },
    informer: {
      ...informer,
      transport: limitLists(transport, listConcurrency, clock),
      clock,
      random,
      compare: informer.compare ?? resolved.compare,
      backoff: resolveBackoff(informer.backoff, BACKOFF, ACTION),
      // A list that is streamed is a watch, which no number of lists could limit.
      streamingList: 'never',
      ...(logger === undefined ? {} : { logger }),
    },
    namespaces,
    // A promise would include everything.
    includes: requiredPredicate<ApiResource>(includes, 'choose kinds: includes'),
    logger: new GuardedLogger(logger),
  });
}

/** Informers are made when their kind is found, and one that cannot be made would be a discovery that fails for ever: so one is made here. */
function checkInformer<T>(options: Omit<InformerOptions<T>, 'resource'>): void {
  try {
    createInformer<T>({ ...options, resource: { version: 'v1', resource: 'pods' } });
  } catch (error) {
    const message = `Cannot ${ACTION}: informer: ${error instanceof Error ? error.message : String(error)}`;
    throw error instanceof RangeError
      ? new RangeError(message, { cause: error })
      : new TypeError(message, { cause: error });
  }
}

function checkNamespaces(namespaces: readonly string[] | undefined): void {
  if (namespaces === undefined) return;
  if (!Array.isArray(namespaces)) throw new TypeError(`Cannot ${ACTION}: namespaces is not an array`);
  if (namespaces.length === 0)
    throw new RangeError(`Cannot ${ACTION}: namespaces is empty; leave it out for all of them`);
  for (const namespace of namespaces as readonly unknown[]) {
    if (typeof namespace !== 'string' || namespace === '') {
      throw new TypeError(`Cannot ${ACTION}: a namespace is ${shown(namespace)}, not a text with a character in it`);
    }
  }
  if (new Set(namespaces).size < namespaces.length)
    throw new RangeError(`Cannot ${ACTION}: a namespace is named twice`);
}
