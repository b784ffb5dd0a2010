// @ts-check
import { CoreHistory } from '../compaction/core-history.mjs';
import { MapHistory } from '../compaction/map-history.mjs';
import { TypedHistory } from '../compaction/typed-history.mjs';
import { generateHistory } from '../data/history.mjs';

/**
 * @typedef {import('../data/history.mjs').History} History
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../compaction/core-history.mjs').Core} Core
 * @typedef {{ Core: new (module: WebAssembly.Module) => Core, coreModule(): WebAssembly.Module }} CoreBundle
 */

export const name = 'replay';
export const summary = 'the events of one prefix out of a long log, as a watch that resumes asks for them';
export const needsCore = true;

const EVENTS = 1_000_000;
const KEYS = 100_000;

/**
 * The log has a number for the directory of each event's key, up to the fourth slash. `bucket` asks for a directory,
 * `narrow` for a part of one; the others have fewer slashes, so no number helps. Beside each: events of a thousand.
 */
const PREFIXES = /** @type {const} */ ({
  'replay narrow': '/registry/pods/ns-5/ledger-', // 0.6
  'replay wide': '/registry/pods/', // 409
  'replay bucket': '/registry/secrets/ns-5/', // 1.4
  'replay bucket wide': '/registry/pods/ns-5/', // 19
  'replay any narrow': '/registry/secrets/ns-5', // 5.5, with ns-50 to ns-59
  'replay any wide': '/registry/s', // 177, of three kinds
});

export function caseNames() {
  return Object.keys(PREFIXES);
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadCore }) {
  const { Core, coreModule } = /** @type {CoreBundle} */ (await loadCore());
  /** @type {Record<string, number>} */
  const matches = {};
  return {
    facts: { events: EVENTS, keys: KEYS, matches },
    openCase: (caseName) => replayCase(caseName, new Core(coreModule()), matches),
  };
}

/**
 * @param {string} caseName
 * @param {Core} core
 * @param {Record<string, number>} matches
 * @param {{ keys: number, events: number }} [size]
 * @returns {import('../harness/measure.mjs').Case}
 */
export function replayCase(caseName, core, matches, size = { keys: KEYS, events: EVENTS }) {
  const prefix = /** @type {Record<string, string>} */ (PREFIXES)[caseName];
  if (prefix === undefined) throw new RangeError(`Cannot open the case: there is no "${caseName}"`);
  const history = generateHistory(size.keys, size.events);
  const expected = expectedEvents(history, prefix);
  matches[caseName] = expected.length;
  const encoder = new TextEncoder();
  // The last character and one: the first text that sorts after everything with the prefix.
  const next = String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const end = `${prefix.slice(0, -1)}${next}`;
  const coreHistory = new CoreHistory(core, history);
  const map = new MapHistory(history);
  const typed = new TypedHistory(history);
  const found = new Uint32Array(size.events);
  const replayTyped = () => typed.replay(prefix, end, found);
  const replayCore = () => coreHistory.replay({ start: encoder.encode(prefix), end: encoder.encode(end) });
  return {
    name: caseName,
    n: size.events,
    subject: contestant('plimsoll', expected, replayCore, () =>
      Array.from(replayCore(), (s) => coreHistory.eventOf(s)),
    ),
    peers: [
      contestant(
        'filter(startsWith)',
        expected,
        () => map.replay(prefix),
        () => map.replay(prefix).map(({ event }) => event),
      ),
      contestant('typed-array JS', expected, replayTyped, () => Array.from(replayTyped())),
    ],
  };
}

/**
 * @param {string} contestantName
 * @param {readonly number[]} expected
 * @param {() => unknown} operation
 * @param {() => number[]} events
 * @returns {Contestant}
 */
function contestant(contestantName, expected, operation, events) {
  return { name: contestantName, operation, check: () => [{ what: 'events', actual: events(), expected }] };
}

/**
 * @param {History} history
 * @param {string} prefix
 * @returns {number[]}
 */
function expectedEvents({ keys, keyOf }, prefix) {
  const matches = keys.map((key) => key.startsWith(prefix));
  const events = [];
  for (let event = 0; event < keyOf.length; event++) {
    if (matches[/** @type {number} */ (keyOf[event])] === true) events.push(event);
  }
  return events;
}
