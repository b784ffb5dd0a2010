import type { Patch } from '../types/patch.ts';
import type { CallContext, HandlerContext, PatchOptions, SubContext, SubFunction } from './context.ts';
import { type Difference, diffViews } from './diff.ts';
import type { DocumentVersion } from './document-version.ts';
import type { ObjectIndex } from './index-options.ts';
import type { Parent } from './parent.ts';
import type { PatchCollector } from './patch-collector.ts';
import { type BuiltPlan, PlanBuilder } from './plan-builder.ts';
import type { Handler, SubHandler } from './registry.ts';
import type { SubOptions } from './sub-options.ts';
import type { TimedCall } from './timed-call.ts';

/** All that a context is made of. */
export type CallFacts = Omit<CallContext, 'diff' | 'patch' | 'signal' | 'idempotencyKey'> & {
  /** Has the signal. */
  readonly call: TimedCall;
  /** What the idempotency key is made of. */
  readonly key: readonly unknown[];
  readonly patches: PatchCollector;
  /** What is remembered of the object, where anything is. */
  readonly doc?: DocumentVersion | undefined;
};

class Call implements CallContext {
  readonly object: unknown;
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly old: unknown;
  readonly new: unknown;
  readonly cause: CallContext['cause'];
  readonly attempt: number;
  declare readonly idempotencyKey: string;
  declare readonly signal: AbortSignal;
  readonly #facts: CallFacts;
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
    this.#facts = facts;
    // One by one: as a map of descriptors it takes twice as long.
    Object.defineProperty(this, 'idempotencyKey', Call.#key);
    Object.defineProperty(this, 'signal', Call.#signal);
  }

  // Made when they are read, since few calls do; members of the context itself, so that a copy of it has them, too.
  static readonly #key: PropertyDescriptor & ThisType<Call> = {
    enumerable: true,
    get() {
      return JSON.stringify(this.#facts.key);
    },
  };
  static readonly #signal: PropertyDescriptor & ThisType<Call> = {
    enumerable: true,
    get() {
      return this.#facts.call.signal;
    },
  };

  get diff(): readonly Difference[] {
    this.#diff ??= diffViews(this.old, this.new);
    return this.#diff;
  }

  patch(patch: Patch, options: PatchOptions = {}): void {
    this.#facts.patches.add(patch, options);
  }

  index<V = unknown>(id: string): ObjectIndex<V> {
    return this.#facts.index(id);
  }
}

/** A call that may register subs, until it is sealed. */
class ParentCall extends Call {
  readonly rebuild: boolean;
  readonly #builder: PlanBuilder;

  constructor(facts: CallFacts, parent: Parent, rebuild: boolean) {
    super(facts);
    this.rebuild = rebuild;
    this.#builder = new PlanBuilder(parent, facts.new, facts.doc);
  }

  sub(id: string, options: SubOptions, fn: SubFunction<never>): void {
    this.#builder.add(id, options, fn);
  }

  /** Ends the registration and hands over the plan. */
  seal(): BuiltPlan {
    return this.#builder.seal();
  }
}

/** The context of a handler. */
export class HandlerCall extends ParentCall implements HandlerContext {
  constructor(facts: CallFacts, handler: Handler, rebuild: boolean) {
    super(facts, { id: handler.id, handler, entry: undefined, parent: undefined }, rebuild);
    Object.freeze(this);
  }
}

/** The context of a sub. */
export class SubCall extends ParentCall implements SubContext {
  readonly id: string;
  readonly parentId: string;
  readonly args: unknown;

  constructor(facts: CallFacts, place: Parent, sub: SubHandler, rebuild: boolean) {
    super(facts, place, rebuild);
    this.id = sub.id;
    this.parentId = place.parent?.id ?? place.handler.id;
    this.args = sub.args;
    Object.freeze(this);
  }
}
