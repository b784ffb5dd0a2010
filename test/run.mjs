// @ts-check
// The gate: `npm test`. Runs the suites one after the other, prints each one's time beside its budget, and ends with
// `N passed, N failed` alone on a line; exit code 1 when anything failed, or when a suite ran no test.
//
//   npm test                          all suites, smoke size
//   npm test -- unit property         these suites
//   npm test -- unit test/unit/core   a part of a suite: arguments with a slash are handed to vitest
//   npm test -- --full                larger sizes (npm run test:full)
//   npm test -- --seed 42             the chance of a run before
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../tools/build.mjs';
import { parseBudgets, SUITES, USE_BUILD } from './suites.mjs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {{ status: string, assertionResults: { status: string }[] }} VitestFile
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, testResults: VitestFile[] }} VitestResult
 */

const root = fileURLToPath(new URL('../', import.meta.url));
const SEED_MAX = 0x7fffffff;
/** The gate judges a change, so it runs the same programs every time; new ones are for the runs that look for faults. */
const SEED_OF_SMOKE = 1;

const HELP = `Usage: npm test -- [SUITE...] [PATH...] [--full] [--seed N]

Runs the tests and ends with "N passed, N failed". Exit code 1 when one failed, or when a suite ran none.

  SUITE      one or more of ${SUITES.join(', ')}; all of them if none is named
  PATH       only test files whose path has this in it; it has to have a slash: test/unit/store
  --full     the sizes that prove, instead of a few minutes (npm run test:full)
  --seed N   the chance that the tests take, 0 to ${SEED_MAX} (default ${SEED_OF_SMOKE}; with --full a new one each time)
  --help     this text
`;
const RUNTIME_RESULT = /^all runtimes: (\d+) passed, (\d+) failed$/m;

/** The child that runs now, in a process group of its own: its workers end with it. @type {number | undefined} */
let group;

/** @param {readonly string[]} args */
function parseArguments(args) {
  /** @type {{ suites: string[], filters: string[], full: boolean, seed?: number }} */
  const options = { suites: [], filters: [], full: false };
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? '';
    if (argument === '--full') options.full = true;
    else if (argument === '--seed') options.seed = parseSeed(args[++index]);
    else if (argument.startsWith('--seed=')) options.seed = parseSeed(argument.slice('--seed='.length));
    else if (SUITES.includes(argument)) options.suites.push(argument);
    else if (argument.includes('/')) options.filters.push(argument);
    else
      throw new TypeError(
        `Cannot run the tests: "${argument}" is neither a suite (${SUITES.join(', ')}) nor an option`,
      );
  }
  const chance = options.full ? Math.floor(Math.random() * SEED_MAX) : SEED_OF_SMOKE;
  return { ...options, seed: options.seed ?? chance };
}

/** @param {string | undefined} text */
function parseSeed(text) {
  const seed = Number(text);
  if (text === undefined || !/^\d+$/.test(text) || seed > SEED_MAX) {
    throw new RangeError(`Cannot run the tests: --seed is "${text}", not an integer from 0 to ${SEED_MAX}`);
  }
  return seed;
}

/**
 * Runs a script with this Node and resolves with its exit code (1 for a signal) and, when captured, what it printed.
 *
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {{ capture?: boolean }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(args, env, options = {}) {
  const stdout = options.capture === true ? 'pipe' : 'inherit';
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', stdout, 'inherit'], detached: true });
  group = child.pid;
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      group = undefined;
      resolve({ code: code ?? 1, output });
    });
  });
}

/**
 * @param {string} suite
 * @param {readonly string[]} filters
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Counts>}
 */
async function runVitest(suite, filters, env) {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
  const outputFile = join(folder, 'result.json');
  const args = ['--project', suite, '--reporter=default', '--reporter=json', `--outputFile.json=${outputFile}`];
  try {
    const { code } = await run([join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args, ...filters], env);
    return countVitest(code, await readResult(outputFile));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} file
 * @returns {Promise<VitestResult | undefined>}
 */
export async function readResult(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    console.error(`Cannot read the result of vitest: ${error}`);
    return undefined;
  }
}

/**
 * Tests by vitest's own count (those that need something this machine has not are shown as not run). A file that failed
 * without a failed test (it does not load) and a bad exit for any other reason (an unhandled rejection) count as failures.
 *
 * @param {number} code
 * @param {VitestResult | undefined} result
 * @returns {Counts}
 */
export function countVitest(code, result) {
  if (result === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  ).length;
  const passed = result.numPassedTests;
  const failed = result.numFailedTests + brokenFiles;
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed, skipped: result.numPendingTests };
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Counts>}
 */
async function runConformance(env) {
  const { code, output } = await run([join(root, 'test/conformance/runner.mjs')], env, { capture: true });
  const match = RUNTIME_RESULT.exec(output);
  const failed = Number(match?.[2] ?? 0);
  return { passed: Number(match?.[1] ?? 0), failed: failed === 0 && code !== 0 ? 1 : failed, skipped: 0 };
}

/**
 * @param {string} suite
 * @param {readonly string[]} filters
 * @param {NodeJS.ProcessEnv} env
 */
async function runSuite(suite, filters, env) {
  const counts = suite === 'conformance' ? await runConformance(env) : await runVitest(suite, filters, env);
  if (counts.passed + counts.failed > 0) return counts;
  console.error(`Cannot count ${suite} as passed: it ran no test`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** @param {readonly string[]} suites */
async function ensureBuild(suites) {
  if (!suites.some((suite) => USE_BUILD.includes(suite))) return true;
  try {
    await build({ frozen: true, ifStale: true });
    return true;
  } catch (error) {
    console.error(error);
    return false;
  }
}

/** @param {readonly string[]} args */
async function main(args) {
  if (args.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const { suites, filters, full, seed } = parseArguments(args);
  const size = full ? 'full' : 'smoke';
  const env = { ...process.env, PLIMSOLL_TEST_SIZE: size, PLIMSOLL_TEST_SEED: String(seed) };
  console.log(`size ${size}, seed ${seed} (repeat with: npm test -- ${full ? '--full ' : ''}--seed ${seed})`);
  const budgets = parseBudgets(await readFile(join(root, 'test/README.md'), 'utf8'));
  const chosen = suites.length > 0 ? SUITES.filter((name) => suites.includes(name)) : SUITES;
  const isBuilt = await ensureBuild(chosen);
  const summary = isBuilt ? [] : ['build        0 passed, 1 failed'];
  const total = { passed: 0, failed: isBuilt ? 0 : 1 };
  for (const suite of chosen) {
    const start = performance.now();
    const { passed, failed, skipped } = await runSuite(suite, filters, env);
    const seconds = (performance.now() - start) / 1000;
    const budget = budgets.get(suite) ?? 0;
    const notRun = skipped > 0 ? `, ${skipped} not run` : '';
    const over = !full && seconds > budget ? '  WARNING: over its budget' : '';
    summary.push(
      `${suite.padEnd(12)} ${passed} passed, ${failed} failed${notRun}  ${seconds.toFixed(1)} s of ${budget} s${over}`,
    );
    total.passed += passed;
    total.failed += failed;
  }
  console.log(`\n${summary.join('\n')}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

/** Ctrl-C and a polite kill end the children as well; they get the signal as one group. */
function endChildren() {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    process.on(signal, () => {
      if (group !== undefined) process.kill(-group, signal === 'SIGINT' ? 'SIGTERM' : signal);
      process.exit(code);
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  endChildren();
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('Cannot run the tests'))) throw error;
    console.error(`${error.message}\nUsage: npm test -- [${SUITES.join(' | ')}] [PATH] [--full] [--seed N]`);
    process.exitCode = 2;
  }
}
