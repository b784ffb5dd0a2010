import { badSnapshot } from './snapshot-format.ts';

/** Bytes of the longest LEB128 that can be a safe integer. */
const NUMBER_BYTES_MAX = 8;
/** A call of the decoder is dearer than so many bytes one by one. */
const LOOP_BYTES_MAX = 24;

/**
 * Reads what `SnapshotWriter` wrote, and believes nothing: what does not fit between here and the end is a
 * `SnapshotError`, before anything is made for it.
 */
export class SnapshotReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  get position(): number {
    return this.#at;
  }

  byte(): number {
    if (this.#at >= this.#end) throw badSnapshot('the snapshot ends too early');
    return this.#bytes[this.#at++] as number;
  }

  /** A safe integer in its shortest LEB128. */
  number(): number {
    let value = 0;
    let place = 1;
    for (let index = 0; index < NUMBER_BYTES_MAX; index++) {
      const byte = this.byte();
      value += (byte & 127) * place;
      if (byte < 128) {
        if (byte === 0 && index > 0) throw badSnapshot('a number in the snapshot is longer than it has to be');
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      place *= 128;
    }
    throw badSnapshot(`a number in the snapshot is above ${Number.MAX_SAFE_INTEGER}`);
  }

  /** A view on the snapshot, of which nothing may be kept. */
  bytes(): Uint8Array {
    const length = this.number();
    if (length > this.#end - this.#at) throw badSnapshot('a length in the snapshot is more than there is');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.decode(this.bytes());
  }

  decode(bytes: Uint8Array): string {
    if (bytes.length <= LOOP_BYTES_MAX) {
      let text = '';
      for (const byte of bytes) {
        if (byte >= 128) return this.#decodeAny(bytes);
        text += String.fromCharCode(byte);
      }
      return text;
    }
    return this.#decodeAny(bytes);
  }

  #decodeAny(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw badSnapshot('a text in the snapshot is not UTF-8', { cause: error });
    }
  }
}
