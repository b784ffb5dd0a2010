// @ts-check
// Programs that run JavaScript: what the conformance suite and the benchmarks have to run in. One is this very Node; the
// others are packages of test/runtimes/package.json, apart from our own dev dependencies, and are installed when they are
// not there.
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** @typedef {{ name: string, version: string, command: string }} Program */

const folder = fileURLToPath(new URL('../test/runtimes/', import.meta.url));

/**
 * Node 24 is the package of one platform, under an alias. The package `node` would choose it by a script while it is
 * installed, past the lockfile.
 */
const NODE_24 = `node24-${process.platform}-${process.arch}`;

/** Where `test/runtimes/package.json` has a Node 24 for. A platform without it is no failure: the other runtimes are there. */
export const HAS_NODE_24 = ['node24-linux-arm64', 'node24-linux-x64'].includes(NODE_24);

/** @type {Readonly<Record<string, { path: string, package?: string }>>} */
const PROGRAMS = {
  node: { path: process.execPath },
  node24: { path: `${folder}node_modules/${NODE_24}/bin/node`, package: NODE_24 },
  deno: { path: `${folder}node_modules/.bin/deno`, package: 'deno' },
  bun: { path: `${folder}node_modules/.bin/bun`, package: 'bun' },
  workerd: { path: `${folder}node_modules/.bin/workerd`, package: 'workerd' },
};

/**
 * The programs of these names (`node`, `node24`, `deno`, `bun`, `workerd`), ready to run and in exactly the pinned
 * version. Installs all of them with `npm ci` when one is missing; only then is the network used. Rejects when one cannot
 * be had: a runtime that is missing is not a pass.
 *
 * @param {readonly string[]} names
 * @returns {Promise<Program[]>}
 */
export async function findPrograms(names) {
  if (names.includes('node24') && !HAS_NODE_24) {
    throw new Error(`Cannot run node24: test/runtimes has none for ${process.platform} on ${process.arch}`);
  }
  const pinned = pinnedVersions(JSON.parse(await readFile(`${folder}package.json`, 'utf8')));
  /** @param {string} name */
  const isThere = async (name) => {
    const version = await versionOf(name);
    return version !== undefined && (name === 'node' || version === pinned[PROGRAMS[name]?.package ?? '']);
  };
  if ((await Promise.all(names.map(isThere))).includes(false)) await install();
  return await Promise.all(
    names.map(async (name) => {
      const program = PROGRAMS[name];
      const version = await versionOf(name);
      const wanted = name === 'node' ? version : pinned[program?.package ?? ''];
      if (program === undefined || version === undefined || version !== wanted) {
        throw new Error(`Cannot run ${name}: found version ${version}, test/runtimes wants ${wanted}`);
      }
      return { name, version, command: program.path };
    }),
  );
}

/**
 * Versions by the name in `node_modules`; an alias, `npm:NAME@VERSION`, has its version at the end.
 *
 * @param {{ dependencies: Record<string, string>, optionalDependencies?: Record<string, string> }} manifest
 * @returns {Record<string, string>}
 */
export function pinnedVersions({ dependencies, optionalDependencies = {} }) {
  const entries = Object.entries({ ...dependencies, ...optionalDependencies });
  return Object.fromEntries(entries.map(([name, wanted]) => [name, wanted.slice(wanted.lastIndexOf('@') + 1)]));
}

/**
 * What the runtime says of itself; undefined when it is not there or does not start.
 *
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
async function versionOf(name) {
  const program = PROGRAMS[name];
  if (program === undefined) return undefined;
  try {
    const { stdout } = await promisify(execFile)(program.path, ['--version']);
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
  console.error('Installing the other runtimes once (test/runtimes)');
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stderr);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`Cannot install the runtimes: npm ended with ${code}`);
}
