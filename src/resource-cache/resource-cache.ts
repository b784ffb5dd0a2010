import type { GuardedLogger } from '../system/guarded-logger.ts';
import { ClosedError } from '../types/errors.ts';
import type { SignalOptions } from '../types/signal.ts';
import { raceAborted } from '../types/until-aborted.ts';
import type { ApiResource, DiscoveredResources } from './api-resource.ts';
import { DiscoveryLoop, type DiscoveryLoopDeps, type DiscoveryStatus } from './discovery-loop.ts';
import { type KindInformerOptions, type KindStatus, KindSync } from './kind-sync.ts';
import { type GroupKind, groupKindText } from './resource-key.ts';
import { type ResolvedStoreOptions, ResourceStore } from './resource-store.ts';

export interface ResourceCacheStatus {
  readonly discovery: DiscoveryStatus;
  readonly kinds: readonly KindStatus[];
  /** Discovery has succeeded, for all groups, and every kind was listed once and can be read: what is not there was not there (RC14). */
  readonly isSynced: boolean;
}

export interface ResourceCacheDeps<T, I> {
  readonly store: ResolvedStoreOptions<T, I>;
  readonly discovery: Omit<DiscoveryLoopDeps, 'found' | 'failed'>;
  readonly informer: KindInformerOptions<T>;
  readonly namespaces: readonly string[] | undefined;
  readonly includes: (resource: ApiResource) => boolean;
  readonly logger: GuardedLogger;
}

/** What nobody knows yet: kinds of a group, and groups. */
const ALL = '*';
const CRD = groupKindText({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' });

/**
 * All kinds of a cluster, or of some namespaces, in one store: an informer for each, kinds that come and go, and for each of them
 * what is known of it. Rules RC15 to RC19 of docs/spec/resource-cache.md; those of the store hold for `store`.
 */
export class ResourceCache<T = unknown, I = undefined> {
  /** What is read, and where handlers are. Belongs to the cache, which closes it. */
  readonly store: ResourceStore<T, I>;
  readonly #deps: ResourceCacheDeps<T, I>;
  readonly #discovery: DiscoveryLoop;
  readonly #kinds = new Map<string, KindSync<T, I>>();
  /** Informers that are being stopped: `close` waits for them. */
  readonly #stopping = new Set<Promise<void>>();
  readonly #waiting = new Set<() => void>();
  #phase: 'new' | 'started' | 'closed' = 'new';

  /** Of options that were checked; `createResourceCache` is for everybody else. */
  constructor(deps: ResourceCacheDeps<T, I>) {
    this.#deps = deps;
    this.store = new ResourceStore<T, I>(deps.store, () => this.#unknown());
    this.#discovery = new DiscoveryLoop({
      ...deps.discovery,
      found: (found) => this.#found(found),
      failed: (error) => {
        deps.logger.warn('Kinds could not be discovered', { error });
        this.#changed();
      },
    });
  }

  /** Begins to discover, list and watch. Started already: nothing happens. Throws ClosedError. */
  start(): void {
    if (this.#phase === 'closed') throw new ClosedError('start a resource cache');
    if (this.#phase === 'started') return;
    this.#phase = 'started';
    this.#discovery.start();
  }

  status(): ResourceCacheStatus {
    const { status: discovery } = this.#discovery;
    const kinds = [...this.#kinds.values()].flatMap((kind) => kind.status());
    return { discovery, kinds, isSynced: this.#unknown().length === 0 && kinds.every(({ isSynced }) => isSynced) };
  }

  /**
   * Resolves when there is something to say of every kind: it was listed, or that failed. Which one, the status says: one kind that is
   * forbidden holds up nobody (RC15).
   *
   * @throws as a rejection: the signal's reason, and ClosedError
   */
  async synced({ signal }: SignalOptions = {}): Promise<ResourceCacheStatus> {
    signal?.throwIfAborted();
    for (;;) {
      this.#checkOpen();
      if (this.#hasAnswered) break;
      let wake = (): void => {};
      const change = new Promise<void>((resolve) => {
        wake = resolve;
        this.#waiting.add(resolve);
      });
      try {
        await raceAborted(change, [signal]);
      } finally {
        this.#waiting.delete(wake);
      }
    }
    // In a handler this call has come so far at once, and under a handler nothing may change: after it, something may.
    await Promise.resolve();
    signal?.throwIfAborted();
    this.#checkOpen();
    this.store.flush();
    return this.status();
  }

  /** No handler is called from now on; when it resolves, no request, watch or timer is left. May be called again. */
  async close(): Promise<void> {
    this.#phase = 'closed';
    this.store.close();
    const kinds = [...this.#kinds.values()].map((kind) => kind.stop());
    this.#changed();
    await Promise.all([this.#discovery.stop(), ...kinds, ...this.#stopping]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #checkOpen(): void {
    if (this.#phase === 'closed') throw new ClosedError('wait for a resource cache');
  }

  get #hasAnswered(): boolean {
    if (!this.#discovery.status.isReady) return false;
    for (const { hasAnswered } of this.#kinds.values()) if (!hasAnswered) return false;
    return true;
  }

  /** A group that could not be asked may have kinds that nobody lists, and their objects are not absent for that (RC14). */
  #unknown(): readonly GroupKind[] {
    const { isReady, failedGroups } = this.#discovery.status;
    if (!isReady) return [{ group: ALL, kind: ALL }];
    return failedGroups.map(({ group }) => ({ group, kind: ALL }));
  }

  /** Kinds that have come are begun, those that have gone are ended; of a group that could not be asked none has gone (RC17). */
  #found({ resources, failedGroups = [] }: DiscoveredResources): void {
    const wanted = new Map(
      resources.filter((one) => this.#deps.includes(one)).map((one) => [groupKindText(one), one] as const),
    );
    const unknown = new Set(failedGroups.map(({ group }) => group));
    for (const { group, error } of failedGroups) {
      this.#deps.logger.warn('The kinds of a group could not be discovered', { group, error });
    }
    for (const [text, kind] of [...this.#kinds]) {
      const now = wanted.get(text);
      if (now === undefined && unknown.has(kind.resource.group)) continue;
      if (now !== undefined && isSame(now, kind.resource)) continue;
      this.#kinds.delete(text);
      this.#stop(kind);
      const feed = this.store.feed(kind.resource);
      if (now === undefined || now.isNamespaced !== kind.resource.isNamespaced) feed.remove();
      // Another version of it has the same objects, in another form.
      else if (now.version !== kind.resource.version) feed.restate();
    }
    for (const [text, resource] of wanted) if (!this.#kinds.has(text)) this.#begin(text, resource);
    this.#changed();
  }

  #begin(text: string, resource: ApiResource): void {
    const feed = this.store.feed(resource);
    const isCrd = text === CRD;
    const kind = new KindSync<T, I>(resource, {
      feed,
      informer: this.#deps.informer,
      namespaces: this.#deps.namespaces,
      changed: () => this.#changed(),
      unknown: () => this.#discovery.soon(),
      touched: () => {
        if (isCrd) this.#discovery.soon();
      },
    });
    this.#kinds.set(text, kind);
    kind.start();
  }

  #stop(kind: KindSync<T, I>): void {
    const stopping = kind.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  #changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function isSame(one: ApiResource, other: ApiResource): boolean {
  return one.version === other.version && one.resource === other.resource && one.isNamespaced === other.isNamespaced;
}
