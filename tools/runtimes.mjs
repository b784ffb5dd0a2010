// @ts-check
// Programs that run JavaScript: what the conformance suite and the benchmarks have to run in. One is this very Node; the
// others are packages of test/runtimes/package.json, apart from our own dev dependencies, and are installed when they are
// not there.
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** @typedef {{ name: string, version: string, command: string }} Program */

const folder = fileURLToPath(new URL('../test/runtimes/', import.meta.url));

/**
 * Other versions of Node are packages of one platform each, under an alias. The package `node` would choose one by a script
 * while it is installed, past the lockfile.
 *
 * @param {number} major
 */
const nodePackage = (major) => `node${major}-${process.platform}-${process.arch}`;

/** Where `test/runtimes/package.json` has other versions of Node for. */
export const HAS_OTHER_NODES = process.platform === 'linux' && ['arm64', 'x64'].includes(process.arch);

/** @param {number} major */
const otherNode = (major) => ({
  path: `${folder}node_modules/${nodePackage(major)}/bin/node`,
  package: nodePackage(major),
});

/** @type {Readonly<Record<string, { path: string, package?: string }>>} */
const PROGRAMS = {
  node: { path: process.execPath },
  node22: otherNode(22),
  node24: otherNode(24),
  node26: otherNode(26),
  deno: { path: `${folder}node_modules/.bin/deno`, package: 'deno' },
  bun: { path: `${folder}node_modules/.bin/bun`, package: 'bun' },
  workerd: { path: `${folder}node_modules/.bin/workerd`, package: 'workerd' },
  // Libraries of this Node: a machine inside it, and what drives a browser.
  edge: { path: process.execPath, package: '@edge-runtime/vm' },
  playwright: { path: process.execPath, package: 'playwright-core' },
  // Loaded by Node 22 and newer; here it is only a folder.
  'better-sqlite3': { path: `${folder}node_modules/better-sqlite3`, package: 'better-sqlite3' },
};
/** Those of which the package says the version, not the program. */
const LIBRARIES = ['edge', 'playwright', 'better-sqlite3'];

/**
 * The programs of these names (keys of `PROGRAMS`), ready to run and in exactly the pinned version. Installs all of them
 * with `npm ci` when one is missing; only then is the network used. Rejects when one cannot be had: a runtime that is
 * missing is not a pass.
 *
 * @param {readonly string[]} names
 * @returns {Promise<Program[]>}
 */
export async function findPrograms(names) {
  const other = names.find((name) => /^node\d/.test(name));
  if (other !== undefined && !HAS_OTHER_NODES) {
    throw new Error(`Cannot run ${other}: test/runtimes has none for ${process.platform} on ${process.arch}`);
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
    if (LIBRARIES.includes(name)) return await packageVersion(program.package ?? '');
    const { stdout } = await promisify(execFile)(program.path, ['--version']);
    if (name !== 'workerd') return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    return workerdVersion(stdout, await packageVersion('workerd'));
  } catch (error) {
    console.error(`${name} is not there yet (${/** @type {{ code?: unknown }} */ (error).code})`);
    return undefined;
  }
}

/**
 * @param {string} name
 * @returns {Promise<string>}
 */
async function packageVersion(name) {
  return JSON.parse(await readFile(`${folder}node_modules/${name}/package.json`, 'utf8')).version;
}

/** A package of `test/runtimes`, loaded. */
export const loadFromRuntimes = createRequire(`${folder}package.json`);

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
