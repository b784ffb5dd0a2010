import { checkFlag, checkOptions } from '../store/checks.ts';
import { checkInteger } from '../types/check-integer.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError } from '../types/errors.ts';
import { predicateOf } from '../types/predicate.ts';
import type { KeyRange, Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { WatchOptions } from '../types/watch.ts';
import { BadRequestError, TooManyRequestsError } from './errors.ts';
import type { Freshness } from './freshness.ts';
import type { StorageKeys } from './keys.ts';
import { ObjectWatch } from './object-watch.ts';
import { checkMatch, parseResourceVersion, type WantedState } from './resource-version.ts';
import type { KubernetesObject, StorageWatch, StorageWatchOptions } from './types.ts';

export interface ObjectWatchesOptions<O> {
  readonly store: Store<O>;
  readonly keys: StorageKeys;
  readonly freshness: Freshness;
  readonly clock: Clock;
  readonly bookmarkMs: number;
  readonly max: number;
}

const ACTION = 'watch objects';
const NAMES: ReadonlySet<string> = new Set<keyof StorageWatchOptions<unknown>>([
  'allowWatchBookmarks',
  'predicate',
  'recursive',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'signal',
  'timeoutMs',
]);
const TIMEOUT_MS_MAX = 0x7fffffff;

/** The open watches of a storage, and where each begins. */
export class ObjectWatches<O extends KubernetesObject> {
  readonly #parts: ObjectWatchesOptions<O>;
  readonly #open = new Set<ObjectWatch<O>>();

  constructor(parts: ObjectWatchesOptions<O>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open.size;
  }

  open(key: string, options: StorageWatchOptions<O>): StorageWatch<O> {
    const signal = checkOptions(options, NAMES, ACTION);
    const { timeoutMs, resourceVersion = '', resourceVersionMatch, sendInitialEvents } = options;
    const predicate = predicateOf<O>(options.predicate, ACTION);
    const { store, keys, freshness, clock, bookmarkMs, max } = this.#parts;
    const isRecursive = checkFlag('recursive', options.recursive, ACTION);
    const hasBookmarks = checkFlag('allowWatchBookmarks', options.allowWatchBookmarks, ACTION);
    if (timeoutMs !== undefined) checkInteger('timeoutMs', timeoutMs, ACTION, 1, TIMEOUT_MS_MAX);
    checkMatch(resourceVersionMatch, ACTION);
    if (resourceVersionMatch === 'Exact')
      throw new BadRequestError(ACTION, 'a watch has no resourceVersionMatch Exact');
    const isInitial =
      sendInitialEvents === undefined ? undefined : checkFlag('sendInitialEvents', sendInitialEvents, ACTION);
    const range: KeyRange = isRecursive ? keys.below(key, ACTION) : { key: keys.object(key, ACTION) };
    const start = startOf(resourceVersion, isInitial, ACTION);
    if (this.#open.size >= max) {
      throw new TooManyRequestsError(ACTION, `${max} watches are open already (watchesMax)`);
    }
    signal?.throwIfAborted();
    // The caller's "now" is that of the call, so the cursor is there before anything is waited for.
    const watch = new ObjectWatch<O>({
      inner: store.watch(range, { ...start.options, prevKv: true }),
      clock,
      predicate,
      resourceVersion,
      hasInitialEnd: isInitial === true && hasBookmarks,
      bookmarkMs: hasBookmarks ? bookmarkMs : undefined,
      timeoutMs,
      signal,
      untilFresh: (aborted) => freshness.until(start.wanted, ACTION, aborted),
      newest: () => (freshness.isReady() ? store.revision : undefined),
      onEnd: (ended) => this.#open.delete(ended),
    });
    this.#open.add(watch);
    return watch;
  }

  close(): void {
    for (const watch of this.#open) watch.fail(new ClosedError(ACTION));
  }
}

interface Start {
  readonly options: WatchOptions;
  readonly wanted: WantedState;
}

/**
 * ```text
 *   resourceVersion   nothing said          sendInitialEvents true      false
 *   ''                the state, then live  consistent state, then live    live
 *   '0'               the state, then live  the state, then live           live
 *   'N'               after N               a state not older than N       after N
 * ```
 */
function startOf(resourceVersion: string, isInitial: boolean | undefined, action: string): Start {
  const revision: Revision | undefined = parseResourceVersion(resourceVersion, action);
  const any: WantedState = { kind: 'any' };
  if (isInitial === true) {
    if (revision === undefined) return { options: { initial: true }, wanted: { kind: 'consistent' } };
    const wanted: WantedState = revision === 0 ? any : { kind: 'notOlder', revision, resourceVersion };
    return { options: { initial: true }, wanted };
  }
  if (revision === undefined || revision === 0)
    return { options: isInitial === false ? {} : { initial: true }, wanted: any };
  return { options: { fromRevision: Math.min(revision, Number.MAX_SAFE_INTEGER - 1) + 1 }, wanted: any };
}
