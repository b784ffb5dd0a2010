// @ts-check
// What of a wake-up is the hub's: a put that wakes one watcher, less one that wakes none.
import { median } from '../harness/statistics.mjs';

/**
 * @typedef {object} Round Microseconds a put, measured one right after the other.
 * @property {number} matchUs From the call of put to the batch in the watcher's hands, and `next()` called again.
 * @property {number} hotMatchUs The same with changes for a thousand of the watchers only.
 * @property {number} noMatchUs An awaited put of a key in nobody's range, among as many watchers.
 * @property {number} noWatchersUs The same in a store without any.
 *
 * @typedef {object} WakeUpFacts Medians over the rounds of the first process, microseconds.
 * @property {number} watchers
 * @property {number} rounds
 * @property {number} putAndDeliveryUs
 * @property {number} putAndDeliveryHotUs Where a thousand of the watchers are woken in turn, whose memory is in the cache.
 * @property {number} putWithoutMatchUs
 * @property {number} putWithoutWatchersUs
 * @property {number} hubUs Of the differences of the rounds: finding the watcher, making the batch, delivering it, `next()`.
 * @property {number} probeUs Of the differences too: what it costs to find out that nobody is to be woken.
 * @property {number} goalUs
 * @property {boolean} isGoalMet Even with the put.
 * @property {number} aimUs
 * @property {boolean} isAimMet By the hub's share.
 *
 * @typedef {object} Flat Times at 100k watchers divided by those at 1k: 1 is flat, 100 would be a scan.
 * @property {number} putAndDelivery Changes for all watchers in random order: with 100k, mostly of memory not in the cache.
 * @property {number} hot Changes for a thousand of them in both.
 * @property {number} hub Of the hub's share, changes for all; it means little when that is too small to be measured.
 */

/** The wake-up of one among 100k, in microseconds: what it must stay below, and what it should. */
const GOAL_US = 5;
const AIM_US = 1;

/**
 * @param {number} watchers
 * @param {readonly Round[]} rounds at least one
 * @returns {WakeUpFacts}
 */
export function wakeUpFacts(watchers, rounds) {
  const middle = (/** @type {(round: Round) => number} */ of) => Number(median(rounds.map(of)).toFixed(3));
  const putAndDeliveryUs = middle(({ matchUs }) => matchUs);
  const hubUs = middle(({ matchUs, noMatchUs }) => matchUs - noMatchUs);
  return {
    watchers,
    rounds: rounds.length,
    putAndDeliveryUs,
    putAndDeliveryHotUs: middle(({ hotMatchUs }) => hotMatchUs),
    putWithoutMatchUs: middle(({ noMatchUs }) => noMatchUs),
    putWithoutWatchersUs: middle(({ noWatchersUs }) => noWatchersUs),
    hubUs,
    probeUs: middle(({ noMatchUs, noWatchersUs }) => noMatchUs - noWatchersUs),
    goalUs: GOAL_US,
    isGoalMet: putAndDeliveryUs < GOAL_US,
    aimUs: AIM_US,
    isAimMet: hubUs < AIM_US,
  };
}

/**
 * @param {WakeUpFacts} few
 * @param {WakeUpFacts} many
 * @returns {Flat}
 */
export function flatness(few, many) {
  const quotient = (/** @type {(facts: WakeUpFacts) => number} */ of) => Number((of(many) / of(few)).toFixed(2));
  return {
    putAndDelivery: quotient(({ putAndDeliveryUs }) => putAndDeliveryUs),
    hot: quotient(({ putAndDeliveryHotUs }) => putAndDeliveryHotUs),
    hub: quotient(({ hubUs }) => hubUs),
  };
}

/** The facts as a line. @param {WakeUpFacts} facts */
export function wakeUpLine(facts) {
  const { watchers, putAndDeliveryUs, putAndDeliveryHotUs, hubUs, probeUs, goalUs, isGoalMet, aimUs, isAimMet } = facts;
  const goal = `goal ${goalUs} us: ${isGoalMet ? 'met' : 'missed'}`;
  const aim = `aim ${aimUs} us: ${isAimMet ? 'met' : 'missed'}`;
  const hub = `hub ${hubUs} us (${aim}), ${probeUs} us when nobody matches`;
  return `${watchers} watchers: put and delivery ${putAndDeliveryUs} us (${goal}), ${putAndDeliveryHotUs} us hot; ${hub}`;
}
