import type { Patch } from './patch.ts';
import type { SignalOptions } from './signal.ts';

/**
 * Where a controller takes its objects from: a store prefix, a Kubernetes resource cache, the in-memory source of the
 * test kit (D16). What a source promises:
 *
 * 1. `list` is one consistent state, that of its `resourceVersion`. It may be an old one: the controller compares.
 * 2. `watch({ after })` yields what happened after that version. It ends by throwing; how, does not matter, since the
 *    controller then lists again and takes the difference. Items may come late, twice or out of order.
 * 3. `get` is fresh: it answers a state at least as new as anything committed before the call. Exception: a store
 *    source on a replica answers what the replica has applied. States older than one that was used are
 *    refused all the same; but a process that starts on a lagging replica may begin with a state that the backend has
 *    moved on from, or with an object deleted there.
 * 4. A `uid` names one life of an object. Once deleted it never comes back; a re-created object has another uid. Where
 *    the data behind the source is replaced as a whole, all of its uids are dead.
 * 5. Versions of all objects of one source have one order, `compare`.
 *
 * What it need not promise: to deliver every state. A lost item is made up for by any later item of that object, or by
 * the next list.
 */
export interface ObjectSource<T = unknown> {
  list(options: SignalOptions): Promise<SourceList<T>>;
  watch(options: SourceWatchOptions): AsyncIterable<SourceWatchItem<T>>;
  /** The object under this name now, or `undefined` if there is none. */
  get(name: string, options: SignalOptions): Promise<SourceObject<T> | undefined>;
  /** Negative if `a` is older than `b`, positive if newer, 0 if the same. */
  compare(a: string, b: string): number;
  /**
   * Whether this uid is of the data that the last list was taken from, alive or dead. To be given by a source whose data
   * is replaced as a whole and numbered anew, as that of an embedded store is with every process: versions of another
   * data compare with nothing, so without it, what was recorded of their objects could never be known to be obsolete.
   * @default all uids are
   */
  owns?(uid: string): boolean;
  /**
   * Changes an object, if it is still the one that `patch` names and as old as that says; what handlers write by
   * `ctx.patch`. The answer is a state like any other, and the newest one. A patch that changes nothing may be answered
   * with the state there is. Rejects where nobody knows whether it was applied, and where it is refused: then it is sent
   * again, except for a refusal for good, which fails the call that asked for it: a `BackendError` that is `permanent` and
   * not `maybeCommitted`, a `ValueError`, a `LimitExceededError` or an `UnsupportedError`.
   * @default the source cannot be written to
   */
  patch?(patch: SourcePatch, options: SignalOptions): Promise<SourcePatchResult<T>>;
  /**
   * Objects have `finalizers`, and `patch` takes changes to them: an object stays, `deleting`, until it has none. Handlers
   * for deletions and `retire` need it (A11').
   * @default false
   */
  readonly hasFinalizers?: boolean;
}

/** One write: all of it is applied, or nothing. */
export interface SourcePatch {
  readonly name: string;
  /** Only if this uid lives under the name. */
  readonly uid: string;
  /** Only if this is its present version. */
  readonly resourceVersion: string;
  /** Changes to the content, one after the other. */
  readonly patches: readonly Patch[];
  /** To be added at the end, if it is not there. Refused for an object that is `deleting`. */
  readonly addFinalizer?: string;
  /** To be removed, if it is there. With the last one, an object that is `deleting` goes. */
  readonly removeFinalizer?: string;
}

/**
 * - `patched`: applied; `object` is what it made, even if the object has gone by it.
 * - `conflict`: the uid lives, in another version. Nothing was written.
 * - `gone`: nothing lives under the name, or another uid. Nothing was written.
 */
export type SourcePatchResult<T = unknown> =
  | { readonly type: 'patched'; readonly object: SourceObject<T> }
  | { readonly type: 'conflict' }
  | { readonly type: 'gone' };

export interface SourceWatchOptions extends SignalOptions {
  /** Exclusive: the `resourceVersion` of a list. */
  readonly after: string;
}

/** One state of one object. */
export interface SourceObject<T = unknown> {
  /** The queue key: unique among the objects that live at one time. */
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The object is on its way out (in Kubernetes: it has a deletion timestamp). */
  readonly deleting: boolean;
  /** Who has to agree before an object that is `deleting` goes. @default nobody */
  readonly finalizers?: readonly string[];
  /**
   * The content. Frozen, or never changed by anybody after it was handed out; the controller freezes it. Bytes in it,
   * which cannot be frozen, are copied for every call.
   */
  readonly object: T;
}

export interface SourceList<T = unknown> {
  readonly resourceVersion: string;
  readonly items: readonly SourceObject<T>[];
}

export type SourceWatchItem<T = unknown> =
  | { readonly type: 'added' | 'modified'; readonly object: SourceObject<T> }
  | SourceDeletion
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

/**
 * The object is gone for good; an object that only left a selector must not be reported so. A source that cannot tell
 * the uid leaves it `undefined`: whatever lived under the name before `resourceVersion` is gone.
 */
export interface SourceDeletion {
  readonly type: 'deleted';
  readonly name: string;
  readonly uid: string | undefined;
  readonly resourceVersion: string;
}
