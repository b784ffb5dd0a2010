import { invariant } from '../types/invariant.ts';
import type { Bucket } from './bucket.ts';
import type { Entry, Version } from './entry.ts';
import { linkedKind } from './links.ts';
import type { Postings } from './postings.ts';
import { localKey } from './resource-key.ts';
import type { ResourceTables } from './resource-tables.ts';

/**
 * Compares every index with what it is made of (RC13). Takes as long as there are objects: for tests, and for who looks for a fault.
 * Throws InvariantError for the first one that is wrong.
 */
export function verifyTables<T, I>(tables: ResourceTables<T, I>): void {
  const versions: Version<T, I>[] = [];
  const buckets = new Map<Bucket<T, I>, Set<Entry<T, I>>>();
  const slots = new Set<number>();
  let size = 0;
  let remembered = 0;
  for (const [text, kind] of tables.kinds) {
    invariant(kind.text === text, `the kind ${kind.text} is under ${text}`);
    for (const [local, entry] of kind.entries) {
      const { key } = entry;
      const bucket = kind.buckets.get(key.namespace);
      invariant(local === entry.local && local === localKey(key.namespace, key.name), `${local} is another key`);
      invariant(!entry.isEmpty, `nothing is left of ${local}, but it is remembered`);
      invariant(bucket !== undefined && bucket === entry.bucket, `${local} is in another bucket than its namespace`);
      invariant(tables.namespaces.get(key.namespace)?.has(bucket), `the namespace ${key.namespace} lacks a bucket`);
      if (entry.current !== undefined) size++;
      remembered++;
      slots.add(entry.slot);
      versions.push(...chainOf(entry));
      buckets.set(bucket, (buckets.get(bucket) ?? new Set()).add(entry));
    }
  }
  invariant(size === tables.size, `the size is ${tables.size}, counted are ${size}`);
  invariant(slots.size === remembered, 'two entries have one slot');
  invariant(tables.slots.inUse === remembered, `${tables.slots.inUse} slots are in use, for ${remembered} entries`);
  invariant(
    [...slots].every((slot) => slot < tables.slots.capacity),
    'a slot is not below the capacity',
  );
  verifyBuckets(tables, buckets);
  const expected = (textsOf: (version: Version<T, I>) => readonly string[]) => expectedPostings(versions, textsOf);
  verifyPostings(
    'uid',
    tables.byUid,
    expected(({ resource }) => [resource.uid]),
  );
  verifyPostings(
    'parent',
    tables.byParent,
    expected(({ parents }) => parents),
  );
  let place = 0;
  for (const [name, index] of tables.indexes) {
    const at = place++;
    verifyPostings(
      `index ${name}`,
      index,
      expected(({ values }) => values[at] ?? []),
    );
  }
  const named = new Map<string, number>();
  for (const { parents } of versions) {
    for (const kind of parents.map(linkedKind)) if (kind !== undefined) named.set(kind, (named.get(kind) ?? 0) + 1);
  }
  invariant(sameCounts(named, tables.namedKinds()), 'the kinds of parents by name are miscounted');
}

/** The states of an entry, newest first. */
function chainOf<T, I>(entry: Entry<T, I>): readonly Version<T, I>[] {
  const { current, key } = entry;
  const chain = current === undefined ? [] : [current];
  let newer: Version<T, I> | undefined;
  for (let version = entry.older; version !== undefined; version = version.older) {
    const { seq } = version.resource;
    invariant(version.newer === newer, `a state of ${key.name} has another one after it`);
    invariant(seq < version.until, `a state of ${key.name} ended at ${version.until}, before it began`);
    const next = newer?.resource.seq ?? current?.resource.seq ?? Number.POSITIVE_INFINITY;
    invariant(version.until <= next, `a state of ${key.name} ended after the next one began`);
    chain.push(version);
    newer = version;
  }
  for (const version of chain) invariant(version.entry === entry, `a state of ${key.name} is of another entry`);
  return chain;
}

function verifyBuckets<T, I>(
  tables: ResourceTables<T, I>,
  found: ReadonlyMap<Bucket<T, I>, ReadonlySet<Entry<T, I>>>,
): void {
  const known = [...tables.namespaces.values()].flatMap((buckets) => [...buckets]);
  invariant(known.length === found.size, `there are ${known.length} buckets, ${found.size} have anything in them`);
  for (const bucket of known) {
    const members = found.get(bucket);
    invariant(members !== undefined, `a bucket of ${bucket.namespace} has nothing in it`);
    const { entries, states, ghosts } = bucket.contents();
    const alive = [...members].filter(({ current }) => current !== undefined);
    invariant(
      entries.length === alive.length && states.length === alive.length,
      `${bucket.namespace} has ghosts in its list`,
    );
    for (const [place, entry] of entries.entries()) {
      invariant(entry.place === place && members.has(entry), `${entry.local} is not where it should be`);
      invariant(states[place] === entry.current?.resource, `the list has an old state of ${entry.local}`);
    }
    for (const entry of members) {
      const isGhost = entry.current === undefined && entry.older !== undefined;
      invariant(!isGhost || ghosts.has(entry), `${entry.local} is missing for a snapshot`);
    }
    for (const ghost of ghosts) invariant(members.has(ghost) && ghost.place < 0, `${ghost.local} is no ghost`);
  }
}

function expectedPostings<T, I>(
  versions: readonly Version<T, I>[],
  textsOf: (version: Version<T, I>) => readonly string[],
): ReadonlyMap<string, ReadonlySet<Entry<T, I>>> {
  const expected = new Map<string, Set<Entry<T, I>>>();
  for (const version of versions) {
    for (const text of textsOf(version)) expected.set(text, (expected.get(text) ?? new Set()).add(version.entry));
  }
  return expected;
}

function verifyPostings<E extends object>(
  name: string,
  postings: Postings<E>,
  expected: ReadonlyMap<string, ReadonlySet<E>>,
): void {
  for (const text of postings.texts())
    invariant(expected.has(text), `${name}: something is under ${text}, nothing should be`);
  for (const [text, items] of expected) {
    const found = new Set(postings.under(text));
    const isSame = found.size === items.size && [...items].every((item) => found.has(item));
    invariant(isSame, `${name}: ${found.size} are under ${text}, should be ${items.size}`);
  }
}

function sameCounts(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([name, count]) => b.get(name) === count);
}
