import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { xxhash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import type { EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { DEFAULT_POINTERS } from '../../../src/core/essence-rules.ts';
import { oracleText } from './oracle.ts';
import { createHasher, utf8 } from './support.ts';

const page = readFileSync(new URL('../../../docs/essence.md', import.meta.url), 'utf8');
const vectors = [...page.matchAll(/^options {3}(.+)\ninput {5}(.+)\ncanonical (.+)\ndigest {4}(.+)$/gm)].map(
  ([, options = '', input = '', canonical = '', digest = '']) => ({ options, input, canonical, digest }),
);

async function byTheBook(canonical: string, { algorithm, seed }: EssenceHasherOptions): Promise<string> {
  const sha256 = (of: string): string => createHash('sha256').update(of).digest('hex');
  if (algorithm === 'sha256') return `sha256:${sha256(canonical)}`;
  if (seed === undefined) return `xxh3-128:${await xxhash128(canonical)}`;
  const fingerprint = sha256(`plimsoll essence seed ${seed.toString(16).padStart(16, '0')}`).slice(0, 16);
  const digits = await xxhash128(canonical, Number(seed & 0xffffffffn), Number(seed >> 32n));
  return `xxh3-128-seed-${fingerprint}:${digits}`;
}

describe('docs/essence.md', () => {
  it('has its vectors', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(12);
  });

  it.each(vectors)('holds for $input with $options', async ({ options: text, input, canonical, digest }) => {
    const { seed, ...rest } = JSON.parse(text) as Omit<EssenceHasherOptions, 'seed'> & { readonly seed?: string };
    const options: EssenceHasherOptions = seed === undefined ? rest : { ...rest, seed: BigInt(seed) };
    const hasher = createHasher(options);
    const value: unknown = JSON.parse(input);
    expect(oracleText(value, options)).toBe(canonical);
    expect(hasher.canonicalize(utf8(input))).toBe(canonical);
    expect(hasher.canonicalize(value)).toBe(canonical);
    expect(await byTheBook(canonical, options)).toBe(digest);
    expect(hasher.digest(utf8(input))).toBe(digest);
    expect(hasher.digest(value)).toBe(digest);
  });

  it('names every default pointer', () => {
    const names = DEFAULT_POINTERS.map((pointer) => pointer.split('/').at(-1)?.replaceAll('~1', '/') ?? '');
    for (const name of names) expect(page).toMatch(new RegExp(`[\`.]${name.replaceAll('.', '\\.')}\``));
  });
});
