import type { Patch } from '../types/patch.ts';
import type { Difference } from './diff.ts';
import type { IndexAccess } from './index-options.ts';
import type { SubOptions } from './sub-options.ts';

/** Returning is success; for the other ends see `TemporaryError` and `PermanentError`. */
export type HandlerFunction<T = unknown> = (context: HandlerContext<T>) => Promise<void> | void;
/** Like {@link HandlerFunction}. */
export type SubFunction<T = unknown> = (context: SubContext<T>) => Promise<void> | void;

/** Like {@link HandlerFunction}; a `PermanentError` is an error like any other, since a call to undo cannot be given up. */
export type RetireFunction<T = unknown> = (context: RetireContext<T>) => Promise<void> | void;

/** What every call is told. All of it belongs to one state of the object, and is frozen; bytes in it are the call's own. */
export interface CallContext<T = unknown> extends IndexAccess {
  /** The whole object, as of `resourceVersion`. Parts outside the handler's view may be older than the newest state. */
  readonly object: T;
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  /**
   * The handler's view at its last success; `undefined` before the first, for `create`, `resume` and `delete`, and where it is
   * lost or an earlier `field` or `essence` does not tell it (A6').
   */
  readonly old: unknown;
  /** The handler's view now. */
  readonly new: unknown;
  /** What differs between `old` and `new`; computed on first use. */
  readonly diff: readonly Difference[];
  /** For a handler of changes `create` until its first success for this uid, then `update`; else the kind of the handler. */
  readonly cause: 'create' | 'update' | 'resume' | 'delete';
  /** Failed attempts on this input so far; 0 at first. Crashes are not counted. */
  readonly attempt: number;
  /**
   * For consumers that drop what they have done before: the same for all attempts on this input, also over a restart;
   * another one when the input comes back later (A13').
   */
  readonly idempotencyKey: string;
  /**
   * Aborts on timeout, when this call's own input is outdated, when the object goes, and when the controller stops. Its
   * reason is that of the first of these: a call that is outdated and then takes too long has failed by timeout, and its
   * signal still says that it is outdated.
   */
  readonly signal: AbortSignal;
  /**
   * Asks for a change of the object, to be made after the call, whether it succeeds or fails: a merge patch, or an array,
   * which is a JSON patch. Several are applied in order, as one write, to the newest state; so a change by somebody else in
   * the meantime stays. What the patches change in the handler's own view is taken as handled (A8'): it is not called for
   * it again, and a failure keeps its count.
   *
   * Dropped when the call counts for nothing, takes too long or is only to `rebuild`, and when the object is gone or on its
   * way out. Patches that do not fit the object of this call, and those that the source refuses for good, fail it; those
   * that do not fit the newest state any more have it made again.
   *
   * @example
   * ```ts
   * import { createController, createStoreSource, openStore } from 'plimsoll';
   *
   * const store = await openStore<{ spec: { replicas: number }; status?: { replicas: number } }>();
   * const controller = createController({ source: createStoreSource(store, { prefix: 'apps/' }) });
   * controller.on('change', { id: 'scale', field: 'spec.replicas' }, (ctx) => {
   *   ctx.patch({ status: { replicas: ctx.new } });
   * });
   * ```
   *
   * @throws TypeError for what is no patch, an unknown option, and after the return
   * @throws ValueError for what is not JSON data
   * @throws UnsupportedError if the source takes no patches
   * @throws LimitExceededError above 1000 patches, and above 4194304 members and elements of one
   */
  patch(patch: Patch, options?: PatchOptions): void;
}

/** Options of `ctx.patch`. */
export interface PatchOptions {
  /**
   * Only if the handler's view is still what this call was told: otherwise none of the call's patches is applied, its
   * outcome counts for nothing, and it is called again at once. For what was computed from the old value, like a list with
   * one more element. Under changes faster than the call it is never written. @default false
   */
  readonly ifUnchanged?: boolean;
}

/** What may register sub-handlers is called with. */
export interface ParentContext<T = unknown> extends CallContext<T> {
  /** The call only has to register the subs again: after a restart, with one of them due (A9'd). */
  readonly rebuild: boolean;
  /**
   * Registers a sub-handler, to run after this call has returned, with its own record, digest and retries. Ids and args
   * must depend on `new` alone; below a sub, on its `new` and `args`. Registering nothing drops the plan. What it throws
   * fails the handler like any other error.
   *
   * A sub may register subs in turn, up to 8 levels below a handler: their parent is the sub (A9'f).
   *
   * @example
   * ```ts
   * import { createController, createEssenceHasher, createStoreSource, openStore } from 'plimsoll';
   *
   * const store = await openStore<{ spec: string[] }>();
   * const source = createStoreSource(store, { prefix: 'apps/' });
   * const controller = createController({ source, essence: createEssenceHasher({ defaults: false }) });
   * controller.on('change', { id: 'rollout', field: 'spec' }, async (ctx) => {
   *   for (const zone of ctx.new as string[]) {
   *     ctx.sub(zone, { args: zone, retries: 5 }, async (sub) => console.log('deploy to', zone, sub.object));
   *   }
   * });
   * ```
   *
   * @throws TypeError for an id that is taken or has a `/`, an unknown option, `field` beside `select`, and after the
   * return.
   * @throws RangeError for retries or a timeout out of range.
   * @throws ValueError for args or a selection that are not JSON data.
   * @throws UnsupportedError below a handler of another kind than `change` and `update`.
   * @throws LimitExceededError above 10000 subs below one handler, on all levels together, and above 8 levels.
   */
  sub(id: string, options: SubOptions, fn: SubFunction<T>): void;
}

/** What a handler is called with. */
export interface HandlerContext<T = unknown> extends ParentContext<T> {}

/** What a sub-handler is called with. */
export interface SubContext<T = unknown> extends ParentContext<T> {
  /** As registered. */
  readonly id: string;
  /** The handler's id, or, for a sub of a sub, `handler/sub`. */
  readonly parentId: string;
  /** As registered, frozen. */
  readonly args: unknown;
}

/** What a `retire` hook is called with. */
export interface RetireContext<T = unknown>
  extends Pick<
    CallContext<T>,
    'object' | 'uid' | 'name' | 'resourceVersion' | 'attempt' | 'idempotencyKey' | 'signal' | 'index'
  > {
  /** Of the sub, as it was registered. */
  readonly id: string;
  /** The handler's id, or, for a sub of a sub, `handler/sub`. */
  readonly parentId: string;
  /**
   * The args of every attempt that was begun since the last success, and of that success, the latest at the end: any of
   * them may have taken effect. `undefined` stands for an attempt without args. Frozen; at most 1000 different ones are
   * remembered, then the oldest is forgotten.
   */
  readonly tried: readonly unknown[];
}
