import type { Entry, Version } from './entry.ts';
import { nameLink } from './links.ts';
import { checkPin, type Pin } from './pins.ts';
import type { Resource } from './resource.ts';
import { groupKindText, localKey, type ResourceKey, resourceKeyText } from './resource-key.ts';
import type { ResourceTables } from './resource-tables.ts';

/** Where a visited resource is. */
export interface HierarchyPlace<T, I> {
  /** By which it was found; `undefined` for a key that the walk began with. */
  readonly parent: Resource<T, I> | undefined;
  /** 0 for a key that the walk began with. */
  readonly depth: number;
}

/** `false` stops below this resource, and nowhere else (RH1). */
export type VisitResource<T, I> = (resource: Resource<T, I>, place: HierarchyPlace<T, I>) => unknown;

/** An owner that is owned by what it owns; the walk does not follow it (RH4). */
export interface OwnerCycle {
  readonly parent: ResourceKey;
  readonly child: ResourceKey;
}

export interface HierarchyResult {
  /** The commit whose state was walked. */
  readonly seq: number;
  readonly visited: number;
  /** The first hundred of them, and how many there were. */
  readonly cycles: readonly OwnerCycle[];
  readonly cycleCount: number;
}

/** Told of; more would say nothing new. */
const CYCLES_MAX = 100;

/** What a walk knows of an entry. */
const OPEN = 1;
const DONE = 2;

/** One resource whose children are being visited. */
interface Frame<T, I> {
  readonly entry: Entry<T, I>;
  readonly version: Version<T, I>;
  readonly depth: number;
  readonly children: Iterator<Entry<T, I>>;
}

/**
 * A walk from owners to what they own, at one commit, in steps: a resource before its children, each once over all beginnings.
 *
 * ```text
 *   marks, a byte for each slot    0: not met     OPEN: its children are being visited     DONE
 * ```
 *
 * A child that is being visited is an owner of its own owner: a cycle. Nothing that is read is written to (RH7): what the walk
 * knows is its own. What it can meet keeps its slot while the pin holds; what has come since, and has a slot above the marks or one that
 * was free, has no state at this commit and is not entered.
 */
export class HierarchyWalk<T, I> {
  readonly #tables: ResourceTables<T, I>;
  readonly #pin: Pin;
  readonly #visit: VisitResource<T, I>;
  readonly #starts: Iterator<ResourceKey>;
  readonly #marks: Uint8Array;
  readonly #frames: Frame<T, I>[] = [];
  readonly #cycles: OwnerCycle[] = [];
  #cycleCount = 0;
  #visited = 0;

  constructor(
    tables: ResourceTables<T, I>,
    { pin, keys, visit }: { pin: Pin; keys: readonly ResourceKey[]; visit: VisitResource<T, I> },
  ) {
    this.#tables = tables;
    this.#pin = pin;
    this.#marks = new Uint8Array(tables.slots.capacity);
    this.#visit = visit;
    this.#starts = keys[Symbol.iterator]();
  }

  get result(): HierarchyResult {
    const { seq } = this.#pin;
    return { seq, visited: this.#visited, cycles: this.#cycles, cycleCount: this.#cycleCount };
  }

  /** Takes so many steps; `false` when the walk is over. Throws PinBrokenError if the state was given up. */
  steps(count: number): boolean {
    checkPin(this.#pin);
    for (let step = 0; step < count; step++) {
      const frame = this.#frames[this.#frames.length - 1];
      if (frame !== undefined) this.#next(frame);
      else if (!this.#begin()) return false;
    }
    return true;
  }

  /** The next key to begin with; one that is not there is passed over (RH1). */
  #begin(): boolean {
    const { value: key, done } = this.#starts.next();
    if (done === true) return false;
    const entry = this.#tables.kinds.get(groupKindText(key))?.entries.get(localKey(key.namespace, key.name));
    const version = entry?.at(this.#pin.seq);
    if (entry === undefined || version === undefined || this.#marks[entry.slot] !== 0) return true;
    this.#enter(entry, version, undefined);
    return true;
  }

  #next(frame: Frame<T, I>): void {
    const { value: child, done } = frame.children.next();
    if (done === true) {
      this.#frames.pop();
      this.#marks[frame.entry.slot] = DONE;
      return;
    }
    const mark = this.#marks[child.slot];
    if (mark === DONE) return;
    const version = this.#childOf(frame, child);
    if (version === undefined) return;
    if (mark === OPEN) this.#tellCycle(frame.entry, child);
    else this.#enter(child, version, frame);
  }

  /** The state of what is found under one of the parent's texts, if it is a child at this commit, and the one to take (RH2, RH3, RH6). */
  #childOf(parent: Frame<T, I>, child: Entry<T, I>): Version<T, I> | undefined {
    const { seq } = this.#pin;
    const { namespace } = parent.entry.key;
    if (namespace !== '' && child.key.namespace !== namespace) return undefined;
    const version = child.at(seq);
    if (version === undefined) return undefined;
    const isOnlyNow = child.older === undefined;
    if (!isOnlyNow && !this.#isChild(parent, version)) return undefined;
    return this.#hasBetterTwin(parent, child, version) ? undefined : version;
  }

  #isChild({ entry, version }: Frame<T, I>, child: Version<T, I>): boolean {
    const { parents } = child;
    if (parents.length === 0) return false;
    if (parents.includes(version.resource.uid) || version.offers.some((mark) => parents.includes(mark))) return true;
    return this.#tables.hasNamedChildren(entry.bucket.kind) && parents.includes(nameLink(entry.key));
  }

  /** The same object under another group, whose key comes first: that one is visited (RH3). */
  #hasBetterTwin(parent: Frame<T, I>, child: Entry<T, I>, { resource }: Version<T, I>): boolean {
    if (!this.#tables.byUid.hasShared) return false;
    const twins = this.#tables.byUid.get(resource.uid);
    if (twins === undefined || twins === child) return false;
    const own = resourceKeyText(child.key);
    for (const twin of this.#tables.byUid.under(resource.uid)) {
      const version = twin === child ? undefined : twin.at(this.#pin.seq);
      if (version?.resource.uid !== resource.uid || twin.key.namespace !== child.key.namespace) continue;
      if (this.#isChild(parent, version) && resourceKeyText(twin.key) < own) return true;
    }
    return false;
  }

  #enter(entry: Entry<T, I>, version: Version<T, I>, parent: Frame<T, I> | undefined): void {
    const depth = parent === undefined ? 0 : parent.depth + 1;
    this.#marks[entry.slot] = OPEN;
    this.#visited++;
    const goesOn = this.#visit(version.resource, { parent: parent?.version.resource, depth });
    const children = goesOn === false ? undefined : this.#childrenOf(entry, version);
    if (children === undefined) this.#marks[entry.slot] = DONE;
    else this.#frames.push({ entry, version, depth, children });
  }

  /** Everything that may be a child; `undefined` for nothing, as of most resources. */
  #childrenOf(entry: Entry<T, I>, { resource, offers }: Version<T, I>): Iterator<Entry<T, I>> | undefined {
    const { byParent } = this.#tables;
    const isNamed = this.#tables.hasNamedChildren(entry.bucket.kind);
    if (offers.length > 0 || isNamed) {
      return this.#under([resource.uid, ...(isNamed ? [nameLink(entry.key)] : []), ...offers]);
    }
    const found = byParent.get(resource.uid);
    if (found === undefined) return undefined;
    return found instanceof Set ? found.values() : [found as Entry<T, I>][Symbol.iterator]();
  }

  *#under(texts: readonly string[]): Generator<Entry<T, I>, void, undefined> {
    for (const text of texts) yield* this.#tables.byParent.under(text);
  }

  #tellCycle(parent: Entry<T, I>, child: Entry<T, I>): void {
    this.#cycleCount++;
    if (this.#cycles.length < CYCLES_MAX) this.#cycles.push({ parent: parent.key, child: child.key });
  }
}
