import { LimitExceededError, UnsupportedError } from '../types/errors.ts';
import type { Patch } from '../types/patch.ts';
import { checkAttempts, checkFunction, checkId, checkNames } from './checks.ts';
import type { CallContext, HandlerContext, PatchOptions, SubContext, SubFunction } from './context.ts';
import { type Difference, diffViews } from './diff.ts';
import type { IndexAccess, ObjectIndex } from './index-options.ts';
import type { PatchCollector } from './patch-collector.ts';
import { parsePath } from './path.ts';
import type { PlanEntry } from './record.ts';
import { type Handler, isParental, type SubHandler } from './registry.ts';
import type { SubOptions } from './sub-options.ts';
import { digestOfSub, ownData } from './view.ts';

/** Most sub-handlers that one call may register. */
export const SUBS_MAX = 10_000;

const SUB_NAMES: readonly (keyof SubOptions)[] = ['args', 'field', 'select', 'retries', 'timeoutMs'];

/** All of a context but what is derived from it. */
export type CallFacts = Omit<CallContext, 'diff' | 'patch'> & { readonly patches: PatchCollector };

class Call implements CallContext {
  readonly object: unknown;
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly old: unknown;
  readonly new: unknown;
  readonly cause: CallContext['cause'];
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly #patches: PatchCollector;
  readonly #index: IndexAccess['index'];
  #diff: readonly Difference[] | undefined;

  constructor(facts: CallFacts) {
    this.object = facts.object;
    this.uid = facts.uid;
    this.name = facts.name;
    this.resourceVersion = facts.resourceVersion;
    this.old = facts.old;
    this.new = facts.new;
    this.cause = facts.cause;
    this.attempt = facts.attempt;
    this.idempotencyKey = facts.idempotencyKey;
    this.signal = facts.signal;
    this.#patches = facts.patches;
    this.#index = facts.index;
  }

  get diff(): readonly Difference[] {
    this.#diff ??= diffViews(this.old, this.new);
    return this.#diff;
  }

  patch(patch: Patch, options: PatchOptions = {}): void {
    this.#patches.add(patch, options);
  }

  index<V = unknown>(id: string): ObjectIndex<V> {
    return this.#index(id);
  }
}

/** The context of a sub. */
export class SubCall extends Call implements SubContext {
  readonly id: string;
  readonly parentId: string;
  readonly args: unknown;

  constructor(facts: CallFacts, parentId: string, sub: SubHandler) {
    super(facts);
    this.id = sub.id;
    this.parentId = parentId;
    this.args = sub.args;
    Object.freeze(this);
  }
}

/** The context of a handler, collecting its plan until it is sealed. */
export class HandlerCall extends Call implements HandlerContext {
  readonly rebuild: boolean;
  readonly #handlerId: string;
  readonly #isParent: boolean;
  readonly #subs = new Map<string, SubHandler>();
  readonly #plan: PlanEntry[] = [];
  #sealed = false;

  constructor(facts: CallFacts, { id, kind }: Handler, rebuild: boolean) {
    super(facts);
    this.rebuild = rebuild;
    this.#handlerId = id;
    this.#isParent = isParental(kind);
    Object.freeze(this);
  }

  sub(id: string, options: SubOptions, fn: SubFunction<never>): void {
    const action = `register sub-handler "${id}" of "${this.#handlerId}"`;
    if (!this.#isParent) throw new UnsupportedError(action, 'a sub-handler below a handler of this kind');
    checkId(action, id);
    checkNames(action, options, SUB_NAMES);
    checkAttempts(action, options);
    checkFunction(action, 'select', options.select);
    if (typeof fn !== 'function') throw new TypeError(`Cannot ${action}: the sub-handler is not a function`);
    if (this.#sealed) throw new TypeError(`Cannot ${action}: the call is over`);
    if (this.#subs.has(id)) throw new TypeError(`Cannot ${action}: the id is taken`);
    if (options.field !== undefined && options.select !== undefined) {
      throw new TypeError(`Cannot ${action}: field and select exclude each other`);
    }
    if (this.#plan.length >= SUBS_MAX) {
      throw new LimitExceededError(action, { limit: 'subs', max: SUBS_MAX, actual: this.#plan.length + 1 });
    }
    const made = options.select && { value: options.select(this.new) };
    if (options.field !== undefined) parsePath(options.field);
    // Refuses here, in the parent's call, what could not be told apart or written down later.
    const digest = digestOfSub(made?.value, options.args);
    const args = ownData(action, options.args);
    const selected = made && { value: ownData(action, made.value) };
    this.#plan.push(
      Object.freeze({
        id,
        ...(args === undefined ? {} : { args }),
        ...(options.field === undefined ? {} : { field: options.field }),
        ...(selected === undefined ? {} : { selected: digest }),
      }),
    );
    this.#subs.set(id, {
      id,
      args,
      selected,
      retries: options.retries ?? Number.POSITIVE_INFINITY,
      timeoutMs: options.timeoutMs,
      fn: fn as SubFunction,
    });
  }

  /** Ends the registration and hands over the plan: the part for the record and the part that only memory can hold. */
  seal(): { readonly plan: readonly PlanEntry[]; readonly subs: ReadonlyMap<string, SubHandler> } {
    this.#sealed = true;
    return { plan: this.#plan, subs: this.#subs };
  }
}
