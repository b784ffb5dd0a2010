import { randomId } from '../../system/random-id.ts';
import type { Random } from '../../types/random.ts';

/** No vowels, so that no word comes out; none of 0, 1 and 3, which look like letters. Those of Kubernetes. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const NAME_MAX = 63;

/** `generateName` and five random letters, of at most 63 together. */
export function generatedName(base: string, random: Random): string {
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index++) suffix += LETTERS[Math.floor(random() * LETTERS.length)];
  return `${base.slice(0, NAME_MAX - SUFFIX_LENGTH)}${suffix}`;
}

/** In the form of a random UUID (version 4). */
export function randomUid(random: Random): string {
  const hex = randomId(random, 4);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
