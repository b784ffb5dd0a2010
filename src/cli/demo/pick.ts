import type { Random } from '../../types/random.ts';

/** An integer from 0 to `below - 1`. */
export function pick(random: Random, below: number): number {
  return Math.floor(random() * below);
}

export function pickFrom<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[pick(random, choices.length)];
  if (choice === undefined) throw new RangeError('Cannot pick from a list: it is empty');
  return choice;
}
