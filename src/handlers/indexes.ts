import { isCount } from '../queue/keyed-queue.ts';
import { isPromise } from '../types/is-promise.ts';
import type { Logger } from '../types/logger.ts';
import { wrongNumber } from '../types/wrong-number.ts';
import { checkNames } from './checks.ts';
import { FILTER_NAMES } from './filter-options.ts';
import { type ObjectFilter, objectFilter } from './filters.ts';
import { isPlain } from './freeze.ts';
import { type Entries, IndexData } from './index-data.ts';
import type { IndexFunction, IndexKey, IndexOptions, ObjectIndex } from './index-options.ts';
import { checkParts } from './parts.ts';
import type { Snapshot } from './snapshot.ts';
import { ownData } from './view.ts';

const NAMES: readonly (keyof IndexOptions)[] = [...FILTER_NAMES, 'id', 'entriesMax'];

interface Index {
  readonly id: string;
  readonly filter: ObjectFilter | undefined;
  readonly fn: IndexFunction;
  readonly entriesMax: number;
  readonly data: IndexData;
  /** What a user gets: it cannot be changed. */
  readonly view: ObjectIndex;
  /** Left out, the first one first. */
  readonly omitted: Map<string, Omission>;
  /** Left out with more entries than there may ever be. */
  readonly tooLarge: Set<string>;
}

/** An object that waits for room. Its entries are made again when there is: kept, they would be what the bound is against. */
interface Omission {
  readonly snapshot: Snapshot;
  /** Of its entries. */
  readonly count: number;
}

/**
 * Keeps the indexes of a controller in step with the newest accepted state of every object (A24').
 *
 * A state is indexed in the same step in which it is accepted, so no call ever sees an index that is behind what the process
 * knows; and a list is taken in as one step, so no call is made before the first one is indexed.
 *
 * ```text
 *   new state: none, or without entries ----------------> forgotten
 *              of one that is in, and fits -------------> in
 *              of one that waits -----------------------> in line, where it was           in  <--- the first in line,
 *              of another, that fits, and nobody waits -> in                                       once it fits
 *              of another ------------------------------> in line, at its end
 *              more than there may ever be -------------> out, until its next state
 * ```
 */
export class Indexes {
  readonly #logger: Logger;
  readonly #indexes = new Map<string, Index>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Objects left out, of all indexes. */
  get omitted(): number {
    let omitted = 0;
    for (const { data } of this.#indexes.values()) omitted += data.omitted;
    return omitted;
  }

  add(action: string, options: IndexOptions<never>, fn: IndexFunction<never>): void {
    checkNames(action, options, NAMES);
    const { id, entriesMax = 1_000_000 } = options;
    if (!isCount(entriesMax) || entriesMax === Number.POSITIVE_INFINITY) {
      throw wrongNumber(action, 'entriesMax', entriesMax, 'a whole number from 1 on');
    }
    const filter = objectFilter(action, options);
    const data = new IndexData();
    const index = {
      id,
      filter,
      entriesMax,
      data,
      view: viewOf(data),
      omitted: new Map<string, Omission>(),
      tooLarge: new Set<string>(),
    };
    // A source yields nothing but what its type says, so this is where `T` becomes `unknown`.
    this.#indexes.set(id, { ...index, fn: fn as IndexFunction });
  }

  get<V>(id: string): ObjectIndex<V> {
    const index = this.#indexes.get(id);
    if (index === undefined) throw new TypeError(`Cannot read index "${id}": there is none`);
    // Which values an index has is known to who has written its function.
    return index.view as ObjectIndex<V>;
  }

  /** Takes the newest state of a name, `undefined` if nothing lives under it. */
  observe(name: string, newest: Snapshot | undefined): void {
    for (const index of this.#indexes.values()) {
      const { data, omitted, tooLarge } = index;
      const wasIn = data.remove(name);
      const entries = newest === undefined ? [] : askFor(index, newest);
      if (newest !== undefined && entries.length > 0) {
        this.#take(index, newest, entries, wasIn);
      } else {
        omitted.delete(name);
        tooLarge.delete(name);
      }
      takeOmitted(index);
      data.omitted = omitted.size + tooLarge.size;
    }
  }

  #take(
    { id, entriesMax, data, omitted, tooLarge }: Index,
    snapshot: Snapshot,
    entries: Entries,
    wasIn: boolean,
  ): void {
    const { name, uid, resourceVersion } = snapshot;
    const count = entries.length;
    const isWaiting = omitted.has(name);
    const wasOut = tooLarge.delete(name) || isWaiting;
    const isFree = data.entries + count <= entriesMax;
    if (isFree && !isWaiting && (wasIn || omitted.size === 0)) {
      data.add(name, entries);
      return;
    }
    if (count > entriesMax) {
      omitted.delete(name);
      tooLarge.add(name);
    } else {
      // Who waits already keeps its place.
      omitted.set(name, { snapshot, count });
    }
    if (wasOut) return;
    this.#logger.warn(`Index "${id}" is full: an object is left out`, { name, uid, resourceVersion, entriesMax });
  }
}

function takeOmitted(index: Index): void {
  const { entriesMax, data, omitted, tooLarge } = index;
  for (const [name, { snapshot, count }] of omitted) {
    if (data.entries + count > entriesMax) return;
    omitted.delete(name);
    const entries = askFor(index, snapshot);
    if (data.entries + entries.length <= entriesMax) data.add(name, entries);
    // A function that is not pure: nobody else is to wait for what it says next.
    else tooLarge.add(name);
  }
}

/** None for an object that is out of scope, or on which the function has a fault. */
function askFor(index: Index, snapshot: Snapshot): Entries {
  return (snapshot.isFor(index) ? snapshot.ask(index.id, () => entriesOf(index, snapshot)) : undefined) ?? [];
}

/** The entries of an object; one too many where there are more than there may be, so an endless iterable has an end. */
function entriesOf({ fn, entriesMax }: Index, { object, name, uid, resourceVersion }: Snapshot): Entries {
  const made = fn(object, Object.freeze({ name, uid, resourceVersion }));
  if (made === undefined || made === null) return [];
  if (typeof made !== 'object') throw new TypeError(`Cannot index an object: the function returned a ${typeof made}`);
  if (isPromise(made)) throw new TypeError('Cannot index an object: the function returned a promise');
  if (!isIterable(made) && !isPlain(made)) {
    throw new TypeError('Cannot index an object: the function returned an instance of a class');
  }
  const entries: (readonly [IndexKey, unknown])[] = [];
  for (const pair of isIterable(made) ? made : Object.entries(made)) {
    if (!Array.isArray(pair) || pair.length !== 2) throw new TypeError('Cannot index an object: an entry is no pair');
    const [key, value]: readonly unknown[] = pair;
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw new TypeError(`Cannot index an object: a key is of type ${typeof key}, not a string or number`);
    }
    checkParts('index an object', value);
    entries.push([key, ownData('index an object', value)]);
    if (entries.length > entriesMax) break;
  }
  return entries;
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function viewOf(data: IndexData): ObjectIndex {
  return Object.freeze({
    get: (key: IndexKey) => data.get(key),
    has: (key: IndexKey) => data.has(key),
    keys: () => data.keys(),
    get size() {
      return data.size;
    },
    get omitted() {
      return data.omitted;
    },
  });
}
