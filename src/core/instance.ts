import { StoreFullError } from '../types/errors.ts';
import type { CoreExports } from './abi.ts';

/** Default bound of one core's linear memory: 2 GiB less a page, what a 32-bit memory addresses without care. */
export const MEMORY_BYTES_MAX = 0x7fff0000;

export interface CoreOptions {
  /** Bound of the core's linear memory in bytes; reaching it is `StoreFullError`. @default 2147418112 */
  readonly memoryBytesMax?: number;
}

/**
 * One instance of the core module and the views on its memory.
 *
 * Growing the memory detaches every view, silently: `encodeInto` into a detached view writes nothing and does not
 * throw. So a view is asked for at each use (`bytes()`, `words()`), and remade when the buffer is another one.
 */
export class CoreInstance {
  readonly exports: CoreExports;
  readonly memoryBytesMax: number;
  #bytes: Uint8Array;
  #words: Uint32Array;
  /** The output region stays where it is. */
  readonly #outputStart: number;
  /** Results in a full page of them. */
  readonly #pageWords: number;
  readonly #encoder = new TextEncoder();

  constructor(module: WebAssembly.Module, options: CoreOptions = {}) {
    const instance = new WebAssembly.Instance(module, {});
    this.exports = instance.exports as unknown as CoreExports;
    this.memoryBytesMax = options.memoryBytesMax ?? MEMORY_BYTES_MAX;
    this.exports.setMemoryLimit(this.memoryBytesMax);
    this.#pageWords = this.exports.outputWords();
    this.#outputStart = this.exports.outputPointer() >>> 2;
    this.#bytes = new Uint8Array(this.exports.memory.buffer);
    this.#words = new Uint32Array(this.exports.memory.buffer);
  }

  /** The whole memory as bytes; valid until the next call that may grow it. */
  bytes(): Uint8Array {
    if (this.#bytes.buffer !== this.exports.memory.buffer) this.#refresh();
    return this.#bytes;
  }

  /** The whole memory as u32; valid until the next call that may grow it. */
  words(): Uint32Array {
    if (this.#bytes.buffer !== this.exports.memory.buffer) this.#refresh();
    return this.#words;
  }

  /**
   * Makes room for `length` bytes of input and returns the pointer. Throws `StoreFullError` at the memory limit.
   */
  input(length: number, action: string): number {
    // More than 32 bits would arrive there as another, smaller number.
    const pointer = length > 0xffffffff ? 0 : this.exports.inputRegion(length);
    if (pointer === 0) throw new StoreFullError(action, this.memoryBytesMax);
    return pointer;
  }

  /** Writes text as UTF-8 at `pointer`, where 3 bytes per UTF-16 unit are free; returns the bytes written. */
  encodeAt(text: string, pointer: number): number {
    const bytes = this.bytes();
    return this.#encoder.encodeInto(text, bytes.subarray(pointer, pointer + text.length * 3)).written;
  }

  /** A view of `count` u32 results of the last call; valid until the next one. */
  output(count: number): Uint32Array {
    return this.words().subarray(this.#outputStart, this.#outputStart + count);
  }

  /**
   * The results of a read whose first page is in the output region: a view while there is one page, else a copy of all
   * that `more` puts there.
   */
  pages(count: number, more: () => number): Uint32Array {
    if (count < this.#pageWords) return this.output(count);
    const pages = [this.output(count).slice()];
    let total = count;
    for (let last = count; last === this.#pageWords; total += last) {
      last = more();
      pages.push(this.output(last).slice());
    }
    const all = new Uint32Array(total);
    let at = 0;
    for (const page of pages) {
      all.set(page, at);
      at += page.length;
    }
    return all;
  }

  #refresh(): void {
    const buffer = this.exports.memory.buffer;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
  }
}
