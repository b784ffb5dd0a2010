// @ts-check
import { generateKeys } from '../data/keys.mjs';
import { createRandom, shuffled } from '../data/random.mjs';
import { MapStore } from './baseline.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('../harness/measure.mjs').Case} Case
 *
 * @typedef {{ key: string, value?: unknown, modRevision: number, createRevision: number, version: number }} KeyValue
 * @typedef {object} Store The calls of the public store that are measured.
 * @property {(key: string, value: unknown) => Promise<{ revision: number }>} put
 * @property {(key: string) => KeyValue | undefined} get
 * @property {(request: { prefix: string, limit: number }) => { kvs: readonly KeyValue[] }} range
 * @property {() => Promise<void>} close
 *
 * @typedef {{ name: string, lacks?: string, open: () => Promise<Store> }} Entry
 */

export const name = 'store';
export const summary = 'the public store: put awaited one by one, get, range';

const PUT = 'put awaited 100k';
const GET = 'get 100k';
const RANGE = 'range 1k of 100k';
const KEYS = 100_000;
const PAGE = { prefix: '/registry/pods/', limit: 1000 };

/** @returns {string[]} */
export function caseNames() {
  return [PUT, GET, RANGE];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const { openStore } = /** @type {{ openStore(): Promise<Store> }} */ (await loadPackage());
  const entries = [
    { name: 'plimsoll', open: () => openStore() },
    {
      name: 'Map and a sorted list of keys',
      lacks: 'no history, no watchers, no checks',
      open: async () => new MapStore(),
    },
  ];
  return {
    facts: {
      keys: 'generated, 100k, mean 47 bytes',
      values: 'strings of 12 to 20 characters',
      history: 'default retention',
    },
    openCase: (caseName) => openCase(caseName, entries),
  };
}

/**
 * @param {string} caseName
 * @param {readonly Entry[]} entries
 * @returns {Promise<Case>}
 */
async function openCase(caseName, entries) {
  const keys = generateKeys(KEYS);
  const stores = await Promise.all(entries.map((entry) => entry.open()));
  const contestants = [];
  for (const [place, store] of stores.entries()) {
    for (const key of keys) await store.put(key, 'value of round 0');
    const { name: entryName, lacks } = /** @type {Entry} */ (entries[place]);
    contestants.push({ name: entryName, ...(lacks === undefined ? {} : { lacks }), ...work(caseName, store, keys) });
  }
  const [subject, ...peers] = contestants;
  if (subject === undefined) throw new TypeError(`Cannot open the case "${caseName}": nobody takes part`);
  const close = async () => void (await Promise.all(stores.map((store) => store.close())));
  return { name: caseName, n: KEYS, subject, peers, close };
}

/**
 * @param {string} caseName
 * @param {Store} store holds every key at version 1
 * @param {readonly string[]} keys
 * @returns {Omit<Contestant, 'name' | 'lacks'>}
 */
function work(caseName, store, keys) {
  const order = shuffled(createRandom(KEYS), keys);
  let round = 0;
  const check = () => findings(store, keys, order, round);
  if (caseName === RANGE) return { check, operation: () => store.range(PAGE).kvs };
  if (caseName === GET) {
    let next = 0;
    return { check, operation: () => store.get(/** @type {string} */ (order[next++ % KEYS])) };
  }
  const sweep = async () => {
    round++;
    const value = `value of round ${round}`;
    for (const key of order) await store.put(key, value);
    return order.length;
  };
  return { check, sweep };
}

/**
 * Every key at the version, revision and value that `round` sweeps in that order leave, and the page in key order.
 *
 * @param {Store} store
 * @param {readonly string[]} keys
 * @param {readonly string[]} order
 * @param {number} round
 * @returns {Finding[]}
 */
function findings(store, keys, order, round) {
  const written = new Map((round === 0 ? keys : order).map((key, place) => [key, round * KEYS + place + 2]));
  const created = new Map(keys.map((key, place) => [key, place + 2]));
  const rows = [...keys].sort().map((key) => ({
    key,
    value: `value of round ${round}`,
    createRevision: created.get(key),
    modRevision: written.get(key),
    version: round + 1,
  }));
  const page = rows.filter(({ key }) => key.startsWith(PAGE.prefix)).slice(0, PAGE.limit);
  return [
    { what: 'every key', actual: rows.map(({ key }) => row(store.get(key))), expected: rows },
    { what: 'the page', actual: store.range(PAGE).kvs.map(row), expected: page },
  ];
}

/** What both sides have of a key. @param {KeyValue | undefined} entry */
function row(entry) {
  if (entry === undefined) return undefined;
  const { key, value, createRevision, modRevision, version } = entry;
  return { key, value, createRevision, modRevision, version };
}
