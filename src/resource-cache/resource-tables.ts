import type { DeletedReason } from '../kubernetes/informer-delta.ts';
import type { Bucket } from './bucket.ts';
import type { Entry, Version } from './entry.ts';
import type { InferParents } from './inferred-parents.ts';
import { KindTable } from './kind-table.ts';
import { type Links, linkedKind, linksOf, sameTexts } from './links.ts';
import { Pins } from './pins.ts';
import { Postings } from './postings.ts';
import { makeResource, type Populate, type Populated, type Resource } from './resource.ts';
import { type GroupKind, groupKindText } from './resource-key.ts';
import { Slots } from './slots.ts';

const NO_VALUES: readonly never[] = Object.freeze([]);

/** Values of a resource, under each of which it is found; called once for each commit that makes a state. */
export type IndexFunction<T, I> = (resource: Resource<T, I>) => readonly string[];

export interface TablesOptions<T, I> {
  readonly indexes: readonly (readonly [name: string, values: IndexFunction<T, I>])[];
  readonly populate: Populate<T, I> | undefined;
  readonly inferParents: InferParents<T>;
  readonly retainedMax: number;
  /** A hook has thrown. */
  readonly report: (what: 'populate' | 'inferParents' | `index ${string}`, error: unknown, entry: Entry<T, I>) => void;
}

/** What is made of a state. */
type Facts<T, I> = Pick<Version<T, I>, 'resource' | 'parents' | 'offers' | 'values'>;

/** One change that is visible. */
export interface Commit<T, I> {
  readonly seq: number;
  readonly entry: Entry<T, I>;
  readonly old: Resource<T, I> | undefined;
  readonly new: Resource<T, I> | undefined;
  readonly final: T | undefined;
  readonly reason: DeletedReason | undefined;
}

/**
 * All objects and every index over them. Each commit changes all of them together (RC13), and nobody can look between.
 *
 * ```text
 *   kinds        apps/Deployment -> entries by shop/web, buckets by shop
 *   namespaces   shop            -> its buckets, of all kinds
 *   byUid        u-17            -> entry, rarely several (RH3)
 *   byParent     u-17, @.., #..  -> entries of children (links.ts)
 *   indexes      value           -> entries, for each user index
 * ```
 *
 * While something is pinned, `byUid`, `byParent`, `indexes` and buckets have more than the current state: also what a pinned
 * one needs. Who reads them checks each entry at the commit that it reads.
 */
export class ResourceTables<T, I> {
  readonly kinds: Map<string, KindTable<T, I>> = new Map();
  readonly namespaces: Map<string, Set<Bucket<T, I>>> = new Map();
  readonly byUid: Postings<Entry<T, I>> = new Postings();
  readonly byParent: Postings<Entry<T, I>> = new Postings();
  readonly indexes: ReadonlyMap<string, Postings<Entry<T, I>>>;
  readonly pins: Pins<Version<T, I>>;
  readonly slots: Slots = new Slots();
  readonly #options: TablesOptions<T, I>;
  readonly #postings: readonly Postings<Entry<T, I>>[];
  /** States that name a parent of this kind by its name, by `group/kind`: others need not be asked for. */
  readonly #namedKinds = new Map<string, number>();
  #seq = 0;
  #size = 0;

  constructor(options: TablesOptions<T, I>) {
    this.#options = options;
    this.#postings = options.indexes.map(() => new Postings<Entry<T, I>>());
    this.indexes = new Map(
      options.indexes.map(([name], place) => [name, this.#postings[place] as Postings<Entry<T, I>>]),
    );
    this.pins = new Pins({ retainedMax: options.retainedMax, release: (version) => this.#release(version) });
  }

  /** Of the newest commit; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  get size(): number {
    return this.#size;
  }

  kind(groupKind: GroupKind): KindTable<T, I> {
    const text = groupKindText(groupKind);
    let table = this.kinds.get(text);
    if (table === undefined) {
      table = new KindTable<T, I>(groupKind, this.slots);
      this.kinds.set(text, table);
    }
    return table;
  }

  entry(table: KindTable<T, I>, local: string, where: { namespace: string; name: string }): Entry<T, I> {
    return table.entry(local, where, (bucket) => {
      const buckets = this.namespaces.get(bucket.namespace);
      if (buckets === undefined) this.namespaces.set(bucket.namespace, new Set([bucket]));
      else buckets.add(bucket);
    });
  }

  /** Forgets an entry if nothing is left of it, and with the last one its bucket, its namespace, and a kind that nobody feeds. */
  tidy(entry: Entry<T, I>): void {
    if (!entry.isEmpty) return;
    entry.bucket.forget(entry);
    const kind = this.kinds.get(entry.bucket.kind);
    const bucket = kind?.forget(entry);
    if (kind !== undefined) this.tidyKind(kind);
    if (bucket === undefined) return;
    const buckets = this.namespaces.get(bucket.namespace);
    buckets?.delete(bucket);
    if (buckets?.size === 0) this.namespaces.delete(bucket.namespace);
  }

  tidyKind(kind: KindTable<T, I>): void {
    if (!kind.isFed && kind.entries.size === 0) this.kinds.delete(kind.text);
  }

  hasNamedChildren(kind: string): boolean {
    return this.#namedKinds.has(kind);
  }

  namedKinds(): ReadonlyMap<string, number> {
    return this.#namedKinds;
  }

  /** Makes `object` the state of its key, whose current one, if any, is of the same life. */
  put(entry: Entry<T, I>, object: T): Commit<T, I> {
    const seq = ++this.#seq;
    const { current } = entry;
    const old = current?.resource;
    const resource = makeResource<T, I>(object, { key: entry.key, seq, populated: this.#populate(object, entry) });
    const { parents, offers } = this.#links(resource, object, entry);
    const facts = { resource, parents, offers, values: this.#values(resource, entry) };
    entry.bucket.set(entry, resource);
    if (current !== undefined && !this.pins.holds(current.resource.seq)) this.#change(current, facts);
    else this.#add(entry, facts, seq);
    return { seq, entry, old, new: resource, final: undefined, reason: undefined };
  }

  /** Nobody can read the state before: it is changed where it is, and of what has not changed nothing is made. */
  #change(version: Version<T, I>, { resource, parents, offers, values }: Facts<T, I>): void {
    const { entry, parents: oldParents, values: oldValues } = version;
    version.resource = resource;
    version.offers = offers;
    if (!sameTexts(parents, oldParents)) {
      version.parents = parents;
      for (const parent of parents) this.#link(parent, entry);
      for (const parent of oldParents) this.#countNamed(parent, -1);
      for (const parent of oldParents) if (!isParent(entry, parent)) this.byParent.delete(parent, entry);
    }
    for (let place = 0; place < values.length; place++) {
      const texts = values[place] as readonly string[];
      const oldTexts = oldValues[place] as readonly string[];
      if (sameTexts(texts, oldTexts)) continue;
      version.values = values;
      for (const text of texts) this.#postings[place]?.add(text, entry);
      for (const text of oldTexts) if (!hasValue(entry, place, text)) this.#postings[place]?.delete(text, entry);
    }
  }

  /** Beside one that somebody may still read, or as the first. */
  #add(entry: Entry<T, I>, { resource, parents, offers, values }: Facts<T, I>, seq: number): void {
    const before = entry.current;
    entry.current = { entry, resource, parents, offers, values, until: 0, older: undefined, newer: undefined };
    this.byUid.add(resource.uid, entry);
    for (const parent of parents) this.#link(parent, entry);
    for (let place = 0; place < values.length; place++) {
      for (const text of values[place] as readonly string[]) this.#postings[place]?.add(text, entry);
    }
    if (before === undefined) this.#size++;
    else this.#replaced(before, seq);
  }

  /** Ends the life that is there. */
  remove(entry: Entry<T, I>, end: { final: T | undefined; reason: DeletedReason }): Commit<T, I> {
    const before = entry.current as Version<T, I>;
    const seq = ++this.#seq;
    entry.current = undefined;
    this.#size--;
    entry.bucket.remove(entry, this.pins.holds(before.resource.seq) || entry.older !== undefined);
    this.#replaced(before, seq);
    return { seq, entry, old: before.resource, new: undefined, ...end };
  }

  #populate(object: T, entry: Entry<T, I>): Populated<I> | undefined {
    try {
      return this.#options.populate?.(object, entry.key);
    } catch (error) {
      this.#options.report('populate', error, entry);
      return undefined;
    }
  }

  #links(resource: Resource<T, I>, object: T, entry: Entry<T, I>): Links {
    const before = entry.current;
    try {
      return linksOf(resource, { inferred: this.#options.inferParents(object, entry.key), before });
    } catch (error) {
      this.#options.report('inferParents', error, entry);
      return linksOf(resource, { inferred: undefined, before });
    }
  }

  #values(resource: Resource<T, I>, entry: Entry<T, I>): readonly (readonly string[])[] {
    const { indexes } = this.#options;
    const before = entry.current?.values;
    let all: (readonly string[])[] | undefined;
    for (let place = 0; place < indexes.length; place++) {
      const texts = this.#valuesAt(place, resource, entry);
      // Mostly nothing has changed, and then nothing is made.
      if (all === undefined && before !== undefined && texts === before[place]) continue;
      all ??= before?.slice(0, place) ?? [];
      all.push(texts);
    }
    return all ?? before ?? NO_VALUES;
  }

  /** Those of the state before, if they are the same. */
  #valuesAt(place: number, resource: Resource<T, I>, entry: Entry<T, I>): readonly string[] {
    const [name, valuesOf] = this.#options.indexes[place] as TablesOptions<T, I>['indexes'][number];
    const before = entry.current?.values[place];
    try {
      const texts = valuesOf(resource);
      return before !== undefined && Array.isArray(texts) && sameTexts(texts, before) ? before : [...texts];
    } catch (error) {
      this.#options.report(`index ${name}`, error, entry);
      return [];
    }
  }

  /** Keeps a state that has ended for who may still read it, or takes it out of the indexes. */
  #replaced(version: Version<T, I>, until: number): void {
    version.until = until;
    if (!this.pins.holds(version.resource.seq)) {
      this.#unindex(version);
      return;
    }
    const { entry } = version;
    version.older = entry.older;
    if (version.older !== undefined) version.older.newer = version;
    entry.older = version;
    this.pins.retain(version);
  }

  /** Nobody reads it any more. It is the oldest of its entry: states end in the order in which they are let go. */
  #release(version: Version<T, I>): void {
    const { entry, newer } = version;
    if (newer === undefined) entry.older = undefined;
    else newer.older = undefined;
    this.#unindex(version);
    this.tidy(entry);
  }

  /** Takes away what no other state of the entry has. */
  #unindex({ entry, resource, parents, values }: Version<T, I>): void {
    if (!isState(entry, (one) => one.resource.uid === resource.uid)) this.byUid.delete(resource.uid, entry);
    for (const parent of parents) {
      this.#countNamed(parent, -1);
      if (!isParent(entry, parent)) this.byParent.delete(parent, entry);
    }
    for (let place = 0; place < values.length; place++) {
      for (const text of values[place] as readonly string[]) {
        if (!hasValue(entry, place, text)) this.#postings[place]?.delete(text, entry);
      }
    }
  }

  #link(parent: string, entry: Entry<T, I>): void {
    this.#countNamed(parent, 1);
    this.byParent.add(parent, entry);
  }

  #countNamed(parent: string, by: 1 | -1): void {
    const kind = linkedKind(parent);
    if (kind === undefined) return;
    const count = (this.#namedKinds.get(kind) ?? 0) + by;
    if (count === 0) this.#namedKinds.delete(kind);
    else this.#namedKinds.set(kind, count);
  }
}

function isParent<T, I>(entry: Entry<T, I>, parent: string): boolean {
  return isState(entry, ({ parents }) => parents.includes(parent));
}

function hasValue<T, I>(entry: Entry<T, I>, place: number, text: string): boolean {
  return isState(entry, ({ values }) => values[place]?.includes(text) === true);
}

/** Whether it is true of the current state, or of one that somebody may read. */
function isState<T, I>(entry: Entry<T, I>, is: (version: Version<T, I>) => boolean): boolean {
  if (entry.current !== undefined && is(entry.current)) return true;
  for (let version = entry.older; version !== undefined; version = version.older) if (is(version)) return true;
  return false;
}
