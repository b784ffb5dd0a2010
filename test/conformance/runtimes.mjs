// @ts-check
// The runtimes of the conformance suite. Node is the one that runs the tests; the others are packages of
// test/runtimes/package.json, apart from our own dev dependencies, and are installed when they are not there.
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * A module that is run, or the configuration of a worker (workerd.mjs).
 *
 * @typedef {'module' | 'worker'} Program
 */

/**
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} version
 * @property {string} command
 * @property {readonly string[]} args before the path of what to run
 * @property {Program} program
 * @property {NodeJS.ProcessEnv} env
 */

const folder = fileURLToPath(new URL('../runtimes/', import.meta.url));

/** @type {readonly string[]} */
export const RUNTIMES = ['node', 'deno', 'bun', 'workerd'];

/**
 * How to run a module. Deno gets no permission at all: the package needs none.
 *
 * @type {Readonly<Record<string, { command: string, args: readonly string[], program: Program, env: NodeJS.ProcessEnv }>>}
 */
const COMMANDS = {
  node: { command: process.execPath, args: [], program: 'module', env: {} },
  deno: {
    command: `${folder}node_modules/.bin/deno`,
    args: ['run', '--quiet', '--no-prompt', '--node-modules-dir=manual'],
    program: 'module',
    env: { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
  },
  bun: {
    command: `${folder}node_modules/.bin/bun`,
    args: ['run', '--no-install'],
    program: 'module',
    env: { NO_COLOR: '1' },
  },
  workerd: { command: `${folder}node_modules/.bin/workerd`, args: ['test'], program: 'worker', env: {} },
};

/**
 * The runtimes asked for, ready to run. Rejects when one cannot be had: a runtime that is missing is not a pass.
 *
 * @param {readonly string[]} names
 * @returns {Promise<Runtime[]>}
 */
export async function findRuntimes(names) {
  const { dependencies } = JSON.parse(await readFile(`${folder}package.json`, 'utf8'));
  const versions = await Promise.all(names.map(versionOf));
  if (names.some((name, index) => name !== 'node' && versions[index] !== dependencies[name])) await install();
  return await Promise.all(
    names.map(async (name) => {
      const version = await versionOf(name);
      const wanted = name === 'node' ? version : dependencies[name];
      const command = COMMANDS[name];
      if (command === undefined || version === undefined || version !== wanted) {
        throw new Error(`Cannot run ${name}: found version ${version}, test/runtimes wants ${wanted}`);
      }
      return { name, version, ...command };
    }),
  );
}

/**
 * What the runtime says of itself; undefined when it is not there or does not start.
 *
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
async function versionOf(name) {
  const command = COMMANDS[name];
  if (command === undefined) return undefined;
  try {
    const { stdout } = await promisify(execFile)(command.command, ['--version']);
    if (name !== 'workerd') return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    const manifest = JSON.parse(await readFile(`${folder}node_modules/workerd/package.json`, 'utf8'));
    return workerdVersion(stdout, manifest.version);
  } catch (error) {
    console.error(`${name} is not there yet (${/** @type {{ code?: unknown }} */ (error).code})`);
    return undefined;
  }
}

/**
 * workerd tells the day it was made, `workerd 2026-11-17`. Its package of that day is 1.20261117.x, and x is in its
 * manifest only: the version there, if it is of that day.
 *
 * @param {string} said
 * @param {string} version
 * @returns {string | undefined}
 */
export function workerdVersion(said, version) {
  const day = /(\d{4})-(\d\d)-(\d\d)/.exec(said)?.slice(1).join('');
  return day !== undefined && version.split('.')[1] === day ? version : undefined;
}

/** `npm ci` in test/runtimes; what npm says goes to stderr. */
async function install() {
  console.error('Installing the runtimes of the conformance suite (test/runtimes)');
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stderr);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`Cannot install the runtimes: npm ended with ${code}`);
}
