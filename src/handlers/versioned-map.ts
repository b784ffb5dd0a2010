/** Keys, each once, with the value they get; `undefined` takes a key out. */
export type Changes<V> = readonly (readonly [key: string, value: V | undefined])[];

/** Where a version has its entries: in a table of its own, or as what differs from a neighbour. */
type Place<V> = { readonly table: Map<string, V> } | { readonly changes: Changes<V>; readonly from: VersionedMap<V> };

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
  #place: Place<V>;

  /** The table is taken over: nobody else may change it. */
  constructor(table: Map<string, V>) {
    this.#place = { table };
  }

  get size(): number {
    return this.#table().size;
  }

  get(key: string): V | undefined {
    return this.#table().get(key);
  }

  /** All entries, copied, in no order that is promised. */
  entries(): readonly (readonly [string, V])[] {
    return [...this.#table()];
  }

  with(changes: Changes<V>): VersionedMap<V> {
    if (changes.length === 0) return this;
    const table = this.#table();
    const undo = applyTo(table, changes);
    const next = new VersionedMap(table);
    this.#place = { changes: undo, from: next };
    return next;
  }

  #table(): Map<string, V> {
    if ('table' in this.#place) return this.#place.table;
    const way: VersionedMap<V>[] = [];
    let owner: VersionedMap<V> = this;
    while ('from' in owner.#place) {
      way.push(owner);
      owner = owner.#place.from;
    }
    const { table } = owner.#place;
    for (const version of way.reverse()) {
      if (!('from' in version.#place)) continue;
      owner.#place = { changes: applyTo(table, version.#place.changes), from: version };
      version.#place = { table };
      owner = version;
    }
    return table;
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
