/** Keys, each once, with the value they get; `undefined` takes a key out. */
export type Changes<V> = readonly (readonly [key: string, value: V | undefined])[];

/**
 * A map of which every version stays as it is: `with` makes another one at the cost of what differs, not of all.
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
 * No version knows of older ones: those that nobody holds are free to go.
 */
export class VersionedMap<V> {
  /** All entries; only one of the versions has them. */
  #table: Map<string, V> | undefined;
  /** The neighbour that is nearer to the table, and how this version differs from it. */
  #from: VersionedMap<V> | undefined;
  #changes: Changes<V> = [];

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

  with(changes: Changes<V>): VersionedMap<V> {
    if (changes.length === 0) return this;
    const table = this.#entries();
    const undo = applyTo(table, changes);
    const next = new VersionedMap(table);
    this.#follow(next, undo);
    return next;
  }

  #entries(): Map<string, V> {
    return this.#table ?? this.#fetch();
  }

  /** Turns the arrows around on the way to the table. */
  #fetch(): Map<string, V> {
    const way: VersionedMap<V>[] = [];
    let owner: VersionedMap<V> = this;
    for (let from = owner.#from; from !== undefined; from = owner.#from) {
      way.push(owner);
      owner = from;
    }
    const table = owner.#table ?? new Map<string, V>();
    for (const version of way.reverse()) {
      owner.#follow(version, applyTo(table, version.#changes));
      version.#table = table;
      version.#from = undefined;
      version.#changes = [];
      owner = version;
    }
    return table;
  }

  #follow(from: VersionedMap<V>, changes: Changes<V>): void {
    this.#table = undefined;
    this.#from = from;
    this.#changes = changes;
  }
}

/** Changes a table in place and returns what undoes it. */
function applyTo<V>(table: Map<string, V>, changes: Changes<V>): Changes<V> {
  return changes.map(([key, value]) => {
    const before = table.get(key);
    if (value === undefined) table.delete(key);
    else table.set(key, value);
    return [key, before];
  });
}
