import { TransportError } from './errors.ts';

const NEWLINE = 0x0a;

/**
 * Cuts bytes into lines, whatever the pieces in which they come: a character may be split between two of them, a line may be in many.
 *
 * ```text
 *   {"type":"ADDED","obj   ect":{}}\n{"type":"MOD   IFIED", ...}\n{"ty   (end)
 *                                                                ^ held back; at the end it is told by `rest`, and never parsed (IN13)
 * ```
 *
 * Holds one line at most, and not more than `lineBytesMax` of it.
 */
export class JsonLines {
  readonly #action: string;
  readonly #lineBytesMax: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(action: string, lineBytesMax: number) {
    this.#action = action;
    this.#lineBytesMax = lineBytesMax;
  }

  /** Bytes of a line that has not come to its end. */
  get rest(): number {
    return this.#size;
  }

  /**
   * Takes bytes in and calls `take` with each line that they end; empty ones are skipped. Lines before one that is wrong have been taken.
   *
   * @throws TransportError `too-large` for a line above the bound, `malformed` for one that is no JSON
   */
  add(bytes: Uint8Array, take: (value: unknown) => void): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#keep(bytes.subarray(start, end));
      start = end + 1;
      const line = this.#takeLine();
      if (line.length > 0) take(this.#parse(line));
    }
    this.#keep(bytes.subarray(start));
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#lineBytesMax) {
      throw new TransportError(this.#action, 'too-large', `a line is larger than ${this.#lineBytesMax} bytes`);
    }
    this.#parts.push(part);
  }

  #takeLine(): Uint8Array {
    const line = joined(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    return line;
  }

  #parse(line: Uint8Array): unknown {
    try {
      return JSON.parse(this.#decoder.decode(line));
    } catch (cause) {
      throw new TransportError(this.#action, 'malformed', `a line of ${line.length} bytes is not JSON`, cause);
    }
  }
}

/** One array of all parts; the only part itself, without a copy. */
export function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
