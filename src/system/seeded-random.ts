import type { Random } from '../types/random.ts';

/**
 * Repeatable chance: the same seed gives the same numbers on every runtime. Not for secrets. Two stores that are given
 * equal seeds have one `identity`, and count as the same data: share one generator, or give each a seed of its own.
 *
 * The state is one 32-bit word that walks through all 2^32 values by a fixed odd step; each value is then mixed until
 * neighbours have nothing in common.
 *
 * Of a seed its integer part modulo 2^32 counts: 1, 1.5 and 2^32 + 1 are one seed, and so are 0 and NaN.
 *
 * @example
 * ```ts
 * import { createSeededRandom } from 'plimsoll/testing';
 *
 * const random = createSeededRandom(42);
 * random(); // always the same first number
 * ```
 */
export function createSeededRandom(seed: number): Random {
  let state = mix(seed >>> 0);
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    return mix(state) / 2 ** 32;
  };
}

function mix(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
