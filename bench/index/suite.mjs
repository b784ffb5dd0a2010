// @ts-check
import { generateKeys, listQueries, prefixQuery } from '../data/keys.mjs';
import { createRandom, shuffled } from '../data/random.mjs';
import { indexFindings } from './checks.mjs';
import { CoreIndex } from './core-index.mjs';
import { insertingPeers, readingPeers } from './database-peers.mjs';
import { loadDatabases } from './databases.mjs';
import { createKeyIndex } from './key-index.mjs';
import { createBTreeIndex, createMapIndex, createRedBlackIndex, loadPackages } from './package-indexes.mjs';
import { createChunkedArray, createStaticArray } from './sorted-array.mjs';

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('./checks.mjs').SomeIndex} SomeIndex
 * @typedef {import('./core-index.mjs').Core} Core
 * @typedef {import('./package-indexes.mjs').Packages & { databases: readonly Loaded[] }} Packages
 * @typedef {import('./databases.mjs').Loaded} Loaded
 * @typedef {import('./key-index.mjs').KeyIndex} KeyIndex
 *
 * @typedef {object} CoreBundle
 * @property {new (module: WebAssembly.Module) => Core} Core
 * @property {new (module: WebAssembly.Module, options?: { lean?: boolean }) => KeyIndex} KeyIndex
 * @property {() => WebAssembly.Module} coreModule
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} [lacks]
 * @property {(keys: readonly string[]) => SomeIndex} create empty; ids are places in `keys`
 */

export const name = 'index';
export const summary = 'ordered keys: insert, delete, exact get, list by prefix, count by prefix';
export const needsCore = true;

const SIZES = { '10k': 10_000, '100k': 100_000, '1M': 1_000_000 };
const LISTS = [20, 100, 500, 5000];
const COUNT = 'count 40k of 100k';
/** First words of the cases about more than the ordered index by itself. */
const WITH_MAP = 'map';
const WITH_HISTORY = 'history';
/** Inserts beyond this, and everybody needs seconds a turn. */
const LARGE = SIZES['1M'];
const LARGE_ROUNDS = 3;

/**
 * @param {boolean} quick
 * @returns {string[]}
 */
export function caseNames(quick) {
  const all = [
    ...Object.keys(SIZES).map((size) => `insert ${size}`),
    ...['delete+insert 100k', 'delete+insert 1M'],
    ...LISTS.map((limit) => `list ${limit} ids`),
    COUNT,
    ...[WITH_MAP, WITH_HISTORY].flatMap((kind) =>
      ['insert 100k', 'insert 1M', 'delete+insert 100k'].map((work) => `${kind} ${work}`),
    ),
    'get 100k',
    'lean get 100k',
    `${WITH_HISTORY} list 100 ids`,
  ];
  return quick ? all.filter((text) => !text.endsWith('1M')) : all;
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadCore }) {
  const { Core, KeyIndex, coreModule } = /** @type {CoreBundle} */ (await loadCore());
  const { loaded: databases, does, absent } = await loadDatabases();
  const packages = { ...(await loadPackages()), databases };
  const create = {
    lean: () => createKeyIndex(new KeyIndex(coreModule(), { lean: true })),
    [WITH_MAP]: () => createKeyIndex(new KeyIndex(coreModule())),
    [WITH_HISTORY]: () => new CoreIndex(new Core(coreModule())),
  };
  const sample = generateKeys(SIZES['10k']);
  const bytes = sample.reduce((sum, key) => sum + key.length, 0) / sample.length;
  return {
    facts: {
      keys: 'generated, /registry/<kind>/ns-<n>/<app>-<rand>, random order',
      meanKeyBytes: Math.round(bytes),
      databases: does,
      absent,
    },
    openCase(caseName) {
      const words = caseName.split(' ');
      const kind = words[0] ?? '';
      // An ordered index needs no Map; exact reads are what the Map is for.
      const own = caseName === 'get 100k' ? create.map : create.lean;
      const subject = {
        name: 'plimsoll',
        create: /** @type {Record<string, () => SomeIndex>} */ (create)[kind] ?? own,
      };
      const [verb = '', size = ''] = kind in create ? words.slice(1) : words;
      if (verb === 'insert') return insertCase(caseName, sizeOf(size), subject, packages);
      if (verb === 'delete+insert') return replaceCase(caseName, sizeOf(size), subject, packages);
      if (verb === 'get') return getCase(caseName, sizeOf(size), subject, packages);
      return readCase(caseName, subject, packages);
    },
  };
}

/** @param {string} text */
function sizeOf(text) {
  const size = /** @type {Record<string, number>} */ (SIZES)[text];
  if (size === undefined) throw new RangeError(`Cannot open the case: "${text}" is not a size`);
  return size;
}

/**
 * @param {Packages} packages
 * @param {number} size
 * @returns {Entry[]}
 */
function orderedPeers(packages, size) {
  return [
    { name: 'sorted-btree', create: (keys) => createBTreeIndex(packages, keys) },
    { name: 'chunked sorted array', create: createChunkedArray },
    ...(size === SIZES['100k']
      ? [
          {
            name: 'functional-red-black-tree',
            create: (/** @type {readonly string[]} */ keys) => createRedBlackIndex(packages, keys),
          },
        ]
      : []),
  ];
}

/**
 * In the cases of the ordered index alone, and where a turn takes no seconds.
 *
 * @param {string} caseName
 * @param {Packages} packages
 * @returns {readonly Loaded[]}
 */
function databasesFor(caseName, { databases }) {
  const isSmall = !caseName.endsWith('1M') && caseName !== COUNT;
  return isSmall && /^(insert|get|list) /.test(caseName) ? databases : [];
}

/**
 * All keys into an empty index, in random order.
 *
 * @param {string} caseName
 * @param {number} size
 * @param {Entry} subject
 * @param {Packages} packages
 * @returns {Case}
 */
function insertCase(caseName, size, subject, packages) {
  const keys = generateKeys(size + 1000);
  const absent = keys.splice(size);
  const map = { name: 'Map<string, number>', lacks: 'keeps no order: no list, no count', create: createMapIndex };
  const [first, ...peers] = [subject, ...orderedPeers(packages, size), map].map((entry) => {
    /** @type {SomeIndex | undefined} */
    let index;
    return contestant(entry, {
      check: () => indexFindings(index ?? entry.create(keys), { present: keys, absent }),
      prepare: () => {
        index = entry.create(keys);
      },
      sweep: () => insertAll(index, keys),
    });
  });
  const databases = insertingPeers(databasesFor(caseName, packages), { keys, absent });
  const roundsMax = size === LARGE ? LARGE_ROUNDS : undefined;
  return { ...caseOf(caseName, size, first, [...peers, ...databases.contestants], roundsMax), close: databases.close };
}

/**
 * As many keys as the index holds, or 200k of 1M, replaced one by one: an old one goes, a new one comes. The next round
 * replaces them back.
 *
 * @param {string} caseName
 * @param {number} size
 * @param {Entry} subject
 * @param {Packages} packages
 * @returns {Case}
 */
function replaceCase(caseName, size, subject, packages) {
  const operations = Math.min(size, 200_000);
  const keys = generateKeys(size + operations);
  const random = createRandom(size);
  const places = shuffled(
    random,
    Array.from({ length: operations }, (_, place) => place),
  );
  const states = /** @type {const} */ ([keys.slice(0, size), keys.slice(operations)]);
  const [first, ...peers] = [subject, ...orderedPeers(packages, size)].map((entry) => {
    const index = entry.create(keys);
    insertAll(index, states[0]);
    let state = 0;
    return contestant(entry, {
      check: () => {
        const present = /** @type {string[]} */ (states[state]);
        const absent = state === 0 ? keys.slice(size, size + 1000) : keys.slice(0, 1000);
        return indexFindings(index, { present, absent });
      },
      sweep: () => {
        replaceAll(index, keys, places, state === 0 ? { from: 0, to: size } : { from: size, to: 0 });
        state = 1 - state;
        return operations;
      },
    });
  });
  return caseOf(caseName, size, first, peers, size === LARGE ? LARGE_ROUNDS : undefined);
}

/**
 * @param {string} caseName
 * @param {number} size
 * @param {Entry} subject
 * @param {Packages} packages
 * @returns {Promise<Case>}
 */
async function getCase(caseName, size, subject, packages) {
  const keys = generateKeys(size + 1000);
  const absent = keys.splice(size);
  const asked = shuffled(createRandom(size), keys);
  const map = { name: 'Map<string, number>', create: createMapIndex };
  const [first, ...peers] = [subject, ...orderedPeers(packages, size), map].map((entry) => {
    const index = entry.create(keys);
    insertAll(index, keys);
    return contestant(entry, {
      check: () => indexFindings(index, { present: keys, absent }),
      operation: inTurn(asked, (key) => index.get(key)),
    });
  });
  const databases = await readingPeers(databasesFor(caseName, packages), { keys, absent, asked });
  return { ...caseOf(caseName, size, first, [...peers, ...databases.contestants]), close: databases.close };
}

/**
 * Lists and counts over 100k keys.
 *
 * @param {string} caseName
 * @param {Entry} subject
 * @param {Packages} packages
 * @returns {Promise<Case>}
 */
async function readCase(caseName, subject, packages) {
  const size = SIZES['100k'];
  const keys = generateKeys(size + 1000);
  const absent = keys.splice(size);
  const isCount = caseName === COUNT;
  const queries = isCount ? [prefixQuery('/registry/pods/', 0)] : listQueries(keys, Number(/\d+/.exec(caseName)?.[0]));
  const fixed = { name: 'static sorted array', lacks: 'cannot be written to', create: createStaticArray };
  const [first, ...peers] = [subject, ...orderedPeers(packages, size), fixed].map((entry) => {
    /** @type {SomeIndex} */
    const index = entry.create(keys);
    if (index.insert !== undefined) insertAll(index, keys);
    const read = isCount ? index.count : index.list;
    if (read === undefined) throw new TypeError(`Cannot open the case "${caseName}": ${entry.name} cannot do it`);
    return contestant(entry, {
      check: () => indexFindings(index, { present: keys, absent, queries }),
      operation: inTurn(queries, read.bind(index)),
    });
  });
  const databases = await readingPeers(databasesFor(caseName, packages), { keys, absent, queries });
  return { ...caseOf(caseName, size, first, [...peers, ...databases.contestants]), close: databases.close };
}

/**
 * @param {Entry} entry
 * @param {Omit<Contestant, 'name' | 'lacks'>} work
 * @returns {Contestant}
 */
function contestant({ name: entryName, lacks }, work) {
  return { name: entryName, ...(lacks === undefined ? {} : { lacks }), ...work };
}

/**
 * @param {string} caseName
 * @param {number} n
 * @param {Contestant | undefined} subject
 * @param {Contestant[]} peers
 * @param {number} [roundsMax]
 * @returns {Case}
 */
function caseOf(caseName, n, subject, peers, roundsMax) {
  if (subject === undefined) throw new TypeError(`Cannot open the case "${caseName}": nobody takes part`);
  return { name: caseName, n, subject, peers, ...(roundsMax === undefined ? {} : { roundsMax }) };
}

/**
 * @param {SomeIndex | undefined} index
 * @param {readonly string[]} keys
 * @returns {number} how many
 */
function insertAll(index, keys) {
  if (index?.insert === undefined) throw new TypeError('Cannot insert: the index is read-only');
  for (let place = 0; place < keys.length; place++) {
    index.insert(/** @type {string} */ (keys[place]), place);
  }
  return keys.length;
}

/**
 * @param {SomeIndex} index
 * @param {readonly string[]} keys
 * @param {readonly number[]} places
 * @param {{ from: number, to: number }} offsets
 */
function replaceAll(index, keys, places, { from, to }) {
  if (index.remove === undefined || index.insert === undefined) throw new TypeError('Cannot replace: it is read-only');
  for (const place of places) {
    index.remove(/** @type {string} */ (keys[from + place]));
    index.insert(/** @type {string} */ (keys[to + place]), to + place);
  }
}

/**
 * @template T
 * @param {readonly T[]} inputs
 * @param {(input: T) => unknown} work
 * @returns {() => unknown}
 */
function inTurn(inputs, work) {
  let next = 0;
  return () => {
    const input = /** @type {T} */ (inputs[next]);
    next = next + 1 === inputs.length ? 0 : next + 1;
    return work(input);
  };
}
