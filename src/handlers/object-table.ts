import type { SourceDeletion, SourceList, SourceObject } from '../types/source.ts';
import { ObjectState } from './object-memory.ts';
import { Snapshot, type ViewRules } from './snapshot.ts';

/**
 * Dead uids remembered, and names of which nothing lives. One that is forgotten is found out by the read before its first
 * call (A12').
 */
const DEAD_MAX = 10_000;

/**
 * The newest known state of every object. Here it is decided what counts as newer (A1'):
 *
 * - a state counts only if its resource version is above that of the newest one under its name, also if that is gone;
 * - a uid that a deletion, an empty read or another uid under its name has shown to be dead never comes back, whatever
 *   the version of a late item says;
 * - an object that a list lacks is gone only if the list is at least as new as what is known of it (A1').
 */
export class ObjectTable {
  readonly #states = new Map<string, ObjectState>();
  readonly #dead = new Set<string>();
  /** The newest version known of names under which nothing lives: nothing older comes to life there. */
  readonly #gone = new Map<string, string>();
  readonly #compare: (a: string, b: string) => number;
  readonly #rules: ViewRules;
  readonly #changed: (name: string) => void;

  constructor(compare: (a: string, b: string) => number, rules: ViewRules, changed: (name: string) => void) {
    this.#compare = compare;
    this.#rules = rules;
    this.#changed = changed;
  }

  get size(): number {
    return this.#states.size;
  }

  get(name: string): ObjectState | undefined {
    return this.#states.get(name);
  }

  /** All states. A name may be dropped while iterating. */
  states(): Iterable<ObjectState> {
    return this.#states.values();
  }

  /** Takes a state from a list, a watch or a read; or, `isOwn`, the answer to a patch of the newest state. */
  observe(object: SourceObject, isOwn = false): void {
    if (this.#dead.has(object.uid)) return;
    const { name, resourceVersion } = object;
    const before = this.#states.get(name)?.newest;
    const known = before?.resourceVersion ?? this.#gone.get(name);
    if (known !== undefined && this.#compare(resourceVersion, known) <= 0) return;
    this.#gone.delete(name);
    const state = this.#stateOf(name);
    if (before !== undefined && before.uid !== object.uid) this.#bury(state, before.uid);
    state.replace(new Snapshot(object, this.#rules), isOwn);
    this.#changed(name);
  }

  /** Takes a deletion from a watch. */
  observeDeletion({ name, uid, resourceVersion }: SourceDeletion): void {
    const newest = this.#states.get(name)?.newest;
    if (uid !== undefined) this.vanish(name, uid);
    else if (newest !== undefined && this.#compare(newest.resourceVersion, resourceVersion) < 0) {
      this.vanish(name, newest.uid);
    }
    if (this.#states.get(name)?.newest === undefined) this.#rememberGone(name, resourceVersion);
  }

  /** This uid is dead. */
  vanish(name: string, uid: string): void {
    const state = this.#states.get(name);
    if (state === undefined) {
      this.#remember(uid);
      return;
    }
    this.#bury(state, uid);
    if (state.newest?.uid === uid) {
      this.#rememberGone(name, state.newest.resourceVersion);
      state.replace(undefined);
    }
    this.#changed(name);
  }

  /** Takes a list: what it has by the rule above, what it lacks as gone. */
  observeList(list: SourceList): void {
    const listed = new Set(list.items.map(({ name }) => name));
    for (const object of list.items) this.observe(object);
    for (const { name, newest } of [...this.#states.values()]) {
      if (newest === undefined || listed.has(name)) continue;
      if (this.#compare(newest.resourceVersion, list.resourceVersion) <= 0) this.vanish(name, newest.uid);
    }
  }

  /** The data behind the source was replaced: nothing known is about it. */
  vanishAll(): void {
    for (const { name, newest } of [...this.#states.values()]) if (newest !== undefined) this.vanish(name, newest.uid);
    this.#gone.clear();
  }

  /** Drops a name under which nothing lives. */
  forget(name: string): void {
    if (this.#states.get(name)?.newest === undefined) this.#states.delete(name);
  }

  #stateOf(name: string): ObjectState {
    let state = this.#states.get(name);
    if (state === undefined) {
      state = new ObjectState(name);
      this.#states.set(name, state);
    }
    return state;
  }

  #bury(state: ObjectState, uid: string): void {
    this.#remember(uid);
    state.discard(uid);
  }

  #rememberGone(name: string, version: string): void {
    const known = this.#gone.get(name);
    if (known !== undefined && this.#compare(version, known) <= 0) return;
    const oldest = this.#gone.keys().next();
    if (known === undefined && this.#gone.size >= DEAD_MAX && oldest.done !== true) this.#gone.delete(oldest.value);
    this.#gone.set(name, version);
  }

  #remember(uid: string): void {
    const oldest = this.#dead.values().next();
    if (this.#dead.size >= DEAD_MAX && oldest.done !== true) this.#dead.delete(oldest.value);
    this.#dead.add(uid);
  }
}
