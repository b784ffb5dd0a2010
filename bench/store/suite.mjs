// @ts-check
import { generateKeys } from '../data/keys.mjs';
import { createRandom, shuffled } from '../data/random.mjs';
import { antiEtcdContestant, openAntiEtcd } from './antietcd.mjs';
import { MapStore } from './baseline.mjs';
import { compactionCase } from './compaction.mjs';
import { MvccBaseline } from './mvcc-baseline.mjs';

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
 * @property {(request: object) => Promise<{ succeeded: boolean, revision: number }>} [txn]
 * @property {() => Promise<void>} close
 *
 * @typedef {{ name: string, lacks?: string, open: () => Promise<Store> }} Entry
 */

export const name = 'store';
export const summary = 'the public store: put and txn awaited one by one, get, range, steps of compaction';

const PUT = 'put awaited 100k';
const TXN = 'txn awaited 100k';
const GET = 'get 100k';
const RANGE = 'range 1k of 100k';
const MAP = 'Map and a sorted list of keys';
/** What antietcd calls it. */
const CALLS = /** @type {const} */ ({ [PUT]: 'put', [TXN]: 'txn', [GET]: 'get', [RANGE]: 'range' });
const KEYS = 100_000;
const PAGE = { prefix: '/registry/pods/', limit: 1000 };

/** @type {readonly import('./compaction.mjs').Shape[]} */
const SHAPES = ['overwritten', 'deleted'];
const HISTORY = { '100k': 100_000, '1M': 1_000_000 };

/** @param {boolean} quick @returns {string[]} */
export function caseNames(quick) {
  const size = quick ? '100k' : '1M';
  return [PUT, TXN, GET, RANGE, ...SHAPES.map((shape) => `compact ${size} ${shape}`)];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const { openStore } = /** @type {{ openStore(options?: object): Promise<Store>}} */ (await loadPackage());
  const entries = [
    { name: 'plimsoll', open: () => openStore() },
    {
      name: 'MVCC in plain JavaScript',
      lacks: 'no log, no checks, no limits, no bound on history',
      open: async () => /** @type {Store} */ (/** @type {unknown} */ (new MvccBaseline())),
    },
    { name: MAP, lacks: 'no history, no watchers, no checks', open: async () => new MapStore() },
  ];
  /** @type {Record<string, import('./compaction.mjs').StepFacts>} */
  const compactionSteps = {};
  const facts = {
    keys: 'generated, 100k, mean 47 bytes',
    values: 'strings of 12 to 20 characters',
    history: 'default retention; all of it before a compaction',
    // Filled in by the cases that compact; a rate does not say how long anybody has to wait.
    compactionSteps,
  };
  const openHistory = (/** @type {import('./step-clock.mjs').StepClock} */ clock) =>
    /** @type {Promise<import('./compaction.mjs').HistoryStore>} */ (
      /** @type {unknown} */ (openStore({ clock, retention: { events: Number.POSITIVE_INFINITY } }))
    );
  return {
    facts,
    openCase: (caseName) => {
      const history = historyOf(caseName);
      // The Map has no transactions.
      if (history === undefined)
        return openCase(caseName, caseName === TXN ? entries.filter(isTransactional) : entries);
      const report = (/** @type {import('./compaction.mjs').StepFacts} */ steps) => {
        compactionSteps[caseName] = steps;
        console.error(`  ${stepLine(steps)}`);
      };
      return compactionCase(caseName, history, { open: openHistory, report });
    },
  };
}

/** @param {Entry} entry */
function isTransactional({ name: entryName }) {
  return entryName !== MAP;
}

/** @param {string} caseName */
function historyOf(caseName) {
  for (const shape of SHAPES) {
    for (const [size, entries] of Object.entries(HISTORY)) {
      if (caseName === `compact ${size} ${shape}`) return { shape, entries };
    }
  }
  return undefined;
}

/** @param {import('./compaction.mjs').StepFacts} facts */
function stepLine(facts) {
  const { steps, p50Ms, p99Ms, maxMs, cpuMaxMs, overTarget, longestTurnMs, idleLongestTurnMs, targetMs, isMet } = facts;
  const times = `p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms (CPU ${cpuMaxMs} ms), ${overTarget} above target`;
  const loop = `longest turn of the event loop ${longestTurnMs} ms (${idleLongestTurnMs} ms when idle)`;
  return `${steps} steps: ${times}; ${loop}; target ${targetMs} ms a step: ${isMet ? 'met' : 'missed'}`;
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
  const etcd = await openAntiEtcd();
  const call = /** @type {Record<string, import('./antietcd.mjs').Call>} */ (CALLS)[caseName] ?? 'put';
  contestants.push(await antiEtcdContestant(etcd, call, { keys, order: orderOf(keys), page: PAGE }));
  const [subject, ...peers] = contestants;
  if (subject === undefined) throw new TypeError(`Cannot open the case "${caseName}": nobody takes part`);
  const close = async () => void (await Promise.all([...stores.map((store) => store.close()), etcd.stop()]));
  return { name: caseName, n: KEYS, subject, peers, close };
}

/** In which every round goes through the keys. @param {readonly string[]} keys */
function orderOf(keys) {
  return shuffled(createRandom(KEYS), keys);
}

/**
 * @param {string} caseName
 * @param {Store} store holds every key at version 1
 * @param {readonly string[]} keys
 * @returns {Omit<Contestant, 'name' | 'lacks'>}
 */
function work(caseName, store, keys) {
  const order = orderOf(keys);
  let round = 0;
  const check = () => findings(store, keys, order, round);
  if (caseName === RANGE) return { check, operation: () => store.range(PAGE).kvs };
  if (caseName === GET) {
    let next = 0;
    return { check, operation: () => store.get(/** @type {string} */ (order[next++ % KEYS])) };
  }
  const write =
    caseName === TXN
      ? txnOf(store, keys)
      : (/** @type {string} */ key, /** @type {string} */ value) => store.put(key, value);
  const sweep = async () => {
    round++;
    const value = `value of round ${round}`;
    for (const key of order) await write(key, value);
    return order.length;
  };
  return { check, sweep };
}

/**
 * Compare-and-put: the write of a transaction whose compare, the mod revision that the caller knows, always holds.
 *
 * @param {Store} store
 * @param {readonly string[]} keys
 */
function txnOf(store, keys) {
  const known = new Map(keys.map((key) => [key, store.get(key)?.modRevision]));
  return async (/** @type {string} */ key, /** @type {string} */ value) => {
    const compare = [{ key, target: 'mod', result: '=', value: known.get(key) }];
    const answer = await store.txn?.({ compare, then: [{ type: 'put', key, value }] });
    if (answer?.succeeded !== true) throw new Error(`Cannot measure transactions: the compare of ${key} does not hold`);
    known.set(key, answer.revision);
  };
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
