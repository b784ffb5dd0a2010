import { CoreInstance } from '../core/instance.ts';
import { CHECKSUM_BYTES } from './snapshot-format.ts';
import type { StepLength } from './snapshot-steps.ts';

/** What is hashed in one piece; part of the format. */
const BLOCK_BYTES = 1_048_576;
/** What a digest of the core begins with: `xxh3-128:`. */
const TAG_CHARS = 9;
/** Work for each byte. */
const BYTE_UNITS = 0.0005;

/**
 * XXH3-128 of the XXH3-128 of each MiB: the core hashes only what lies in its memory at once, and a step must be short.
 *
 * ```text
 *   | MiB | MiB | rest |  ->  | digest 16 | digest 16 | digest 16 |  ->  checksum 16
 * ```
 *
 * It finds damage. Who wants to deceive can make another one.
 */
export function* checksumSteps(
  module: WebAssembly.Module,
  bytes: Uint8Array,
  length: StepLength,
): Generator<void, Uint8Array> {
  const core = new CoreInstance(module);
  const blocks = Math.ceil(bytes.length / BLOCK_BYTES);
  const digests = new Uint8Array(blocks * CHECKSUM_BYTES);
  for (let block = 0; block < blocks; block++) {
    const start = block * BLOCK_BYTES;
    const part = bytes.subarray(start, start + BLOCK_BYTES);
    digests.set(digest(core, part), block * CHECKSUM_BYTES);
    if (length.isOver(part.length * BYTE_UNITS)) yield;
  }
  return digest(core, digests);
}

/** 16 bytes, the high half first. */
function digest(core: CoreInstance, bytes: Uint8Array): Uint8Array {
  const pointer = core.input(bytes.length, 'check a snapshot');
  core.bytes().set(bytes, pointer);
  const text = core.exports.essenceHash(pointer, bytes.length) + TAG_CHARS;
  const memory = core.bytes();
  const halfAt = (index: number) => nibble(memory[text + index] as number);
  return Uint8Array.from({ length: CHECKSUM_BYTES }, (_, index) => halfAt(index * 2) * 16 + halfAt(index * 2 + 1));
}

/** Of a hexadecimal digit in lower case. */
function nibble(code: number): number {
  return code < 0x61 ? code - 0x30 : code - 0x57;
}
