import { Digester } from '../core/digest.ts';
import { CHECKSUM_BYTES } from './snapshot-format.ts';
import type { StepLength } from './snapshot-steps.ts';

/** What is hashed in one piece; part of the format. */
const BLOCK_BYTES = 1_048_576;
const ACTION = 'check a snapshot';
/** Work for each byte. */
const BYTE_UNITS = 0.001;

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
  const digester = new Digester(module);
  const blocks = Math.ceil(bytes.length / BLOCK_BYTES);
  const digests = new Uint8Array(blocks * CHECKSUM_BYTES);
  for (let block = 0; block < blocks; block++) {
    const start = block * BLOCK_BYTES;
    const part = bytes.subarray(start, start + BLOCK_BYTES);
    digests.set(digester.digest(part, ACTION), block * CHECKSUM_BYTES);
    if (length.isOver(part.length * BYTE_UNITS)) yield;
  }
  return digester.digest(digests, ACTION);
}
