import type { FilterOptions } from './filter-options.ts';

/** Options of `controller.on('index', ...)`. */
export interface IndexOptions<T = unknown> extends FilterOptions<T> {
  /** By which `controller.index` and `ctx.index` find it. No `/`. */
  readonly id: string;
  /**
   * Entries of all objects together, a whole number from 1 on. An object whose entries do not fit is left out with all of
   * them, logged, and counted (`omitted`), and taken in when there is room, the first that was left out first; so is a new one while
   * others wait. One that is in, and whose next state fits, stays in. @default 1000000
   */
  readonly entriesMax?: number;
}

/** Keys are told apart as those of a `Map`: `1` is not `'1'`. */
export type IndexKey = string | number;

/** Nothing, an object of keys and values, or pairs of them; a key may come more than once. Values are plain JSON data. */
export type IndexEntries =
  | Readonly<Record<string, unknown>>
  | Iterable<readonly [key: IndexKey, value: unknown]>
  | null
  | undefined;

/** What an index function may want to know beside the content. */
export interface IndexFacts {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Says under which keys an object is found, and with which values, which are copied and frozen. Pure, and not async. Where it
 * throws, or returns what it may not, the object is not in the index, and the fault is told as that of a filter.
 */
export type IndexFunction<T = unknown> = (object: T, facts: IndexFacts) => IndexEntries;

/** A live view of an index: what it answers is of the moment. */
export interface ObjectIndex<V = unknown> {
  /** The values of all objects under a key, frozen, in no order that is promised; empty if there are none. */
  get(key: IndexKey): readonly V[];
  has(key: IndexKey): boolean;
  /** The keys of this moment. */
  keys(): readonly IndexKey[];
  /** Number of keys. */
  readonly size: number;
  /** Objects left out since their entries did not fit: while there are any, the index is not complete. */
  readonly omitted: number;
}

/** Who gives access to the indexes of a controller. */
export interface IndexAccess {
  /**
   * The index that `on('index', { id })` has registered. It has every object of the first list before anything is called,
   * and is in step with the newest accepted state of each from then on. `V` is what its function gives as values, which
   * nobody checks.
   *
   * @throws TypeError for an id that no index has
   */
  index<V = unknown>(id: string): ObjectIndex<V>;
}
