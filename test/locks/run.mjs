// @ts-check
// The proof of locks and leases: `npm run test:locks`. Runs the unit tests of keyed locks, mutexes, elections and writer
// leases, and their properties at full size; then says which numbered rules and scenarios ran. Ends with `N passed, N failed`
// alone on a line; exit code 1 when anything failed or a number is missing.
//
//   npm run test:locks                     full size
//   npm run test:locks -- --smoke          a minute instead of many
//   npm run test:locks -- --seed 42        the chance of a run before
//   npm run test:locks -- --runs 500       so many random programs of keyed locks
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countVitest } from '../run.mjs';
import { reportNumbers } from './numbers.mjs';

/**
 * @typedef {import('./numbers.mjs').Told} Told
 * @typedef {{ name: string, passed: number, failed: number, told: Told[] }} Part
 * @typedef {{ name: string, assertionResults: { fullName: string, status: string }[] }} TestFile
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const SEED_MAX = 0x7fffffff;
const RUNS_MAX = 10_000_000;

const HELP = `Usage: npm run test:locks -- [--smoke] [--seed N] [--runs N]

  --smoke     a small run
  --seed N    the chance of an earlier run, 0 to ${SEED_MAX}
  --runs N    random programs and histories of keyed locks (15000 and 2000, or 300 and 60 with --smoke)
  --help      this text

To repeat a failure, take the seed that was printed.`;

/** @type {readonly { suite: string, filters: readonly string[] }[]} */
const PARTS = [
  { suite: 'unit', filters: ['test/unit/lock', 'test/unit/lease'] },
  {
    suite: 'property',
    filters: ['lock-', 'writer-', 'election-', 'contention-'].map((name) => `test/property/${name}`),
  },
];

/** The child that runs now, in a process group of its own: its workers end with it. @type {number | undefined} */
let group;

/** @param {readonly string[]} args */
export function parseArguments(args) {
  const options = { help: false, smoke: false, seed: Math.floor(Math.random() * SEED_MAX), runs: 0 };
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2);
    if (name === '--help') options.help = true;
    else if (name === '--smoke') options.smoke = true;
    else if (name === '--seed') options.seed = parseCount(name, inline ?? args[++index], 0, SEED_MAX);
    else if (name === '--runs') options.runs = parseCount(name, inline ?? args[++index], 1, RUNS_MAX);
    else throw new TypeError(`Cannot run the tests: unknown argument "${args[index]}"`);
  }
  return options;
}

/**
 * @param {string} name
 * @param {string | undefined} text
 * @param {number} min
 * @param {number} max
 */
function parseCount(name, text, min, max) {
  const count = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && count >= min && count <= max) return count;
  throw new RangeError(`Cannot run the tests: ${name} is "${text}", not an integer from ${min} to ${max}`);
}

/**
 * @param {{ suite: string, filters: readonly string[] }} part
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Part>}
 */
async function runPart({ suite, filters }, folder, env) {
  const file = join(folder, `${suite}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', suite, ...reporters, ...filters];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  group = child.pid;
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? 1));
  });
  group = undefined;
  const result = await readVitest(file);
  const counts = countVitest(code, result);
  const files = /** @type {TestFile[]} */ (result?.testResults ?? []);
  const told = files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed')
      .map(({ fullName }) => ({ file: name.replaceAll('\\', '/'), title: fullName })),
  );
  // A filter that finds nothing would pass for a success.
  const failed = counts.passed + counts.failed === 0 ? 1 : counts.failed;
  return { name: suite, passed: counts.passed, failed, told };
}

/** @param {string} file */
async function readVitest(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    console.error(`Cannot read the result of vitest: ${error}`);
    return undefined;
  }
}

/** @param {readonly string[]} args */
async function main(args) {
  const { help, smoke, seed, runs } = parseArguments(args);
  if (help) {
    console.log(HELP);
    return;
  }
  const env = {
    ...process.env,
    PLIMSOLL_TEST_SIZE: smoke ? 'smoke' : 'full',
    PLIMSOLL_TEST_SEED: String(seed),
    ...(runs === 0 ? {} : { PLIMSOLL_TEST_RUNS: String(runs) }),
  };
  const repeat = `npm run test:locks -- ${smoke ? '--smoke ' : ''}${runs === 0 ? '' : `--runs ${runs} `}`;
  console.log(`seed ${seed} (repeat with: ${repeat}--seed ${seed})`);
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-locks-'));
  try {
    /** @type {Part[]} */
    const parts = [];
    for (const part of PARTS) parts.push(await runPart(part, folder, env));
    const { lines, missing } = reportNumbers(parts.flatMap(({ told }) => told));
    console.log(`\n${lines.join('\n')}\n`);
    for (const { name, passed, failed } of parts) console.log(`${name.padEnd(12)} ${passed} passed, ${failed} failed`);
    const passed = parts.reduce((sum, part) => sum + part.passed, 0);
    const failed = parts.reduce((sum, part) => sum + part.failed, missing.length);
    console.log(`\n${passed} passed, ${failed} failed`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Ctrl-C and a polite kill end the child as well. */
function endChild() {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    process.on(signal, () => {
      if (group !== undefined) process.kill(-group, 'SIGTERM');
      process.exit(code);
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  endChild();
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('Cannot run the tests'))) throw error;
    console.error(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
  }
}
