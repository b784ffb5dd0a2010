import { CoreInstance } from './instance.ts';

/** Bytes of a digest. */
export const DIGEST_BYTES = 16;

/** What a digest of the core begins with: `xxh3-128:`. */
export const TAG_CHARS = 9;

/** XXH3-128 of bytes, by an instance of the core of its own. */
export class Digester {
  readonly #core: CoreInstance;

  constructor(module: WebAssembly.Module) {
    this.#core = new CoreInstance(module);
  }

  /** 16 bytes, the high half first. The bytes are copied into the core's memory, so it grows by the longest ones. */
  digest(bytes: Uint8Array, action: string): Uint8Array {
    const core = this.#core;
    const pointer = core.input(bytes.length, action);
    core.bytes().set(bytes, pointer);
    const text = core.exports.essenceHash(pointer, bytes.length) + TAG_CHARS;
    const memory = core.bytes();
    const halfAt = (index: number) => nibble(memory[text + index] as number);
    return Uint8Array.from({ length: DIGEST_BYTES }, (_, index) => halfAt(index * 2) * 16 + halfAt(index * 2 + 1));
  }
}

/** Of a hexadecimal digit in lower case. */
function nibble(code: number): number {
  return code < 0x61 ? code - 0x30 : code - 0x57;
}
