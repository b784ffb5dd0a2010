// @ts-check
// Bytes a key, a retained revision and a watcher. It measures no rates, so it runs itself: a process for each row of each
// store, one after the other, as often as `--processes` says, and medians over them.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BASELINE_NAME, memoryTable, reportRow } from './report.mjs';
import { rows } from './rows.mjs';

/**
 * @typedef {import('./measure.mjs').Contestant} Contestant
 * @typedef {import('./measure.mjs').Measured} Measured
 * @typedef {import('./report.mjs').ReportedRow} ReportedRow
 * @typedef {Measured & { runtime: string }} ChildResult
 *
 * @typedef {object} OwnJob
 * @property {string[]} cases
 * @property {number} processes
 * @property {boolean} quick
 * @property {string} package Address of the built package.
 * @property {(line: string) => void} log
 *
 * @typedef {{ runtime: string, inputs: Record<string, unknown>, cases: ReportedRow[] }} OwnResult
 *
 * @typedef {object} OwnSuite A suite that measures something else than rates, in its own way.
 * @property {string} name
 * @property {string} summary
 * @property {(quick: boolean) => string[]} caseNames
 * @property {(job: OwnJob) => Promise<OwnResult>} measure
 * @property {(result: OwnResult) => string} table
 */

export const name = 'memory';
export const summary = 'bytes a key, a retained revision and a watcher, beside etcd';
export { memoryTable as table };

/** @type {readonly Contestant[]} */
const CONTESTANTS = ['plimsoll', 'baseline'];

/** @param {boolean} quick */
export function caseNames(quick) {
  return rows(quick).map((row) => row.name);
}

/**
 * Throws when a store answers wrongly after its memory was measured.
 *
 * @param {OwnJob} job
 * @returns {Promise<OwnResult>}
 */
export async function measure({ cases, processes, quick, package: address, log }) {
  const chosen = rows(quick).filter((row) => cases.includes(row.name));
  /** @type {ReportedRow[]} */
  const reported = [];
  let runtime = '';
  for (const row of chosen) {
    /** @type {Record<Contestant, Measured[]>} */
    const runs = { plimsoll: [], baseline: [] };
    for (let index = 0; index < processes; index++) {
      for (const contestant of CONTESTANTS) {
        log(`${row.name}: ${contestant}, process ${index + 1} of ${processes}`);
        const result = await runChild({ row, contestant, package: address });
        runtime = result.runtime;
        runs[contestant].push(result);
      }
    }
    reported.push(reportRow(row, runs));
  }
  const inputs = {
    keys: 'generated, ASCII, flat strings made before the measurement',
    values: 'one string, shared: only the pointer to it is in the figures',
    history: 'all of it retained',
    baseline: BASELINE_NAME,
  };
  return { runtime, inputs, cases: reported };
}

/** Memory that a row may need; a limit of the process is not what is measured. */
const HEAP_MB = 8192;
const childPath = fileURLToPath(new URL('child.mjs', import.meta.url));

/**
 * @param {object} job
 * @returns {Promise<ChildResult>}
 */
function runChild(job) {
  const args = ['--expose-gc', `--max-old-space-size=${HEAP_MB}`, childPath, JSON.stringify(job)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`Cannot measure memory: the process ended with ${signal ?? code}`));
    });
  });
}
