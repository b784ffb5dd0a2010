import type { Random } from '../../types/random.ts';

/**
 * Repeatable chance for the built-in stream: a 32-bit xorshift, whose state never becomes 0. A step of its own, since
 * the test kit is not part of the command.
 */
export function createSeededRandom(seed: number): Random {
  let state = Math.imul((seed >>> 0) ^ 0x5bd1e995, 0x27d4eb2f) >>> 0 || 1;
  const random = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  // Neighbouring seeds have much in common at first.
  for (let turn = 0; turn < 16; turn++) random();
  return random;
}

/** An integer from 0 to `below - 1`. */
export function pick(random: Random, below: number): number {
  return Math.floor(random() * below);
}

export function pickFrom<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[pick(random, choices.length)];
  if (choice === undefined) throw new RangeError('Cannot pick from a list: it is empty');
  return choice;
}
