import type { CompareVersions } from '../kubernetes/resource-version.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import { requiredPredicate } from '../types/predicate.ts';
import { shown } from '../types/shown.ts';
import { ApplyLoop, type ApplyStats } from './apply-loop.ts';
import { checkGroupKind, checkHandlerOptions, checkKey, checkSelector, checkText, checkWalk } from './checks.ts';
import type { ResourceEventHandler } from './event-subscription.ts';
import { type HierarchyResult, HierarchyWalk, type VisitResource } from './hierarchy.ts';
import type { InferParents } from './inferred-parents.ts';
import { bucketOf, bucketsOf, joined, LiveView, type NamespaceView } from './namespace-view.ts';
import type { Populate, Resource } from './resource.ts';
import { ResourceFeed } from './resource-feed.ts';
import { type GroupKind, groupKindText, localKey, type ResourceKey, resourceKeyText } from './resource-key.ts';
import { type IndexFunction, ResourceTables } from './resource-tables.ts';
import type { HandlerOptions, ResourceUpdateHandler } from './subscription.ts';
import { verifyTables } from './verify-tables.ts';

export interface ResourceStoreOptions<T = unknown, I = undefined> {
  /** @default the platform's clock */
  readonly clock?: Clock;
  /** What to remember of an object beside its metadata, and whether to keep all of it. @default all of it, and nothing else */
  readonly populate?: Populate<T, I>;
  /** Parents that are not among the owner references. @default those of Kubernetes' own kinds, `inferKubernetesParents` */
  readonly inferParents?: InferParents<T>;
  /** By name, for `byIndex`. @default none */
  readonly indexes?: Readonly<Record<string, IndexFunction<T, I>>>;
  /** Orders versions of `replace`. @default integers of up to 128 bits, all else equal or unknown */
  readonly compare?: CompareVersions;
  /** How long a change may wait for others, in ms, from 0. More: fewer commits of keys that change often; less: seen earlier. @default 1 */
  readonly latencyMs?: number;
  /** Changes that may wait; at this number all of them are applied at once, in the call that brought the last one. From 1. @default 1000 */
  readonly pendingMax?: number;
  /** Whether a state takes the place of one of the same object that waits. @default true */
  readonly coalesce?: boolean;
  /** How long one turn of the event loop may apply, and how long it may call handlers, in ms, from 1. @default 2 */
  readonly sliceMs?: number;
  /** Replaced states that are kept for snapshots and walks; for more the oldest snapshot is given up. From 1. @default 100000 */
  readonly retainedMax?: number;
  /** Hears of hooks and handlers that fail. @default silence */
  readonly logger?: Logger;
}

/** Which resources: all that match everything that is given. `group` and `kind` go together. */
export interface ResourceSelector extends Partial<GroupKind> {
  /** Empty: those in no namespace. */
  readonly namespace?: string;
}

export interface WalkOptions {
  /** How long a slice takes before the event loop goes round, in ms, from 1. @default 2 */
  readonly sliceMs?: number;
  readonly signal?: AbortSignal;
}

/** Live objects for a set of wished ones (RC14). */
export interface ManagedObjects<T, I> {
  readonly seq: number;
  /** By `resourceKeyText`: what `isManaged` says yes to, and what is there of the targets. */
  readonly resources: ReadonlyMap<string, Resource<T, I>>;
  /** Every kind was listed once: what is not here is not there. Until then nothing may be deleted for being absent here. */
  readonly isComplete: boolean;
  /** Kinds of targets that are not known here, kinds that were not listed yet, and `*` for what nobody could name: see `unsynced`. */
  readonly unsynced: readonly GroupKind[];
}

export interface ResourceStoreStats extends ApplyStats {
  readonly seq: number;
  readonly size: number;
  readonly kinds: number;
  readonly namespaces: number;
  /** Snapshots and walks under way, and the replaced states that they hold. */
  readonly pins: number;
  readonly retained: number;
  /** Errors of the logger itself. */
  readonly loggerFailures: number;
}

/** Options that were checked and filled in. */
export type ResolvedStoreOptions<T, I> = Required<
  Omit<ResourceStoreOptions<T, I>, 'populate' | 'logger' | 'indexes'>
> & {
  readonly populate: Populate<T, I> | undefined;
  readonly logger: Logger | undefined;
  readonly indexes: readonly (readonly [string, IndexFunction<T, I>])[];
};

const NOTHING: readonly never[] = Object.freeze([]);
/** Steps of a walk between two looks at the clock. */
const STEPS_A_LOOK = 256;

/**
 * Objects of many kinds in memory, with who owns whom, indexes, and handlers of every change. Changes come from feeds, one a kind.
 * The contract is docs/resource-cache.md; its rules are those of docs/spec/resource-cache.md.
 *
 * Promised: every visible change has a `seq`, above all before it; all indexes change with it; handlers hear of each, one at a time
 * and in order for each key, with no lock held and a view that has the change or a later state; a read is of one `seq`. Not
 * promised: every state that came in (see `coalesce`); an order of calls between handlers or between keys of different handlers.
 */
export class ResourceStore<T = unknown, I = undefined> {
  readonly #options: ResolvedStoreOptions<T, I>;
  readonly #tables: ResourceTables<T, I>;
  readonly #loop: ApplyLoop<T, I>;
  readonly #feeds = new Map<string, ResourceFeed<T, I>>();
  readonly #unknown: () => readonly GroupKind[];

  /**
   * Of options that were checked; `createResourceStore` is for everybody else.
   *
   * @param unknown kinds that nobody feeds because nobody knows them yet, `*` for all of a group
   */
  constructor(options: ResolvedStoreOptions<T, I>, unknown: () => readonly GroupKind[] = () => []) {
    this.#options = options;
    this.#unknown = unknown;
    const { indexes, populate, inferParents, retainedMax } = options;
    this.#tables = new ResourceTables<T, I>({
      indexes,
      populate,
      inferParents,
      retainedMax,
      report: (what, error, { key }) =>
        this.#loop.logger.error('A hook of a resource cache has failed', {
          hook: what,
          key: resourceKeyText(key),
          error,
        }),
    });
    this.#loop = new ApplyLoop<T, I>(this.#tables, options);
  }

  /** Of the newest commit; 0 before the first. */
  get seq(): number {
    return this.#tables.seq;
  }

  get size(): number {
    return this.#tables.size;
  }

  /**
   * Kinds that are fed, and have not been listed completely yet. The store of a cache has here also what discovery could not find out:
   * `{ group, kind: '*' }` for a group that could not be asked, `*` for both before the first discovery.
   */
  get unsynced(): readonly GroupKind[] {
    const fed = [...this.#feeds.values()].filter(({ isSynced }) => !isSynced).map(({ groupKind }) => groupKind);
    return [...fed, ...this.#unknown()];
  }

  get stats(): ResourceStoreStats {
    const { seq, size, kinds, namespaces, pins } = this.#tables;
    return {
      ...this.#loop.stats,
      seq,
      size,
      kinds: kinds.size,
      namespaces: namespaces.size,
      pins: pins.size,
      retained: pins.retained,
      loggerFailures: this.#loop.logger.failures,
    };
  }

  /** The feed of a kind, made if it is new. */
  feed(groupKind: GroupKind): ResourceFeed<T, I> {
    this.#loop.check('feed a kind');
    checkGroupKind(groupKind, 'feed a kind');
    const text = groupKindText(groupKind);
    let feed = this.#feeds.get(text);
    if (feed === undefined) {
      const { compare } = this.#options;
      const removed = () => void this.#feeds.delete(text);
      feed = new ResourceFeed<T, I>(groupKind, { tables: this.#tables, loop: this.#loop, compare, removed });
      this.#feeds.set(text, feed);
    }
    return feed;
  }

  /** Whether all objects of a kind are known; without one, of every kind that is fed, if there is any, and none is `unsynced`. */
  isSynced(groupKind?: GroupKind): boolean {
    if (groupKind !== undefined) checkGroupKind(groupKind, 'ask whether a kind is synced');
    if (groupKind !== undefined) return this.#feeds.get(groupKindText(groupKind))?.isSynced === true;
    return this.#feeds.size > 0 && this.unsynced.length === 0;
  }

  get(key: ResourceKey): Resource<T, I> | undefined {
    checkKey(key, 'get a resource');
    const kind = this.#tables.kinds.get(groupKindText(key));
    return kind?.entries.get(localKey(key.namespace, key.name))?.current?.resource;
  }

  /** The object of a uid; of one that is there under several groups, the one whose key comes first. */
  byUid(uid: string): Resource<T, I> | undefined {
    checkText('the uid', uid, 'get a resource');
    let first: Resource<T, I> | undefined;
    for (const { current } of this.#tables.byUid.under(uid)) {
      if (current?.resource.uid !== uid) continue;
      const { resource } = current;
      if (first === undefined || resourceKeyText(resource.key) < resourceKeyText(first.key)) first = resource;
    }
    return first;
  }

  /** Frozen, without an order. Of one kind in one namespace it is the same array until one of them changes, so asking costs nothing. */
  list(selector: ResourceSelector = {}): readonly Resource<T, I>[] {
    const { namespace, groupKind } = checkSelector(selector, 'list resources');
    if (namespace !== undefined && groupKind !== undefined) {
      return bucketOf(this.#tables, namespace, groupKind)?.list() ?? NOTHING;
    }
    return joined(bucketsOf(this.#tables, namespace, groupKind), (bucket) => bucket.list());
  }

  /**
   * Those of a selector that `predicate` says `true` to; what it throws ends the search.
   *
   * @throws TypeError for a predicate that is no function, or that answers with a promise
   */
  find(selector: ResourceSelector, predicate: (resource: Resource<T, I>) => boolean): readonly Resource<T, I>[] {
    return this.#found(selector, predicate, 'find resources');
  }

  #found(
    selector: ResourceSelector,
    predicate: (resource: Resource<T, I>) => boolean,
    action: string,
  ): readonly Resource<T, I>[] {
    const { namespace, groupKind } = checkSelector(selector, action);
    const isFound = requiredPredicate<Resource<T, I>>(predicate, action);
    return bucketsOf(this.#tables, namespace, groupKind).flatMap((bucket) => bucket.list().filter(isFound));
  }

  /**
   * Those that have `value` in an index.
   *
   * @throws RangeError for an index that there is not
   */
  byIndex(name: string, value: string): readonly Resource<T, I>[] {
    const index = this.#tables.indexes.get(name);
    if (index === undefined) throw new RangeError(`Cannot read an index: there is none of the name "${name}"`);
    checkText('the value', value, 'read an index');
    const place = [...this.#tables.indexes.keys()].indexOf(name);
    const found: Resource<T, I>[] = [];
    for (const { current } of index.under(value)) {
      if (current?.values[place]?.includes(value) === true) found.push(current.resource);
    }
    return found;
  }

  /** What is known of a namespace, for as long as the store lives; it needs not be there. */
  view(namespace: string): NamespaceView<T, I> {
    checkText('the namespace', namespace, 'make a view');
    return new LiveView(this.#tables, namespace);
  }

  /** See {@link ManagedObjects}. What `isManaged` throws ends the call. */
  managedObjects(
    targets: readonly ResourceKey[],
    isManaged: (resource: Resource<T, I>) => boolean,
  ): ManagedObjects<T, I> {
    const action = 'compare managed objects';
    if (!Array.isArray(targets))
      throw new TypeError(`Cannot ${action}: the targets are ${shown(targets)}, not an array of keys`);
    const resources = new Map<string, Resource<T, I>>();
    for (const resource of this.#found({}, isManaged, action)) resources.set(resourceKeyText(resource.key), resource);
    const unsynced = new Map(this.unsynced.map((groupKind) => [groupKindText(groupKind), groupKind]));
    for (const target of targets) {
      const found = this.get(target);
      if (found !== undefined) resources.set(resourceKeyText(target), found);
      const { group, kind } = target;
      if (!this.isSynced(target)) unsynced.set(groupKindText(target), { group, kind });
    }
    return {
      seq: this.seq,
      resources,
      isComplete: this.isSynced() && unsynced.size === 0,
      unsynced: [...unsynced.values()],
    };
  }

  /**
   * Visits resources and what they own, owners first, all of it now. Of one `seq`, whatever `visit` does.
   *
   * @throws what `visit` throws
   */
  iterateHierarchy(keys: readonly ResourceKey[], visit: VisitResource<T, I>): HierarchyResult {
    checkWalk(keys, visit, 'walk a hierarchy');
    const pin = this.#tables.pins.pin(this.seq, 'a walk');
    try {
      const walk = new HierarchyWalk<T, I>(this.#tables, { pin, keys, visit });
      while (walk.steps(STEPS_A_LOOK));
      return walk.result;
    } finally {
      this.#tables.pins.unpin(pin);
    }
  }

  /**
   * The same in slices, between which the event loop goes round: of the `seq` of the call, however much changes on the way (RC9).
   *
   * @throws as a rejection: what `visit` throws, the reason of the signal, ClosedError, and PinBrokenError when more than `retainedMax`
   * states have been replaced on the way
   */
  async iterateHierarchyInSlices(
    keys: readonly ResourceKey[],
    visit: VisitResource<T, I>,
    options: WalkOptions = {},
  ): Promise<HierarchyResult> {
    checkWalk(keys, visit, 'walk a hierarchy', options);
    const { signal, sliceMs = this.#options.sliceMs } = options;
    const { clock } = this.#options;
    const pin = this.#tables.pins.pin(this.seq, 'a walk');
    try {
      const walk = new HierarchyWalk<T, I>(this.#tables, { pin, keys: [...keys], visit });
      for (;;) {
        signal?.throwIfAborted();
        this.#loop.check('walk a hierarchy');
        const until = clock.now() + sliceMs;
        do {
          if (!walk.steps(STEPS_A_LOOK)) return walk.result;
        } while (clock.now() < until);
        await new Promise<void>((resolve) => void clock.after(0, resolve));
      }
    } finally {
      this.#tables.pins.unpin(pin);
    }
  }

  /**
   * Calls `handler` for every commit from now on; the function that is returned ends that, and no call begins after it. What the handler
   * throws, or its promise rejects with, is logged and counted.
   */
  onResourceUpdated(handler: ResourceUpdateHandler<T, I>, options: HandlerOptions = {}): () => void {
    this.#loop.check('subscribe');
    checkHandlerOptions(handler, options);
    return this.#loop.subscribe(handler, options);
  }

  /** Calls `handler` for everything that comes in, before it is coalesced; at most `queueMax` wait, and the oldest go. @see ResourceEvent */
  onEvent(handler: ResourceEventHandler<T>, options: Pick<HandlerOptions, 'queueMax'> = {}): () => void {
    this.#loop.check('subscribe');
    checkHandlerOptions(handler, options);
    return this.#loop.subscribeEvents(handler, options.queueMax ?? 10_000);
  }

  /** Makes all that has come in visible now. Throws TypeError in a handler. */
  flush(): void {
    this.#loop.flush();
  }

  /** All that has come in is visible, and every handler has been called and is done. Never, while one of them never settles. */
  idle(): Promise<void> {
    return this.#loop.idle();
  }

  /** Compares all indexes with the objects: for tests. Throws InvariantError. */
  checkInvariants(): void {
    verifyTables(this.#tables);
  }

  /** No call begins after this, and nothing comes in. What was there can still be read, as it was: `isSynced` too is of then. */
  close(): void {
    this.#loop.close();
  }
}
