// @ts-check
// The runtimes of the conformance suite and how each of them runs it.
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findOrInstallChromium } from '../../tools/chromium.mjs';
import { findPrograms } from '../../tools/runtimes.mjs';

/**
 * A module that is run; the configuration of a worker (workerd.mjs); a script for the edge machine (edge.mjs); a page
 * (chromium.mjs).
 *
 * @typedef {'module' | 'worker' | 'workerWithCore' | 'edge' | 'page' | 'webWorker' | 'policy'} Program
 */

/**
 * One way to run the suite in a runtime.
 *
 * @typedef {object} Run
 * @property {string} title
 * @property {readonly string[]} args before the path of what to run
 * @property {Program} program
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} version
 * @property {string} command
 * @property {readonly Run[]} runs
 */

/** @param {string} name */
const fileBeside = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * @param {string} title
 * @param {Program} program
 * @param {readonly string[]} [args]
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Run}
 */
const run = (title, program, args = [], env = {}) => ({ title, program, args, env });

const EDGE = fileBeside('edge.mjs');
const CHROMIUM = fileBeside('chromium.mjs');

/**
 * How to run it. Deno gets no permission at all: the package needs none.
 *
 * @type {Readonly<Record<string, readonly Run[]>>}
 */
const RUNS = {
  node: [run('node', 'module')],
  node22: [run('node22', 'module')],
  node24: [run('node24', 'module')],
  node26: [run('node26', 'module')],
  deno: [
    run('deno', 'module', ['run', '--quiet', '--no-prompt', '--node-modules-dir=manual'], {
      DENO_NO_UPDATE_CHECK: '1',
      NO_COLOR: '1',
    }),
  ],
  bun: [run('bun', 'module', ['run', '--no-install'], { NO_COLOR: '1' })],
  workerd: [run('workerd', 'worker', ['test']), run('workerd with createCore', 'workerWithCore', ['test'])],
  edge: [run('edge', 'edge', [EDGE])],
  chromium: [
    run('chromium', 'page', [CHROMIUM]),
    run('chromium in a web worker', 'webWorker', [CHROMIUM]),
    run('chromium without wasm-unsafe-eval', 'policy', [CHROMIUM]),
  ],
};

export const RUNTIMES = Object.keys(RUNS);

/** Not every machine can have these: their packages are for some platforms, or only root may install them. */
const OPTIONAL = ['node22', 'node24', 'node26', 'chromium'];

/**
 * The runtimes asked for, of `RUNTIMES`, ready to run; and why others are not. Where all of them `must` be there, and for
 * those that every machine can have, it rejects: a runtime that is missing is not a pass.
 *
 * @param {readonly string[]} names
 * @param {boolean} must
 * @returns {Promise<{ runtimes: Runtime[], missing: { name: string, reason: string }[] }>}
 */
export async function findRuntimes(names, must) {
  /** @type {Runtime[]} */
  const runtimes = [];
  /** @type {{ name: string, reason: string }[]} */
  const missing = [];
  for (const name of names) {
    try {
      runtimes.push(await findRuntime(name));
    } catch (error) {
      if (must || !OPTIONAL.includes(name)) throw error;
      missing.push({ name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { runtimes, missing };
}

/**
 * @param {string} name
 * @returns {Promise<Runtime>}
 */
async function findRuntime(name) {
  const runs = RUNS[name];
  if (runs === undefined) throw new RangeError(`Cannot run ${name}: it is no runtime of this suite`);
  const [program] = await findPrograms([name === 'chromium' ? 'playwright' : name]);
  if (program === undefined) throw new RangeError(`Cannot run ${name}: it has no program`);
  if (name !== 'chromium') return { ...program, runs };
  const { path, version } = await findOrInstallChromium();
  const env = { PLIMSOLL_CHROMIUM: path };
  return { name, version, command: program.command, runs: runs.map((one) => ({ ...one, env })) };
}

/** What the release of better-sqlite3 in test/runtimes is built for; an older Node it ends, with a segmentation fault. */
const BETTER_NODE_MIN = 22;

/**
 * Puts better-sqlite3 into a project of Node, where it loads, and returns the variable by which `cases/sqlite.ts` knows that
 * it is there; nothing for what is no Node and for one that is too old. The libraries that a runtime brings along need nothing.
 *
 * @param {{ name: string, version: string, command: string }} runtime
 * @param {string} project
 * @returns {Promise<{ env: NodeJS.ProcessEnv, reason?: string }>} `reason` says why a Node of that age cannot load it
 */
export async function addBetterSqlite({ name, version, command }, project) {
  if (!/^node\d*$/.test(name) || Number.parseInt(version, 10) < BETTER_NODE_MIN) return { env: {} };
  const [library] = await findPrograms(['better-sqlite3']);
  if (library === undefined) throw new RangeError('Cannot find better-sqlite3 in test/runtimes');
  try {
    const script = `new (require(${JSON.stringify(library.command)}))(':memory:').close()`;
    await promisify(execFile)(command, ['-e', script]);
  } catch (error) {
    return { env: {}, reason: error instanceof Error ? error.message : String(error) };
  }
  await symlink(library.command, join(project, 'node_modules/better-sqlite3'), 'junction');
  return { env: { PLIMSOLL_BETTER_SQLITE3: library.version } };
}
