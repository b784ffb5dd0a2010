import type { SourceObject } from '../types/source.ts';
import type { PlanEntry } from './record.ts';
import type { Handler } from './registry.ts';
import { deepFreeze, defaultView, digestOfSub, digestOfView, parsePath, type ViewDigest, valueAt } from './view.ts';

/** What a handler sees of one state. */
export interface Look {
  readonly view: unknown;
  readonly digest: string;
}

/** How states are looked at; the same for all of a controller. */
export interface Viewer {
  readonly essence: ViewDigest;
  readonly view: ((object: unknown) => unknown) | undefined;
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
  readonly #object: unknown;
  readonly #viewer: Viewer;
  readonly #looks = new Map<string, Look | undefined>();
  readonly #subLooks = new WeakMap<PlanEntry, Look>();
  readonly #faults = new Map<string, unknown>();
  #frozen = false;
  #default: Look | undefined;

  constructor(source: SourceObject, viewer: Viewer) {
    this.name = source.name;
    this.uid = source.uid;
    this.resourceVersion = source.resourceVersion;
    this.deleting = source.deleting;
    this.#object = source.object;
    this.#viewer = viewer;
  }

  /** The content, deep-frozen on first use: by then somebody is going to be called. */
  get object(): unknown {
    if (!this.#frozen) deepFreeze(this.#object);
    this.#frozen = true;
    return this.#object;
  }

  /** What a handler sees; `undefined` if the object is not for it. */
  look(handler: Handler): Look | undefined {
    if (this.#looks.has(handler.id)) return this.#looks.get(handler.id);
    const look = this.#guard(handler.id, () => this.#lookAt(handler));
    this.#looks.set(handler.id, look);
    return look;
  }

  /** What a planned sub of a handler sees; `undefined` if the object is not for its parent. */
  lookSub(parent: Handler, entry: PlanEntry): Look | undefined {
    const known = this.#subLooks.get(entry);
    if (known !== undefined) return known;
    const parentLook = this.look(parent);
    if (parentLook === undefined) return undefined;
    const id = `${parent.id}/${entry.id}`;
    const look = this.#guard(id, () => {
      if (entry.selected !== undefined) return { view: undefined, digest: entry.selected };
      const view = entry.field === undefined ? parentLook.view : valueAt(this.object, parsePath(entry.field));
      return { view, digest: digestOfSub(this.#viewer.essence, view, entry.args) };
    });
    if (look !== undefined) this.#subLooks.set(entry, look);
    return look;
  }

  /** What `look` or `lookSub` met when it asked for this id. */
  faultOf(id: string): unknown {
    return this.#faults.get(id);
  }

  #lookAt(handler: Handler): Look | undefined {
    if (handler.when !== undefined && !handler.when(this.object)) return undefined;
    if (handler.path === undefined && handler.select === undefined) {
      this.#default ??= this.#seen((this.#viewer.view ?? defaultView)(this.object));
      return this.#default;
    }
    return this.#seen(handler.path === undefined ? handler.select?.(this.object) : valueAt(this.object, handler.path));
  }

  #seen(view: unknown): Look {
    return { view: deepFreeze(view), digest: digestOfView(this.#viewer.essence, view) };
  }

  #guard(id: string, look: () => Look | undefined): Look | undefined {
    if (this.#faults.has(id)) return undefined;
    try {
      return look();
    } catch (error) {
      this.#faults.set(id, error);
      this.#viewer.onFault(this, id, error);
      return undefined;
    }
  }
}
