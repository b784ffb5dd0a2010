// @ts-check
// The digests to compare: plimsoll's, and what one can put together from packages. Each peer leaves out what the essence
// leaves out, and gets the quickest way to do so that we know (see docs/benchmarks.md).
import { createHash } from 'node:crypto';
import { omitEssence } from './omit.mjs';

/**
 * @typedef {object} Digest
 * @property {string} name
 * @property {string} [lacks]
 * @property {boolean} [isOrderDependent]
 * @property {boolean} [isFloor] Not a digest at all, only a part of the work of one.
 * @property {number} [bytesMax] Left out of cases with larger documents, where one call takes seconds.
 * @property {(value: Record<string, unknown>) => unknown} ofValue
 *
 * @typedef {object} Modules The peers' packages, as far as they are used.
 * @property {(value: unknown) => string} stableStringify
 * @property {{ h64(text: string): bigint }} xxhash
 * @property {{ init(): void, update(text: string): void, digest(): string }} xxhash128
 * @property {(value: unknown) => string} ohash
 * @property {(value: object) => string} objectHash
 */

/** @returns {Promise<Modules>} */
export async function loadModules() {
  const [stable, xxhash, hashWasm, ohash, objectHash] = await Promise.all(
    ['safe-stable-stringify', 'xxhash-wasm', 'hash-wasm', 'ohash', 'object-hash'].map((name) => import(name)),
  );
  return {
    stableStringify: stable.default.stringify ?? stable.stringify ?? stable.default,
    xxhash: await xxhash.default(),
    xxhash128: await hashWasm.createXXHash128(),
    ohash: ohash.hash,
    objectHash: objectHash.default,
  };
}

const ORDER = 'depends on the order of keys';
/** `object-hash` needs 100 times as long as the others. */
const SMALL_BYTES_MAX = 3000;

/**
 * @param {Modules} modules
 * @returns {Digest[]}
 */
export function peerDigests({ stableStringify, xxhash, xxhash128, ohash, objectHash }) {
  return [
    {
      name: 'safe-stable-stringify + xxhash-wasm',
      ofValue: (value) => xxhash.h64(stableStringify(omitEssence(value))),
    },
    {
      name: 'JSON.stringify + xxhash-wasm',
      lacks: ORDER,
      isOrderDependent: true,
      ofValue: (value) => xxhash.h64(JSON.stringify(omitEssence(value))),
    },
    {
      name: 'JSON.stringify + node:crypto sha256',
      lacks: ORDER,
      isOrderDependent: true,
      ofValue: (value) =>
        createHash('sha256')
          .update(JSON.stringify(omitEssence(value)))
          .digest('hex'),
    },
    {
      name: 'hash-wasm xxhash128',
      ofValue: (value) => {
        xxhash128.init();
        xxhash128.update(stableStringify(omitEssence(value)));
        return xxhash128.digest();
      },
    },
    { name: 'ohash', bytesMax: 200_000, ofValue: (value) => ohash(omitEssence(value)) },
    { name: 'object-hash', bytesMax: SMALL_BYTES_MAX, ofValue: (value) => objectHash(omitEssence(value)) },
  ];
}

/** Parts of the work that every peer does: no digest can be made of less. */
export const PARSE_FLOOR = Object.freeze({
  name: 'JSON.parse alone',
  lacks: 'only decodes and parses',
  /** @param {Uint8Array} bytes */
  ofBytes: (bytes) => JSON.parse(decoder.decode(bytes)),
});
export const STRINGIFY_FLOOR = Object.freeze({
  name: 'JSON.stringify alone',
  lacks: 'only stringifies, the excluded parts too',
  /** @param {Record<string, unknown>} value */
  ofValue: (value) => JSON.stringify(value),
});

const decoder = new TextDecoder();
