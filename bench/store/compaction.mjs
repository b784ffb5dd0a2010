// @ts-check
// Compaction of a long history: how fast it goes, and how long its longest step keeps the event loop.
//
//   overwritten   a tenth as many keys as log entries, each put ten times        what goes: nine versions of each key
//   deleted       half as many keys as log entries, each put, then deleted       what goes: every version, and every key
import { generateKeys } from '../data/keys.mjs';
import { createRandom, shuffled } from '../data/random.mjs';
import { median } from '../harness/statistics.mjs';
import { MvccBaseline } from './mvcc-baseline.mjs';
import { longestTurn, StepClock } from './step-clock.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Case} Case
 *
 * @typedef {object} HistoryStore
 * @property {number} revision
 * @property {(key: string, value: unknown) => Promise<unknown>} put
 * @property {(key: string) => Promise<unknown>} delete
 * @property {(key: string) => { value?: unknown, version: number } | undefined} get
 * @property {(revision: number) => Promise<unknown>} compact
 * @property {() => { storedVersions: number }} stats
 * @property {() => Promise<void>} close
 *
 * @typedef {'overwritten' | 'deleted'} Shape
 *
 * @typedef {object} StepFacts About the steps of one case in one process, warm-up not included. Milliseconds.
 * @property {number} logEntries
 * @property {number} steps
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} maxMs
 * @property {number} cpuP99Ms
 * @property {number} cpuMaxMs The longest by the CPU time of the process: without what other processes took.
 * @property {number} overTarget How many steps took longer than the target.
 * @property {number} maxPerRoundMs The longest of a round, median over the rounds.
 * @property {number} coldMaxMs The longest of the warm-up, when the code had never run.
 * @property {number} callMs The longest call of `compact` itself, to its first await.
 * @property {number} longestTurnMs Of the event loop while it went on.
 * @property {number} idleLongestTurnMs Of the event loop for as long with nothing to do: what the machine adds.
 * @property {number} targetMs
 * @property {boolean} isMet
 */

/** No step of compaction may take longer at 1 M revisions. */
const TARGET_MS = 1;
/** Filling a store takes seconds. */
const ROUNDS_MAX = 3;
const PUTS_PER_KEY = 10;

/**
 * @param {string} name
 * @param {{ shape: Shape, entries: number }} history
 * @param {{ open: (clock: StepClock) => Promise<HistoryStore>, report: (facts: StepFacts) => void }} subject
 * @returns {Case}
 */
export function compactionCase(name, { shape, entries }, { open, report }) {
  const keys = generateKeys(shape === 'overwritten' ? entries / PUTS_PER_KEY : entries / 2);
  const clock = new StepClock();
  const record = new StepRecord();
  const subject = contestant('plimsoll', shape, keys, {
    open: () => open(clock),
    compact: async (store) => {
      clock.takeSteps();
      record.longestTurnMs = Math.max(
        record.longestTurnMs,
        await longestTurn(() => compactWhole(store, clock, record)),
      );
      record.rounds.push(clock.takeSteps());
    },
  });
  const peer = contestant('MVCC in plain JavaScript, in one go', shape, keys, {
    open: async () => /** @type {HistoryStore} */ (new MvccBaseline()),
    compact: (store) => store.compact(store.revision),
  });
  const close = async () => {
    await Promise.all([subject.close(), peer.close()]);
    if (record.rounds.length > 1) report(await record.facts(entries));
  };
  const lacks = 'stalls the event loop until it is done';
  return { name, n: entries, roundsMax: ROUNDS_MAX, subject: subject.it, peers: [{ ...peer.it, lacks }], close };
}

/**
 * @param {HistoryStore} store
 * @param {StepClock} clock
 * @param {StepRecord} record
 */
async function compactWhole(store, clock, record) {
  const start = performance.now();
  const call = store.compact(store.revision);
  record.callMs = Math.max(record.callMs, performance.now() - start);
  await call;
  await clock.idle();
}

/**
 * @param {string} name
 * @param {Shape} shape
 * @param {readonly string[]} keys
 * @param {{ open: () => Promise<HistoryStore>, compact: (store: HistoryStore) => Promise<unknown> }} work
 */
function contestant(name, shape, keys, { open, compact }) {
  /** @type {HistoryStore | undefined} */
  let store;
  const opened = () => {
    if (store === undefined) throw new TypeError(`Cannot compact: ${name} is not prepared`);
    return store;
  };
  /** @type {Contestant} */
  const it = {
    name,
    check: () => findings(opened(), shape, keys),
    prepare: async () => {
      await store?.close();
      store = await open();
      await fill(store, shape, keys);
    },
    sweep: async () => {
      const before = opened().stats().storedVersions;
      await compact(opened());
      return before;
    },
  };
  return { it, close: async () => void (await store?.close()) };
}

/**
 * @param {HistoryStore} store
 * @param {Shape} shape
 * @param {readonly string[]} keys
 */
async function fill(store, shape, keys) {
  const order = shuffled(createRandom(keys.length), keys);
  for (let sweep = 1; sweep <= (shape === 'overwritten' ? PUTS_PER_KEY : 1); sweep++) {
    for (const key of order) await store.put(key, `value of sweep ${sweep}`);
  }
  if (shape === 'deleted') for (const key of order) await store.delete(key);
}

/**
 * @param {HistoryStore} store
 * @param {Shape} shape
 * @param {readonly string[]} keys
 * @returns {Finding[]}
 */
function findings(store, shape, keys) {
  const isDeleted = shape === 'deleted';
  const expected = isDeleted ? undefined : { value: `value of sweep ${PUTS_PER_KEY}`, version: PUTS_PER_KEY };
  const wrong = keys.filter((key) => {
    const kv = store.get(key);
    return isDeleted ? kv !== undefined : kv?.value !== expected?.value || kv?.version !== expected?.version;
  });
  // Compacted to the last revision: where the last change was a delete, its mark stays, for watches that start there.
  const versions = isDeleted ? 1 : keys.length;
  return [
    { what: 'keys that read wrongly', actual: wrong.slice(0, 3), expected: [] },
    { what: 'versions left', actual: store.stats().storedVersions, expected: versions },
  ];
}

/** What the rounds of one case have shown; the first one is the warm-up. */
class StepRecord {
  /** @type {import('./step-clock.mjs').Step[][]} */
  rounds = [];
  callMs = 0;
  longestTurnMs = 0;

  /**
   * @param {number} logEntries
   * @returns {Promise<StepFacts>}
   */
  async facts(logEntries) {
    const [cold = [], ...rounds] = this.rounds;
    const steps = wallTimes(rounds.flat());
    const cpu = ascending(rounds.flat().map(({ cpuMs }) => cpuMs));
    const maxMs = steps[steps.length - 1] ?? 0;
    const idle = await longestTurn(() => new Promise((resolve) => setTimeout(resolve, IDLE_MS)));
    return {
      logEntries,
      steps: steps.length,
      p50Ms: rounded(quantile(steps, 0.5)),
      p99Ms: rounded(quantile(steps, 0.99)),
      maxMs: rounded(maxMs),
      cpuP99Ms: rounded(quantile(cpu, 0.99)),
      cpuMaxMs: rounded(cpu[cpu.length - 1] ?? 0),
      overTarget: steps.filter((ms) => ms >= TARGET_MS).length,
      maxPerRoundMs: rounded(median(rounds.map((round) => Math.max(...wallTimes(round))))),
      coldMaxMs: rounded(Math.max(...wallTimes(cold))),
      callMs: rounded(this.callMs),
      longestTurnMs: rounded(this.longestTurnMs),
      idleLongestTurnMs: rounded(idle),
      targetMs: TARGET_MS,
      isMet: maxMs < TARGET_MS,
    };
  }
}

const IDLE_MS = 300;

/** @param {readonly import('./step-clock.mjs').Step[]} steps */
function wallTimes(steps) {
  return ascending(steps.map(({ wallMs }) => wallMs));
}

/** @param {number[]} values */
function ascending(values) {
  return values.sort((left, right) => left - right);
}

/**
 * @param {readonly number[]} sorted
 * @param {number} part
 */
export function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** @param {number} ms */
function rounded(ms) {
  return Math.round(ms * 1000) / 1000;
}
