import { createHash } from 'node:crypto';
import { createXXHash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { TAG_CHARS } from '../../../src/core/digest.ts';
import { SEED_MAX } from '../../../src/core/digest-scheme.ts';
import type { EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { CoreInstance } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import { createHasher, PLAIN, utf8 } from './support.ts';

/** The names xxHash's own check has for the two numbers it uses as seeds. */
const PRIME32 = 2654435761n;
const PRIME64 = 11400714785074694797n;
const XXH3 = 0;
const SHA256 = 1;

function hashWith(algorithm: number, seed: bigint): (bytes: Uint8Array) => string {
  const core = new CoreInstance(coreModule());
  core.exports.essenceAlgorithm(algorithm, Number(seed & 0xffffffffn), Number(seed >> 32n));
  return (bytes) => {
    const pointer = core.exports.inputRegion(Math.max(1, bytes.length));
    core.bytes().set(bytes, pointer);
    const digits = core.exports.essenceHash(pointer, bytes.length) + TAG_CHARS;
    return new TextDecoder().decode(core.bytes().subarray(digits, digits + (algorithm === SHA256 ? 64 : 32)));
  };
}

/** The bytes that xxHash's own check hashes. */
function sanityBytes(length: number): Uint8Array {
  let state = PRIME32;
  return Uint8Array.from({ length }, () => {
    const byte = Number(state >> 56n);
    state = BigInt.asUintN(64, state * PRIME64);
    return byte;
  });
}

describe('XXH3-128 with a seed', () => {
  it.each([
    // length, the digest published with xxHash for the seed PRIME32
    [0, '92220ae55e14ab505444f7869c671ab0'],
    [1, '89b99554ba22467cb53d5557e7f76f8d'],
    [6, '5a865b5389abd2b1269d8f70be98856e'],
    [12, 'd7e09d518a3405d39be9f9a67f3c7dfb'],
    [24, '3162026714a6a243d7304c54ebad40a9'],
    [48, '163adde36c0722957ba3c3e453a1934e'],
    [81, '2724ec7adc750fb6703fbb3d7a5f755c'],
    [222, '91820016621e97f1ae995bb8af917a8d'],
    [403, '1ef41459552cb8391fef87bd75dbe404'],
    [512, '06eeb0d56508040f545f610e9f5a78ec'],
    [2048, '7fb03f7e7186c3ea230d43f30206260b'],
    [2367, 'd23aae4b76c31ecb6f5360ae69c2f406'],
  ])('gives the published digest of %i bytes', (length, digest) => {
    expect(hashWith(XXH3, PRIME32)(sanityBytes(length))).toBe(digest);
  });

  it.each([1n, PRIME32, PRIME64, SEED_MAX])(
    'with %i equals hash-wasm for every length from 0 to 1100',
    async (seed) => {
      const reference = await createXXHash128(Number(seed & 0xffffffffn), Number(seed >> 32n));
      const hash = hashWith(XXH3, seed);
      const bytes = sanityBytes(1100);
      for (let length = 0; length <= bytes.length; length++) {
        const part = bytes.subarray(0, length);
        expect(hash(part), `length ${length}`).toBe(reference.init().update(part).digest('hex'));
      }
    },
  );
});

describe('SHA-256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('gives the published digest', (text, digest) => {
    expect(hashWith(SHA256, 0n)(utf8(text))).toBe(digest);
  });

  it('equals node:crypto for every length from 0 to 400', () => {
    const hash = hashWith(SHA256, 0n);
    const bytes = sanityBytes(400);
    for (let length = 0; length <= bytes.length; length++) {
      const part = bytes.subarray(0, length);
      expect(hash(part), `length ${length}`).toBe(createHash('sha256').update(part).digest('hex'));
    }
  });
});

describe('tags', () => {
  const text = '{"b":[1,"é"],"a":"x"}';
  const digestWith = (options: EssenceHasherOptions): string => {
    const hasher = createHasher({ ...PLAIN, ...options });
    const digest = hasher.digest(utf8(text));
    // The number makes the core ask for the way over JSON.parse.
    for (const form of [JSON.parse(text) as unknown, utf8(text.replace('1', '0.1e1'))]) {
      expect(hasher.digest(form)).toBe(digest);
    }
    expect(hasher.canonicalize(utf8(text))).toBe('{"a":"x","b":[1,"é"]}');
    return digest;
  };

  it('names the algorithm, and hashes the same text', async () => {
    const canonical = '{"a":"x","b":[1,"é"]}';
    const xxh3 = (await createXXHash128()).init().update(canonical).digest('hex');
    expect(digestWith({})).toBe(`xxh3-128:${xxh3}`);
    expect(digestWith({ algorithm: 'xxh3-128' })).toBe(`xxh3-128:${xxh3}`);
    expect(digestWith({ algorithm: 'sha256' })).toBe(`sha256:${createHash('sha256').update(canonical).digest('hex')}`);
  });

  it('names the seed by its fingerprint', async () => {
    const seed = 0x123n;
    const named = createHash('sha256').update('plimsoll essence seed 0000000000000123').digest('hex').slice(0, 16);
    const reference = await createXXHash128(0x123, 0);
    const digits = reference.init().update('{"a":"x","b":[1,"é"]}').digest('hex');
    expect(digestWith({ seed })).toBe(`xxh3-128-seed-${named}:${digits}`);
    const tags = [1n, 2n, 2n ** 32n, 2n ** 32n + 1n, SEED_MAX].map((one) => digestWith({ seed: one }).split(':')[0]);
    expect(new Set(tags).size).toBe(tags.length);
  });

  it.each<[unknown, string]>([
    [{ algorithm: 'md5' }, 'algorithm is md5, not "xxh3-128" or "sha256"'],
    [{ algorithm: null }, 'algorithm is null, not "xxh3-128" or "sha256"'],
    [{ algorithm: { toString: null } }, 'algorithm is of type object, not "xxh3-128" or "sha256"'],
    [{ duplicates: Object.create(null) }, 'duplicates is of type object, not "last" or "reject"'],
    [{ checkNormalise: Symbol('always') }, 'checkNormalise is of type symbol, not "sampled" or "always"'],
    [{ seed: 1 }, 'seed is of type number, not bigint'],
    [{ seed: null }, 'seed is of type object, not bigint'],
    [{ seed: 0n }, 'seed is not from 1n to 2n ** 64n - 1n'],
    [{ seed: -1n }, 'seed is not from 1n to 2n ** 64n - 1n'],
    [{ seed: 2n ** 64n }, 'seed is not from 1n to 2n ** 64n - 1n'],
    [{ seed: 1n, algorithm: 'sha256' }, 'seed does not go with the algorithm "sha256"'],
  ])('refuses options %#', (options, reason) => {
    const create = (): unknown => createHasher(options as EssenceHasherOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`Cannot create the essence hasher: ${reason}`);
  });
});
