import { TableMap } from './table-map.ts';
import type { Changes, VersionedMap } from './versioned-map.ts';

/** Up to so many entries are copied for each change, and looked through for each look-up. */
const SHORT_MAX = 8;

/**
 * A versioned map of few entries: each version has all of them, and the keys for as long as they are the same.
 *
 * ```text
 *   keys    [ a, b ] <--------+
 *   values  [ 1, 2 ]          |   set b: 9      values  [ 1, 9 ]
 * ```
 *
 * Above `SHORT_MAX` entries it becomes a `TableMap`, and stays one. A `TableMap` costs less for a change, but its versions
 * know newer ones: where an old one has outlived a few collections of garbage and is dead since, all that came after it, once
 * alive or not, is kept until memory is collected as a whole. Most objects have few records, and are written often.
 */
export class ShortMap<V> implements VersionedMap<V> {
  readonly #keys: readonly string[];
  /** Beside the keys. */
  readonly #values: readonly V[];

  constructor(keys: readonly string[], values: readonly V[]) {
    this.#keys = keys;
    this.#values = values;
  }

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): V | undefined {
    const place = this.#keys.indexOf(key);
    return place < 0 ? undefined : this.#values[place];
  }

  entries(): readonly (readonly [string, V])[] {
    return this.#values.map((value, place) => [this.#keys[place] as string, value]);
  }

  with(changes: Changes<V>): VersionedMap<V> {
    let next: VersionedMap<V> = this;
    for (const [key, value] of changes) next = next.set(key, value);
    return next;
  }

  set(key: string, value: V | undefined): VersionedMap<V> {
    const place = this.#keys.indexOf(key);
    if (value === undefined) return place < 0 ? this : this.#without(place);
    if (place >= 0) {
      const values = this.#values.slice();
      values[place] = value;
      return new ShortMap(this.#keys, values);
    }
    if (this.size < SHORT_MAX) return new ShortMap(appended(this.#keys, key), appended(this.#values, value));
    const table = new Map<string, V>();
    for (const [known, other] of this.#keys.entries()) table.set(other, this.#values[known] as V);
    return new TableMap(table.set(key, value));
  }

  #without(place: number): ShortMap<V> {
    return new ShortMap(without(this.#keys, place), without(this.#values, place));
  }
}

/** A copy that has room for what is in it and no more, as none has that grows by itself. */
function appended<T>(list: readonly T[], last: T): readonly T[] {
  const copy = new Array<T>(list.length + 1);
  for (let place = 0; place < list.length; place++) copy[place] = list[place] as T;
  copy[list.length] = last;
  return copy;
}

/** The last one takes the place that is free. */
function without<T>(list: readonly T[], place: number): readonly T[] {
  const copy = list.slice(0, -1);
  if (place < copy.length) copy[place] = list[copy.length] as T;
  return copy;
}

/** The first version. The table is taken over: nobody else may change it. */
export function versionedMap<V>(table: Map<string, V> = new Map()): VersionedMap<V> {
  return table.size > SHORT_MAX ? new TableMap(table) : new ShortMap([...table.keys()], [...table.values()]);
}
