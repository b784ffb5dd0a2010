import { DEPTH_MAX, PARTS_MAX } from './canonical-text.ts';
import type { RuleNode } from './essence-rules.ts';

/** Where a writer writes: a region of the core's memory, at most `TEXT_BYTES_MAX` large. */
export interface TextRegion {
  /** The region as it is now. */
  bytes(): Uint8Array;
  /** The region with room for `length` bytes, the first `kept` of them as they were; `undefined` when there is none. */
  grow(length: number, kept: number): Uint8Array | undefined;
  /** How many bytes more the text at `offset` needs as a JSON string without its quotes; writes it as one. */
  escapes(offset: number, length: number): number;
  escape(offset: number, length: number, extra: number): void;
}

/** What no writer answers as a length. */
export const NOT_WRITTEN = -1;

/** A value of so much text, or of more than `PARTS_MAX` parts, is left to `canonical-json.ts`, which has the bounds. */
const TEXT_BYTES_MAX = 2 ** 28;
/** From this length on a string is encoded and escaped as a whole: below, the calls for it cost more. */
const LONG_CHARS_MIN = 64;

/** `REPLACED` of `assembly/json-escape.ts`, and what `writeEscapes` there needs. */
const REPLACED = 2 ** 30;
const ESCAPE_SLACK = 32;

/**
 * Writes a parsed value as JSON text straight into the core's memory, which then reads it as it reads any text: so the
 * order of members, the rules and the canonical form exist once. Building a string first takes twice as long.
 *
 * ```text
 *   value --> {"b":"x","a":[1]} in the input region --> scan
 * ```
 *
 * Parts that a pointer excludes are left out here already. What this file does not know to be right (a class instance,
 * a value that is no JSON, a text that is too large) it does not write at all: `NOT_WRITTEN`, and `canonical-json.ts`
 * decides, and has the words for what is wrong.
 */
export class EssenceWriter {
  readonly #region: TextRegion;
  readonly #encoder = new TextEncoder();
  #bytes: Uint8Array = new Uint8Array();
  #parts = 0;

  constructor(region: TextRegion) {
    this.#region = region;
  }

  /** The length of the text, or `NOT_WRITTEN`. Calls the value's getters, and whatever they call. */
  write(value: unknown, rules: RuleNode | undefined): number {
    if (isPolluted()) return NOT_WRITTEN;
    this.#bytes = this.#region.bytes();
    this.#parts = 0;
    return this.#value(value, 0, rules, DEPTH_MAX);
  }

  /** Writes at `at` and returns the place behind it. */
  #value(value: unknown, at: number, node: RuleNode | undefined, levels: number): number {
    switch (typeof value) {
      case 'string':
        return this.#string(value, at);
      case 'number':
        return this.#number(value, at);
      case 'boolean':
        return this.#ascii(value ? 'true' : 'false', at);
      case 'object':
        if (value === null) return this.#ascii('null', at);
        if (levels === 0) return NOT_WRITTEN;
        return Array.isArray(value)
          ? this.#array(value, at, node, levels - 1)
          : this.#object(value, at, node, levels - 1);
      default:
        return NOT_WRITTEN;
    }
  }

  #array(value: readonly unknown[], start: number, node: RuleNode | undefined, levels: number): number {
    this.#parts += value.length;
    let at = start;
    let before = OPEN_BRACKET;
    for (let index = 0; index < value.length; index++) {
      if (!this.#hasRoom(at, 2)) return NOT_WRITTEN;
      this.#bytes[at++] = before;
      before = COMMA;
      const child = node === undefined ? undefined : (node.indexes.get(index) ?? node.any);
      // An excluded element leaves its place to something: the rules know the others by their index.
      at = child?.excluded ? this.#number(0, at) : this.#value(value[index], at, child, levels);
      if (at < 0) return NOT_WRITTEN;
    }
    return this.#close(at, before, OPEN_BRACKET, CLOSE_BRACKET);
  }

  #object(value: object, start: number, node: RuleNode | undefined, levels: number): number {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return NOT_WRITTEN;
    const record = value as Readonly<Record<string, unknown>>;
    let at = start;
    let before = OPEN_BRACE;
    // All of them are its own: see `isPolluted`. `Object.keys` would cost a list, and a search for each member.
    for (const name in record) {
      const child = node?.names.get(name);
      const isExcluded = child?.excluded === true;
      // An annotation may be excluded and still mark others, if it has a value.
      if (isExcluded && node?.role !== 'annotations') continue;
      const member = record[name];
      if (member === undefined) continue;
      if (!this.#hasRoom(at, 2)) return NOT_WRITTEN;
      this.#bytes[at++] = before;
      before = COMMA;
      this.#parts++;
      at = this.#string(name, at);
      if (at < 0) return NOT_WRITTEN;
      this.#bytes[at++] = COLON;
      // Most members are strings: these need no second call.
      if (typeof member === 'string') at = this.#string(member, at);
      else at = isExcluded ? this.#number(0, at) : this.#value(member, at, child, levels);
      if (at < 0) return NOT_WRITTEN;
    }
    return this.#close(at, before, OPEN_BRACE, CLOSE_BRACE);
  }

  /** Closes a container behind its last part, or writes an empty one: `before` then is still its bracket. */
  #close(start: number, before: number, open: number, close: number): number {
    let at = start;
    if (this.#parts > PARTS_MAX || !this.#hasRoom(at, 2)) return NOT_WRITTEN;
    if (before === open) this.#bytes[at++] = open;
    this.#bytes[at++] = close;
    return at;
  }

  #number(value: number, at: number): number {
    // ECMAScript's own text is the canonical one, and that of -0 is "0".
    return Number.isFinite(value) ? this.#ascii(String(value), at) : NOT_WRITTEN;
  }

  #ascii(text: string, start: number): number {
    if (!this.#hasRoom(start, text.length)) return NOT_WRITTEN;
    const bytes = this.#bytes;
    for (let index = 0; index < text.length; index++) bytes[start + index] = text.charCodeAt(index);
    return start + text.length;
  }

  /** A string with its quotes, and room for one byte more. */
  #string(text: string, start: number): number {
    const { length } = text;
    if (length >= LONG_CHARS_MIN || !this.#hasRoom(start, length + 3)) return this.#anyString(text, start);
    const bytes = this.#bytes;
    const at = start + 1;
    bytes[start] = QUOTE;
    let special = 0;
    let index = 0;
    // Four at a time: the loop costs as much as the work in it.
    for (; index + 4 <= length; index += 4) {
      const first = text.charCodeAt(index);
      const second = text.charCodeAt(index + 1);
      const third = text.charCodeAt(index + 2);
      const fourth = text.charCodeAt(index + 3);
      special |= specialAt(first) | specialAt(second) | specialAt(third) | specialAt(fourth);
      bytes[at + index] = first;
      bytes[at + index + 1] = second;
      bytes[at + index + 2] = third;
      bytes[at + index + 3] = fourth;
    }
    for (; index < length; index++) {
      const unit = text.charCodeAt(index);
      special |= specialAt(unit);
      bytes[at + index] = unit;
    }
    if (special !== 0) return this.#anyString(text, start);
    bytes[at + length] = QUOTE;
    return at + length + 1;
  }

  #anyString(text: string, start: number): number {
    const room = text.length * 3;
    if (!this.#hasRoom(start, room + 3)) return NOT_WRITTEN;
    const { written } = this.#encoder.encodeInto(text, this.#bytes.subarray(start + 1, start + 1 + room));
    const counted = this.#region.escapes(start + 1, written);
    // The encoder makes another character of half of a pair. The core sees that it may have; most often it has not.
    if (counted >= REPLACED && !text.isWellFormed()) return NOT_WRITTEN;
    const extra = counted % REPLACED;
    if (extra > 0) {
      if (!this.#hasRoom(start + 1 + written, extra + ESCAPE_SLACK)) return NOT_WRITTEN;
      this.#region.escape(start + 1, written, extra);
    }
    const end = start + 1 + written + extra;
    this.#bytes[start] = QUOTE;
    this.#bytes[end] = QUOTE;
    return end + 1;
  }

  #hasRoom(at: number, bytes: number): boolean {
    if (at + bytes <= this.#bytes.length) return true;
    const grown = at + bytes > TEXT_BYTES_MAX ? undefined : this.#region.grow(at + bytes, at);
    if (grown === undefined) return false;
    this.#bytes = grown;
    return true;
  }
}

/** By UTF-16 unit: whether it is more or less than one byte that stands for itself. */
const IS_SPECIAL: Uint8Array = new Uint8Array(0x1_0000).fill(1);
IS_SPECIAL.fill(0, 0x20, 0x7f);
IS_SPECIAL[0x22] = 1;
IS_SPECIAL[0x5c] = 1;

function specialAt(unit: number): number {
  return IS_SPECIAL[unit] as number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Whether plain objects have members that are not their own, because somebody has given some to all of them. */
function isPolluted(): boolean {
  for (const _name in Object.prototype) return true;
  return false;
}
