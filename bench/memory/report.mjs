// @ts-check
// From what the processes measured to bytes a unit.
import { median } from '../harness/statistics.mjs';
import { PUBLISHED } from './rows.mjs';

/**
 * @typedef {import('./rows.mjs').Row} Row
 * @typedef {import('./measure.mjs').Measured} Measured
 *
 * @typedef {object} Bytes A unit, values excluded in all of them.
 * @property {number} excludingKeys Linear memory, heap and buffers, without the bytes of the key: what is compared.
 * @property {number} includingKeys The same, with the key's string and with the store's own copy of its bytes.
 * @property {number} wasm
 * @property {number} heap Without the key's string.
 * @property {number} offHeap
 * @property {number} keyText The string of the key in the heap.
 * @property {number} rss Cross-check: what the process grew by, garbage that was there in between included.
 * @property {[number, number]} range Lowest and highest `excludingKeys` of the processes.
 *
 * @typedef {object} ReportedRow
 * @property {string} name
 * @property {string} unit
 * @property {number} n
 * @property {number} keyBytes Mean length of a key.
 * @property {Bytes} subject
 * @property {{ [name: string]: Bytes & { ratio: number } }} peers `ratio`: the subject's bytes divided by this one's.
 * @property {{ bytes: number, what: string, source: string, ratio: number, isMet: boolean }} etcd
 */

export const BASELINE_NAME = 'Map<string, Rev[]> and a sorted list';

/**
 * @param {Row} row
 * @param {{ plimsoll: readonly Measured[], baseline: readonly Measured[] }} runs
 * @returns {ReportedRow}
 */
export function reportRow(row, { plimsoll, baseline }) {
  const subject = bytesOf(row, plimsoll, true);
  const peer = bytesOf(row, baseline, false);
  const published = PUBLISHED[row.unit];
  const ratio = rounded(subject.excludingKeys / published.bytes, 100);
  return {
    name: row.name,
    unit: row.unit,
    n: row.n,
    keyBytes: rounded(median(plimsoll.map(({ meanKeyBytes }) => meanKeyBytes)), 10),
    subject,
    peers: { [BASELINE_NAME]: { ...peer, ratio: rounded(subject.excludingKeys / peer.excludingKeys, 100) } },
    etcd: { ...published, ratio, isMet: subject.excludingKeys <= published.bytes },
  };
}

/**
 * @param {Row} row
 * @param {readonly Measured[]} runs
 * @param {boolean} hasOwnCopy The core keeps the bytes of each key besides the string; the baseline only the string.
 * @returns {Bytes}
 */
function bytesOf({ n }, runs, hasOwnCopy) {
  const over = (/** @type {(run: Measured) => number} */ bytes) => rounded(median(runs.map(bytes)) / n, 10);
  const structures = (/** @type {Measured} */ { growth, keyBytes }) =>
    growth.wasm + growth.heap + growth.offHeap - (hasOwnCopy ? keyBytes : 0);
  const each = runs.map((run) => rounded(structures(run) / n, 10));
  return {
    excludingKeys: over(structures),
    includingKeys: over((run) => run.growth.wasm + run.growth.heap + run.growth.offHeap + run.keyTextBytes),
    wasm: over(({ growth }) => growth.wasm),
    heap: over(({ growth }) => growth.heap),
    offHeap: over(({ growth }) => growth.offHeap),
    keyText: over(({ keyTextBytes }) => keyTextBytes),
    rss: over(({ growth }) => growth.rss),
    range: [Math.min(...each), Math.max(...each)],
  };
}

/**
 * @param {number} value
 * @param {number} parts
 */
function rounded(value, parts) {
  return Math.round(value * parts) / parts;
}

/**
 * @param {{ runtime: string, cases: readonly ReportedRow[] }} result
 * @returns {string}
 */
export function memoryTable({ runtime, cases }) {
  const lines = [`memory on ${runtime}, bytes a unit, values excluded; "without keys" is what is compared`, ''];
  for (const { name, n, unit, keyBytes, subject, peers, etcd } of cases) {
    lines.push(`${name}  (n = ${n.toLocaleString('en')}, keys of ${keyBytes} bytes)`);
    lines.push(`  ${''.padEnd(40)}${HEADS.map((head) => head.padStart(13)).join('')}`);
    lines.push(line('plimsoll', subject));
    for (const [peer, bytes] of Object.entries(peers)) lines.push(line(peer, bytes));
    const verdict = etcd.isMet ? 'met' : 'missed';
    lines.push(`  = ${etcd.ratio}x of etcd's ${etcd.what} (${etcd.bytes} B a ${unit}): ${verdict}`, '');
  }
  return lines.join('\n');
}

const HEADS = ['without keys', 'with keys', 'wasm', 'heap', 'buffers', 'key string', 'rss'];

/**
 * @param {string} name
 * @param {Bytes} bytes
 */
function line(name, { excludingKeys, includingKeys, wasm, heap, offHeap, keyText, rss }) {
  const figures = [excludingKeys, includingKeys, wasm, heap, offHeap, keyText, rss];
  return `  ${name.padEnd(40)}${figures.map((figure) => figure.toFixed(1).padStart(13)).join('')}`;
}
