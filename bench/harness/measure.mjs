// @ts-check
// One case: the subject and its peers, in turn, for several rounds.
//
//   warm-up     A  B  C      each once, not counted (compiles, calibrates)
//   check       A  B  C      every answer compared; a wrong one ends the run
//   round 0     A  B  C      before each turn the garbage of the others is collected
//   round 1     B  C  A
//   round 2     C  A  B
//   check       A  B  C      again: still right after all that work
//
// Noise of a shared machine comes in waves of seconds. Taking turns within a wave hits all alike, which measuring one
// after the other does not; so the ratios are worth more than the rates.
import { isDeepStrictEqual } from 'node:util';
import { rotate } from './statistics.mjs';

/**
 * @typedef {{ what: string, actual: unknown, expected: unknown }} Finding
 *
 * Who takes part. Either `operation`, called many times without changing anything, or `sweep`, which does a fixed number
 * of operations from the state `prepare` made, and says how many.
 *
 * @typedef {object} Contestant
 * @property {string} name
 * @property {string} [lacks] What it does less than the subject; then it is no measure for `ratio`.
 * @property {() => Finding[] | Promise<Finding[]>} check Its answers beside the right ones; at least one.
 * @property {() => unknown} [operation]
 * @property {(round: number) => void | Promise<void>} [prepare]
 * @property {() => number | Promise<number>} [sweep]
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {number} n How many documents, keys or queries it runs over.
 * @property {number} [bytes] Mean size of one.
 * @property {'cpu second'} [per] Sweeps are timed by what they take of the processors, not by the clock: where the work waits
 *   for somebody else. All of them have to be sweeps.
 * @property {number} [roundsMax] Fewer rounds than asked for, where one takes seconds.
 * @property {Contestant} subject
 * @property {Contestant[]} peers
 * @property {() => void | Promise<void>} [close] When all is measured, or has failed.
 *
 * @typedef {object} Tools
 * @property {number} rounds
 * @property {(contestant: Contestant) => number} rate Operations per second of `operation`, measured once.
 * @property {() => number} now Milliseconds.
 * @property {() => number} [cpuNow] Milliseconds of the processors.
 * @property {() => void | Promise<void>} collectGarbage Before each turn, that of the turn before.
 *
 * @typedef {{ name: string, lacks?: string, rates: number[] }} Measured
 * @typedef {{ name: string, n: number, bytes?: number, per?: 'cpu second', subject: Measured, peers: Measured[] }} MeasuredCase
 */

/** A contestant whose answers are wrong: how fast it gives them is nobody's business. */
export class WrongAnswerError extends Error {
  /**
   * @param {string} caseName
   * @param {string} contestant
   * @param {string} reason
   */
  constructor(caseName, contestant, reason) {
    super(`Cannot measure "${caseName}": ${contestant} ${reason}`);
    this.name = 'WrongAnswerError';
  }
}

/**
 * Measures one case. Throws `WrongAnswerError` when the subject or a peer answers wrongly, before or after the rounds.
 *
 * @param {Case} benchCase
 * @param {Tools} tools
 * @returns {Promise<MeasuredCase>}
 */
export async function measureCase(benchCase, tools) {
  try {
    return await measure(benchCase, tools);
  } finally {
    await benchCase.close?.();
  }
}

/**
 * @param {Case} benchCase
 * @param {Tools} tools
 * @returns {Promise<MeasuredCase>}
 */
async function measure(benchCase, tools) {
  const { name, n, bytes, per, subject, peers } = benchCase;
  const clock = per === undefined ? tools : { ...tools, now: tools.cpuNow ?? tools.now };
  const contestants = [subject, ...peers];
  /** @type {Map<Contestant, number[]>} */
  const rates = new Map(contestants.map((contestant) => [contestant, []]));
  for (const contestant of contestants) await takeTurn(contestant, -1, clock);
  for (const contestant of contestants) await refuseWrong(name, contestant);
  const rounds = Math.min(tools.rounds, benchCase.roundsMax ?? tools.rounds);
  for (let round = 0; round < rounds; round++) {
    for (const contestant of rotate(contestants, round)) {
      rates.get(contestant)?.push(await takeTurn(contestant, round, clock));
    }
  }
  for (const contestant of contestants) await refuseWrong(name, contestant);
  const measured = contestants.map((contestant) => ({
    name: contestant.name,
    ...(contestant.lacks === undefined ? {} : { lacks: contestant.lacks }),
    rates: rates.get(contestant) ?? [],
  }));
  const [first, ...rest] = /** @type {[Measured, ...Measured[]]} */ (measured);
  return {
    name,
    n,
    ...(bytes === undefined ? {} : { bytes }),
    ...(per === undefined ? {} : { per }),
    subject: first,
    peers: rest,
  };
}

/**
 * @param {Contestant} contestant
 * @param {number} round -1 for the warm-up
 * @param {Tools} tools
 * @returns {Promise<number>} operations per second
 */
async function takeTurn(contestant, round, { rate, now, collectGarbage }) {
  await contestant.prepare?.(round);
  await collectGarbage();
  if (contestant.sweep === undefined) return rate(contestant);
  const start = now();
  const pending = contestant.sweep();
  const operations = typeof pending === 'number' ? pending : await pending;
  const elapsed = now() - start;
  if (!(elapsed > 0)) throw new RangeError(`Cannot measure ${contestant.name}: the sweep took no time`);
  return (operations / elapsed) * 1000;
}

/**
 * @param {string} caseName
 * @param {Contestant} contestant
 */
async function refuseWrong(caseName, contestant) {
  const findings = await contestant.check();
  if (findings.length === 0) throw new WrongAnswerError(caseName, contestant.name, 'has no answer that can be checked');
  for (const { what, actual, expected } of findings) {
    if (isDeepStrictEqual(actual, expected)) continue;
    const reason = `gives a wrong answer to "${what}": ${show(actual)} instead of ${show(expected)}`;
    throw new WrongAnswerError(caseName, contestant.name, reason);
  }
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function show(value) {
  const text = typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
