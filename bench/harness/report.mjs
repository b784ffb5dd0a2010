// @ts-check
// What is printed: one document for machines, or the same as text.
import { median } from './statistics.mjs';

/**
 * @typedef {import('./measure.mjs').MeasuredCase} MeasuredCase
 * @typedef {import('./measure.mjs').Measured} Measured
 * @typedef {{ opsPerSec: number, ratio: number, lacks?: string }} Peer
 *
 * @typedef {object} ReportedCase
 * @property {string} name
 * @property {number} n
 * @property {number} [bytes]
 * @property {'cpu second'} [per] Rates are per second of the processors, not of the clock.
 * @property {{ opsPerSec: number }} subject
 * @property {Record<string, Peer>} peers `ratio` is the subject's rate divided by this one's.
 * @property {string} best The fastest peer that lacks nothing; where all lack something, the fastest.
 * @property {number} ratio subject / best
 * @property {[number, number]} ratioRange Lowest and highest of the single processes (of the rounds when there is one).
 *
 * @typedef {{ suite: string, runtime: string, [fact: string]: unknown }} Facts
 * @typedef {Facts & { cases: ReportedCase[] }} Report
 */

/**
 * Puts the processes of one suite together: medians over the rounds of a process, then over processes.
 *
 * @param {Facts} facts
 * @param {readonly (readonly MeasuredCase[])[]} processes
 * @returns {Report}
 */
export function report(facts, processes) {
  const [first = []] = processes;
  const cases = first.map(({ name }) => {
    const runs = processes.map((run) => {
      const found = run.find((measured) => measured.name === name);
      if (found === undefined) throw new Error(`Cannot report "${name}": a process has not measured it`);
      return found;
    });
    return reportCase(/** @type {[MeasuredCase, ...MeasuredCase[]]} */ (runs));
  });
  return { ...facts, cases };
}

/**
 * @param {readonly [MeasuredCase, ...MeasuredCase[]]} runs the same case in each process
 * @returns {ReportedCase}
 */
function reportCase(runs) {
  const [{ name, n, bytes, per, peers: contestants }] = runs;
  const subject = { opsPerSec: rateOver(runs.map((run) => run.subject)) };
  /** @type {Record<string, Peer>} */
  const peers = {};
  for (const { name: peer, lacks } of contestants) {
    const opsPerSec = rateOver(runs.map((run) => peerOf(run, peer)));
    const ratio = rounded(subject.opsPerSec / opsPerSec);
    peers[peer] = { opsPerSec, ratio, ...(lacks === undefined ? {} : { lacks }) };
  }
  const best = bestOf(peers);
  const ratio = peers[best]?.ratio ?? Number.NaN;
  const ratios = runs.length > 1 ? runs.map((run) => ratioOf(run, best)) : ratiosByRound(runs[0], best);
  const ratioRange = /** @type {[number, number]} */ ([Math.min(...ratios), Math.max(...ratios)].map(rounded));
  const optional = { ...(bytes === undefined ? {} : { bytes }), ...(per === undefined ? {} : { per }) };
  return { name, n, ...optional, subject, peers, best, ratio, ratioRange };
}

/** @param {Readonly<Record<string, Peer>>} peers */
function bestOf(peers) {
  const all = Object.entries(peers);
  const whole = all.filter(([, { lacks }]) => lacks === undefined);
  const [best] = (whole.length > 0 ? whole : all).sort(([, left], [, right]) => right.opsPerSec - left.opsPerSec);
  if (best === undefined) throw new Error('Cannot compare: there is no peer');
  return best[0];
}

/** @param {readonly Measured[]} processes */
function rateOver(processes) {
  return rounded(median(processes.map(({ rates }) => median(rates))));
}

/**
 * @param {MeasuredCase} run
 * @param {string} name
 * @returns {Measured}
 */
function peerOf(run, name) {
  const peer = run.peers.find((measured) => measured.name === name);
  if (peer === undefined) throw new Error(`Cannot report "${run.name}": a process has not measured ${name}`);
  return peer;
}

/**
 * @param {MeasuredCase} run
 * @param {string} peer
 */
function ratioOf(run, peer) {
  return median(run.subject.rates) / median(peerOf(run, peer).rates);
}

/**
 * @param {MeasuredCase} run
 * @param {string} peer
 */
function ratiosByRound(run, peer) {
  const { rates } = peerOf(run, peer);
  return run.subject.rates.map((rate, round) => rate / (rates[round] ?? Number.NaN));
}

/** Six digits: more than any of these numbers is worth. @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(6));
}

/**
 * The report for people: a block a case, the fastest first, and how many times as fast as each the subject is.
 *
 * @param {Report} result
 * @returns {string}
 */
export function table({ suite, runtime, cases, inputs }) {
  const lines = [`${suite} on ${runtime}; "3.00x" means that plimsoll does 3 operations in the time of one`, ''];
  for (const { name, n, bytes, per, subject, peers, best, ratio, ratioRange } of cases) {
    const unit = per === undefined ? 'ops/s' : `ops/${per}`;
    const size = bytes === undefined ? '' : `, ${bytes.toLocaleString('en')} bytes each`;
    lines.push(`${name}  (n = ${n.toLocaleString('en')}${size})`);
    const rows = Object.entries(peers).map(([peer, { opsPerSec, ratio: times, lacks }]) => ({
      opsPerSec,
      text: `${row(peer, opsPerSec, unit)}  ${`${times.toFixed(2)}x`.padStart(10)}${lacks === undefined ? '' : `  (${lacks})`}`,
    }));
    rows.push({ opsPerSec: subject.opsPerSec, text: row('plimsoll', subject.opsPerSec, unit) });
    rows.sort((left, right) => right.opsPerSec - left.opsPerSec);
    lines.push(...rows.map(({ text }) => text));
    const [low, high] = ratioRange;
    const verdict = ratio < 1 ? ': plimsoll is slower' : '';
    const partial = peers[best]?.lacks === undefined ? '' : ', which does less';
    lines.push(`  = ${ratio.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)}) of ${best}${partial}${verdict}`, '');
  }
  return [...lines, ...absentLines(inputs)].join('\n');
}

/** Who could not take part on this machine, and why. @param {unknown} inputs */
function absentLines(inputs) {
  const { absent = {} } = /** @type {{ absent?: Record<string, string> }} */ (inputs ?? {});
  const lines = Object.entries(absent).map(([name, reason]) => `not measured: ${name}, which does not load: ${reason}`);
  return lines.length === 0 ? [] : [...lines, ''];
}

/**
 * @param {string} name
 * @param {number} opsPerSec
 * @param {string} unit
 */
function row(name, opsPerSec, unit) {
  const digits = opsPerSec < 100 ? 2 : 0;
  const rate = opsPerSec.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `  ${name.padEnd(42)} ${rate.padStart(14)} ${unit}`;
}
