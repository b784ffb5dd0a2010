// @ts-check
// One process of a run: opens a suite, measures its cases, returns what it measured. `bench/child.mjs` is its command.
import { measureCase } from './measure.mjs';
import { createBenchmarkTimer, garbageCollector } from './timers.mjs';

/**
 * @typedef {import('./measure.mjs').Case} Case
 * @typedef {import('./measure.mjs').MeasuredCase} MeasuredCase
 *
 * @typedef {object} Job What the command asks one process to do.
 * @property {string} suite
 * @property {string[]} cases
 * @property {number} rounds
 * @property {number} slotMs
 * @property {string} package Address of the built package.
 * @property {string} [core] Address of the bundled core, for suites that look inside.
 *
 * @typedef {object} Context
 * @property {() => Promise<object>} loadPackage
 * @property {() => Promise<object>} loadCore
 *
 * @typedef {object} OpenSuite
 * @property {Record<string, unknown>} facts About the inputs, for the report.
 * @property {(name: string) => Case | Promise<Case>} openCase
 *
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} summary
 * @property {(quick: boolean) => string[]} caseNames
 * @property {boolean} [needsCore]
 * @property {(context: Context) => Promise<OpenSuite>} open
 *
 * @typedef {{ runtime: string, facts: Record<string, unknown>, cases: MeasuredCase[] }} ProcessResult
 */

/**
 * @param {Suite} suite
 * @param {Job} job
 * @param {(line: string) => void} log
 * @returns {Promise<ProcessResult>}
 */
export async function runProcess(suite, job, log) {
  const tools = {
    rounds: job.rounds,
    rate: createBenchmarkTimer(job.slotMs),
    now: () => performance.now(),
    collectGarbage: garbageCollector(),
  };
  const { facts, openCase } = await suite.open({
    loadPackage: () => import(job.package),
    loadCore: () => import(job.core ?? ''),
  });
  /** @type {MeasuredCase[]} */
  const cases = [];
  for (const name of job.cases) {
    log(name);
    // Opened one at a time: what a case holds is garbage before the next one begins.
    cases.push(await measureCase(await openCase(name), tools));
  }
  return { runtime: runtimeName(), facts, cases };
}

/** @returns {string} */
function runtimeName() {
  const host = /** @type {{ Deno?: { version: { deno: string } }, Bun?: { version: string } }} */ (globalThis);
  if (host.Deno !== undefined) return `Deno ${host.Deno.version.deno}`;
  if (host.Bun !== undefined) return `Bun ${host.Bun.version}`;
  return `Node.js ${process.versions.node}`;
}
