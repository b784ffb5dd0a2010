import { shown } from '../types/shown.ts';
import { TAG_CHARS } from './digest.ts';
import { CoreInstance } from './instance.ts';

/**
 * How a canonical text becomes a digest, and the tag that says so. Every scheme and every seed has a tag of its own:
 * digests that were made differently are never equal.
 *
 * ```text
 *   xxh3-128:<32 digits>
 *   xxh3-128-seed-<16 digits of the seed's fingerprint>:<32 digits>
 *   sha256:<64 digits>
 * ```
 */
export interface DigestScheme {
  readonly algorithm: DigestAlgorithm;
  /** 0n: none. */
  readonly seed: bigint;
  /** With its colon. */
  readonly tag: string;
}

export type DigestAlgorithm = 'xxh3-128' | 'sha256';

/** Hexadecimal digits of a digest behind its tag. */
export function digitsOf(algorithm: DigestAlgorithm): number {
  return algorithm === 'sha256' ? 64 : 32;
}

/** `Algorithm` of `assembly/essence.ts`. */
export function algorithmCode(algorithm: DigestAlgorithm): number {
  return algorithm === 'sha256' ? 1 : 0;
}

export const SEED_MAX: bigint = 2n ** 64n - 1n;

/** The scheme for these options of a hasher. Throws `TypeError`. */
export function digestScheme(module: WebAssembly.Module, algorithm: unknown, seed: unknown): DigestScheme {
  if (algorithm !== 'xxh3-128' && algorithm !== 'sha256') {
    throw refusal(`algorithm is ${shown(algorithm)}, not "xxh3-128" or "sha256"`);
  }
  if (seed === undefined) return { algorithm, seed: 0n, tag: `${algorithm}:` };
  if (typeof seed !== 'bigint') throw refusal(`seed is of type ${typeof seed}, not bigint`);
  // The hash with seed 0 is the one without, whose digests have a tag already.
  if (seed < 1n || seed > SEED_MAX) throw refusal('seed is not from 1n to 2n ** 64n - 1n');
  if (algorithm !== 'xxh3-128') throw refusal(`seed does not go with the algorithm "${algorithm}"`);
  return { algorithm, seed, tag: `xxh3-128-seed-${seedFingerprint(module, seed)}:` };
}

function refusal(reason: string): TypeError {
  return new TypeError(`Cannot create the essence hasher: ${reason}`);
}

const FINGERPRINT_CHARS = 16;

/**
 * The first 8 bytes of the SHA-256 of the text `plimsoll essence seed ` and the seed in 16 digits: tells seeds apart and
 * does not give one away, as far as a seed of 64 bits can be kept from somebody who tries them all.
 */
function seedFingerprint(module: WebAssembly.Module, seed: bigint): string {
  const core = new CoreInstance(module);
  const text = `plimsoll essence seed ${seed.toString(16).padStart(16, '0')}`;
  const pointer = core.input(text.length * 3, 'create the essence hasher');
  const length = core.encodeAt(text, pointer);
  core.exports.essenceAlgorithm(algorithmCode('sha256'), 0, 0);
  const digits = core.exports.essenceHash(pointer, length) + TAG_CHARS;
  return new TextDecoder().decode(core.bytes().subarray(digits, digits + FINGERPRINT_CHARS));
}
