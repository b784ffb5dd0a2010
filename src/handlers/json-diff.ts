import { escapeSegment } from '../core/json-pointer.ts';
import { checkJsonData } from '../store/json-data.ts';
import type { JsonPatch, JsonPatchOperation } from '../types/patch.ts';
import { shown } from '../types/shown.ts';
import { alignArrays } from './array-alignment.ts';
import { checkNames } from './checks.ts';
import { JsonIdentity } from './json-identity.ts';
import { checkParts } from './parts.ts';

/** Options of `diffJson`. */
export interface DiffJsonOptions {
  /**
   * `any`: members that stay keep their order, new ones come behind them. `exact`: members come in the order that `after`
   * has, at the price of removing and adding those that stand elsewhere. Names that are array indexes come first in any
   * JavaScript object. @default 'any'
   */
  readonly keyOrder?: 'any' | 'exact';
}

/**
 * The operations (RFC 6902) that make `after` of `before`: `add`, `remove` and `replace`, in the order in which they
 * apply, and none where the two are equal. Arrays are compared element by element; the patch is valid and short, not
 * always the shortest, and takes time in proportion to the size of the two, near enough. Values in it are those of `after`, not copies.
 *
 * @example
 * ```ts
 * import { applyPatch, diffJson } from 'plimsoll';
 *
 * const patch = diffJson({ ports: [80, 443], tls: false }, { ports: [80, 8080, 443], tls: true });
 * console.log(patch); // add /ports/1 8080, replace /tls true
 * console.log(applyPatch({ ports: [80, 443], tls: false }, patch));
 * ```
 *
 * @throws ValueError for what is no plain JSON data, `undefined` included; members that are `undefined` are absent.
 * @throws LimitExceededError for more than 4,194,304 members and elements in one of the two.
 * @throws TypeError for an unknown option.
 */
export function diffJson(before: unknown, after: unknown, options: DiffJsonOptions = {}): JsonPatch {
  const action = 'compare JSON data';
  checkNames(action, options, ['keyOrder'] satisfies readonly (keyof DiffJsonOptions)[]);
  const { keyOrder = 'any' } = options;
  if (keyOrder !== 'any' && keyOrder !== 'exact') {
    throw new TypeError(`Cannot ${action}: keyOrder is ${shown(keyOrder)}, allowed are any and exact`);
  }
  for (const value of [before, after]) {
    checkParts(action, value);
    checkJsonData(value, action);
  }
  const diff = new JsonDiff(keyOrder === 'exact');
  diff.compare(before, after, '');
  return diff.operations;
}

type Members = Readonly<Record<string, unknown>>;

class JsonDiff {
  readonly operations: JsonPatchOperation[] = [];
  readonly #identity: JsonIdentity;
  readonly #isExact: boolean;

  constructor(isExact: boolean) {
    this.#isExact = isExact;
    this.#identity = new JsonIdentity(isExact);
  }

  compare(before: unknown, after: unknown, path: string): void {
    if (this.#identity.of(before) === this.#identity.of(after)) return;
    if (Array.isArray(before) && Array.isArray(after)) this.#compareArrays(before, after, path);
    else if (isMembers(before) && isMembers(after)) this.#compareMembers(before, after, path);
    else this.operations.push({ op: 'replace', path, value: after });
  }

  #compareMembers(before: Members, after: Members, path: string): void {
    const names = namesOf(after);
    const stays = new Set(this.#isExact ? leadingNames(namesOf(before), names) : names);
    for (const name of namesOf(before)) {
      if (!stays.has(name)) this.operations.push({ op: 'remove', path: `${path}/${escapeSegment(name)}` });
    }
    for (const name of names) {
      const place = `${path}/${escapeSegment(name)}`;
      if (stays.has(name) && has(before, name)) this.compare(before[name], after[name], place);
      else this.operations.push({ op: 'add', path: place, value: after[name] });
    }
  }

  /** From left to right, so that each path is that of the array as it is by then. */
  #compareArrays(before: readonly unknown[], after: readonly unknown[], path: string): void {
    const numbers = (values: readonly unknown[]): number[] => values.map((value) => this.#identity.of(value));
    let [a, b] = [0, 0];
    for (const run of [
      ...alignArrays(numbers(before), numbers(after)),
      { a: before.length, b: after.length, length: 0 },
    ]) {
      // What lies between equal elements: those that face each other have changed, the rest has come or gone.
      for (; a < run.a && b < run.b; a++, b++) this.compare(before[a], after[b], `${path}/${b}`);
      for (; a < run.a; a++) this.operations.push({ op: 'remove', path: `${path}/${b}` });
      for (; b < run.b; b++) this.operations.push({ op: 'add', path: `${path}/${b}`, value: after[b] });
      a = run.a + run.length;
      b = run.b + run.length;
    }
  }
}

/** The names that can stay where they are, all others being added behind them: the first of `after`, in this order in `before`. */
function leadingNames(before: readonly string[], after: readonly string[]): readonly string[] {
  const places = new Map(before.map((name, place) => [name, place]));
  const leading: string[] = [];
  let last = -1;
  let isLeading = true;
  for (const name of after) {
    const place = places.get(name);
    if (isIndex(name)) {
      // Has its own order, whenever it is added.
      leading.push(name);
    } else if (isLeading && place !== undefined && place > last) {
      leading.push(name);
      last = place;
    } else {
      isLeading = false;
    }
  }
  return leading;
}

/** The names that come first in every object, by number. */
function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(name) && Number(name) < 2 ** 32 - 1;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function namesOf(value: Members): readonly string[] {
  return Object.keys(value).filter((name) => value[name] !== undefined);
}

function has(value: Members, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}
