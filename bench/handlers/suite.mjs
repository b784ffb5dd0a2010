// @ts-check

import { median } from '../harness/statistics.mjs';
import { garbageCollector } from '../harness/timers.mjs';
import { PEERS, PLIMSOLL } from './contestants.mjs';
import { lagOf } from './ledger.mjs';
import { World } from './load.mjs';
import { memoryOf } from './memory.mjs';
import { PARENT } from './reconcile-loop.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('./contestants.mjs').Entry} Entry
 * @typedef {import('./contestants.mjs').Kit} Kit
 * @typedef {import('./ledger.mjs').Lag} Lag
 * @typedef {import('./memory.mjs').Memory} Memory
 *
 * @typedef {object} Outcome Of one contestant in one case: counts of the last round, medians and lags of all rounds.
 * @property {number} callsPerSec Calls that ended in a second.
 * @property {number} callsPerCpuSec The same by the time of the processor, all threads together: what others on the machine
 *   take is left out.
 * @property {number} calls
 * @property {number} needed (handler, state) pairs of the states that it called anybody on.
 * @property {number} callsByNeeded
 * @property {number} repeated Calls on a state on which the same handler had ended its last call.
 * @property {number} misses Handlers whose last call was not on the last state.
 * @property {Lag} lag
 * @property {Memory} [memory]
 *
 * @typedef {object} Facts
 * @property {Record<string, Record<string, Outcome>>} outcomes By case and contestant.
 *
 * @typedef {object} Size
 * @property {number} objects
 * @property {number} changes Of each object.
 * @property {number} burstChanges Changes of a turn that has bursts.
 */

export const name = 'handlers';
export const summary = 'a parent with three subs on 1,000 objects: calls, lags and misses of the last state';

const STEADY = 'steady change';
const SLOW = 'misses';
/** Objects changed at once, and so the length of the queue. */
const DEPTHS = [1, 10, 100, 1000];

/** @type {Size} */
const SIZE = { objects: 1000, changes: 20, burstChanges: 2000 };

/** @returns {string[]} */
export function caseNames() {
  return [STEADY, SLOW, ...DEPTHS.map(burstName)];
}

/** @param {number} depth */
function burstName(depth) {
  return `burst of ${depth}`;
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const kit = /** @type {Kit} */ (await loadPackage());
  /** @type {Facts & Record<string, unknown>} */
  const facts = { load: 'one field of each object is changed, the handlers are for that field', outcomes: {} };
  const collect = garbageCollector();
  return { facts, openCase: (caseName) => handlerCase(caseName, kit, [PLIMSOLL, ...PEERS], facts, collect) };
}

/**
 * The first entry is the subject.
 *
 * @param {string} caseName
 * @param {Kit} kit
 * @param {readonly Entry[]} entries
 * @param {Facts} facts
 * @param {() => void} collectGarbage
 * @param {Size} [size]
 * @returns {Case}
 */
export function handlerCase(caseName, kit, entries, facts, collectGarbage, size = SIZE) {
  /** @type {Record<string, Outcome>} */
  const outcomes = {};
  facts.outcomes[caseName] = outcomes;
  const runs = entries.map((entry) => new Run(caseName, kit, entry, size));
  const [subject, ...peers] = runs.map((run) => ({
    name: run.entry.name,
    ...(run.entry.lacks === undefined ? {} : { lacks: run.entry.lacks }),
    prepare: (/** @type {number} */ round) => run.prepare(round),
    sweep: () => run.sweep(),
    check: async () => {
      const findings = run.findings();
      if (run.isTimed) {
        const outcome = run.outcome();
        if (caseName === STEADY) outcome.memory = await memoryOf(kit, run.entry, size, collectGarbage);
        outcomes[run.entry.name] = outcome;
        console.error(`    ${run.entry.name}: ${JSON.stringify(outcome)}`);
      }
      return findings;
    },
  }));
  return {
    name: caseName,
    n: size.objects,
    subject: /** @type {Contestant} */ (subject),
    peers,
    close: async () => {
      for (const run of runs) await run.close();
    },
  };
}

/** A contestant in a case. */
class Run {
  entry;
  isTimed = false;
  #kit;
  #size;
  #isSlow;
  #depth;
  /** @type {World | undefined} */
  #world;
  #first = 0;
  /** @type {number[]} */
  #rates = [];
  /** @type {number[]} */
  #cpuRates = [];
  /** @type {number[]} */
  #lags = [];

  /**
   * @param {string} caseName
   * @param {Kit} kit
   * @param {Entry} entry
   * @param {Size} size
   */
  constructor(caseName, kit, entry, size) {
    this.entry = entry;
    this.#kit = kit;
    this.#size = size;
    this.#isSlow = caseName === SLOW;
    const depth = DEPTHS.find((one) => burstName(one) === caseName);
    this.#depth = depth === undefined ? undefined : Math.min(depth, size.objects);
  }

  /** A steady load begins with nothing; bursts begin with all objects at rest. @param {number} round */
  async prepare(round) {
    if (round === 0) {
      this.isTimed = true;
      this.#rates = [];
      this.#cpuRates = [];
      this.#lags = [];
    }
    if (this.#depth === undefined || this.#world === undefined) {
      await this.close();
      this.#world = await World.open(this.#kit, this.entry, { objects: this.#size.objects, isSlow: this.#isSlow });
      if (this.#depth !== undefined) await this.#world.changeAll(1);
    }
    this.#world.begin();
  }

  /** @returns {Promise<number>} how many objects were brought to a last state */
  async sweep() {
    const world = /** @type {World} */ (this.#world);
    const start = performance.now();
    const cpu = process.cpuUsage();
    const done = await (this.#depth === undefined ? this.#change(world) : this.#burst(world, this.#depth));
    this.#rates.push((world.ledger.calls / (performance.now() - start)) * 1000);
    const { user, system } = process.cpuUsage(cpu);
    this.#cpuRates.push((world.ledger.calls / (user + system)) * 1e6);
    return done;
  }

  /** @param {World} world */
  async #change(world) {
    await world.changeAll(this.#size.changes);
    this.#lags.push(...world.ledger.lags);
    return this.#size.objects;
  }

  /**
   * @param {World} world
   * @param {number} depth
   */
  async #burst(world, depth) {
    const times = Math.ceil(this.#size.burstChanges / depth);
    for (let time = 0; time < times; time++) {
      this.#lags.push(...(await world.burst(this.#first, depth)));
      this.#first += depth;
    }
    return times * depth;
  }

  /** @returns {Finding[]} */
  findings() {
    const { ledger } = /** @type {World} */ (this.#world);
    const { objects, burstChanges } = this.#size;
    const changed = this.#depth === undefined ? objects : Math.min(objects, burstChanges);
    const findings = [{ what: 'parents on the last state', actual: ledger.handled(PARENT), expected: changed }];
    if (this.entry.mayMiss) return findings;
    return [...findings, { what: 'handlers not on the last state', actual: ledger.misses, expected: 0 }];
  }

  /** @returns {Outcome} */
  outcome() {
    const { calls, needed, repeated, misses } = /** @type {World} */ (this.#world).ledger;
    return {
      callsPerSec: Math.round(median(this.#rates)),
      callsPerCpuSec: Math.round(median(this.#cpuRates)),
      calls,
      needed,
      callsByNeeded: Number((calls / needed).toPrecision(4)),
      repeated,
      misses,
      lag: lagOf(this.#lags),
    };
  }

  async close() {
    await this.#world?.close();
    this.#world = undefined;
  }
}
