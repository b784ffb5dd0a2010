import type { Changes, VersionedMap } from './versioned-map.ts';

/**
 * A versioned map of any number of entries: another version costs what differs, not all.
 *
 * ```text
 *   first            --[ b: 2 ]------>  second       --[ c: absent ]-->  third
 *   { a: 1, b: 2 }                      { a: 1, b: 9 }                   table a: 1, b: 9, c: 3
 * ```
 *
 * One version has the table, the newest unless an older one was read. Each of the others knows how it differs from its
 * neighbour on the way there. To read one of them, the table is handed along that way and the arrows turn around: as
 * many steps as there are changes in between, once. So whoever goes back and forth between distant versions pays for
 * it, and whoever works on the newest pays a look-up.
 *
 * No version knows of older ones until one of those is read: those that nobody holds are free to go.
 */
export class TableMap<V> implements VersionedMap<V> {
  /** All entries; only one of the versions has them. */
  #table: Map<string, V> | undefined;
  /** The neighbour that is nearer to the table, and how this version differs from it. */
  #from: TableMap<V> | undefined;
  #changes: Change<V> | undefined;

  /** The table is taken over: nobody else may change it. */
  constructor(table: Map<string, V>) {
    this.#table = table;
  }

  get size(): number {
    return this.#entries().size;
  }

  get(key: string): V | undefined {
    return this.#entries().get(key);
  }

  /** All entries, copied, in no order that is promised. */
  entries(): readonly (readonly [string, V])[] {
    return [...this.#entries()];
  }

  with(changes: Changes<V>): TableMap<V> {
    if (changes.length === 0) return this;
    const table = this.#entries();
    let undo: Change<V> | undefined;
    for (const [key, value] of changes) undo = { key, value: exchange(table, key, value), next: undo };
    return this.#follow(new TableMap(table), undo);
  }

  /** `with` a single change. */
  set(key: string, value: V | undefined): TableMap<V> {
    const table = this.#entries();
    const undo = { key, value: exchange(table, key, value), next: undefined };
    return this.#follow(new TableMap(table), undo);
  }

  #entries(): Map<string, V> {
    return this.#table ?? this.#fetch();
  }

  /** Turns the arrows around on the way to the table. */
  #fetch(): Map<string, V> {
    const way: TableMap<V>[] = [];
    let owner: TableMap<V> = this;
    for (let from = owner.#from; from !== undefined; from = owner.#from) {
      way.push(owner);
      owner = from;
    }
    const table = owner.#table ?? new Map<string, V>();
    for (const version of way.reverse()) {
      let undo: Change<V> | undefined;
      for (let change = version.#changes; change !== undefined; change = change.next) {
        undo = { key: change.key, value: exchange(table, change.key, change.value), next: undo };
      }
      owner.#follow(version, undo);
      version.#table = table;
      version.#from = undefined;
      version.#changes = undefined;
      owner = version;
    }
    return table;
  }

  #follow(from: TableMap<V>, changes: Change<V> | undefined): TableMap<V> {
    this.#table = undefined;
    this.#from = from;
    this.#changes = changes;
    return from;
  }
}

/** How a version differs from another, key by key: of the many versions that are made, nearly all differ in one. */
interface Change<V> {
  readonly key: string;
  readonly value: V | undefined;
  readonly next: Change<V> | undefined;
}

/** Changes a table in place and returns what was there before. */
function exchange<V>(table: Map<string, V>, key: string, value: V | undefined): V | undefined {
  const before = table.get(key);
  if (value === undefined) table.delete(key);
  else table.set(key, value);
  return before;
}
