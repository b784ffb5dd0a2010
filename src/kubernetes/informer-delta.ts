/** One change of what an informer knows, in the order in which it came to know it. */
export type InformerDelta<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T }
  | {
      readonly type: 'updated';
      readonly key: string;
      readonly object: T;
      /** What the last delta of this key had as `object`. */
      readonly old: T;
    }
  | {
      readonly type: 'deleted';
      readonly key: string;
      /**
       * The final state as the server told it, which may be newer than `old`; `undefined` if nobody told it: a list has the
       * object no more (client-go's `DeletedFinalStateUnknown`; kubernetes/kubernetes#22878).
       */
      readonly object: T | undefined;
      readonly old: T;
      readonly reason: DeletedReason;
    };

/**
 * Of what is watched with a selector nobody says whether it is gone: the server sends DELETED too when an object stops
 * matching. Only one that was on its way out is certainly `deleted` then (IN6).
 */
export type DeletedReason = 'deleted' | 'left-selector-or-deleted';

/** Why an event or an item of a list changed nothing. */
export type IgnoredReason =
  /** The version that is known already. */
  | 'same-version'
  /** Older than what is known of this life. */
  | 'older'
  /** Of a life that has ended. */
  | 'tombstone'
  /** Of a version at which a list did not have it. */
  | 'unlisted'
  /** The end of a life that nobody here knew of. */
  | 'unknown-object';
