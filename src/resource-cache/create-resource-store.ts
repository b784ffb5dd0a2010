import { compareVersions } from '../kubernetes/resource-version.ts';
import { checkFlag, checkMembers } from '../store/checks.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkLogger } from '../types/check-logger.ts';
import { checkMethods } from '../types/check-methods.ts';
import { type InferParents, inferKubernetesParents } from './inferred-parents.ts';
import { type ResolvedStoreOptions, ResourceStore, type ResourceStoreOptions } from './resource-store.ts';
import type { IndexFunction } from './resource-tables.ts';

const ACTION = 'create a resource store';
const NAMES: ReadonlySet<string> = new Set<keyof ResourceStoreOptions>([
  'clock',
  'populate',
  'inferParents',
  'indexes',
  'compare',
  'latencyMs',
  'pendingMax',
  'coalesce',
  'sliceMs',
  'retainedMax',
  'logger',
]);

/**
 * Objects of many kinds in memory, fed by informers or lists. See {@link ResourceStore} for what it promises.
 *
 * @example
 * ```ts
 * import { createResourceStore } from 'plimsoll/kubernetes';
 *
 * const store = createResourceStore({ indexes: { phase: ({ object }) => [(object as { phase: string }).phase] } });
 * const metadata = { namespace: 'shop', name: 'web', uid: 'u1', resourceVersion: '7' };
 * store.feed({ group: '', kind: 'Pod' }).replace([{ metadata, phase: 'Running' }]);
 * store.flush();
 * console.log(store.byIndex('phase', 'Running')[0]?.key.name, store.seq); // web 1
 * store.close();
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be
 */
export function createResourceStore<T = unknown, I = undefined>(
  options: ResourceStoreOptions<T, I> = {},
): ResourceStore<T, I> {
  return new ResourceStore<T, I>(resolveStoreOptions(options, ACTION));
}

/** Checks and fills in. Throws TypeError and RangeError. */
export function resolveStoreOptions<T, I>(
  options: ResourceStoreOptions<T, I>,
  action: string,
): ResolvedStoreOptions<T, I> {
  checkMembers(options, NAMES, action, 'the options are not an object', 'option');
  const {
    clock = systemClock,
    populate,
    inferParents = inferKubernetesParents as InferParents<T>,
    indexes = {},
    compare = compareVersions,
    latencyMs = 1,
    pendingMax = 1000,
    coalesce = true,
    sliceMs = 2,
    retainedMax = 100_000,
    logger,
  } = options;
  checkMethods('clock', clock, action, ['now', 'after']);
  checkLogger(logger, action);
  for (const [name, hook] of Object.entries({ populate, inferParents, compare })) {
    if (hook !== undefined && typeof hook !== 'function')
      throw new TypeError(`Cannot ${action}: ${name} is not a function`);
  }
  checkInteger('latencyMs', latencyMs, action, 0);
  checkInteger('pendingMax', pendingMax, action, 1);
  checkInteger('sliceMs', sliceMs, action, 1);
  checkInteger('retainedMax', retainedMax, action, 1);
  checkFlag('coalesce', coalesce, action);
  return {
    clock,
    populate,
    inferParents,
    indexes: checkIndexes(indexes, action),
    compare,
    latencyMs,
    pendingMax,
    coalesce,
    sliceMs,
    retainedMax,
    logger,
  };
}

function checkIndexes<T, I>(
  indexes: Readonly<Record<string, IndexFunction<T, I>>>,
  action: string,
): readonly (readonly [string, IndexFunction<T, I>])[] {
  if (typeof indexes !== 'object' || indexes === null || Array.isArray(indexes))
    throw new TypeError(`Cannot ${action}: indexes is not an object`);
  const entries = Object.entries(indexes);
  for (const [name, values] of entries) {
    if (typeof values !== 'function') throw new TypeError(`Cannot ${action}: the index ${name} is not a function`);
  }
  return entries;
}
