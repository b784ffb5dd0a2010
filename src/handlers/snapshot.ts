import type { SourceObject } from '../types/source.ts';
import type { Review } from './essence-review.ts';
import type { Handled } from './filters.ts';
import { handOut } from './freeze.ts';
import type { Parent } from './parent.ts';
import { type Path, parsePath, valueAt } from './path.ts';
import type { PlanEntry } from './record.ts';
import { subRecordId } from './record-id.ts';
import type { Handler } from './registry.ts';
import { type DefaultView, digestOfSub, type View, viewOfData, viewOfPart } from './view.ts';

/** What a snapshot has to know of a handler to say what it sees. */
export interface Viewed extends Pick<Handler, 'id' | 'filter' | 'path' | 'select' | 'version'> {
  readonly kind: string;
}

/** How states are looked at; the same for all of a controller. */
export interface ViewRules {
  readonly defaultView: DefaultView;
  /** What the rules of `defaultView` make of a default view by others. @default that cannot be told */
  readonly review?: Review | undefined;
  /** The rules of `defaultView` as records name them; absent for the default ones, and for a `view`. */
  readonly essence?: string | undefined;
  /** Whether a default view has all that may be at a place of the object. @default that nobody knows */
  readonly isWholeAt?: ((object: unknown, path: Path) => boolean) | undefined;
  /** Names the process: what resumes does so once in each. */
  readonly process: string;
  /** A `when`, `select` or `view` threw, or its result is not data. Told once per state and handler. */
  readonly onFault: (snapshot: Snapshot, id: string, error: unknown) => void;
}

/**
 * One state of one object, with everything that was ever derived from it. Never changes, so it is also what "the same
 * S for all calls of a pass" means (A2').
 *
 * Where a user function throws on a state, the handler has no view of it: it is not called with a guess, and not asked
 * again, since a pure function would throw again. The fault is reported and shows in `controller.state`.
 */
export class Snapshot {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly #rules: ViewRules;
  readonly #source: SourceObject;
  readonly #isUnfiltered: boolean;
  readonly #views = new Map<string, View | undefined>();
  #subViews: WeakMap<PlanEntry, View> | undefined;
  #faults: Map<string, unknown> | undefined;
  #default: View | undefined;
  /** The content, if everybody may have the same. */
  #shared: { readonly object: unknown } | undefined;
  /** The view of the last sub without args and field: its siblings see the same. */
  #plainSub: View | undefined;

  constructor(source: SourceObject, rules: ViewRules, isUnfiltered = false) {
    this.name = source.name;
    this.uid = source.uid;
    this.resourceVersion = source.resourceVersion;
    this.deleting = source.deleting;
    this.finalizers = source.finalizers ?? [];
    this.#rules = rules;
    this.#source = source;
    this.#isUnfiltered = isUnfiltered;
  }

  /**
   * The content, deep-frozen on first use: by then somebody is going to look at it. The same each time, except that bytes
   * are copied for everybody who asks (I5').
   */
  get object(): unknown {
    if (this.#shared !== undefined) return this.#shared.object;
    const object = handOut(this.#source.object);
    if (object === this.#source.object) this.#shared = { object };
    return object;
  }

  /**
   * This state with another content, in the scope of every handler: what it would be if nobody but the caller wrote. Who
   * takes the object out of its own scope by a patch has handled what it would see there all the same (A8').
   */
  patched(object: unknown): Snapshot {
    return new Snapshot({ ...this.#source, object }, this.#rules, true);
  }

  /** The filter by which the object is not for a handler; for a person. */
  refusalOf({ id, filter }: Pick<Handler, 'id' | 'filter'>): string | undefined {
    return this.#guard(id, () => filter?.(this.object));
  }

  /** Whether the object is for a handler that has no view. A filter that throws is asked once, and says no. */
  isFor({ id, filter }: Pick<Handler, 'id' | 'filter'>): boolean {
    return this.#guard(id, () => filter?.(this.object) === undefined) ?? false;
  }

  /** What a pure function of this handler says about the state; `undefined` where it throws, which is told (A20'). */
  ask<R>(id: string, look: () => R): R | undefined {
    return this.#guard(id, look);
  }

  /** What a handler sees; `undefined` if the object is not for it. */
  viewOf(handler: Viewed): View | undefined {
    const known = this.#views.get(handler.id);
    return known !== undefined || this.#views.has(handler.id) ? known : this.#lookFor(handler);
  }

  #lookFor(handler: Viewed): View | undefined {
    const view = this.#guard(handler.id, () => digested(this.#makeView(handler), handler, this.#rules.process));
    this.#views.set(handler.id, view);
    return view;
  }

  /** Whether a handler, which has this view of the state, is for the change to it from what it has handled (A20'). */
  isChangeFor({ id, changes }: Handler, handled: Handled, view: View): boolean {
    if (changes === undefined) return true;
    return this.#guard(id, () => changes(handled, view.value)) ?? false;
  }

  /** What a planned sub sees; `undefined` if the object is not for its parent. */
  viewOfSub(parent: Parent, entry: PlanEntry): View | undefined {
    const known = this.#subViews?.get(entry);
    if (known !== undefined) return known;
    const parentView =
      parent.entry === undefined || parent.parent === undefined
        ? this.viewOf(parent.handler)
        : this.viewOfSub(parent.parent, parent.entry);
    if (parentView === undefined) return undefined;
    // Nothing of its own: it is the same for all of them, and not worth an entry.
    const isPlain = entry.args === undefined && entry.field === undefined && entry.selected === undefined;
    if (isPlain && this.#plainSub !== undefined && Object.is(this.#plainSub.value, parentView.value)) {
      return this.#plainSub;
    }
    const view = this.#lookForSub(parent, entry, parentView);
    if (view === undefined || isPlain) return view;
    this.#subViews ??= new WeakMap();
    this.#subViews.set(entry, view);
    return view;
  }

  #lookForSub(parent: Parent, entry: PlanEntry, parentView: View): View | undefined {
    return this.#guard(subRecordId(parent.id, entry.id), () => {
      if (entry.selected !== undefined) return { value: undefined, digest: entry.selected };
      const value = entry.field === undefined ? parentView.value : valueAt(this.object, parsePath(entry.field));
      if (entry.args !== undefined) return { value, digest: digestOfSub(value, entry.args) };
      if (this.#plainSub === undefined || !Object.is(this.#plainSub.value, value)) {
        this.#plainSub = { value, digest: digestOfSub(value, undefined) };
      }
      return this.#plainSub;
    });
  }

  /** What a default view by other rules, of an earlier state, is by the present ones; `undefined` if that cannot be told. */
  review(view: unknown): { readonly value: unknown } | undefined {
    return this.#rules.review?.(view, this.object);
  }

  /** What a default view of an earlier state, by rules of this name, says of a place; `undefined` if it may lack a part. */
  partOf(view: unknown, essence: string | undefined, path: Path): { readonly value: unknown } | undefined {
    const isWhole = essence === this.#rules.essence && this.#rules.isWholeAt?.(this.object, path) === true;
    return isWhole ? { value: valueAt(view, path) } : undefined;
  }

  /** What `viewOf` or `viewOfSub` met when it was asked for this id. */
  faultOf(id: string): unknown {
    return this.#faults?.get(id);
  }

  /** Whether there was an error, of whatever kind. */
  hasFault(id: string): boolean {
    return this.#faults?.has(id) === true;
  }

  #makeView(handler: Viewed): View | undefined {
    if (!this.#isUnfiltered && handler.filter?.(this.object) !== undefined) return undefined;
    if (handler.path !== undefined) return viewOfPart(valueAt(this.object, handler.path));
    if (handler.select !== undefined) return viewOfData(handler.select(this.object));
    this.#default ??= this.#rules.defaultView(this.object);
    return this.#default;
  }

  #guard<R>(id: string, look: () => R | undefined): R | undefined {
    if (this.hasFault(id)) return undefined;
    try {
      return look();
    } catch (error) {
      this.#faults ??= new Map();
      this.#faults.set(id, error);
      this.#rules.onFault(this, id, error);
      return undefined;
    }
  }
}

/**
 * The digest by which a handler is due: that of its view, unless it is called once, whatever the object looks like. With a
 * `version`, equal views of two versions are two inputs.
 */
function digested(view: View | undefined, { kind, version }: Viewed, process: string): View | undefined {
  if (view === undefined) return undefined;
  const digest = kind === 'delete' ? 'deletion' : kind === 'resume' ? `resume:${process}` : undefined;
  if (digest === undefined && version === undefined) return view;
  return {
    get value() {
      return view.value;
    },
    digest: digest ?? `${view.digest}@${version}`,
    content: view.digest,
  };
}
