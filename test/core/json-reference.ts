/**
 * Where a text stops being JSON that has a canonical form: a plain scanner, one byte after the other, without tables,
 * SIMD or output. `JSON.parse` says whether a text is valid, but not at which byte it is not; this says both.
 *
 * A fault is a span, because both ends are a fair answer: the first byte of the token that cannot be one, and the first
 * byte with which the text can no longer be continued.
 *
 * ```text
 *   [12, trux]      from 5 (the literal) to 8 (its "x")
 * ```
 */
export interface Fault {
  readonly from: number;
  readonly to: number;
  /** Valid by RFC 8259, but without a canonical form: too deep, too large a number, half of a surrogate pair. */
  readonly grammatical: boolean;
}

/** What is wrong with the text, `undefined` when it is valid. */
export function faultOf(bytes: Uint8Array, depthMax: number): Fault | undefined {
  const scanner = new Scanner(bytes, depthMax);
  try {
    scanner.text();
    return undefined;
  } catch (error) {
    if (error instanceof Stop) return error.fault;
    throw error;
  }
}

class Stop extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super('the text is not JSON');
    this.fault = fault;
  }
}

const code = (character: string): number => character.charCodeAt(0);
const [QUOTE, BACKSLASH, MINUS, DOT, COMMA, COLON] = ['"', '\\', '-', '.', ',', ':'].map(code);
const LITERALS = ['true', 'false', 'null'];

class Scanner {
  readonly #bytes: Uint8Array;
  readonly #depthMax: number;
  #at = 0;

  constructor(bytes: Uint8Array, depthMax: number) {
    this.#bytes = bytes;
    this.#depthMax = depthMax;
  }

  text(): void {
    if (this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf) this.#stop(0, 2);
    this.#space();
    this.#value(0);
    this.#space();
    if (this.#at < this.#bytes.length) this.#stop(this.#at, this.#at);
  }

  #value(depth: number): void {
    const first = this.#byte();
    const character = String.fromCharCode(first);
    if (character === '{' || character === '[') {
      if (depth === this.#depthMax) this.#stop(this.#at, this.#at, true);
      this.#at++;
      this.#container(depth, character === '{');
    } else if (first === QUOTE) this.#string();
    else if (first === MINUS || isDigit(first)) this.#number();
    else this.#literal(LITERALS.find((literal) => literal.startsWith(character)));
  }

  #container(depth: number, isObject: boolean): void {
    const close = code(isObject ? '}' : ']');
    this.#space();
    if (this.#byte() === close) {
      this.#at++;
      return;
    }
    for (;;) {
      if (isObject) {
        if (this.#byte() !== QUOTE) this.#stop(this.#at, this.#at);
        this.#string();
        this.#space();
        if (this.#byte() !== COLON) this.#stop(this.#at, this.#at);
        this.#at++;
        this.#space();
      }
      this.#value(depth + 1);
      this.#space();
      const next = this.#byte();
      if (next !== COMMA && next !== close) this.#stop(this.#at, this.#at);
      this.#at++;
      if (next === close) return;
      this.#space();
    }
  }

  #literal(word: string | undefined): void {
    const from = this.#at;
    if (word === undefined) this.#stop(from, from);
    for (const character of word) {
      if (this.#byte() !== code(character)) this.#stop(from, this.#at);
      this.#at++;
    }
  }

  #number(): void {
    const from = this.#at;
    if (this.#byte() === MINUS) this.#at++;
    if (this.#byte() === code('0')) this.#at++;
    else this.#digits(from);
    if (isDigit(this.#byte()) && this.#bytes[this.#at - 1] === code('0') && this.#isLone(from)) {
      this.#stop(from, this.#at);
    }
    if (this.#byte() === DOT) {
      this.#at++;
      this.#digits(from);
    }
    if ((this.#byte() | 0x20) === code('e')) {
      this.#at++;
      if (this.#byte() === code('+') || this.#byte() === MINUS) this.#at++;
      this.#digits(from);
    }
    const text = String.fromCharCode(...this.#bytes.subarray(from, Math.min(this.#at, from + 5000)));
    if (this.#at - from <= 5000 && !Number.isFinite(Number(text))) this.#stop(from, this.#at, true);
  }

  /** Whether only a zero, perhaps behind a minus, was read. */
  #isLone(from: number): boolean {
    return this.#at - from === (this.#bytes[from] === MINUS ? 2 : 1);
  }

  #digits(from: number): void {
    if (!isDigit(this.#byte())) this.#stop(from, this.#at);
    while (isDigit(this.#byte())) this.#at++;
  }

  #string(): void {
    const from = this.#at++;
    for (;;) {
      const byte = this.#byte();
      if (byte < 0x20) this.#stop(from, this.#at);
      if (byte >= 0x80) this.#character(from);
      else if (byte === BACKSLASH) this.#escape(from);
      else this.#at++;
      if (byte === QUOTE) return;
    }
  }

  #escape(from: number): void {
    this.#at++;
    const letter = this.#byte();
    if (letter !== code('u')) {
      if (letter < 0 || !'"\\/bfnrt'.includes(String.fromCharCode(letter))) this.#stop(from, this.#at);
      this.#at++;
      return;
    }
    this.#at++;
    const unit = this.#hex(from);
    if (unit < 0xd800 || unit > 0xdfff) return;
    const behind = this.#at;
    if (unit > 0xdbff) this.#stop(from, behind, true);
    // What follows has to be the other half. Whether a text without it has a fault besides is for what comes later.
    if (this.#bytes[behind] !== BACKSLASH || this.#bytes[behind + 1] !== code('u')) this.#stop(from, behind + 1, true);
    this.#at += 2;
    const second = this.#hex(from);
    if (second < 0xdc00 || second > 0xdfff) this.#stop(from, this.#at, true);
  }

  #hex(from: number): number {
    let value = 0;
    for (let digit = 0; digit < 4; digit++) {
      const byte = this.#byte();
      const place = byte < 0 ? -1 : '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase());
      if (place < 0) this.#stop(from, this.#at);
      value = value * 16 + place;
      this.#at++;
    }
    return value;
  }

  /** One character outside ASCII, by the table of well-formed sequences of the Unicode standard. */
  #character(from: number): void {
    const lead = this.#byte();
    const row = SEQUENCES.find(([first, last]) => lead >= first && lead <= last);
    if (row === undefined) this.#stop(from, this.#at);
    this.#at++;
    for (const [lowest, highest] of row[2]) {
      const byte = this.#byte();
      if (byte < lowest || byte > highest) this.#stop(from, this.#at);
      this.#at++;
    }
  }

  #space(): void {
    while ([0x20, 0x09, 0x0a, 0x0d].includes(this.#byte())) this.#at++;
  }

  /** The next byte, -1 at the end. */
  #byte(): number {
    return this.#bytes[this.#at] ?? -1;
  }

  #stop(from: number, to: number, grammatical = false): never {
    throw new Stop({ from, to: Math.min(to, this.#bytes.length), grammatical });
  }
}

type Bounds = readonly (readonly [lowest: number, highest: number])[];
const TAIL = [0x80, 0xbf] as const;

/** First byte from, to, and the bounds of those behind it. */
const SEQUENCES: readonly (readonly [number, number, Bounds])[] = [
  [0xc2, 0xdf, [TAIL]],
  [0xe0, 0xe0, [[0xa0, 0xbf], TAIL]],
  [0xe1, 0xec, [TAIL, TAIL]],
  [0xed, 0xed, [[0x80, 0x9f], TAIL]],
  [0xee, 0xef, [TAIL, TAIL]],
  [0xf0, 0xf0, [[0x90, 0xbf], TAIL, TAIL]],
  [0xf1, 0xf3, [TAIL, TAIL, TAIL]],
  [0xf4, 0xf4, [[0x80, 0x8f], TAIL, TAIL]],
];

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
