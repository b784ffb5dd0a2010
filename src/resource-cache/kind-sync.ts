import { createInformer } from '../kubernetes/create-informer.ts';
import { ApiStatusError } from '../kubernetes/errors.ts';
import type { Informer, InformerOptions, InformerState } from '../kubernetes/informer-types.ts';
import type { ApiResource } from './api-resource.ts';
import type { ResourceFeed } from './resource-feed.ts';
import type { GroupKind } from './resource-key.ts';

/** What is known of one kind, and in one namespace where a cache has some only (RC15). */
export interface KindStatus extends GroupKind {
  readonly version: string;
  /** @default all of them */
  readonly namespace: string | undefined;
  /**
   * - `syncing`: not listed yet, and nothing has failed since.
   * - `synced`: listed and watched.
   * - `failed`: the last try failed. It is tried again at `retryAtMs`; what is known stays.
   */
  readonly phase: 'syncing' | 'synced' | 'failed';
  /** It was listed once, so what is not there was not there then. */
  readonly isSynced: boolean;
  /** Why: the server's word for it, as `Forbidden`, or the class of the error. */
  readonly reason: string | undefined;
  readonly error: unknown;
  /** By the cache's clock, in ms. */
  readonly retryAtMs: number | undefined;
  readonly size: number;
}

/** What a cache gives to its informers. */
export type KindInformerOptions<T> = Omit<InformerOptions<T>, 'resource' | 'onDeltas' | 'onError' | 'onListed'>;

export interface KindSyncDeps<T, I> {
  readonly feed: ResourceFeed<T, I>;
  readonly informer: KindInformerOptions<T>;
  readonly namespaces: readonly string[] | undefined;
  /** Its state may be another one. */
  readonly changed: () => void;
  /** The server does not know it: somebody should ask which kinds there are. */
  readonly unknown: () => void;
  /** An object of it has changed. */
  readonly touched: () => void;
}

/** One kind on its way into the store: an informer for it, or for each namespace. */
export class KindSync<T, I> {
  readonly resource: ApiResource;
  readonly #deps: KindSyncDeps<T, I>;
  readonly #informers: readonly { readonly namespace: string | undefined; readonly informer: Informer<T> }[];

  constructor(resource: ApiResource, deps: KindSyncDeps<T, I>) {
    this.resource = resource;
    this.#deps = deps;
    const namespaces = resource.isNamespaced && deps.namespaces !== undefined ? deps.namespaces : [undefined];
    this.#informers = namespaces.map((namespace) => ({ namespace, informer: this.#informer(namespace) }));
  }

  /** Synced, or failed at least once: there is something to say of it. */
  get hasAnswered(): boolean {
    return this.status().every(({ phase }) => phase !== 'syncing');
  }

  status(): readonly KindStatus[] {
    const { group, kind, version } = this.resource;
    return this.#informers.map(({ namespace, informer }) => {
      const state = informer.state();
      // Its count of failures goes on until something has come by the watch, which of an idle kind may take a minute.
      const hasFailed = state.failures > 0 && state.phase !== 'watching' && state.phase !== 'delivering';
      const phase = hasFailed ? 'failed' : state.isSynced ? 'synced' : 'syncing';
      const error = hasFailed ? state.lastError?.error : undefined;
      const { isSynced, size, retryAtMs } = state;
      return { group, kind, version, namespace, phase, isSynced, reason: reasonOf(error), error, retryAtMs, size };
    });
  }

  start(): void {
    for (const { informer } of this.#informers) informer.start();
  }

  /** Nothing of it is left when the promise resolves; its objects stay. */
  async stop(): Promise<void> {
    await Promise.all(this.#informers.map(({ informer }) => informer.stop()));
  }

  #informer(namespace: string | undefined): Informer<T> {
    const { feed, informer: options, changed, touched } = this.#deps;
    const { group, version, resource } = this.resource;
    /** Of an informer before this one: what this one's first list does not have is gone. */
    let isFirstList = true;
    const informer: Informer<T> = createInformer<T>({
      ...options,
      resource: { group, version, resource, ...(namespace === undefined ? {} : { namespace }) },
      onDeltas: (deltas) => {
        feed.apply(deltas);
        touched();
      },
      onError: (error, { during }) => this.#failed(error, during),
      onListed: ({ resourceVersion, isComplete }) => {
        if (!isComplete) return;
        if (isFirstList) this.#dropStrangers(informer, resourceVersion, namespace);
        isFirstList = false;
        this.#markSynced();
        changed();
      },
    });
    return informer;
  }

  #failed(error: unknown, during: string): void {
    if (during !== 'list' && during !== 'watch') return;
    if (error instanceof ApiStatusError && error.httpStatus === 404) this.#deps.unknown();
    this.#deps.changed();
  }

  #dropStrangers(informer: Informer<T>, resourceVersion: string, namespace: string | undefined): void {
    const { feed } = this.#deps;
    if (feed.size === 0) return;
    const known = informer.entries().map(([, object]) => object);
    feed.replace(known, { resourceVersion, ...(namespace === undefined ? {} : { namespace }) });
  }

  #markSynced(): void {
    const states: readonly InformerState[] = this.#informers.map(({ informer }) => informer.state());
    if (states.every(({ isSynced }) => isSynced)) this.#deps.feed.markSynced();
  }
}

function reasonOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (error instanceof ApiStatusError && error.reason !== '') return error.reason;
  return error instanceof Error ? error.name : typeof error;
}
