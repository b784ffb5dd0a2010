import type { SignalOptions } from '../types/signal.ts';

/**
 * What is listed and watched: the objects of one resource, in all namespaces or in one.
 *
 * @example
 * ```ts
 * import type { KubernetesResource } from 'plimsoll/kubernetes';
 *
 * const pods: KubernetesResource = { version: 'v1', resource: 'pods', namespace: 'shop' };
 * const deployments: KubernetesResource = { group: 'apps', version: 'v1', resource: 'deployments' };
 * console.log(pods.namespace, deployments.group); // shop apps
 * ```
 */
export interface KubernetesResource {
  /** @default '' the core group */
  readonly group?: string;
  readonly version: string;
  /** The plural that paths have: `configmaps`. */
  readonly resource: string;
  /** @default all namespaces; resources that are in none have none */
  readonly namespace?: string;
}

/** Which of them, as the server understands it. One object for list and watch, so that the two cannot differ (IN17). */
export interface Selectors {
  /** `app=web,tier!=db`. @default all */
  readonly labelSelector?: string;
  /** `status.phase=Running`. @default all */
  readonly fieldSelector?: string;
}

export type ListMatch = 'NotOlderThan' | 'Exact';

export interface ListPageRequest extends Selectors {
  readonly resource: KubernetesResource;
  /** Items of a page at most; the server may give fewer. @default all */
  readonly limit?: number;
  /** Where the page before ended. Goes with no `resourceVersion`. */
  readonly continue?: string;
  /** With `resourceVersionMatch`. @default the newest state there is */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ListMatch;
}

export interface ListPage {
  /** Of the list; of all pages of one list the same, but after a `continue` that was too old. */
  readonly resourceVersion: string;
  /** There is another page. */
  readonly continue?: string;
  /** As the server sent them. Those of a typed list have no `apiVersion` and `kind` of their own: see `itemType`. */
  readonly items: readonly unknown[];
  /** What each item is, of the list's own `apiVersion` and `kind`, if they say it. */
  readonly itemType?: { readonly apiVersion: string; readonly kind: string };
}

export interface WatchRequest extends Selectors {
  readonly resource: KubernetesResource;
  /** What happened after it comes; without one, the present objects come first, as ADDED. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  /** The server ends the watch after so long. @default the server's choice */
  readonly timeoutSeconds?: number;
  /**
   * All objects come as ADDED first, then a BOOKMARK with the annotation `k8s.io/initial-events-end`. A server that cannot do
   * that refuses it with 400 or 422.
   */
  readonly sendInitialEvents?: boolean;
  readonly resourceVersionMatch?: 'NotOlderThan';
}

/** One line of a watch, as it came: `type` is a text, nothing else is checked. */
export interface WatchLine {
  /** ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, or what nobody knows yet. */
  readonly type: string;
  readonly object: unknown;
}

/** Options of one page of a list. */
export interface ListPageOptions extends Required<SignalOptions> {
  /**
   * For a transport that keeps a request back before it sends it, in a queue: the deadline of the page stands still, until what this
   * returns is called; then all of it begins. A server has had no time while nobody asked it.
   */
  readonly hold?: () => () => void;
}

/**
 * Reads lists and watches of an API server. Who brings one of their own keeps this:
 *
 * 1. `list` and `watch` reject with {@link ApiStatusError} for what the server has refused, with {@link TransportError} for
 *    anything else, and with the signal's reason once that aborts. `watch` resolves when the server has accepted it.
 * 2. A stream yields what has come, in its order, in groups that are as small as the connection brought them; an empty group says that
 *    something came, but no whole line. It reads on only when it is asked for the next group (IN14).
 * 3. A stream ends when the server has ended it behind a whole line; it throws when it was cut, and what it had of a line is
 *    not among the events (IN13).
 * 4. `return()` of a stream, and an abort of the signal of `watch` at any time, end the connection. Nothing of it is left when
 *    `return()` has resolved.
 */
export interface KubernetesTransport {
  list(request: ListPageRequest, options: ListPageOptions): Promise<ListPage>;
  watch(request: WatchRequest, options: Required<SignalOptions>): Promise<WatchStream>;
}

export type WatchStream = AsyncIterableIterator<readonly WatchLine[]>;
