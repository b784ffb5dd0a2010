// @ts-check
import { lockFindings } from './checks.mjs';
import { peers as findPeers, plimsoll, plimsollAwaited } from './contestants.mjs';
import { Ledger, millisecond, queueOfWriters, writerAndReaders } from './load.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('./contestants.mjs').CreateKeyedLock} CreateKeyedLock
 * @typedef {import('./contestants.mjs').Entry} Entry
 * @typedef {import('./contestants.mjs').Locks} Locks
 * @typedef {import('./load.mjs').Waits} Waits
 *
 * @typedef {object} Facts
 * @property {Record<string, Record<string, Waits>>} waits By case and contestant.
 * @property {Record<string, string[]>} notMeasured Contestants by case that cannot have so many waiters.
 *
 * @typedef {object} Size
 * @property {number} operations Locks of a turn, where nobody waits.
 * @property {number} keys
 * @property {number} queues Of a turn, one after the other.
 * @property {number} waiters In each of them.
 * @property {number} locksEach Of the writer and of each reader, in a turn.
 */

export const name = 'locks';
export const summary = 'keyed locks: uncontended, a queue of waiters, a writer and eight readers';

const ONE = 'uncontended';
const AWAITED = 'uncontended, a promise each';
const MANY = 'uncontended 10k keys';
const QUEUE = '1000 waiters';
const READERS = 'a writer and 8 readers';
const READER_COUNT = 8;

/** @type {Size} */
const SIZE = { operations: 1_000_000, keys: 10_000, queues: 50, waiters: 1000, locksEach: 60 };

/** @returns {string[]} */
export function caseNames() {
  return [ONE, AWAITED, MANY, QUEUE, READERS];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const { createKeyedLock } = /** @type {{ createKeyedLock: CreateKeyedLock }} */ (await loadPackage());
  const { peers, absent } = findPeers();
  /** @type {Facts} */
  const found = { waits: {}, notMeasured: {} };
  const facts = { keys: 'three segments, as in "apps/ns3/web42"', absent, ...found };
  return { facts, openCase: (caseName) => lockCase(caseName, createKeyedLock, peers, facts) };
}

/**
 * @param {string} caseName
 * @param {CreateKeyedLock} create
 * @param {readonly Entry[]} peers
 * @param {Facts} facts
 * @param {Size} [size]
 * @returns {Case}
 */
export function lockCase(caseName, create, peers, facts, size = SIZE) {
  const subject = caseName === AWAITED ? plimsollAwaited(create) : plimsoll(create);
  const { n, waiters, open: openWork } = workOf(caseName, size);
  const able = peers.filter(({ waitersMax = Number.POSITIVE_INFINITY }) => waiters <= waitersMax);
  if (able.length < peers.length)
    facts.notMeasured[caseName] = peers.filter((peer) => !able.includes(peer)).map(nameOf);
  /** @type {Record<string, Waits>} */
  const waits = {};
  const [first, ...rest] = [subject, ...able].map((entry) => {
    const { name: contestant, lacks, hasReaders } = entry;
    const locks = entry.open();
    const work = openWork(locks);
    return {
      name: contestant,
      ...(lacks === undefined ? {} : { lacks }),
      check: async () => {
        const told = await work.waits?.();
        if (told !== undefined) {
          waits[contestant] = told;
          facts.waits[caseName] = waits;
        }
        return lockFindings(locks, hasReaders);
      },
      prepare: (/** @type {number} */ round) => work.prepare?.(round),
      sweep: work.sweep,
    };
  });
  return { name: caseName, n, subject: /** @type {Contestant} */ (first), peers: rest };
}

/**
 * @typedef {object} Work Of one contestant.
 * @property {() => Promise<number>} sweep
 * @property {(round: number) => void} [prepare]
 * @property {() => Promise<Waits> | Waits} [waits] Asked with each check: off the clock.
 *
 * @param {string} caseName
 * @param {Size} size
 * @returns {{ n: number, waiters: number, open: (locks: Locks) => Work }} `waiters` at a time
 */
function workOf(caseName, size) {
  if (caseName === QUEUE) return { n: size.waiters, waiters: size.waiters, open: (locks) => queueWork(locks, size) };
  if (caseName === READERS) {
    return { n: READER_COUNT + 1, waiters: READER_COUNT, open: (locks) => readersWork(locks, size) };
  }
  const count = caseName === MANY ? size.keys : 1;
  const keys = Array.from({ length: count }, (_, index) => `apps/ns${index % 50}/web${index}`);
  const open = (/** @type {Locks} */ locks) => ({
    sweep: async () => {
      await locks.pass(size.operations, keys);
      return size.operations;
    },
  });
  return { n: count, waiters: 0, open };
}

/**
 * One operation is one of the waiters served: it asks, waits, has the lock, and gives it back.
 *
 * @param {Locks} locks
 * @param {Size} size
 * @returns {Work}
 */
function queueWork(locks, { waiters, queues }) {
  return {
    sweep: async () => {
      for (let queue = 0; queue < queues; queue++) await queueOfWriters(locks, waiters, () => undefined);
      return queues * waiters;
    },
    waits: async () => {
      const ledger = new Ledger();
      const requests = Array.from({ length: waiters }, () => ledger.come('write'));
      await queueOfWriters(locks, waiters, (place) => {
        const request = /** @type {import('./load.mjs').Request} */ (requests[place]);
        ledger.hold(request);
        ledger.go(request);
      });
      return ledger.waits();
    },
  };
}

/**
 * One operation is one lock of the writer or of a reader, whose work under it takes a millisecond.
 *
 * @param {Locks} locks
 * @param {Size} size
 * @returns {Work}
 */
function readersWork(locks, { locksEach }) {
  let ledger = new Ledger();
  return {
    // What was seen in the warm-up is not told.
    prepare: (round) => {
      if (round <= 0) ledger = new Ledger();
    },
    sweep: () => writerAndReaders(locks, { readers: READER_COUNT, locksEach, work: millisecond }, ledger),
    waits: () => ledger.waits(),
  };
}

/** @param {Entry} entry */
function nameOf(entry) {
  return entry.name;
}
