import { checkMethods } from '../types/check-methods.ts';
import { shown } from '../types/shown.ts';
import type { ObjectSource } from '../types/source.ts';
import { AnnotationPlace, DEFAULT_PREFIX } from './annotation-place.ts';
import { checkFunction, checkNames } from './checks.ts';
import { createObjectProgress } from './object-progress.ts';
import type { ProgressStore } from './progress.ts';

/** What both kinds of records on objects have. */
export interface ObjectRecordOptions<T> {
  /**
   * Takes what is too large for the object: first the views that `old` is made of, then the records as well. One of this
   * controller's own. @default none: `LimitExceededError`, the object waits by backoff and nothing is called for it
   */
  readonly overflow?: ProgressStore;
  /**
   * Whether views of an object may be kept, on it and in `overflow`. Where not, `old` is `undefined` after a restart. Digests
   * and the args of subs are kept in any case. @default all but those of a Secret, which would be copied in plain text
   */
  readonly keepsViews?: (object: T) => boolean;
}

/** Options of {@link createAnnotationProgress}. */
export interface AnnotationProgressOptions<T = unknown> extends ObjectRecordOptions<T> {
  /**
   * What the names of the annotations begin with, before the `/`: a DNS name. One controller, one prefix.
   * @default 'plimsoll.dev'
   */
  readonly prefix?: string;
}

/**
 * Keeps records in annotations of the objects themselves, as Kubernetes has them (A42'): no other store is needed, and they
 * go with their object. Handlers do not see them, and changes of them call nobody.
 *
 * A write is a patch by resource version. All annotations of an object together may have 262144 bytes, names and texts; what
 * is above goes to `overflow`. Who removes the annotations has every handler called anew.
 *
 * @example
 * ```ts
 * import { createAnnotationProgress, createController } from 'plimsoll';
 * import { createObjectSource, createSeededRandom, createVirtualClock } from 'plimsoll/testing';
 *
 * const source = createObjectSource<{ metadata: object }>({ clock: createVirtualClock(), random: createSeededRandom(1) });
 * const progress = createAnnotationProgress(source, { prefix: 'apps.example.com' });
 * createController({ source, progress });
 * ```
 *
 * @throws TypeError for a source without `patch`, an unknown option, and a prefix that is no DNS name.
 */
export function createAnnotationProgress<T>(
  source: ObjectSource<T>,
  options: AnnotationProgressOptions<T> = {},
): ProgressStore {
  const action = 'create an annotation progress';
  checkObjectRecords(action, source, options, ['prefix']);
  const { prefix = DEFAULT_PREFIX, overflow, keepsViews = isNoSecret } = options;
  if (typeof prefix !== 'string' || prefix.length > 253 || !DNS_NAME.test(prefix)) {
    throw new TypeError(`Cannot ${action}: the prefix is no DNS name: ${shown(prefix)}`);
  }
  return createObjectProgress({ source, place: new AnnotationPlace(prefix), overflow, keepsViews });
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Throws TypeError. */
export function checkObjectRecords<T>(
  action: string,
  source: ObjectSource<T>,
  options: ObjectRecordOptions<T>,
  names: readonly string[],
): void {
  checkMethods('the source', source, action, ['get', 'patch', 'compare']);
  checkNames(action, options, ['overflow', 'keepsViews', ...names]);
  const { overflow, keepsViews } = options;
  if (overflow !== undefined) checkMethods('overflow', overflow, action, ['get', 'compareAndSet', 'delete', 'list']);
  checkFunction(action, 'keepsViews', keepsViews);
}

export function isNoSecret(object: unknown): boolean {
  return !(typeof object === 'object' && object !== null && Reflect.get(object, 'kind') === 'Secret');
}
