import { concatenate } from './concatenate.ts';
import { DataError, type Place } from './errors.ts';

/** Largest single value in bytes: what has to be held in memory before it is known where the value ends. */
export const VALUE_BYTES_MAX = 64 * 1024 * 1024;

/** The text of one JSON object, and where it begins. */
export interface JsonText extends Place {
  readonly bytes: Uint8Array;
}

export interface JsonSplitterOptions {
  /** For messages: `Cannot <action>: ...`. */
  readonly action: string;
  /** @default 67108864 */
  readonly valueBytesMax?: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into its JSON objects: one a line, pretty-printed, or one right behind the other.
 *
 * ```text
 *   chunk 1                      chunk 2
 *   {"a":1}\n{"b":{"x":"}    ... y"}}{"c":2}
 *   '-- 1 --' '----------- 2 -----------''- 3 -'      depth 0 again = the object is complete
 * ```
 *
 * It counts brackets outside of strings and nothing else, so what it yields need not be valid JSON; its first fault,
 * if any, is inside what is yielded. Refused here: what is not an object, a line break in a string (which would swallow
 * the lines behind it up to the next quote), an object without an end, and one above the bound.
 */
export class JsonSplitter {
  readonly #action: string;
  readonly #valueBytesMax: number;
  /** Earlier chunks of the object that is open. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #start: Place = { line: 1, offset: 0 };
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #line = 1;
  /** Of the first byte of the present chunk. */
  #offset = 0;

  constructor(options: JsonSplitterOptions) {
    this.#action = options.action;
    this.#valueBytesMax = options.valueBytesMax ?? VALUE_BYTES_MAX;
  }

  /** The objects that end in this chunk. The chunk may be shared with them: it must not be changed later. */
  *push(chunk: Uint8Array): Generator<JsonText, void, undefined> {
    let begin = 0;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index] as number;
      if (this.#isInString) this.#inString(byte, index);
      else if (this.#depth === 0) {
        if (this.#opens(byte, index)) begin = index;
      } else if (this.#closes(byte)) {
        const bytes = this.#collect(chunk.subarray(begin, index + 1));
        yield { bytes, line: this.#start.line, offset: this.#start.offset };
      }
    }
    if (this.#depth > 0) this.#keep(chunk.subarray(begin));
    this.#offset += chunk.length;
  }

  /** Throws `DataError` if an object is still open. */
  end(): void {
    if (this.#depth > 0) throw this.#fault('the object that begins here has no end', this.#start);
  }

  #inString(byte: number, index: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === QUOTE) this.#isInString = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    if (byte === NEWLINE) throw this.#fault('a line break inside a string', this.#placeOf(index));
  }

  /** Between objects: white space, or the first byte of the next one. */
  #opens(byte: number, index: number): boolean {
    if (byte === NEWLINE) this.#line++;
    else if (byte === 0x7b) {
      this.#depth = 1;
      this.#start = this.#placeOf(index);
      return true;
    } else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) {
      throw this.#fault(`expected a JSON object, found ${describe(byte)}`, this.#placeOf(index));
    }
    return false;
  }

  /** Inside an object; `true` at its last byte. */
  #closes(byte: number): boolean {
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === 0x7b || byte === 0x5b) this.#depth++;
    else if (byte === 0x7d || byte === 0x5d) return --this.#depth === 0;
    else if (byte === NEWLINE) this.#line++;
    return false;
  }

  #keep(part: Uint8Array): void {
    this.#partBytes += part.length;
    if (this.#partBytes > this.#valueBytesMax) {
      throw this.#fault(`the object that begins here is larger than ${this.#valueBytesMax} bytes`, this.#start);
    }
    this.#parts.push(part);
  }

  #collect(last: Uint8Array): Uint8Array {
    this.#keep(last);
    const parts = this.#parts;
    const size = this.#partBytes;
    this.#parts = [];
    this.#partBytes = 0;
    return parts.length === 1 ? last : concatenate(parts, size);
  }

  #placeOf(index: number): Place {
    return { line: this.#line, offset: this.#offset + index };
  }

  #fault(reason: string, place: Place): DataError {
    return new DataError(this.#action, reason, { place });
  }
}

/** The objects of a whole stream. */
export async function* splitJson(
  chunks: AsyncIterable<Uint8Array>,
  options: JsonSplitterOptions,
): AsyncGenerator<JsonText, void, undefined> {
  const splitter = new JsonSplitter(options);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  splitter.end();
}

function describe(byte: number): string {
  if (byte === 0xef) return 'byte 0xef (a byte order mark or other text that is not JSON)';
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
