// @ts-check
import { generateHistory } from '../data/history.mjs';
import { median } from '../harness/statistics.mjs';
import { CoreHistory } from './core-history.mjs';
import { MapHistory } from './map-history.mjs';
import { TypedHistory } from './typed-history.mjs';

/**
 * @typedef {import('../data/history.mjs').History} History
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('./core-history.mjs').Core} Core
 * @typedef {{ Core: new (module: WebAssembly.Module) => Core, coreModule(): WebAssembly.Module }} CoreBundle
 * @typedef {{ at: (key: string, revision: number) => number }} Readable
 * @typedef {{ longestMs: number, rounds: number }} SliceFacts Median over the rounds of each round's longest step.
 */

export const name = 'compaction';
export const summary = 'the physical part of compaction, in steps: versions freed, log entries and keys dropped';
export const needsCore = true;

const EVENTS = 1_000_000;
const KEYS = 100_000;
const UP_TO = 900_000;
/** Log entries of a step, for everybody who has steps: as many as the core can report at once. */
export const STEP_ENTRIES = 1363;
/** Filling everybody takes seconds. */
const ROUNDS_MAX = 5;
/** Keys and revisions asked for after it. */
const ASKED = 500;

export function caseNames() {
  return ['compact 900k'];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadCore }) {
  const { Core, coreModule } = /** @type {CoreBundle} */ (await loadCore());
  /** @type {Record<string, SliceFacts>} */
  const steps = {};
  return {
    facts: { revisions: EVENTS, keys: KEYS, compactedTo: UP_TO, longestStep: steps },
    openCase: (caseName) => compactCase(caseName, () => new Core(coreModule()), steps),
  };
}

/**
 * @param {string} caseName
 * @param {() => Core} createCore
 * @param {Record<string, SliceFacts>} steps
 * @param {{ keys: number, events: number, upTo: number }} [size]
 * @returns {import('../harness/measure.mjs').Case}
 */
export function compactCase(caseName, createCore, steps, size = { keys: KEYS, events: EVENTS, upTo: UP_TO }) {
  const history = generateHistory(size.keys, size.events);
  const expected = expectedFreed(history, size.upTo);
  const contestant = contestants(history, size.upTo, expected, steps);
  return {
    name: caseName,
    n: size.events,
    roundsMax: ROUNDS_MAX,
    subject: contestant('plimsoll', () => {
      const state = new CoreHistory(createCore(), history);
      return {
        state,
        compact: (freed) => state.compact(size.upTo, freed, STEP_ENTRIES),
        eventOf: (slot) => state.eventOf(slot),
      };
    }),
    peers: [
      contestant('Map<string, Rev[]>', () => {
        const state = new MapHistory(history);
        return {
          state,
          compact: (freed) => {
            const start = performance.now();
            const events = state.compact(size.upTo);
            const longestMs = performance.now() - start;
            freed.set(events);
            return { count: events.length, longestMs };
          },
        };
      }),
      contestant('typed-array JS', () => {
        const state = new TypedHistory(history);
        return { state, compact: (freed) => state.compact(size.upTo, freed, STEP_ENTRIES) };
      }),
    ],
  };
}

/**
 * @typedef {object} Opened
 * @property {Readable} state
 * @property {(freed: Uint32Array) => { count: number, longestMs: number }} compact
 * @property {(slot: number) => number} [eventOf] where a slot is not the number of its event
 */

/**
 * One operation is a log entry that compaction worked on. The history is filled anew for each turn, off the clock.
 *
 * @param {History} history
 * @param {number} upTo
 * @param {readonly number[]} expected
 * @param {Record<string, SliceFacts>} steps
 * @returns {(name: string, create: () => Opened) => Contestant}
 */
function contestants(history, upTo, expected, steps) {
  return (contestantName, create) => {
    const freed = new Uint32Array(history.keyOf.length);
    /** @type {number[]} */
    const longest = [];
    /** @type {Opened | undefined} */
    let opened;
    let count = 0;
    let round = -1;
    return {
      name: contestantName,
      prepare: (next) => {
        round = next;
        // What the turn before left is garbage before the next one is filled.
        opened = undefined;
        opened = create();
      },
      sweep: () => {
        if (opened === undefined) throw new TypeError('Cannot compact: nothing was filled');
        const done = opened.compact(freed);
        count = done.count;
        if (round >= 0) {
          longest.push(done.longestMs);
          steps[contestantName] = { longestMs: Number(median(longest).toFixed(4)), rounds: longest.length };
        }
        return upTo;
      },
      check: () => {
        if (opened === undefined) throw new TypeError('Cannot check: nothing was filled');
        const { state, eventOf = (slot) => slot } = opened;
        const events = Uint32Array.from(freed.subarray(0, count), eventOf).sort();
        return [{ what: 'events freed', actual: Array.from(events), expected }, ...readFindings(history, state, upTo)];
      },
    };
  };
}

/**
 * What the keep-rule says: of each key all before its newest event at or below the revision, and that one too when it is
 * a delete below it.
 *
 * @param {History} history
 * @param {number} upTo
 * @returns {number[]} ascending
 */
export function expectedFreed({ keys, keyOf, isDelete }, upTo) {
  const newest = new Int32Array(keys.length).fill(-1);
  for (let event = 0; event < upTo; event++) newest[/** @type {number} */ (keyOf[event])] = event;
  const freed = [];
  for (let event = 0; event < upTo; event++) {
    const isBase = newest[/** @type {number} */ (keyOf[event])] === event;
    if (!isBase || (isDelete[event] === 1 && event + 1 < upTo)) freed.push(event);
  }
  return freed;
}

/**
 * @param {History} history
 * @param {Readable} state
 * @param {number} upTo
 * @returns {Finding[]}
 */
function readFindings({ keys, keyOf, isDelete }, state, upTo) {
  const revisions = [upTo, Math.floor((upTo + keyOf.length) / 2), keyOf.length];
  const step = Math.max(1, Math.floor(keys.length / ASKED));
  const asked = keys.map((_, place) => place).filter((place) => place % step === 0);
  return revisions.map((revision) => {
    const newest = new Int32Array(keys.length).fill(-1);
    for (let event = 0; event < revision; event++) newest[/** @type {number} */ (keyOf[event])] = event;
    return {
      what: `states at revision ${revision}`,
      actual: asked.map((place) => state.at(/** @type {string} */ (keys[place]), revision)),
      expected: asked.map((place) => {
        const event = /** @type {number} */ (newest[place]);
        return event < 0 || isDelete[event] === 1 ? -1 : event;
      }),
    };
  });
}
