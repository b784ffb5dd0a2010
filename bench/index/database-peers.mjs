// @ts-check
import { indexFindings } from './checks.mjs';

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('./databases.mjs').Database} Database
 * @typedef {import('./databases.mjs').Loaded} Loaded
 *
 * @typedef {object} Peers
 * @property {Contestant[]} contestants
 * @property {() => Promise<void>} close
 *
 * @typedef {{ keys: readonly string[], absent: readonly string[], queries?: readonly Query[] }} Data
 */

/** Ids that one turn lists, in lists of whatever length. */
const LISTED = 100_000;

/**
 * All keys into an empty database.
 *
 * @param {readonly Loaded[]} databases
 * @param {Data} data
 * @returns {Peers}
 */
export function insertingPeers(databases, data) {
  const { keys } = data;
  /** @type {Map<string, Database>} */
  const opened = new Map();
  const contestants = databases.map(({ name, open }) => ({
    name,
    check: () => findings(opened.get(name), data),
    prepare: async () => {
      await opened.get(name)?.close();
      opened.set(name, await open());
    },
    sweep: async () => {
      await opened.get(name)?.insertAll(keys);
      return keys.length;
    },
  }));
  return { contestants, close: () => closeAll([...opened.values()]) };
}

/**
 * Exact reads of `asked`, or the lists of the queries.
 *
 * @param {readonly Loaded[]} databases
 * @param {Data & { asked?: readonly string[] }} data
 * @returns {Promise<Peers>}
 */
export async function readingPeers(databases, data) {
  const { keys, asked, queries = [] } = data;
  /** @type {Database[]} */
  const opened = [];
  const contestants = [];
  for (const { name, open } of databases) {
    const database = await open();
    opened.push(database);
    await database.insertAll(keys);
    const work = asked === undefined ? listsOf(database, queries) : getsOf(database, asked);
    contestants.push({ name, check: () => findings(database, data), ...work });
  }
  return { contestants, close: () => closeAll(opened) };
}

/**
 * @param {Database} database
 * @param {readonly string[]} asked
 */
function getsOf(database, asked) {
  let next = 0;
  return { operation: () => database.get(/** @type {string} */ (asked[next++ % asked.length])) };
}

/**
 * Awaited where the database answers later, so a fixed number of them for all.
 *
 * @param {Database} database
 * @param {readonly Query[]} queries
 */
function listsOf(database, queries) {
  const [{ limit } = { limit: 1 }] = queries;
  const lists = Math.ceil(LISTED / limit);
  let listed = 0;
  return {
    sweep: async () => {
      for (let turn = 0; turn < lists; turn++) {
        const ids = database.list(/** @type {Query} */ (queries[turn % queries.length]));
        listed += (Array.isArray(ids) ? ids : await ids).length;
      }
      if (listed === 0) throw new Error('Cannot measure lists: nothing was listed');
      return lists;
    },
  };
}

/**
 * @param {Database | undefined} database
 * @param {Data} data
 */
async function findings(database, { keys, absent, queries = [] }) {
  if (database === undefined) throw new TypeError('Cannot check: nothing was opened');
  const answers = {
    get: (/** @type {string} */ key) => database.get(key),
    list: (/** @type {Query} */ query) => database.list(query),
    keyOf: (/** @type {number} */ id) => keys[id] ?? '',
  };
  return indexFindings(answers, { present: keys, absent, queries });
}

/** @param {readonly Database[]} databases */
async function closeAll(databases) {
  for (const database of databases) await database.close();
}
