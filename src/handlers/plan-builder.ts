import { LimitExceededError, UnsupportedError, ValueError } from '../types/errors.ts';
import { isPromise } from '../types/is-promise.ts';
import { shown } from '../types/shown.ts';
import { checkAttempts, checkFunction, checkId, checkNames } from './checks.ts';
import type { SubFunction } from './context.ts';
import type { DocumentVersion } from './document-version.ts';
import type { Parent } from './parent.ts';
import { parsePath } from './path.ts';
import type { PlanEntry } from './record.ts';
import { levelOf, subIdsBelow, subRecordId } from './record-id.ts';
import { isParental, type SubHandler } from './registry.ts';
import type { SubOptions } from './sub-options.ts';
import { digestOfSub, ownData } from './view.ts';

/** Most sub-handlers below one handler, on all levels together. */
export const SUBS_MAX = 10_000;

/** Most levels of sub-handlers below a handler. */
export const SUB_DEPTH_MAX = 8;

const SUB_NAMES: readonly (keyof SubOptions)[] = ['args', 'field', 'select', 'retries', 'timeoutMs'];

/** What a call has registered: the part for the record and the part that only memory can hold. */
export interface BuiltPlan {
  readonly plan: readonly PlanEntry[];
  readonly subs: ReadonlyMap<string, SubHandler>;
}

/** Collects the subs that a call registers, until it is over. */
export class PlanBuilder {
  readonly #parent: Parent;
  readonly #view: unknown;
  readonly #doc: DocumentVersion | undefined;
  #subs: Map<string, SubHandler> | undefined;
  #plan: PlanEntry[] | undefined;
  #census: Census | undefined;
  #sealed = false;

  /** `view`: what the parent sees. `doc`: the records of its object, as far as there are any. */
  constructor(parent: Parent, view: unknown, doc: DocumentVersion | undefined) {
    this.#parent = parent;
    this.#view = view;
    this.#doc = doc;
  }

  add(id: string, options: SubOptions, fn: SubFunction<never>): void {
    const action = `register sub-handler "${shown(id)}" of "${this.#parent.id}"`;
    this.#check(action, id, options, fn);
    const select = options.select ?? (this.#isSelected(options) ? (view: unknown) => view : undefined);
    const made = select && { value: select(this.#view) };
    // Refused below, like any other instance of a class.
    isPromise(made?.value);
    // Refuses here, in the parent's call, what could not be told apart or written down later.
    const isPlain = made === undefined && options.args === undefined;
    const digest = isPlain ? '' : namingSub(action, () => digestOfSub(made?.value, options.args));
    const args = ownData(action, options.args);
    const selected = made && { value: ownData(action, made.value) };
    this.#plan ??= [];
    this.#plan.push(
      Object.freeze({
        id,
        ...(args === undefined ? {} : { args }),
        ...(options.field === undefined ? {} : { field: options.field }),
        ...(selected === undefined ? {} : { selected: digest }),
      }),
    );
    this.#census?.count(id);
    this.#subs ??= new Map();
    this.#subs.set(id, {
      id,
      args,
      selected,
      retries: options.retries ?? Number.POSITIVE_INFINITY,
      timeoutMs: options.timeoutMs,
      fn: fn as SubFunction,
    });
  }

  /** Ends the registration. */
  seal(): BuiltPlan {
    this.#sealed = true;
    return { plan: this.#plan ?? [], subs: this.#subs ?? NO_SUBS };
  }

  /** What a sub with `select` sees is in no record, so those below it that see the same have it with their functions, too. */
  #isSelected({ field }: SubOptions): boolean {
    return field === undefined && this.#parent.entry?.selected !== undefined;
  }

  #check(action: string, id: string, options: SubOptions, fn: SubFunction<never>): void {
    if (!isParental(this.#parent.handler.kind)) {
      throw new UnsupportedError(action, 'a sub-handler below a handler of this kind');
    }
    checkId(action, id);
    checkNames(action, options, SUB_NAMES);
    checkAttempts(action, options);
    checkFunction(action, 'select', options.select);
    if (typeof fn !== 'function') throw new TypeError(`Cannot ${action}: the sub-handler is not a function`);
    if (this.#sealed) throw new TypeError(`Cannot ${action}: the call is over`);
    if (this.#subs?.has(id) === true) throw new TypeError(`Cannot ${action}: the id is taken`);
    if (options.field !== undefined && options.select !== undefined) {
      throw new TypeError(`Cannot ${action}: field and select exclude each other`);
    }
    const depth = levelOf(this.#parent.id);
    if (depth > SUB_DEPTH_MAX) {
      throw new LimitExceededError(action, { limit: 'levels of subs', max: SUB_DEPTH_MAX, actual: depth });
    }
    const total = this.#totalWith(id);
    if (total > SUBS_MAX) throw new LimitExceededError(action, { limit: 'subs', max: SUBS_MAX, actual: total });
    if (options.field !== undefined) parsePath(options.field);
  }

  /** Subs below the handler with one more: those of other parents, and those of this one with all that is below them. */
  #totalWith(id: string): number {
    const doc = this.#doc;
    if (this.#census === undefined) {
      const count = (this.#plan?.length ?? 0) + 1;
      if (doc === undefined || doc.size + count <= SUBS_MAX) return count;
      this.#census = new Census(this.#parent, doc);
      for (const entry of this.#plan ?? []) this.#census.count(entry.id);
    }
    return this.#census.total + this.#census.with(id);
  }
}

/** What is wrong with the args or the selection of a sub is told of the sub. */
function namingSub<R>(action: string, make: () => R): R {
  try {
    return make();
  } catch (error) {
    if (error instanceof ValueError) {
      const { path, reason } = error;
      throw new ValueError(action, { path, reason }, { cause: error });
    }
    throw error instanceof LimitExceededError ? new LimitExceededError(action, error) : error;
  }
}

const NO_SUBS: ReadonlyMap<string, SubHandler> = new Map();

/** Counts the subs of a handler: those of other parents as recorded, and those that one parent registers. */
class Census {
  total = 0;
  /** Recorded below each of its own subs. */
  readonly #below = new Map<string, number>();

  constructor(parent: Parent, doc: DocumentVersion) {
    const prefix = subRecordId(parent.id, '');
    for (const id of doc.planned(parent.handler.id)) {
      if (!id.startsWith(prefix)) this.total++;
      else {
        const [own = '', ...rest] = subIdsBelow(parent.id, id);
        if (rest.length > 0) this.#below.set(own, (this.#below.get(own) ?? 0) + 1);
      }
    }
  }

  /** What a sub adds: itself, and what it has planned before. */
  with(id: string): number {
    return 1 + (this.#below.get(id) ?? 0);
  }

  count(id: string): void {
    this.total += this.with(id);
  }
}
