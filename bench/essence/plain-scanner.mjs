// @ts-check
// The core's scan in plain JavaScript on typed arrays, to see what WebAssembly itself gives: one pass over the bytes
// copies canonical text, leaves out what does not count, sorts members where they are not in order, and hashes the
// result. It is kept short where that costs no time on the documents of this suite: it does not check UTF-8, keeps repeated
// members, compares keys by their bytes, knows no `plimsoll-managed` annotations, and hands rare escapes and all but plain
// integers to JSON.

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Digits that a double holds exactly, with a sign. */
const PLAIN_DIGITS_MAX = 15;

/** @typedef {'top' | 'metadata' | 'annotations' | 'pruned' | undefined} Place */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class PlainScanner {
  /** @type {Uint8Array} */
  #input = new Uint8Array(0);
  #at = 0;
  #out = new Uint8Array(4096);
  #length = 0;
  #isKept;

  /** @param {(place: 'top' | 'metadata' | 'annotations', name: string) => boolean} isKept */
  constructor(isKept) {
    this.#isKept = isKept;
  }

  /** Canonical text as bytes; a view that ends with the next call. @param {Uint8Array} input */
  scan(input) {
    this.#input = input;
    this.#at = 0;
    this.#length = 0;
    // No part grows by more than half, save strings with escapes, which ask for room themselves.
    this.#room(2 * input.length + 64);
    this.#space();
    this.#value('top');
    this.#space();
    if (this.#at !== input.length) throw new SyntaxError(`Cannot scan the text: byte ${this.#at} is not its end`);
    return this.#out.subarray(0, this.#length);
  }

  /** @param {Place} place */
  #value(place) {
    const byte = this.#input[this.#at];
    if (byte === OPEN) this.#object(place);
    else if (byte === OPEN_LIST) this.#list(place);
    else if (byte === QUOTE) this.#string();
    else this.#scalar();
  }

  /** @param {Place} place */
  #list(place) {
    this.#at++;
    this.#out[this.#length++] = OPEN_LIST;
    this.#space();
    if (this.#input[this.#at] === CLOSE_LIST) {
      this.#at++;
    } else {
      const inner = place === undefined || place === 'top' ? undefined : 'pruned';
      for (let isFirst = true; isFirst || this.#next(COMMA, CLOSE_LIST); isFirst = false) {
        if (!isFirst) this.#out[this.#length++] = COMMA;
        this.#space();
        this.#value(inner);
      }
    }
    this.#out[this.#length++] = CLOSE_LIST;
  }

  /** @param {Place} place */
  #object(place) {
    this.#at++;
    this.#out[this.#length++] = OPEN;
    this.#space();
    if (this.#input[this.#at] === CLOSE) {
      this.#at++;
      this.#out[this.#length++] = CLOSE;
      return;
    }
    /** Starts of members, in the output; each ends with its comma. @type {number[]} */
    const members = [];
    let isSorted = true;
    for (let isFirst = true; isFirst || this.#next(COMMA, CLOSE); isFirst = false) {
      this.#space();
      const from = this.#length;
      if (!this.#member(place)) {
        this.#length = from;
        continue;
      }
      const before = members[members.length - 1];
      if (isSorted && before !== undefined) isSorted = this.#compareKeys(before, from) < 0;
      members.push(from);
      this.#out[this.#length++] = COMMA;
    }
    if (!isSorted) this.#sort(members);
    // In the place of the last comma, if there is one.
    if (members.length > 0) this.#length--;
    this.#out[this.#length++] = CLOSE;
  }

  /** Writes a member; `false` when it does not count. @param {Place} place */
  #member(place) {
    const key = this.#length;
    this.#string();
    const value = this.#length + 1;
    this.#out[this.#length++] = COLON;
    this.#space();
    if (this.#input[this.#at++] !== COLON)
      throw new SyntaxError(`Cannot scan the text: no ":" at byte ${this.#at - 1}`);
    this.#space();
    if (place === undefined) {
      this.#value(undefined);
      return true;
    }
    const name = place === 'pruned' ? '' : decoder.decode(this.#out.subarray(key + 1, value - 2));
    if (place === 'top') {
      const isMetadata = name === 'metadata' && this.#input[this.#at] === OPEN;
      this.#value(isMetadata ? 'metadata' : undefined);
      return this.#isKept(place, name) && !(isMetadata && this.#length - value === 2);
    }
    const isAnnotations = place === 'metadata' && name === 'annotations' && this.#input[this.#at] === OPEN;
    this.#value(isAnnotations ? 'annotations' : 'pruned');
    const isContainer = this.#out[value] === OPEN || this.#out[value] === OPEN_LIST;
    if (isContainer && this.#length - value === 2) return false;
    return place === 'pruned' || this.#isKept(place, name);
  }

  #string() {
    const from = this.#at;
    const input = this.#input;
    const out = this.#out;
    let at = from + 1;
    let length = this.#length;
    out[length++] = QUOTE;
    for (;;) {
      const byte = input[at++];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        const escaped = input[at++];
        if (escaped === 0x75 || escaped === 0x2f) {
          this.#escaped(from);
          return;
        }
        // The other escapes are canonical as they are.
        out[length++] = byte;
        out[length++] = escaped ?? 0;
        continue;
      }
      if (byte === undefined || byte < 0x20) throw new SyntaxError(`Cannot scan the text: the string at byte ${from}`);
      out[length++] = byte;
    }
    out[length++] = QUOTE;
    this.#at = at;
    this.#length = length;
  }

  /** A string with `\u` or `\/`, the slow way. @param {number} from */
  #escaped(from) {
    let end = from + 1;
    while (end < this.#input.length && this.#input[end] !== QUOTE) end += this.#input[end] === BACKSLASH ? 2 : 1;
    this.#copy(JSON.stringify(JSON.parse(decoder.decode(this.#input.subarray(from, end + 1)))));
    this.#at = end + 1;
  }

  /** A number or a literal. */
  #scalar() {
    const from = this.#at;
    let isPlain = true;
    for (;;) {
      const byte = this.#input[this.#at];
      if (byte === undefined || byte === COMMA || byte === CLOSE || byte === CLOSE_LIST || byte <= 0x20) break;
      if (byte < 0x30 || byte > 0x39) isPlain = false;
      this.#at++;
    }
    const length = this.#at - from;
    if (isPlain && length > 0 && length <= PLAIN_DIGITS_MAX && (length === 1 || this.#input[from] !== 0x30)) {
      for (let at = from; at < this.#at; at++) this.#out[this.#length++] = this.#input[at] ?? 0;
      return;
    }
    this.#copy(JSON.stringify(JSON.parse(decoder.decode(this.#input.subarray(from, this.#at)))));
  }

  /** @param {string} text */
  #copy(text) {
    this.#room(this.#length + text.length * 3 + this.#input.length - this.#at);
    this.#length += encoder.encodeInto(text, this.#out.subarray(this.#length)).written;
  }

  /**
   * Puts members in the order of their keys; each ends where the one written after it starts.
   *
   * @param {number[]} members
   */
  #sort(members) {
    const from = members[0] ?? 0;
    const parts = members.map((start, place) => ({ start, end: members[place + 1] ?? this.#length }));
    parts.sort((left, right) => this.#compareKeys(left.start, right.start));
    const copy = this.#out.slice(from, this.#length);
    let to = from;
    for (const { start, end } of parts) {
      this.#out.set(copy.subarray(start - from, end - from), to);
      to += end - start;
    }
  }

  /**
   * @param {number} left start of a member
   * @param {number} right
   */
  #compareKeys(left, right) {
    const out = this.#out;
    for (let offset = 1; ; offset++) {
      const one = out[left + offset] ?? 0;
      const two = out[right + offset] ?? 0;
      if (one === BACKSLASH || two === BACKSLASH) return this.#compareNames(left, right);
      if (one !== two) return one === QUOTE ? -1 : two === QUOTE ? 1 : one - two;
      if (one === QUOTE) return 0;
    }
  }

  /**
   * The same for keys with escapes, as in managedFields.
   *
   * @param {number} left
   * @param {number} right
   */
  #compareNames(left, right) {
    const one = this.#name(left);
    const two = this.#name(right);
    return one < two ? -1 : one > two ? 1 : 0;
  }

  /** @param {number} start of a member @returns {string} */
  #name(start) {
    let end = start + 1;
    while (this.#out[end] !== QUOTE) end += this.#out[end] === BACKSLASH ? 2 : 1;
    return JSON.parse(decoder.decode(this.#out.subarray(start, end + 1)));
  }

  /**
   * Steps over the separator, or over the end, and says which it was.
   *
   * @param {number} separator
   * @param {number} end
   */
  #next(separator, end) {
    this.#space();
    const byte = this.#input[this.#at++];
    if (byte === separator) return true;
    if (byte === end) return false;
    throw new SyntaxError(`Cannot scan the text: byte ${this.#at - 1} is neither a separator nor the end`);
  }

  #space() {
    for (;;) {
      const byte = this.#input[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }

  /** @param {number} bytes */
  #room(bytes) {
    if (bytes <= this.#out.length) return;
    const larger = new Uint8Array(2 * bytes);
    larger.set(this.#out.subarray(0, this.#length));
    this.#out = larger;
  }
}

/**
 * 128 bits in the manner of MurmurHash3 for 32-bit machines: multiplication of 32 bits is the only kind plain JavaScript
 * has. XXH3 needs 64, and would be several times slower here. Not a published hash, and without vectors.
 *
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function hash128(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const blocks = bytes.length & ~15;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < blocks; at += 16) {
    a = Math.imul(turn(a ^ scramble(view.getInt32(at, true)), 19) + b, 5) + 0x561ccd1b;
    b = Math.imul(turn(b ^ scramble(view.getInt32(at + 4, true)), 17) + c, 5) + 0x0bcaa747;
    c = Math.imul(turn(c ^ scramble(view.getInt32(at + 8, true)), 15) + d, 5) + 0x96cd1c35;
    d = Math.imul(turn(d ^ scramble(view.getInt32(at + 12, true)), 13) + a, 5) + 0x32ac3b17;
  }
  for (let at = blocks; at < bytes.length; at++) a = turn(a ^ scramble(bytes[at] ?? 0), 19) + b;
  a = finish(a ^ bytes.length ^ d);
  b = finish(b ^ a);
  c = finish(c ^ b);
  d = finish(d ^ c);
  return hex(a) + hex(b) + hex(c) + hex(d);
}

/**
 * @param {number} word
 * @param {number} bits
 */
function turn(word, bits) {
  return (word << bits) | (word >>> (32 - bits));
}

/** @param {number} word */
function scramble(word) {
  return Math.imul(turn(Math.imul(word, 0x239b961b), 15), 0xab0e9789);
}

/** @param {number} word */
function hex(word) {
  return (word >>> 0).toString(16).padStart(8, '0');
}

/** @param {number} word */
function finish(word) {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
