import type { Random } from '../types/random.ts';

/** So many times 32 random bits as hex; two of one seed are the same. */
export function randomId(random: Random, words: number): string {
  const word = () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return Array.from({ length: words }, word).join('');
}
