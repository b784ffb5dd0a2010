// @ts-check
// One process of a run: opens a suite, measures its cases, returns what it measured. `bench/child.mjs` is its command.
import { measureCase } from './measure.mjs';
import { createBenchmarkTimer, restingCollector } from './timers.mjs';

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
 * @property {unknown} [given] What the suite's `prepare` has made in the process of the command.
 *
 * @typedef {object} Context
 * @property {(entry?: string) => Promise<object>} loadPackage The main entry, or another one: `sqlite`.
 * @property {() => Promise<object>} loadCore
 * @property {unknown} given
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
 * @property {readonly string[]} [runtimes] Where it runs, if not everywhere.
 * @property {(job: { cases: readonly string[], folder: string, log: (line: string) => void }) => Promise<Prepared>} [prepare]
 *   Runs once, in the process of the command: starts what all processes share. `folder` is gone when the run is.
 * @property {(context: Context) => Promise<OpenSuite>} open
 *
 * @typedef {{ given: unknown, close: () => void | Promise<void> }} Prepared
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
    cpuNow: cpuMs,
    collectGarbage: restingCollector(),
  };
  const { facts, openCase } = await suite.open({
    loadPackage: (entry = 'mod') => import(new URL(`${entry}.js`, job.package).href),
    loadCore: () => import(job.core ?? ''),
    given: job.given,
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

/** What this process has had of the processors, with its garbage collector, in milliseconds. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** @returns {string} */
function runtimeName() {
  const host = /** @type {{ Deno?: { version: { deno: string } }, Bun?: { version: string } }} */ (globalThis);
  if (host.Deno !== undefined) return `Deno ${host.Deno.version.deno}`;
  if (host.Bun !== undefined) return `Bun ${host.Bun.version}`;
  return `Node.js ${process.versions.node}`;
}
