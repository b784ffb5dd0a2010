import type { Entry } from './entry.ts';
import type { Resource } from './resource.ts';
import { type GroupKind, groupKindText } from './resource-key.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * The objects of one kind in one namespace: what a list of a namespace reads.
 *
 * ```text
 *   entries    [e0, e1, e2]    entry.place is where it is
 *   states     [r0, r1, r2]    their current states, so that a list is one copy of an array, and mostly none
 *   ghosts     {e7}            have no current state, but an older one that a snapshot may read
 * ```
 *
 * Without an order: what is removed is replaced by the last one.
 */
export class Bucket<T, I> {
  readonly groupKind: GroupKind;
  /** As text. */
  readonly kind: string;
  readonly namespace: string;
  readonly #entries: Entry<T, I>[] = [];
  readonly #states: Resource<T, I>[] = [];
  readonly #ghosts = new Set<Entry<T, I>>();
  #list: readonly Resource<T, I>[] | undefined;

  constructor(groupKind: GroupKind, namespace: string) {
    this.groupKind = groupKind;
    this.kind = groupKindText(groupKind);
    this.namespace = namespace;
  }

  get size(): number {
    return this.#entries.length;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0 && this.#ghosts.size === 0;
  }

  set(entry: Entry<T, I>, resource: Resource<T, I>): void {
    this.#list = undefined;
    if (entry.place < 0) {
      entry.place = this.#entries.length;
      this.#entries.push(entry);
      this.#ghosts.delete(entry);
    }
    this.#states[entry.place] = resource;
  }

  /** `isGhost`: a snapshot may still read what it was. */
  remove(entry: Entry<T, I>, isGhost: boolean): void {
    this.#list = undefined;
    const last = this.#entries.pop() as Entry<T, I>;
    const state = this.#states.pop() as Resource<T, I>;
    if (last !== entry) {
      this.#entries[entry.place] = last;
      this.#states[entry.place] = state;
      last.place = entry.place;
    }
    entry.place = -1;
    if (isGhost) this.#ghosts.add(entry);
  }

  forget(ghost: Entry<T, I>): void {
    this.#ghosts.delete(ghost);
  }

  /** The current states: the same frozen array until one of them changes. */
  list(): readonly Resource<T, I>[] {
    if (this.#list === undefined) {
      this.#list =
        this.#states.length === 0 ? NOTHING : (Object.freeze(this.#states.slice()) as readonly Resource<T, I>[]);
    }
    return this.#list;
  }

  /** The states at a commit that a pin holds. */
  listAt(seq: number): readonly Resource<T, I>[] {
    const found: Resource<T, I>[] = [];
    for (const entries of [this.#entries, this.#ghosts]) {
      for (const entry of entries) {
        const version = entry.at(seq);
        if (version !== undefined) found.push(version.resource);
      }
    }
    return found;
  }

  /** For `verify-tables.ts`. */
  contents(): { entries: readonly Entry<T, I>[]; states: readonly Resource<T, I>[]; ghosts: ReadonlySet<Entry<T, I>> } {
    return { entries: this.#entries, states: this.#states, ghosts: this.#ghosts };
  }
}
