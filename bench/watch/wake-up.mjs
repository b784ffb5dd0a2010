// @ts-check
import { generateKeys } from '../data/keys.mjs';
import { createRandom, shuffled } from '../data/random.mjs';
import { wakeUpFindings } from './checks.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('./hub-share.mjs').Round} Round
 * @typedef {import('./watchers.mjs').Watchers} Watchers
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} [lacks]
 * @property {boolean} [comparesAll] A put of it goes through all watchers.
 * @property {() => Promise<Watchers>} open
 *
 * @typedef {object} Size
 * @property {number} operations Puts of a turn, but for those who go through all watchers.
 * @property {number} checked Watchers that a check asks, evenly spread.
 */

/** Comparisons of a turn for those who compare with every watcher. */
const COMPARED = 5_000_000;
/** Watchers that are woken again and again, to see what their number costs apart from memory that is not in the cache. */
const HOT = 1000;

/**
 * As many directories as watchers, with one key each, and as many keys again in directories of nobody.
 *
 * @param {number} count
 */
export function directories(count) {
  const all = generateKeys(count * 2).map((text) => `${text}/`);
  const watched = all.slice(0, count);
  const keyIn = (/** @type {string} */ directory) => `${directory}state`;
  return { watched: flat(watched), keys: flat(watched.map(keyIn)), others: flat(all.slice(count).map(keyIn)) };
}

/**
 * The same texts as if they had come from outside: an engine keeps what was put together here as a note of its parts, and
 * whoever looks at it first would pay for that.
 *
 * @param {string[]} texts
 * @returns {string[]}
 */
function flat(texts) {
  return JSON.parse(JSON.stringify(texts));
}

/**
 * One operation is one change: an awaited put of the one key of one of the watchers, taken at random, and the batch in the
 * hands of its consumer, which then asks for the next. Everybody else waits.
 *
 * @param {string} caseName
 * @param {readonly Entry[]} entries
 * @param {{ count: number, isPoints: boolean, size: Size }} shape
 * @param {(rounds: readonly Round[]) => void} report
 * @returns {Promise<Case>}
 */
export async function wakeUpCase(caseName, entries, { count, isPoints, size }, report) {
  const { watched, keys, others } = directories(count);
  const order = shuffled(createRandom(count), [...keys.keys()]).slice(0, size.operations);
  const question = askedOf(keys, others, size.checked);
  /** @type {Watchers[]} */
  const opened = [];
  const filled = async (/** @type {Entry} */ { comparesAll = false, open }) => {
    const operations = comparesAll ? Math.min(size.operations, Math.ceil(COMPARED / count)) : size.operations;
    const watchers = await open();
    opened.push(watchers);
    await fill(watchers, order, keys, others);
    return { watchers, turn: changesOf(watchers, { order, keys, others, operations }) };
  };
  const [first, ...rest] = entries;
  if (first === undefined) throw new TypeError(`Cannot open the case "${caseName}": nobody takes part`);
  const contestant = async (/** @type {Entry} */ entry) => {
    const { watchers, turn } = await filled(entry);
    for (const [place, directory] of watched.entries()) {
      await watchers.open(isPoints ? { key: /** @type {string} */ (keys[place]) } : { prefix: directory }, place);
    }
    const check = () => wakeUpFindings(watchers, question);
    const { name, lacks } = entry;
    return {
      turn,
      work: { name, ...(lacks === undefined ? {} : { lacks }), check, prepare: turn.prepare, sweep: turn.wake },
    };
  };
  const { turn, work } = await contestant(first);
  const { turn: quiet } = await filled(first);
  const peers = [];
  for (const entry of rest) peers.push((await contestant(entry)).work);
  const subject = { ...work, ...withShares(turn, quiet, report) };
  const close = async () => void (await Promise.all(opened.map((watchers) => watchers.end())));
  return { name: caseName, n: count, subject, peers, close };
}

/**
 * Beside each turn of the subject, right before it and off its clock: puts that wake nobody, with the watchers and without.
 *
 * @param {Turn} turn
 * @param {Turn} quiet
 * @param {(rounds: readonly Round[]) => void} report
 * @returns {Pick<Contestant, 'prepare' | 'sweep'>}
 */
function withShares(turn, quiet, report) {
  /** @type {Round[]} */
  const rounds = [];
  let isWarm = false;
  let before = { noWatchersUs: 0, noMatchUs: 0, hotMatchUs: 0 };
  return {
    prepare: async (round) => {
      isWarm = round >= 0;
      quiet.prepare();
      const noWatchersUs = await microsecondsOf(quiet.pass);
      turn.prepare();
      const noMatchUs = await microsecondsOf(turn.pass);
      const hotMatchUs = await microsecondsOf(turn.wakeHot);
      turn.prepare();
      before = { noWatchersUs, noMatchUs, hotMatchUs };
    },
    sweep: async () => {
      let operations = 0;
      const matchUs = await microsecondsOf(async () => {
        operations = await turn.wake();
        return operations;
      });
      if (isWarm) {
        rounds.push({ matchUs, ...before });
        report(rounds);
      }
      return operations;
    },
  };
}

/** @param {() => Promise<number>} work which says how many operations it was */
async function microsecondsOf(work) {
  const start = performance.now();
  const operations = await work();
  return ((performance.now() - start) * 1000) / operations;
}

/**
 * @typedef {object} Turn
 * @property {() => void} prepare New values: there are stores for which a put of the same value is none.
 * @property {() => Promise<number>} wake Puts that wake one watcher each, whose batch is awaited.
 * @property {() => Promise<number>} wakeHot The same with `HOT` of the watchers only.
 * @property {() => Promise<number>} pass As many puts of keys of nobody.
 *
 * @param {Watchers} watchers
 * @param {{ order: readonly number[], keys: readonly string[], others: readonly string[], operations: number }} work
 * @returns {Turn}
 */
function changesOf(watchers, { order, keys, others, operations }) {
  let turns = 0;
  /** @type {string[]} */
  let values = [];
  const wake = async (/** @type {readonly number[]} */ places) => {
    for (let index = 0; index < operations; index++) {
      const place = /** @type {number} */ (places[index % places.length]);
      await watchers.put(/** @type {string} */ (keys[place]), /** @type {string} */ (values[index]));
      const arrival = await watchers.arrival(place);
      if (arrival === undefined) throw new Error(`Cannot measure wake-ups: watcher ${place} got nothing`);
      watchers.rearm(place);
    }
    return operations;
  };
  return {
    prepare: () => {
      turns++;
      values = flat(Array.from({ length: operations }, (_, index) => `value ${index} of turn ${turns}`));
    },
    wake: () => wake(order),
    wakeHot: () => wake(order.slice(0, HOT)),
    pass: async () => {
      for (let index = 0; index < operations; index++) {
        const place = /** @type {number} */ (order[index % order.length]);
        await watchers.put(/** @type {string} */ (others[place]), /** @type {string} */ (values[index]));
      }
      return operations;
    },
  };
}

/**
 * Every key that will be changed is there before, so that every change is an overwrite.
 *
 * @param {Watchers} watchers
 * @param {readonly number[]} order
 * @param {readonly string[]} keys
 * @param {readonly string[]} others
 */
async function fill(watchers, order, keys, others) {
  for (const place of order) {
    await watchers.put(/** @type {string} */ (keys[place]), 'first value');
    await watchers.put(/** @type {string} */ (others[place]), 'first value');
  }
}

/**
 * @param {readonly string[]} keys
 * @param {readonly string[]} others
 * @param {number} checked
 */
export function askedOf(keys, others, checked) {
  const step = Math.max(1, Math.floor(keys.length / checked));
  const places = [...keys.keys()].filter((place) => place % step === 0);
  const [unwatched = ''] = others;
  return { places, keys: places.map((place) => /** @type {string} */ (keys[place])), unwatched };
}
