// @ts-check
// The documents that the essence suite digests: real objects near each size when they are there, generated ones
// otherwise. The report says which.
import { readFile } from 'node:fs/promises';
import { generateObject } from './generated-objects.mjs';
import { createRandom, shuffled } from './random.mjs';

/** Beside the repository, not in it. */
const folder = new URL('../../../shared/data/', import.meta.url);
const SEED = 20_261_130;

/**
 * How many documents of which size: several, so that no branch predictor learns one by heart; fewer of the large ones,
 * which are long enough to have every branch in them.
 */
const SIZES = /** @type {const} */ ({
  '0.8 KB': { bytes: 800, count: 16 },
  '2.4 KB': { bytes: 2400, count: 16 },
  '8.8 KB': { bytes: 8800, count: 16 },
  '100 KB': { bytes: 100_000, count: 4 },
  '1 MB': { bytes: 1_000_000, count: 1 },
});

/**
 * @typedef {keyof typeof SIZES} Size
 * @typedef {{ value: Record<string, unknown>, bytes: Uint8Array }} Document
 */

/** @type {readonly Size[]} */
export const DOCUMENT_SIZES = /** @type {Size[]} */ (Object.keys(SIZES));

/**
 * @returns {Promise<{ source: string, ofSize(size: Size): Document[] }>}
 */
export async function openDocuments() {
  const [small, large] = await Promise.all([readLines('k8s-objects.ndjson'), readLines('k8s-objects-large.ndjson')]);
  const isReal = small !== undefined && large !== undefined;
  return {
    source: isReal ? 'real Kubernetes objects (../shared/data); 1 MB: a List of them' : `generated, seed ${SEED}`,
    ofSize(size) {
      const { bytes, count } = SIZES[size];
      if (!isReal) return generated(bytes, count);
      return (size === '1 MB' ? [listOf(small, bytes)] : nearest([...small, ...large], bytes, count)).map(toDocument);
    },
  };
}

/**
 * @param {string} name
 * @returns {Promise<string[] | undefined>}
 */
async function readLines(name) {
  try {
    return (await readFile(new URL(name, folder), 'utf8')).trimEnd().split('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The lines whose lengths are nearest to a size, as a factor.
 *
 * @param {readonly string[]} lines
 * @param {number} bytes
 * @param {number} count
 */
function nearest(lines, bytes, count) {
  const byDistance = lines.map((line) => ({ line, distance: Math.abs(Math.log(line.length / bytes)) }));
  byDistance.sort((left, right) => left.distance - right.distance);
  return byDistance.slice(0, count).map(({ line }) => line);
}

/**
 * What `kubectl get -o json` prints: the objects of the file in their order (which is random), up to a size.
 *
 * @param {readonly string[]} lines
 * @param {number} bytes
 */
function listOf(lines, bytes) {
  let items = '';
  for (const line of lines) {
    if (items.length >= bytes) break;
    items += items === '' ? line : `,${line}`;
  }
  return `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"12345"},"items":[${items}]}`;
}

/**
 * @param {number} bytes
 * @param {number} count
 * @returns {Document[]}
 */
function generated(bytes, count) {
  const random = createRandom(SEED + bytes);
  return Array.from({ length: count }, () => toDocument(JSON.stringify(generateObject(random, bytes))));
}

/**
 * @param {string} text
 * @returns {Document}
 */
function toDocument(text) {
  return { value: JSON.parse(text), bytes: new TextEncoder().encode(text) };
}

/**
 * The same document with the members of every object in random order.
 *
 * @param {Document} document
 * @returns {Document}
 */
export function shuffleKeys(document) {
  return toDocument(JSON.stringify(withShuffledKeys(createRandom(SEED), document.value)));
}

/**
 * @param {() => number} random
 * @param {unknown} value
 * @returns {unknown}
 */
export function withShuffledKeys(random, value) {
  if (Array.isArray(value)) return value.map((element) => withShuffledKeys(random, element));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withShuffledKeys(random, member)]);
  return Object.fromEntries(shuffled(random, members));
}
