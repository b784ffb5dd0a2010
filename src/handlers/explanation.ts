import type { Restraint } from './admission.ts';

/** Why a handler or sub is called for an object, or is not, on its newest known state. Times are from now, in ms. */
export type Reason =
  /** This filter says that the object is not for the handler: `when`, `labels "app"`, `value`. For a person to read. */
  | { readonly why: 'filtered'; readonly filter: string }
  /** The object is on its way out and the handler is not for deletions, or the other way round. */
  | { readonly why: 'kind' }
  /** A user function has a fault on this state. */
  | { readonly why: 'fault'; readonly error: string }
  /** It has handled what it sees. */
  | { readonly why: 'settled'; readonly digest: string }
  /** It has failed for good on what it sees; `error` if this process has seen it fail. */
  | { readonly why: 'failed'; readonly digest: string; readonly error: string | undefined }
  | { readonly why: 'running' }
  /** Its parent has to be planned on this state first, or, for one that retires, to be settled. */
  | { readonly why: 'parent'; readonly parentId: string }
  /** This sub, which it had registered itself, is to be retired before it. */
  | { readonly why: 'children'; readonly childId: string }
  | { readonly why: 'retry'; readonly inMs: number; readonly failures: number; readonly error: string | undefined }
  /** Its parent could not be called to register it again. */
  | { readonly why: 'rebuild'; readonly inMs: number }
  /** Own writes call it again and again (A8'). */
  | { readonly why: 'loop'; readonly inMs: number; readonly episodes: number; readonly paths: readonly string[] }
  /** The calls for the object are held back (A33'). */
  | { readonly why: 'breaker'; readonly inMs: number; readonly failures: number }
  /** Somebody was called on version `recorded`, which is newer than what the source shows: an older state is not handled (A12'). */
  | { readonly why: 'old'; readonly recorded: string }
  /** Of the controller, of the handler, or of the rate: see `ControllerOptions` and `HandlerOptions`. */
  | { readonly why: Restraint }
  /** It is to be called, and in line. */
  | { readonly why: 'due' };

/** What is so of one handler, planned sub, or sub to retire. */
export interface HandlerExplanation {
  /** `handler` or `parent/sub`. */
  readonly id: string;
  /** It is a sub that has left the plan, and its work is to be undone. */
  readonly retires: boolean;
  readonly reason: Reason;
  /**
   * For how long the object has been behind for the handler, subs counted in, in ms; `undefined` if it is not, and where
   * nothing is left to do for this very handler or sub.
   */
  readonly behindMs: number | undefined;
}

/** What `controller.explain` says. */
export interface Explanation {
  readonly name: string;
  /**
   * `unknown`: nothing lives under the name, as far as is known. `unheld`: it is on its way out and not kept for this
   * controller, so nobody is called. `trouble`: the progress store or the source has failed, and nothing is done for the
   * object before the next attempt. `left`: the controller has stopped before all was done. Else what its place in the
   * queue is.
   */
  readonly object: 'unknown' | 'unheld' | 'trouble' | 'idle' | 'queued' | 'running' | 'waiting' | 'left';
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Of the last failure of the store or the source; `undefined` unless `object` is `trouble`. */
  readonly trouble: { readonly error: string; readonly inMs: number } | undefined;
  /** In the order of registration, each with its planned subs, and with those that it has to retire. */
  readonly handlers: readonly HandlerExplanation[];
  /** All of this for a person: a line for the object and one for each handler. */
  readonly text: string;
}
