// @ts-check
import { generateKeys } from '../data/keys.mjs';
import { createRandom, shuffled } from '../data/random.mjs';
import { openAntiEtcd } from '../store/antietcd.mjs';
import { AntiEtcdWatchers } from './antietcd-watchers.mjs';
import { fanOutFindings, wakeUpFindings } from './checks.mjs';
import { flatness, wakeUpFacts, wakeUpLine } from './hub-share.mjs';
import { EmitterWatchers, ListWatchers, PrefixMapStore } from './plain-peers.mjs';
import { askedOf, directories, wakeUpCase } from './wake-up.mjs';
import { StreamWatchers } from './watchers.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('./hub-share.mjs').WakeUpFacts} WakeUpFacts
 * @typedef {import('./watchers.mjs').Store} Store
 * @typedef {import('./watchers.mjs').Watchers} Watchers
 * @typedef {import('./wake-up.mjs').Entry} Entry
 * @typedef {import('./wake-up.mjs').Size} Size
 *
 * @typedef {object} Facts
 * @property {Record<string, WakeUpFacts>} wakeUps By case.
 * @property {import('./hub-share.mjs').Flat} [flat]
 */

export const name = 'watch';
export const summary = 'one change and its watchers through the public store: wake-up, fan-out, open and close';

const COUNTS = { '1k': 1000, '10k': 10_000, '100k': 100_000 };
const FEW = 'wake-up 1k';
const MANY = 'wake-up 100k';
const POINTS = 'wake-up 100k points';
const ONE_PREFIX = 'wake-up 10k of one prefix';
const OPEN = 'open and close a watch 100k';

/** @type {Size} */
const SIZE = { operations: 20_000, checked: 100 };
/** Changes of a turn of the fan-out, each of which goes to all watchers. */
const FAN_OUTS = 20;
const ROOT = '/registry/';

/** @returns {string[]} */
export function caseNames() {
  return [FEW, 'wake-up 10k', MANY, POINTS, ONE_PREFIX, OPEN];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const { openStore } = /** @type {{ openStore(): Promise<Store> }} */ (await loadPackage());
  const etcd = {
    name: 'antietcd',
    lacks:
      'no history, a resume gets newest states only, no order, prefixes are whole directories, a callback inside the put',
    open: async () => new AntiEtcdWatchers(await openAntiEtcd()),
  };
  /** @type {Facts} */
  const found = { wakeUps: {} };
  const facts = {
    keys: 'generated, as in index; the prefix of a watcher is a directory of its own, 41 to 62 bytes, 22 different lengths',
    consumers: 'each watcher of plimsoll and of the Maps waits in next()',
    // Filled in by the wake-up cases: a rate has the put in it.
    ...found,
  };
  const entries = [
    { name: 'plimsoll', open: async () => new StreamWatchers(await openStore()) },
    etcd,
    ...plainPeers(),
  ];
  return { facts, openCase: (caseName) => watchCase(caseName, entries, facts) };
}

/** What one would write. @returns {Entry[]} */
export function plainPeers() {
  return [
    {
      name: 'startsWith over all',
      lacks: 'no history, no resume, no revisions kept, a callback inside the put',
      comparesAll: true,
      open: async () => new ListWatchers(),
    },
    {
      name: 'EventEmitter by path',
      lacks: 'no history, no resume, no revisions kept, prefixes end at a slash, a callback inside the put',
      open: async () => new EmitterWatchers(),
    },
    {
      name: 'Map of prefixes',
      lacks: 'no history, no resume, no revisions kept, no bound on queues',
      open: async () => new StreamWatchers(new PrefixMapStore()),
    },
  ];
}

/**
 * @param {string} caseName
 * @param {readonly Entry[]} entries the subject first
 * @param {Facts} facts
 * @param {number} [count] how many watchers, if not as many as the name says
 * @param {Size} [size]
 * @returns {Promise<Case>}
 */
export async function watchCase(caseName, entries, facts, count = countOf(caseName), size = SIZE) {
  if (caseName === ONE_PREFIX) return fanOutCase(caseName, entries, count);
  if (caseName === OPEN) return openCloseCase(caseName, entries, count, size);
  const isPoints = caseName === POINTS;
  // Of points anybody would have a Map.
  const chosen = isPoints ? entries.filter(({ comparesAll }) => comparesAll !== true) : entries;
  const opened = await wakeUpCase(caseName, chosen, { count, isPoints, size }, (rounds) => {
    facts.wakeUps[caseName] = wakeUpFacts(count, rounds);
    const { [FEW]: few, [MANY]: many } = facts.wakeUps;
    if (few !== undefined && many !== undefined) facts.flat = flatness(few, many);
  });
  return { ...opened, close: () => closeAndTell(opened, facts.wakeUps[caseName]) };
}

/**
 * @param {Case} opened
 * @param {WakeUpFacts | undefined} found
 */
function closeAndTell(opened, found) {
  if (found !== undefined) console.error(`  ${wakeUpLine(found)}`);
  return opened.close?.();
}

/** @param {string} caseName */
function countOf(caseName) {
  const text = /\d+k/.exec(caseName)?.[0] ?? '';
  const count = /** @type {Record<string, number>} */ (COUNTS)[text];
  if (count === undefined)
    throw new RangeError(`Cannot open the case "${caseName}": it does not say how many watchers`);
  return count;
}

/**
 * All watch the same prefix; one operation is one batch delivered.
 *
 * @param {string} caseName
 * @param {readonly Entry[]} entries
 * @param {number} count
 * @returns {Promise<Case>}
 */
async function fanOutCase(caseName, entries, count) {
  const keys = generateKeys(FAN_OUTS);
  const opened = await openAll(entries);
  const contestants = [];
  for (const { watchers, ...entry } of opened) {
    for (const key of keys) await watchers.put(key, 'first value');
    for (let place = 0; place < count; place++) await watchers.open({ prefix: ROOT }, place);
    let turns = 0;
    contestants.push({
      ...entry,
      check: () => fanOutFindings(watchers, { count, key: /** @type {string} */ (keys[0]), unwatched: '/elsewhere/a' }),
      sweep: async () => {
        const value = `value of turn ${++turns}`;
        for (const key of keys) {
          await watchers.put(key, value);
          for (let place = 0; place < count; place++) {
            const arrival = await watchers.arrival(place);
            if (arrival === undefined) throw new Error(`Cannot measure a fan-out: watcher ${place} got nothing`);
            watchers.rearm(place);
          }
        }
        return keys.length * count;
      },
    });
  }
  return caseOf(caseName, count, contestants, opened);
}

/**
 * One operation is a watch of a directory of its own that is opened, has a consumer, and is closed in another order, all
 * of them before the first one is closed. A check leaves them open in between.
 *
 * @param {string} caseName
 * @param {readonly Entry[]} entries
 * @param {number} count
 * @param {Size} size
 * @returns {Promise<Case>}
 */
async function openCloseCase(caseName, entries, count, size) {
  const { watched, keys, others } = directories(count);
  const order = shuffled(createRandom(count), [...keys.keys()]);
  const question = askedOf(keys, others, size.checked);
  const opened = await openAll(entries);
  const contestants = opened.map(({ watchers, ...entry }) => {
    const openThem = async () => {
      for (let place = 0; place < count; place++) {
        await watchers.open({ prefix: /** @type {string} */ (watched[place]) }, place);
      }
    };
    const closeThem = async () => {
      for (const place of order) await watchers.close(place);
    };
    return {
      ...entry,
      check: async () => {
        await openThem();
        const whileOpen = await wakeUpFindings(watchers, question);
        await closeThem();
        for (const key of question.keys) await watchers.put(key, `after the close ${++closes}`);
        return [...whileOpen, { what: 'closed, but woken', actual: await watchers.waiting(), expected: [] }];
      },
      sweep: async () => {
        await openThem();
        await closeThem();
        return count;
      },
    };
  });
  return caseOf(caseName, count, contestants, opened);
}

/** Makes the values of each check new. */
let closes = 0;

/** @param {readonly Entry[]} entries */
function openAll(entries) {
  return Promise.all(
    entries.map(async ({ name: entryName, lacks, open: openEntry }) => {
      return { name: entryName, ...(lacks === undefined ? {} : { lacks }), watchers: await openEntry() };
    }),
  );
}

/**
 * @param {string} caseName
 * @param {number} n
 * @param {Contestant[]} contestants
 * @param {readonly { watchers: Watchers }[]} opened
 * @returns {Case}
 */
function caseOf(caseName, n, contestants, opened) {
  const [subject, ...peers] = contestants;
  if (subject === undefined) throw new TypeError(`Cannot open the case "${caseName}": nobody takes part`);
  const close = async () => void (await Promise.all(opened.map(({ watchers }) => watchers.end())));
  return { name: caseName, n, subject, peers, close };
}
