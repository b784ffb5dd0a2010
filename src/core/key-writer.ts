import type { ByteRange } from '../types/backend.ts';
import type { CoreInstance } from './instance.ts';

/**
 * Puts keys where the core can read them. Nearly all keys are short and go to the core's fixed key region, through one
 * cached view: making a view for each key costs more than the call it serves. Longer ones go through the input region.
 *
 * ```text
 *   key       | bytes |                      key region while it fits (a string: three bytes per UTF-16 unit)
 *   range     | start | end |                end directly behind start
 * ```
 *
 * The input region is made large enough for any range when a long key is stored, so that no read needs memory: a key or
 * an end that is longer than every key stored is cut off behind so many bytes, which moves it over no key.
 */
export class KeyWriter {
  /** Where the last key or range begins. */
  pointer = 0;
  /** Length of the last range's end: 0 for no upper bound, -1 for a point. */
  endLength = 0;

  readonly #instance: CoreInstance;
  readonly #regionPointer: number;
  readonly #regionBytes: number;
  readonly #encoder = new TextEncoder();
  #region: Uint8Array;
  /** No key that was stored is longer. */
  #longest = 0;

  constructor(instance: CoreInstance) {
    this.#instance = instance;
    this.#regionPointer = instance.exports.keyRegion();
    this.#regionBytes = instance.exports.keyRegionBytes();
    this.#region = this.#view();
  }

  /**
   * Makes room for storing keys of up to `bytes`, and for ranges over them: neither needs memory later. Throws
   * `StoreFullError`.
   */
  reserve(bytes: number, action: string): void {
    if (bytes <= this.#longest) return;
    const range = 2 * (bytes + 1);
    if (range > this.#regionBytes) this.#instance.input(range, action);
    this.#longest = bytes;
  }

  /** Writes a key to look for, cut as the end of a range is, and returns its length in bytes. */
  write(key: string | Uint8Array, action: string): number {
    if (typeof key === 'string' && this.#fits(key)) return this.#writeShort(key);
    return this.#writeBytes(this.#cut(this.#bytesOf(key)), undefined, action);
  }

  /** Writes a key that will be stored: what `reserve` says holds afterwards. Throws `StoreFullError`. */
  writeNew(key: string | Uint8Array, action: string): number {
    if (typeof key === 'string' && this.#fits(key)) {
      const length = this.#writeShort(key);
      this.reserve(length, action);
      return length;
    }
    const bytes = this.#bytesOf(key);
    this.reserve(bytes.length, action);
    return this.#writeBytes(bytes, undefined, action);
  }

  /** Writes a range, sets `endLength`, and returns the length of its start. */
  writeRange(range: ByteRange, action: string): number {
    const end = range.end === undefined ? undefined : this.#cut(range.end);
    this.endLength = end === undefined ? -1 : end.length;
    return this.#writeBytes(this.#cut(range.start), end, action);
  }

  /**
   * As `writeRange`, for a range [start, end) of text; no end is "no upper bound". Both are written in one go: each call
   * of the encoder costs as much as all the rest.
   */
  writeText(start: string, end: string, action: string): number {
    const text = start + end;
    if (text.length * 3 > this.#regionBytes) {
      return this.writeRange({ start: this.#encoder.encode(start), end: this.#encoder.encode(end) }, action);
    }
    const region = this.#fresh();
    this.pointer = this.#regionPointer;
    const { written } = this.#encoder.encodeInto(text, region);
    if (written === text.length) {
      this.endLength = end.length;
      return start.length;
    }
    // Not ASCII only. Two halves of a pair, one in each text, must not become one character.
    const length = this.#encoder.encodeInto(start, region).written;
    this.endLength = this.#encoder.encodeInto(end, region.subarray(length)).written;
    return length;
  }

  /** Whether the key region takes the key whatever its characters are. */
  #fits(key: string): boolean {
    return key.length * 3 <= this.#regionBytes;
  }

  #writeShort(key: string): number {
    this.pointer = this.#regionPointer;
    return this.#encoder.encodeInto(key, this.#fresh()).written;
  }

  /** A longer string is encoded first: the input region then needs its true length, not three times as much. */
  #bytesOf(key: string | Uint8Array): Uint8Array {
    return typeof key === 'string' ? this.#encoder.encode(key) : key;
  }

  #cut(bound: Uint8Array): Uint8Array {
    return bound.length > this.#longest + 1 ? bound.subarray(0, this.#longest + 1) : bound;
  }

  #writeBytes(start: Uint8Array, end: Uint8Array | undefined, action: string): number {
    const length = start.length + (end?.length ?? 0);
    if (length <= this.#regionBytes) {
      const region = this.#fresh();
      region.set(start);
      if (end !== undefined) region.set(end, start.length);
      this.pointer = this.#regionPointer;
      return start.length;
    }
    this.pointer = this.#instance.input(length, action);
    const bytes = this.#instance.bytes();
    bytes.set(start, this.pointer);
    if (end !== undefined) bytes.set(end, this.pointer + start.length);
    return start.length;
  }

  /** The view on the key region, remade after the memory has grown: a stale one takes bytes and loses them. */
  #fresh(): Uint8Array {
    if (this.#region.buffer !== this.#instance.exports.memory.buffer) this.#region = this.#view();
    return this.#region;
  }

  #view(): Uint8Array {
    return new Uint8Array(this.#instance.exports.memory.buffer, this.#regionPointer, this.#regionBytes);
  }
}
