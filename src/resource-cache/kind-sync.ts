import { createInformer } from '../kubernetes/create-informer.ts';
import { ApiStatusError } from '../kubernetes/errors.ts';
import type { Informer, InformerListing, InformerOptions } from '../kubernetes/informer-types.ts';
import type { Backoff } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { ApiResource } from './api-resource.ts';
import type { ResourceFeed } from './resource-feed.ts';
import type { GroupKind } from './resource-key.ts';

/** What is known of one kind, and in one namespace where a cache has some only (RC15). */
export interface KindStatus extends GroupKind {
  readonly version: string;
  /** @default all of them */
  readonly namespace: string | undefined;
  /**
   * - `syncing`: not listed yet, or what was listed waits to be visible, and nothing has failed since.
   * - `synced`: listed and watched.
   * - `failed`: the last try failed. It is tried again at `retryAtMs`; what is known stays.
   */
  readonly phase: 'syncing' | 'synced' | 'failed';
  /** It was listed once, and that list can be read: what is not there was not there then. */
  readonly isSynced: boolean;
  /**
   * Why: the server's word for it, as `Forbidden`, or the class of the error; `Incomplete` for a list with an item that has no name, by which
   * nobody knows what is gone.
   */
  readonly reason: string | undefined;
  readonly error: unknown;
  /** By the cache's clock, in ms. */
  readonly retryAtMs: number | undefined;
  readonly size: number;
}

/** What a cache gives to its informers. */
export type KindInformerOptions<T> = Omit<
  InformerOptions<T>,
  'resource' | 'onDeltas' | 'onError' | 'onListed' | 'clock' | 'backoff'
> & { readonly clock: Clock; readonly backoff: Backoff };

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

/** The informer of a kind, or of one namespace of it, and what became of its lists. */
interface Part<T> {
  readonly namespace: string | undefined;
  readonly informer: Informer<T>;
  /** Whether the first complete list can be read; `undefined` before there was one. */
  isVisible: (() => boolean) | undefined;
  /** What was last said of an item that cannot be taken in. */
  nameless: unknown;
  /** The newest list was not complete. */
  incomplete: Failure | undefined;
}

type Failure = Pick<KindStatus, 'error' | 'reason' | 'retryAtMs'>;

const NO_FAILURE: Failure = { error: undefined, reason: undefined, retryAtMs: undefined };

/** One kind on its way into the store: an informer for it, or for each namespace. */
export class KindSync<T, I> {
  readonly resource: ApiResource;
  readonly #deps: KindSyncDeps<T, I>;
  readonly #parts: readonly Part<T>[];

  constructor(resource: ApiResource, deps: KindSyncDeps<T, I>) {
    this.resource = resource;
    this.#deps = deps;
    const namespaces = resource.isNamespaced && deps.namespaces !== undefined ? deps.namespaces : [undefined];
    this.#parts = namespaces.map((namespace) => this.#part(namespace));
  }

  /** Listed, or failed at least once: there is something to say of it. What was listed may not be visible yet. */
  get hasAnswered(): boolean {
    return this.#parts.every((part) => part.isVisible !== undefined || failureOf(part) !== undefined);
  }

  status(): readonly KindStatus[] {
    const { group, kind, version } = this.resource;
    return this.#parts.map((part) => {
      const { namespace, informer, isVisible } = part;
      const failure = failureOf(part);
      const isSynced = isVisible?.() === true;
      const phase = failure !== undefined ? 'failed' : isSynced ? 'synced' : 'syncing';
      const { error, reason, retryAtMs } = failure ?? NO_FAILURE;
      return { group, kind, version, namespace, phase, isSynced, reason, error, retryAtMs, size: informer.size };
    });
  }

  start(): void {
    for (const { informer } of this.#parts) informer.start();
  }

  /** Nothing of it is left when the promise resolves; its objects stay. */
  async stop(): Promise<void> {
    await Promise.all(this.#parts.map(({ informer }) => informer.stop()));
  }

  #part(namespace: string | undefined): Part<T> {
    const { feed, informer: options, changed, touched } = this.#deps;
    const { group, version, resource } = this.resource;
    const informer: Informer<T> = createInformer<T>({
      ...options,
      resource: { group, version, resource, ...(namespace === undefined ? {} : { namespace }) },
      onDeltas: (deltas) => {
        feed.apply(deltas);
        touched();
      },
      onError: (error, { during }) => this.#failed(part, error, during),
      onListed: (listing) => {
        this.#listed(part, listing);
        changed();
      },
    });
    const part: Part<T> = { namespace, informer, isVisible: undefined, nameless: undefined, incomplete: undefined };
    return part;
  }

  #failed(part: Part<T>, error: unknown, during: string): void {
    // Told again by every list, before it comes to its end.
    if (during === 'object') part.nameless = error;
    if (during !== 'list' && during !== 'watch') return;
    if (error instanceof ApiStatusError && error.httpStatus === 404) this.#deps.unknown();
    this.#deps.changed();
  }

  /** One that is not complete takes nothing away, and is no answer to what there is: the informer lists again after its longest pause. */
  #listed(part: Part<T>, { resourceVersion, isComplete }: InformerListing): void {
    const { feed, informer: options } = this.#deps;
    if (!isComplete) {
      const retryAtMs = options.clock.now() + options.backoff.maxMs;
      part.incomplete = { error: part.nameless, reason: 'Incomplete', retryAtMs };
      return;
    }
    part.incomplete = undefined;
    if (part.isVisible === undefined) this.#dropStrangers(part, resourceVersion);
    part.isVisible ??= feed.mark();
    if (this.#parts.every(({ isVisible }) => isVisible !== undefined)) feed.markSynced();
  }

  /** Of an informer before this one: what this one's first list does not have is gone. */
  #dropStrangers({ informer, namespace }: Part<T>, resourceVersion: string): void {
    const { feed } = this.#deps;
    if (feed.size === 0) return;
    const known = informer.entries().map(([, object]) => object);
    feed.replace(known, { resourceVersion, ...(namespace === undefined ? {} : { namespace }) });
  }
}

function failureOf<T>({ informer, incomplete }: Part<T>): Failure | undefined {
  const { failures, phase, lastError, retryAtMs } = informer.state();
  // Its count of failures goes on until something has come by the watch, which of an idle kind may take a minute.
  if (failures === 0 || phase === 'watching' || phase === 'delivering') return incomplete;
  const error = lastError?.error;
  return { error, reason: reasonOf(error), retryAtMs };
}

function reasonOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (error instanceof ApiStatusError && error.reason !== '') return error.reason;
  return error instanceof Error ? error.name : typeof error;
}
