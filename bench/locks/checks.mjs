// @ts-check
import { Ledger, queueOfWriters, writerAndReaders } from './load.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('./contestants.mjs').Locks} Locks
 */

const READERS = 8;
const ROUNDS = 20;

/**
 * Nobody writes beside others, writers are served in their order, and where there are readers, they read together.
 *
 * @param {Locks} locks
 * @param {boolean} hasReaders
 * @returns {Promise<Finding[]>}
 */
export async function lockFindings(locks, hasReaders) {
  const ledger = new Ledger();
  let isBroken = false;
  let together = 0;
  const work = async () => {
    await undefined;
    isBroken ||= ledger.isBroken;
    together = Math.max(together, ledger.holding);
  };
  const done = await writerAndReaders(locks, { readers: READERS, locksEach: ROUNDS, work }, ledger);
  /** @type {number[]} */
  const order = [];
  await queueOfWriters(locks, 50, (place) => order.push(place));
  await locks.pass(10, ['apps/a', 'apps/b']);
  return [
    { what: 'writes beside others', actual: isBroken, expected: false },
    { what: 'locks had and given back', actual: [done, ledger.holding], expected: [(READERS + 1) * ROUNDS, 0] },
    { what: 'readers at a time', actual: together, expected: hasReaders ? READERS : 1 },
    { what: 'order of 50 writers', actual: order, expected: [...order.keys()] },
  ];
}
