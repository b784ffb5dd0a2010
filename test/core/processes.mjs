// @ts-check
// The child processes of `npm run test:core`: vitest for its suites, and workers made from main.ts for the rest.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { countVitest } from '../run.mjs';

/** @typedef {import('./part.ts').PartResult & { name: string }} Result */

const root = fileURLToPath(new URL('../../', import.meta.url));
const MARK = 'PLIMSOLL-CORE ';

/** Process groups of the children that run now: their own children end with them. @type {Set<number>} */
const groups = new Set();

/** @param {{ smoke: boolean, seed: number }} options */
export async function createRunner({ smoke, seed }) {
  // Inside of the repository, so that the bundle finds the packages; main.ts counts on two folders above it.
  await mkdir(join(root, 'build'), { recursive: true });
  const folder = await mkdtemp(join(root, 'build/core-tests-'));
  // Also when the run is ended by a signal.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const env = { ...process.env, PLIMSOLL_TEST_SIZE: smoke ? 'smoke' : 'full', PLIMSOLL_TEST_SEED: String(seed) };
  const bundle = join(folder, 'main.mjs');
  await esbuild.build({
    entryPoints: [join(root, 'test/core/main.ts')],
    outfile: bundle,
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'node20',
    platform: 'node',
    sourcemap: 'inline',
    tsconfigRaw: {},
    logLevel: 'warning',
  });

  /**
   * @param {string} name
   * @param {Record<string, unknown>} options
   * @returns {Promise<Result>}
   */
  async function worker(name, options) {
    const { code, output } = await run(['--enable-source-maps', bundle, name, JSON.stringify(options)], env, true);
    const line = output.split('\n').findLast((text) => text.startsWith(MARK));
    if (code === 0 && line !== undefined) return { name, ...JSON.parse(line.slice(MARK.length)) };
    const message = `the process ended with ${code} and without a result`;
    return { name, passed: 0, failures: [{ name: 'worker', message }], notes: [], tally: {} };
  }

  /**
   * @param {string} name
   * @param {readonly string[]} filters
   * @returns {Promise<Result>}
   */
  async function vitest(name, filters) {
    const file = join(folder, `${name}.json`);
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const command = join(root, 'node_modules/vitest/vitest.mjs');
    const { code } = await run([command, 'run', '--project', name, ...reporters, ...filters], env, false);
    const { passed, failed } = countVitest(code, await readJson(file));
    // A filter that finds nothing would pass for a success.
    const count = passed + failed === 0 ? 1 : failed;
    const failures = Array.from({ length: count }, () => ({ name, message: 'see what vitest printed above' }));
    return { name, passed, failures, notes: [], tally: {} };
  }

  /** @param {readonly unknown[]} tallies */
  async function coverage(tallies) {
    const file = join(folder, 'tallies.json');
    await writeFile(file, JSON.stringify(tallies));
    return worker('coverage', { tallies: file });
  }

  return { worker, vitest, coverage };
}

/**
 * Runs a script with this Node. Resolves with its exit code (1 for a signal) and, when captured, what it printed.
 *
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} capture
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(args, env, capture) {
  const stdio = /** @type {const} */ (['ignore', capture ? 'pipe' : 'inherit', 'inherit']);
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: [...stdio], detached: true });
  const group = child.pid;
  if (group !== undefined) groups.add(group);
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (group !== undefined) groups.delete(group);
      resolve({ code: code ?? 1, output });
    });
  });
}

/** @param {string} file */
async function readJson(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    console.error(`Cannot read the result of vitest: ${error}`);
    return undefined;
  }
}

/** Ctrl-C and a polite kill end the children as well. */
export function endChildren() {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    process.on(signal, () => {
      for (const group of groups) process.kill(-group, 'SIGTERM');
      process.exit(code);
    });
  }
}
