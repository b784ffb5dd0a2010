import { createXXHash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { CoreInstance } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import { utf8 } from './support.ts';

const core = new CoreInstance(coreModule());

function hash(bytes: Uint8Array): string {
  const pointer = core.input(Math.max(1, bytes.length), 'hash');
  core.bytes().set(bytes, pointer);
  const digest = core.exports.essenceHash(pointer, bytes.length);
  return new TextDecoder().decode(core.bytes().subarray(digest, digest + 41)).replace(/^xxh3-128:/, '');
}

/** Bytes without a pattern that a mixed-up lane could hide in. */
function noise(length: number, seed: number): Uint8Array {
  let state = seed | 1;
  return Uint8Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return state >>> 24;
  });
}

describe('XXH3-128', () => {
  it.each([
    ['', '99aa06d3014798d86001c324468d497f'],
    ['a', 'a96faf705af16834e6c632b61e964e1f'],
    ['abc', '06b05ab6733a618578af5f94892f3950'],
  ])('gives the published digest of %j', (text, digest) => {
    expect(hash(utf8(text))).toBe(digest);
  });

  it('equals hash-wasm for every length from 0 to 1100', async () => {
    const reference = await createXXHash128();
    for (let length = 0; length <= 1100; length++) {
      const bytes = noise(length, length);
      expect(hash(bytes), `length ${length}`).toBe(reference.init().update(bytes).digest('hex'));
    }
  });

  it.each([2047, 2048, 2049, 65_536, 131_071, 1_000_003])('equals hash-wasm for %i bytes', async (length) => {
    const reference = await createXXHash128();
    const bytes = noise(length, length);
    expect(hash(bytes)).toBe(reference.init().update(bytes).digest('hex'));
  });
});
