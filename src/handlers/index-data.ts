import type { IndexKey, ObjectIndex } from './index-options.ts';

/** Entries of one object: keys, some of them perhaps more than once, with values. */
export type Entries = readonly (readonly [key: IndexKey, value: unknown])[];

/**
 * The entries of one index, by key and by the name of the object that they are from.
 *
 * ```text
 *   byKey    key --> name --> values          get(key): the values of all names
 *   byName   name --> its entries             so that those of one object can be taken out
 * ```
 */
export class IndexData implements ObjectIndex {
  readonly #byKey = new Map<IndexKey, Map<string, unknown[]>>();
  readonly #byName = new Map<string, Entries>();
  #entries = 0;
  omitted = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /** Entries of all objects. */
  get entries(): number {
    return this.#entries;
  }

  get(key: IndexKey): readonly unknown[] {
    return Object.freeze([...(this.#byKey.get(key)?.values() ?? [])].flat(1));
  }

  has(key: IndexKey): boolean {
    return this.#byKey.has(key);
  }

  keys(): readonly IndexKey[] {
    return Object.freeze([...this.#byKey.keys()]);
  }

  /** Whether the name had any entries. */
  remove(name: string): boolean {
    const entries = this.#byName.get(name) ?? [];
    const wasIn = this.#byName.delete(name);
    this.#entries -= entries.length;
    for (const [key] of entries) {
      const names = this.#byKey.get(key);
      names?.delete(name);
      if (names?.size === 0) this.#byKey.delete(key);
    }
    return wasIn;
  }

  /** Adds the entries of a name that has none. */
  add(name: string, entries: Entries): void {
    if (entries.length === 0) return;
    this.#byName.set(name, entries);
    this.#entries += entries.length;
    for (const [key, value] of entries) {
      const names = this.#byKey.get(key) ?? new Map<string, unknown[]>();
      this.#byKey.set(key, names);
      const values = names.get(name) ?? [];
      names.set(name, values);
      values.push(value);
    }
  }
}
