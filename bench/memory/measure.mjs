// @ts-check
// One row, in the process that runs it.
import { generateKeys } from '../data/keys.mjs';
import { MvccBaseline } from '../store/mvcc-baseline.mjs';
import { refuseWrong, storeFindings, watchFindings } from './checks.mjs';
import { growth, settledFootprint } from './footprint.mjs';

/**
 * @typedef {import('./rows.mjs').Row} Row
 * @typedef {import('./checks.mjs').Store} Store
 * @typedef {import('./checks.mjs').Readers} Readers
 * @typedef {import('./footprint.mjs').Footprint} Footprint
 * @typedef {'plimsoll' | 'baseline'} Contestant
 *
 * @typedef {object} Measured
 * @property {Footprint} growth What the n units have added.
 * @property {number} keyBytes Of the units' keys, as bytes; 0 where the units brought no key.
 * @property {number} keyTextBytes What their strings take in the heap. Not in `growth`: they were there before.
 * @property {number} meanKeyBytes
 */

/** One string, shared by all: values are not what is measured. */
const VALUE = 'v';
const PREFIX = '/registry/';

/**
 * @param {Row} row
 * @param {Contestant} contestant
 * @param {{ collectGarbage: () => void, loadPackage: () => Promise<object> }} tools
 * @returns {Promise<Measured>}
 */
export async function measureRow(row, contestant, { collectGarbage, loadPackage }) {
  const store = await openSubject(contestant, loadPackage);
  const settled = () => settledFootprint(collectGarbage, () => store.stats().memoryBytes);
  const { keys, keyTextBytes } = await flatKeys(row.keys, settled);
  const readers = emptyReaders(row.unit === 'watcher' ? row.n : 0);
  if (row.unit !== 'key') await putAll(store, keys);
  const before = await settled();
  const sweeps = row.unit === 'revision' ? row.n / row.keys : 1;
  if (row.unit === 'watcher') openWatches(store, row, keys, readers);
  else for (let sweep = 0; sweep < sweeps; sweep++) await putAll(store, keys);
  const after = await settled();
  const findings = storeFindings(store, keys, row.unit === 'revision' ? sweeps + 1 : 1);
  if (row.watched !== undefined) findings.push(...(await watchFindings(store, readers, keys, row.watched)));
  refuseWrong(row.name, contestant, findings);
  await store.close();
  const ownKeys = row.unit === 'key';
  const keyBytes = keys.reduce((sum, key) => sum + key.length, 0);
  return {
    growth: growth(before, after),
    keyBytes: ownKeys ? keyBytes : 0,
    keyTextBytes: ownKeys ? keyTextBytes : 0,
    meanKeyBytes: keyBytes / keys.length,
  };
}

/**
 * Every revision stays readable, in both: nothing is trimmed under the measurement.
 *
 * @param {Contestant} contestant
 * @param {() => Promise<object>} loadPackage
 * @returns {Promise<Store>}
 */
async function openSubject(contestant, loadPackage) {
  if (contestant === 'baseline') return /** @type {Store} */ (/** @type {unknown} */ (new MvccBaseline()));
  const { openStore } = /** @type {{ openStore(options: object): Promise<Store> }} */ (await loadPackage());
  return openStore({ retention: { events: Number.POSITIVE_INFINITY } });
}

/**
 * Keys whose strings are flat, one byte a character, as they come out of a parser; the generator's own are ropes, which
 * would become smaller under the measurement.
 *
 * @param {number} count
 * @param {() => Promise<Footprint>} settled
 */
async function flatKeys(count, settled) {
  /** @type {string[]} */
  const keys = new Array(count).fill('');
  const before = await settled();
  const generated = generateKeys(count);
  for (let place = 0; place < count; place++) {
    keys[place] = Buffer.from(/** @type {string} */ (generated[place]), 'latin1').toString('latin1');
  }
  generated.length = 0;
  const after = await settled();
  return { keys, keyTextBytes: after.heap - before.heap };
}

/**
 * @param {Store} store
 * @param {readonly string[]} keys
 */
async function putAll(store, keys) {
  for (const key of keys) await store.put(key, VALUE);
}

/**
 * In arrays that are there before the measurement, so that they are not part of it.
 *
 * @param {number} count
 * @returns {Readers}
 */
function emptyReaders(count) {
  return { watches: new Array(count).fill(undefined), answers: new Array(count).fill(undefined) };
}

/**
 * @param {Store} store
 * @param {Row} row
 * @param {readonly string[]} keys
 * @param {Readers} readers
 */
function openWatches(store, row, keys, { watches, answers }) {
  for (let place = 0; place < row.n; place++) {
    const range = row.watched === 'prefix' ? { prefix: PREFIX } : { key: /** @type {string} */ (keys[place]) };
    const watch = store.watch(range);
    watches[place] = watch;
    if (row.isWaiting === true) answers[place] = watch.next();
  }
}
