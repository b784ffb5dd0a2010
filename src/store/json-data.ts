import { DEPTH_MAX } from '../core/canonical-text.ts';
import { jsonPointer } from '../core/json-pointer.ts';
import { ValueError } from '../types/errors.ts';

/** Where a part lies, from the part up to the root. Made only for containers, and read only for an error. */
interface Place {
  readonly up: Place | undefined;
  readonly name: string | number;
}

/** One pass over a value. */
interface Walk {
  readonly action: string;
  /** Upper bound of the JSON text seen so far. */
  bytesMost: number;
}

/** Longest number in JSON text: -1.2345678901234568e-300. */
const NUMBER_BYTES_MAX = 24;
/** A control character, as \u0000; nothing else takes more for a unit. */
const UNIT_BYTES_MAX = 6;

/**
 * A deep-frozen private copy of plain JSON data, as JSON text has it: of an object its own enumerable members with
 * string names (one that is `undefined` is absent), of an array its elements. What else hangs on them, symbols,
 * non-enumerable members, names on an array, is no data and not kept. A getter is read once; -0 becomes 0.
 *
 * Throws `ValueError` for every value that JSON text does not have or would change: NaN, `undefined` as an element, a
 * Date or a Map, an instance of a class or of a subclass of Array, half of a surrogate pair, and what is deeper than
 * DEPTH_MAX containers.
 */
export function frozenCopy(value: unknown, action: string): unknown {
  return copyPart(value, { action, bytesMost: 0 }, undefined, 0);
}

/** The same, and how many bytes the JSON text of it has at most: the walk is there anyhow, and most values are small. */
export function measuredCopy(value: unknown, action: string): { readonly copy: unknown; readonly bytesMost: number } {
  const walk: Walk = { action, bytesMost: 0 };
  const copy = copyPart(value, walk, undefined, 0);
  return { copy, bytesMost: walk.bytesMost };
}

/** Throws `ValueError` as {@link frozenCopy} does, and copies nothing. */
export function checkJsonData(value: unknown, action: string): void {
  checkPart(value, action, undefined, 0);
}

/** Freezes plain data in place; `false` (and nothing promised) if part of it is something a freeze cannot protect. */
export function freezePlain(value: unknown, depth = 0): boolean {
  // Members hang on a function, too.
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  if (depth >= DEPTH_MAX || !isPlain(value)) return false;
  for (const member of Object.values(value)) if (!freezePlain(member, depth + 1)) return false;
  Object.freeze(value);
  return true;
}

function copyPart(value: unknown, walk: Walk, place: Place | undefined, depth: number): unknown {
  const { action } = walk;
  if (!isContainer(value, action, place, depth)) {
    // With the comma behind it.
    walk.bytesMost += (typeof value === 'string' ? value.length * UNIT_BYTES_MAX + 2 : NUMBER_BYTES_MAX) + 1;
    // -0 is 0 in JSON text.
    return value === 0 ? 0 : value;
  }
  // Brackets and the comma.
  walk.bytesMost += 3;
  if (Array.isArray(value)) {
    const elements: unknown[] = [];
    for (let index = 0; index < value.length; index++) {
      elements.push(copyPart(value[index], walk, { up: place, name: index }, depth + 1));
    }
    return Object.freeze(elements);
  }
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    checkName(name, action, place);
    // Quotes and the colon.
    walk.bytesMost += name.length * UNIT_BYTES_MAX + 3;
    const part = copyPart(member, walk, { up: place, name }, depth + 1);
    // An assignment to this name would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name] = part;
  }
  return Object.freeze(copy);
}

function checkPart(value: unknown, action: string, place: Place | undefined, depth: number): void {
  if (!isContainer(value, action, place, depth)) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      checkPart(value[index], action, { up: place, name: index }, depth + 1);
    }
    return;
  }
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    checkName(name, action, place);
    checkPart(member, action, { up: place, name }, depth + 1);
  }
}

/** Judges one part by itself: `true` for an object or array to look into, `false` for a primitive that is data. */
function isContainer(value: unknown, action: string, place: Place | undefined, depth: number): value is object {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw misfit(action, place, 'has a lone surrogate');
      return false;
    case 'boolean':
      return false;
    case 'number':
      if (!Number.isFinite(value)) throw misfit(action, place, 'is not a finite number');
      return false;
    case 'object':
      break;
    default:
      throw misfit(action, place, `is not JSON data but ${typeof value}`);
  }
  if (value === null) return false;
  if (depth >= DEPTH_MAX) throw misfit(action, place, `is nested deeper than ${DEPTH_MAX} levels`);
  if (!isPlain(value)) {
    throw misfit(action, place, `is not a plain ${Array.isArray(value) ? 'array' : 'object'}`);
  }
  return true;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype;
  return prototype === null || prototype === Object.prototype;
}

function checkName(name: string, action: string, place: Place | undefined): void {
  if (!name.isWellFormed()) throw misfit(action, place, 'has a member name with a lone surrogate');
}

function misfit(action: string, place: Place | undefined, reason: string): ValueError {
  return new ValueError(action, { path: pointer(place), reason });
}

function pointer(place: Place | undefined): string {
  const path: (string | number)[] = [];
  for (let part = place; part !== undefined; part = part.up) path.push(part.name);
  return jsonPointer(path.reverse());
}
