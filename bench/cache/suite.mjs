// @ts-check
import { garbageCollector } from '../harness/timers.mjs';
import { ChildrenMap } from './children-map.mjs';
import { bareMap, clientNodes, POD, plimsoll, plimsollStore } from './contestants.mjs';
import { NAMESPACES, pod, treePod } from './objects.mjs';
import { Waits } from './waits.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('./contestants.mjs').Cache} Cache
 * @typedef {import('./contestants.mjs').Entry} Entry
 * @typedef {import('./contestants.mjs').Kit} Kit
 * @typedef {import('./objects.mjs').Pod} Pod
 *
 * @typedef {object} Facts Filled in by the cases.
 * @property {Record<string, import('./waits.mjs').WaitFacts>} waits By mode.
 * @property {Record<string, number>} bytesPerRecord By contestant.
 * @property {Record<string, number>} walkMs
 */

export const name = 'cache';
export const summary = 'the resource cache: events, relists, lists of a namespace, walks of owners, waits, memory';

const EVENTS = { 'events 1k': 1000, 'events 10k': 10_000, 'events 100k': 100_000, 'events 400k': 400_000 };
const RELIST = 'relist 100k, 10 changed';
const LIST = 'list 1k of 100k';
const LIST_CHANGED = 'list 1k of 100k, changed';
const WALK = 'walk 100k, fan-out 10';
const WAITS = 'events while 100k are walked';
const LOAD = 'load 100k';
const SIZE = 100_000;
/** Of one turn. */
const EVENTS_A_TURN = 20_000;
const LISTS_A_TURN = 2000;

/** @param {boolean} quick @returns {string[]} */
export function caseNames(quick) {
  const events = Object.keys(EVENTS).slice(0, quick ? 3 : 4);
  return [...events, RELIST, LIST, LIST_CHANGED, WALK, LOAD, WAITS];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const kit = /** @type {Kit} */ (await loadPackage('kubernetes'));
  const { found, absent } = await clientNodes();
  const peers = [...found, bareMap()];
  /** @type {Facts & Record<string, unknown>} */
  const facts = {
    objects: 'pods of about 700 bytes as JSON, 100 namespaces, one index',
    absent,
    waits: {},
    bytesPerRecord: {},
    walkMs: {},
  };
  return { facts, openCase: (caseName) => cacheCase(caseName, kit, peers, facts) };
}

/**
 * @param {string} caseName
 * @param {Kit} kit
 * @param {readonly Entry[]} peers
 * @param {Facts} facts
 * @param {number} [size]
 * @returns {Case}
 */
export function cacheCase(caseName, kit, peers, facts, size = SIZE) {
  const own = plimsoll(kit);
  if (caseName === WALK) return walkCase(caseName, kit, facts, size);
  if (caseName === WAITS) return new Waits(kit, size).case(caseName, facts);
  const isEvents = Object.hasOwn(EVENTS, caseName);
  const n = isEvents ? Math.min(size, /** @type {Record<string, number>} */ (EVENTS)[caseName] ?? size) : size;
  const entries = isEvents ? [own, plimsollStore(kit), ...peers] : [own, ...peers];
  const [subject, ...rest] = entries.map((entry) => {
    // The same package without a part of the way is no peer to be measured by.
    const lacks = entry.lacks ?? (entry === own ? undefined : 'the informer in front');
    return { name: entry.name, ...(lacks === undefined ? {} : { lacks }), ...work(caseName, entry, n, facts) };
  });
  return { name: caseName, n, subject: /** @type {Contestant} */ (subject), peers: rest };
}

/**
 * @param {string} caseName
 * @param {Entry} entry
 * @param {number} n
 * @param {Facts} facts
 * @returns {Omit<Contestant, 'name' | 'lacks'>}
 */
function work(caseName, entry, n, facts) {
  /** @type {Cache | undefined} */
  let cache;
  let version = n;
  /** The versions that are to be there. @type {Map<number, number>} */
  const versions = new Map();
  /** @type {Pod[]} */
  let given = [];
  const ready = async () => {
    if (cache !== undefined && caseName !== LOAD) return /** @type {Cache} */ (cache);
    cache?.close();
    cache = await entry.open();
    if (caseName !== LOAD) cache.relist(all(n, versions), String(version));
    return cache;
  };
  const prepare = async () => {
    const { list } = await ready();
    if (Object.hasOwn(EVENTS, caseName)) given = changes(Math.min(n, EVENTS_A_TURN));
    else if (caseName === LIST_CHANGED) given = changes(LISTS_A_TURN);
    else if (caseName === LIST) list('ns-7');
    else {
      if (caseName === RELIST) changes(10);
      given = all(n, versions);
    }
  };
  /** @param {number} count */
  const changes = (count) =>
    Array.from({ length: count }, (_, at) => {
      const index = caseName === LIST_CHANGED ? (at % Math.max(1, n / NAMESPACES)) * NAMESPACES + 7 : (at * 7919) % n;
      versions.set(index, ++version);
      return pod(index, version);
    });
  const sweep = () => {
    const { relist, events, list } = /** @type {Cache} */ (cache);
    if (caseName === LIST) {
      for (let at = 0; at < LISTS_A_TURN; at++) list('ns-7');
      return LISTS_A_TURN;
    }
    if (caseName === LIST_CHANGED) {
      for (const change of given) {
        events([change]);
        list('ns-7');
      }
      return given.length;
    }
    if (Object.hasOwn(EVENTS, caseName)) events(given);
    else relist(given, String(version));
    return given.length;
  };
  const check = () => {
    const { list, versionOf } = /** @type {Cache} */ (cache);
    const indexes = Array.from({ length: 500 }, (_, at) => (at * 7919) % n);
    if (caseName === LOAD) facts.bytesPerRecord[entry.name] = bytesPerRecord(entry, n);
    return [
      { what: 'objects of a namespace', actual: list('ns-7').length, expected: Math.ceil((n - 7) / NAMESPACES) },
      {
        what: 'their versions',
        actual: indexes.map((index) => versionOf(`ns-${index % NAMESPACES}`, `pod-${index}`)),
        expected: indexes.map((index) => String(versions.get(index) ?? 1)),
      },
    ];
  };
  return { prepare, sweep, check };
}

/** @param {number} n @param {ReadonlyMap<number, number>} versions */
function all(n, versions) {
  return Array.from({ length: n }, (_, index) => pod(index, versions.get(index) ?? 1));
}

/** @param {Entry} entry @param {number} n */
function bytesPerRecord(entry, n) {
  const collect = garbageCollector();
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  const cache = /** @type {Cache} */ (entry.open());
  cache.relist(all(n, new Map()), '1');
  const bytes = Math.round((used() - before) / n);
  cache.close();
  return bytes;
}

/**
 * @param {string} caseName
 * @param {Kit} kit
 * @param {Facts} facts
 * @param {number} n
 * @returns {Case}
 */
function walkCase(caseName, kit, facts, n) {
  const objects = Array.from({ length: n }, (_, index) => treePod(index));
  const store = kit.createResourceStore();
  store.feed(POD).replace(objects);
  store.flush();
  const start = [{ ...POD, namespace: 'one', name: 'pod-0' }];
  /** @param {string} who @param {() => number} walk @param {string} [lacks] */
  const contestant = (who, walk, lacks) => {
    let visited = 0;
    return {
      name: who,
      ...(lacks === undefined ? {} : { lacks }),
      sweep: () => {
        const begun = performance.now();
        visited = walk();
        facts.walkMs[who] = Math.min(facts.walkMs[who] ?? Number.POSITIVE_INFINITY, performance.now() - begun);
        return n;
      },
      check: () => [{ what: 'visited', actual: visited, expected: n }],
    };
  };
  const own = () => {
    let count = 0;
    const { visited } = store.iterateHierarchy(start, () => void count++);
    if (visited !== count) throw new Error(`Cannot measure: ${count} calls, and ${visited} visited`);
    return count;
  };
  const kept = new ChildrenMap();
  for (const object of objects) kept.put(object);
  const ownMap = () => {
    let count = 0;
    kept.walk('uid-0', () => void count++);
    return count;
  };
  return {
    name: caseName,
    n,
    subject: contestant('plimsoll', own),
    peers: [
      contestant('a Map of children that writes keep', ownMap, 'no order of states, no snapshot, no cycles told'),
      contestant(
        'all children found anew for each walk',
        () => rebuiltWalk(objects),
        'no index: it reads every object for each walk',
      ),
    ],
    close: () => store.close(),
  };
}

/** @param {readonly Pod[]} objects */
function rebuiltWalk(objects) {
  /** @type {Map<string, Pod[]>} */
  const children = new Map();
  for (const object of objects) {
    for (const { uid } of /** @type {{ uid: string }[]} */ (object.metadata.ownerReferences ?? [])) {
      const found = children.get(uid);
      if (found === undefined) children.set(uid, [object]);
      else found.push(object);
    }
  }
  const visited = new Set();
  const open = ['uid-0'];
  for (let uid = open.pop(); uid !== undefined; uid = open.pop()) {
    if (visited.has(uid)) continue;
    visited.add(uid);
    for (const { metadata } of children.get(uid) ?? []) open.push(metadata.uid);
  }
  return visited.size;
}
