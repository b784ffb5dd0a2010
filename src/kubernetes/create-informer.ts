import { resolveBackoff } from '../queue/backoff.ts';
import { checkChoice, checkMembers } from '../store/checks.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkLogger } from '../types/check-logger.ts';
import { checkMethods } from '../types/check-methods.ts';
import { shown } from '../types/shown.ts';
import { createInformerCore } from './create-informer-core.ts';
import { ResourceInformer } from './informer.ts';
import { InformerCallbacks } from './informer-callbacks.ts';
import type { InformerContext, InformerLimits } from './informer-context.ts';
import type { Informer, InformerOptions } from './informer-types.ts';
import { compareVersions } from './resource-version.ts';
import { Subscribers } from './subscribers.ts';
import type { KubernetesResource, Selectors } from './transport.ts';

const ACTION = 'create an informer';
const NAMES: ReadonlySet<string> = new Set<keyof InformerOptions>([
  'backoff',
  'clock',
  'compare',
  'connectTimeoutMs',
  'deltasMax',
  'inactivityMs',
  'listTimeoutMs',
  'logger',
  'onConnect',
  'onDeltas',
  'onError',
  'onListed',
  'pageLimit',
  'random',
  'relistMs',
  'resource',
  'retryAfterMaxMs',
  'selectors',
  'streamingList',
  'tombstoneMs',
  'tombstonesMax',
  'transport',
  'watchTimeoutSeconds',
]);
const RESOURCE_NAMES: ReadonlySet<string> = new Set<keyof KubernetesResource>([
  'group',
  'namespace',
  'resource',
  'version',
]);
const SELECTOR_NAMES: ReadonlySet<string> = new Set<keyof Selectors>(['fieldSelector', 'labelSelector']);
const BACKOFF = { baseMs: 2000, factor: 2, maxMs: 30_000, jitter: 0.5 } as const;
const INT32_MAX = 0x7fffffff;

/**
 * Makes an informer: what client-go calls a reflector with its store. Nothing is asked of the server before `start()`.
 *
 * @example
 * ```ts
 * import { createInformer, type KubernetesTransport } from 'plimsoll/kubernetes';
 *
 * async function countPods(transport: KubernetesTransport): Promise<number> {
 *   const informer = createInformer({
 *     transport,
 *     resource: { version: 'v1', resource: 'pods', namespace: 'shop' },
 *     selectors: { labelSelector: 'app=web' },
 *     onDeltas: (deltas) => {
 *       for (const delta of deltas) console.log(delta.type, delta.key);
 *     },
 *     onError: (error, { retryMs }) => console.error(error, retryMs),
 *   });
 *   informer.start();
 *   await informer.synced();
 *   const { size } = informer;
 *   await informer.stop();
 *   return size;
 * }
 * console.log(typeof countPods); // function
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be
 */
export function createInformer<T = unknown>(options: InformerOptions<T>): Informer<T> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { transport, resource, selectors = {}, compare = compareVersions, tombstoneMs, tombstonesMax } = options;
  const {
    clock = systemClock,
    random = systemRandom,
    deltasMax = 500,
    onDeltas,
    onError,
    onConnect,
    onListed,
  } = options;
  checkMethods('transport', transport, ACTION, ['list', 'watch']);
  checkMethods('clock', clock, ACTION, ['now', 'after']);
  checkTexts('resource', resource, RESOURCE_NAMES);
  checkTexts('selectors', selectors, SELECTOR_NAMES);
  for (const name of ['version', 'resource'] as const) {
    if (resource[name] === undefined) throw new TypeError(`Cannot ${ACTION}: resource.${name} is missing`);
  }
  checkNamespace(resource.namespace);
  for (const [name, value] of Object.entries({ random, onDeltas, onError, onConnect, onListed })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`Cannot ${ACTION}: ${name} is not a function`);
    }
  }
  checkLogger(options.logger, ACTION);
  checkInteger('deltasMax', deltasMax, ACTION, 1);
  const core = createInformerCore<T>({
    clock,
    compare,
    isSelective: Object.values(selectors).some((one) => one !== undefined),
    ...(tombstoneMs === undefined ? {} : { tombstoneMs }),
    ...(tombstonesMax === undefined ? {} : { tombstonesMax }),
  });
  const callbacks = new InformerCallbacks(callbacksOf(options), new GuardedLogger(options.logger));
  const counts = noCounts();
  const subscribers = new Subscribers<T>({
    deltasMax,
    onError: (error) => {
      counts.handlerErrors++;
      callbacks.error(error, { during: 'handler', failures: 0, retryMs: undefined });
    },
  });
  if (onDeltas !== undefined) subscribers.add(onDeltas);
  return new ResourceInformer<T>({
    transport,
    resource: Object.freeze({ ...resource }),
    selectors: Object.freeze({ ...selectors }),
    limits: limitsOf(options),
    clock,
    random,
    core,
    compare,
    subscribers,
    callbacks,
    counts,
    status: {
      phase: 'idle',
      lastError: undefined,
      failures: 0,
      retryAtMs: undefined,
      heardAtMs: undefined,
      deliveringSinceMs: undefined,
    },
  });
}

function limitsOf(options: Omit<InformerOptions, 'onDeltas'>): InformerLimits {
  const { pageLimit = 500, listTimeoutMs = 60_000, connectTimeoutMs = 30_000, inactivityMs = 150_000 } = options;
  const { retryAfterMaxMs = 300_000, streamingList = 'auto', watchTimeoutSeconds, relistMs, backoff } = options;
  for (const [name, value] of Object.entries({ listTimeoutMs, connectTimeoutMs, inactivityMs })) {
    checkInteger(name, value, ACTION, 1, INT32_MAX);
  }
  checkInteger('pageLimit', pageLimit, ACTION, 1);
  checkInteger('retryAfterMaxMs', retryAfterMaxMs, ACTION, 0);
  if (watchTimeoutSeconds !== undefined) checkInteger('watchTimeoutSeconds', watchTimeoutSeconds, ACTION, 1, INT32_MAX);
  if (relistMs !== undefined) checkInteger('relistMs', relistMs, ACTION, 1000);
  checkChoice('streamingList', streamingList, ACTION, ['auto', 'never']);
  return {
    pageLimit,
    listTimeoutMs,
    connectTimeoutMs,
    inactivityMs,
    retryAfterMaxMs,
    streamingList,
    watchTimeoutSeconds,
    relistMs,
    backoff: resolveBackoff(backoff, BACKOFF, ACTION),
  };
}

function callbacksOf({ onError, onConnect, onListed }: Pick<InformerOptions, 'onError' | 'onConnect' | 'onListed'>) {
  return {
    ...(onError === undefined ? {} : { onError }),
    ...(onConnect === undefined ? {} : { onConnect }),
    ...(onListed === undefined ? {} : { onListed }),
  };
}

function noCounts(): InformerContext<never>['counts'] {
  return {
    lists: 0,
    relists: 0,
    streamedLists: 0,
    failedLists: 0,
    watches: 0,
    openWatches: 0,
    failedWatches: 0,
    inactiveWatches: 0,
    expired: 0,
    bookmarks: 0,
    handlerErrors: 0,
  };
}

/** What a server takes for one: anything else could only ever be a 404, tried again for ever. */
const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function checkNamespace(namespace: string | undefined): void {
  if (namespace === undefined || DNS_LABEL.test(namespace)) return;
  throw new RangeError(
    `Cannot ${ACTION}: resource.namespace is ${shown(namespace)}, no name of a namespace: a DNS label of up to 63 characters`,
  );
}

function checkTexts(what: string, value: unknown, names: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`Cannot ${ACTION}: ${what} is not an object`);
  }
  for (const [name, text] of Object.entries(value)) {
    if (!names.has(name)) throw new TypeError(`Cannot ${ACTION}: ${what}.${shown(name)} is unknown`);
    if (text === undefined || (typeof text === 'string' && (text !== '' || name === 'group'))) continue;
    throw new TypeError(`Cannot ${ACTION}: ${what}.${name} is ${shown(text)}, not a text with a character in it`);
  }
}
