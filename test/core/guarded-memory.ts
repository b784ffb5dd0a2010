import type { CoreExports } from '../../src/core/abi.ts';

const PATTERN = 0xa5;
/** `inputRegion` refuses more. */
const REGION_MAX = 0x40000000;

/**
 * The memory of a core with guards around what a call may touch: everything that is not handed out yet has a pattern,
 * and the key region is full of noise around the key of the call. No call may change either, and since the noise is
 * another one each time, an answer that is made of bytes outside of the key does not stay the same.
 *
 * ```text
 *   | static data ... | key region: noise, key, noise | ... | structures | claimed so far | pattern up to the end |
 * ```
 */
export class GuardedMemory {
  readonly keyRegion: number;
  readonly keyRegionBytes: number;
  readonly #e: CoreExports;
  #memory: Buffer;
  /** What was claimed and how large the memory was when it was last looked at: between the two lies the pattern. */
  #claimed: number;
  #size: number;
  /** What the key region held before the call. */
  #keys: Buffer;
  #turn = 0;

  constructor(exports: CoreExports) {
    this.#e = exports;
    this.keyRegion = exports.keyRegion();
    this.keyRegionBytes = exports.keyRegionBytes();
    this.#memory = Buffer.from(exports.memory.buffer);
    this.#claimed = exports.claimedBytes();
    this.#size = this.#memory.length;
    this.#memory.fill(PATTERN, this.#claimed);
    this.#keys = Buffer.alloc(this.keyRegionBytes);
    this.put(Buffer.alloc(0), 0);
  }

  /** Puts bytes into the key region, as far behind its start as there is room, or into the input; 0 without memory. */
  put(bytes: Buffer, at: number): number {
    this.check();
    if (bytes.length > this.keyRegionBytes) {
      const pointer = this.input(bytes.length, true);
      if (pointer !== 0) this.#fresh().set(bytes, pointer);
      return pointer;
    }
    this.#turn = (this.#turn + 1) % NOISE.length;
    const offset = Math.min(at, this.keyRegionBytes - bytes.length);
    this.#keys.set((NOISE[this.#turn] as Buffer).subarray(0, this.keyRegionBytes));
    this.#keys.set(bytes, offset);
    this.#fresh().set(this.#keys, this.keyRegion);
    return this.keyRegion + offset;
  }

  /** An input region; 0 when there is no memory for it, which is an error where none is expected to be missing. */
  input(bytes: number, isLimited: boolean): number {
    const pointer = this.#e.inputRegion(bytes);
    if (bytes > REGION_MAX && pointer !== 0) throw new Error(`inputRegion gave a region for ${bytes} bytes`);
    if (bytes <= REGION_MAX && pointer === 0 && !isLimited) throw new Error('inputRegion refused without a limit');
    if (pointer !== 0 && pointer + bytes + 64 > this.#e.claimedBytes()) {
      throw new Error('the input region is larger than what is claimed');
    }
    return pointer;
  }

  /** `count` words of the last result. */
  output(count: number): Uint32Array {
    return new Uint32Array(this.#e.memory.buffer, this.#e.outputPointer(), count);
  }

  bytes(pointer: number, length: number): Buffer {
    return this.#fresh().subarray(pointer, pointer + length);
  }

  /** Throws when a call has written where it must not. */
  check(): void {
    const memory = this.#fresh();
    const claimed = this.#e.claimedBytes();
    if (claimed < this.#claimed) throw new Error('the core gave claimed memory back');
    const before = this.#size;
    const from = Math.min(claimed, before);
    if (memory.compare(pattern(memory.length), from, before, from, before) !== 0) {
      throw new Error(`the core wrote behind the ${claimed} bytes that it has claimed`);
    }
    if (memory.length > before) {
      const fresh = memory.subarray(Math.max(before, claimed));
      if (fresh.some((byte) => byte !== 0))
        throw new Error(`the core wrote behind its ${claimed} bytes, in new memory`);
      fresh.fill(PATTERN);
    }
    const region = memory.subarray(this.keyRegion, this.keyRegion + this.keyRegionBytes);
    if (this.#turn > 0 && region.compare(this.#keys) !== 0) throw new Error('the core wrote into the key region');
    this.#claimed = claimed;
    this.#size = memory.length;
  }

  #fresh(): Buffer {
    if (this.#memory.buffer !== this.#e.memory.buffer) this.#memory = Buffer.from(this.#e.memory.buffer);
    return this.#memory;
  }
}

let patternBytes = Buffer.alloc(0);

/** At least so many bytes of the pattern. */
function pattern(length: number): Buffer {
  if (patternBytes.length < length) patternBytes = Buffer.alloc(length * 2, PATTERN);
  return patternBytes;
}

/** What lies around keys: bytes that might go on with one. */
const NOISE: readonly Buffer[] = [0x00, 0x61, 0xff, 0x2f, 0x78, 0x30].map((byte) => Buffer.alloc(65_536, byte));
