import type { BackoffOptions } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { InformerCore, InformerCoreOptions } from './informer-core.ts';
import type { InformerDelta } from './informer-delta.ts';
import type { KubernetesResource, KubernetesTransport, Selectors } from './transport.ts';

/** Options of {@link createInformer}. */
export interface InformerOptions<T = unknown>
  extends Pick<InformerCoreOptions, 'compare' | 'tombstoneMs' | 'tombstonesMax'> {
  readonly transport: KubernetesTransport;
  readonly resource: KubernetesResource;
  /** Of list and watch alike. @default all objects of the resource */
  readonly selectors?: Selectors;
  /** The first subscriber: see {@link Informer.subscribe}. */
  readonly onDeltas?: DeltaHandler<T>;
  /** Hears of everything that went wrong, also of what is tried again. What it throws goes to the logger. @default the logger alone */
  readonly onError?: (error: unknown, about: InformerErrorContext) => void;
  /** A watch has been accepted. */
  readonly onConnect?: (about: InformerConnection) => void;
  /** A list has come to its end, its deltas have been delivered. */
  readonly onListed?: (about: InformerListing) => void;
  /** Items of a page, from 1. @default 500 */
  readonly pageLimit?: number;
  /** Deltas of one call of a handler at most, from 1. @default 500 */
  readonly deltasMax?: number;
  /**
   * `'auto'` asks for the list as a stream of events, and for pages where the server cannot do that or the stream does not come to
   * its end; `'never'` asks for pages alone. @default 'auto'
   */
  readonly streamingList?: 'auto' | 'never';
  /** How long a page may take, without what a transport holds it back, and how long a list that is streamed may be silent, in ms from 1. @default 60000 */
  readonly listTimeoutMs?: number;
  /** How long a watch may take to be accepted, in ms from 1. @default 30000 */
  readonly connectTimeoutMs?: number;
  /**
   * A watch that has brought nothing for so long, no bookmark either, is replaced by another one, in ms from 1. Servers send a bookmark
   * about every minute. This bounds how long changes may go unseen behind a connection that is dead. @default 150000
   */
  readonly inactivityMs?: number;
  /** After how long the server is asked to end a watch, in s from 1. @default 300, and up to as much again by chance */
  readonly watchTimeoutSeconds?: number;
  /** After how long a list is made anew though nothing has gone wrong, in ms from 1000. @default never */
  readonly relistMs?: number;
  /** Pauses between tries. @default 2 s, doubled up to 30 s, up to half of it taken away by chance */
  readonly backoff?: BackoffOptions;
  /** What the server says about when to try again is kept up to so long, in ms from 0. @default 300000 */
  readonly retryAfterMaxMs?: number;
  /** @default the platform's clock */
  readonly clock?: Clock;
  /** @default the platform's chance */
  readonly random?: Random;
  /** @default silence */
  readonly logger?: Logger;
}

/**
 * Takes changes, in their order. A promise is waited for: nothing more is read from the connection meanwhile (IN14). What it throws or
 * rejects with is told to `onError`, and the informer goes on; the deltas of that call do not come again.
 */
export type DeltaHandler<T> = (deltas: readonly InformerDelta<T>[], about: DeltaContext) => unknown;

export interface DeltaContext {
  readonly from: 'list' | 'watch';
  /** Aborts when the informer is stopped: nobody waits for the handler any more. */
  readonly signal: AbortSignal;
}

/** What an informer was doing when something went wrong. */
export interface InformerErrorContext {
  readonly during: 'list' | 'watch' | 'handler' | 'object' | 'callback';
  /** Failures one after the other, this one included; 0 for what is not tried again. */
  readonly failures: number;
  /** When it is tried again, in ms from now; `undefined`: there is nothing to be tried again. */
  readonly retryMs: number | undefined;
}

export interface InformerConnection {
  /** Watches that have been accepted, this one included. */
  readonly attempt: number;
  /** Why there was none: the first one, the server has ended the last one in order, an error, silence, after a list. */
  readonly reason: 'start' | 'ended' | 'error' | 'inactive' | 'listed';
  /** Where it goes on from; '' for a list that is streamed. */
  readonly resourceVersion: string;
}

export interface InformerListing {
  readonly resourceVersion: string;
  /** What had not been told by events, after the first list. */
  readonly missed: number;
  /** `false`: an item had no name, so nothing was taken as deleted. */
  readonly isComplete: boolean;
  readonly isStreamed: boolean;
}

/**
 * - `idle`: not started. `stopped`: stopped, may be started again.
 * - `listing`, `connecting`, `watching`: as it says.
 * - `delivering`: a handler has not returned.
 * - `waiting`: something failed, it is tried again at `retryAtMs`.
 */
export type InformerPhase = 'idle' | 'listing' | 'connecting' | 'watching' | 'delivering' | 'waiting' | 'stopped';

/** Times are those of the informer's clock (`now()`), in ms. */
export interface InformerState {
  readonly phase: InformerPhase;
  /** A complete list has been taken in: what is not known was not there. */
  readonly isSynced: boolean;
  /** Of the newest event, bookmark or list; '' before the first. */
  readonly resourceVersion: string;
  readonly size: number;
  /** The newest error of list or watch, and when. Stays: `failures` says whether it is over. */
  readonly lastError: { readonly error: unknown; readonly atMs: number } | undefined;
  /** Failures of list and watch one after the other. */
  readonly failures: number;
  readonly retryAtMs: number | undefined;
  /** When something last came from the server. */
  readonly heardAtMs: number | undefined;
  /** Since when a handler has been at work. */
  readonly deliveringSinceMs: number | undefined;
}

/** Counts since the informer was made. */
export interface InformerStats {
  /** Lists that came to their end, and those of them behind the first one. */
  readonly lists: number;
  readonly relists: number;
  readonly streamedLists: number;
  readonly failedLists: number;
  /** Watches that were accepted, and how many are open: 0 or 1. */
  readonly watches: number;
  readonly openWatches: number;
  /** Watches that ended with an error, and those that were given up because nothing came. */
  readonly failedWatches: number;
  readonly inactiveWatches: number;
  /** Answers that a version or a token is too old. */
  readonly expired: number;
  readonly bookmarks: number;
  readonly handlerErrors: number;
  readonly subscribers: number;
  readonly core: InformerCore['stats'];
}

/**
 * Objects of one resource, kept up to date for as long as it is started: list, then watch, and again from where it was. It never stops by
 * itself. Rules IN12 to IN24 of docs/spec/informers.md.
 */
export interface Informer<T = unknown> {
  /** Begins, or goes on after `stop()` with what is known. Started already: nothing happens. */
  start(): void;
  /**
   * Ends all of it. When the promise resolves, no callback, no timer and no connection is left; what is known stays. A handler that is
   * under way is not waited for.
   */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Resolves when a complete list has been taken in and its deltas have been delivered; at once if one has been.
   *
   * @throws as a rejection: the signal's reason; `ClosedError` when the informer is stopped before
   */
  synced(options?: SignalOptions): Promise<void>;
  /**
   * Hears of every change that is taken in from now on. Handlers are called one after the other, in the order of their subscription.
   * Returns the function that ends it: no call begins after that.
   */
  subscribe(handler: DeltaHandler<T>): () => void;
  /** Ends the watch and lists anew, as soon as it can. Not started: nothing happens. */
  relist(): void;
  /** By `namespace/name`, or the name alone. May be ahead of handlers, by what one page or one read of the connection has brought. */
  get(key: string): T | undefined;
  entries(): readonly (readonly [key: string, object: T])[];
  readonly size: number;
  state(): InformerState;
  stats(): InformerStats;
}
