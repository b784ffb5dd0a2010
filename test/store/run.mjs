// @ts-check
// The proof of the embedded store's semantics: `npm run test:store`. Runs the numbered cases, the unit tests of store,
// watches, leases and scenarios, random programs against the reference model, and the invariants; then says which numbers
// ran. Ends with `N passed, N failed` alone on a line; exit code 1 when anything failed or a number is missing.
//
//   npm run test:store                     full size: 10,000 programs
//   npm run test:store -- --smoke          a minute instead of many
//   npm run test:store -- --seed 42        the chance of a run before
//   npm run test:store -- --programs 500   so many random programs
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { readResult } from '../conformance/runner.mjs';
import { countVitest } from '../run.mjs';
import { reportNumbers } from './numbers.mjs';

/**
 * @typedef {{ name: string, passed: number, failed: number, titles: string[] }} Part
 * @typedef {{ fullName: string, status: string }} Assertion
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const cases = join(root, 'test/conformance/cases');
const SEED_MAX = 0x7fffffff;
const PROGRAMS_MAX = 10_000_000;
/** Cases that are not over by then hang: they take seconds. */
const CASES_MS_MAX = 120_000;

const HELP = `Usage: npm run test:store -- [--smoke] [--seed N] [--programs N]

  --smoke        a small run: 300 random programs
  --seed N       the chance of an earlier run, 0 to ${SEED_MAX}
  --programs N   number of random programs (10000, or 300 with --smoke)
  --help         this text

To repeat a failed program, take the seed that was printed.`;

/** Unit tests by path: tables and worked examples of what the programs do at random. */
const UNITS = ['test/unit/store', 'test/unit/watch', 'test/unit/lease', 'test/unit/cache/scenarios'];

/** Programs against the model and updates; wake-ups and key order; replicas, for the invariants that are about them. */
const PROPERTIES = ['test/property/store', 'test/property/watch', 'test/property/replica'];

/** The child that runs now, in a process group of its own: its workers end with it. @type {number | undefined} */
let group;

/** @param {readonly string[]} args */
function parseArguments(args) {
  const options = { help: false, smoke: false, seed: Math.floor(Math.random() * SEED_MAX), programs: 0 };
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2);
    if (name === '--help') options.help = true;
    else if (name === '--smoke') options.smoke = true;
    else if (name === '--seed') options.seed = parseCount(name, inline ?? args[++index], 0, SEED_MAX);
    else if (name === '--programs') options.programs = parseCount(name, inline ?? args[++index], 1, PROGRAMS_MAX);
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
 * Runs a script with this Node. Resolves with its exit code (1 for a signal) and, when captured, what it printed; one
 * that is captured is ended when it hangs.
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
  const timer = options.capture === true ? setTimeout(() => child.kill('SIGKILL'), CASES_MS_MAX) : undefined;
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      group = undefined;
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

/**
 * The conformance cases that are about the store, on the sources and in Node. The package as it is built, in every runtime,
 * has them by `npm run test:runtimes`.
 *
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Part>}
 */
async function runCases(folder, env) {
  const files = (await readdir(cases)).filter(
    (file) => /^(?:spec|store)-.*\.ts$/.test(file) && !/-support\./.test(file),
  );
  const bundle = join(folder, 'cases.mjs');
  const main = await readFile(join(root, 'test/conformance/main.ts'), 'utf8');
  await esbuild.build({
    stdin: {
      contents: `${files.map((file) => `import './cases/${file}';`).join('\n')}\n${main.replace('./suite.ts', './harness.ts')}`,
      resolveDir: join(root, 'test/conformance'),
      loader: 'ts',
    },
    outfile: bundle,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    alias: { plimsoll: join(root, 'src/mod.ts'), 'plimsoll/testing': join(root, 'src/testing/mod.ts') },
    // "sideEffects": false of package.json would drop the cases.
    ignoreAnnotations: true,
    tsconfigRaw: {},
    logLevel: 'warning',
  });
  const { code, output } = await run([bundle], env, { capture: true });
  const { passed, failed, failures } = readResult(output, code);
  for (const { name, message } of failures) console.log(`  ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
  const failedNames = new Set(failures.map(({ name }) => name));
  const started = [...output.matchAll(/^PLIMSOLL-CASE (.*)$/gm)].map(([, name]) => String(JSON.parse(String(name))));
  return { name: 'cases', passed, failed, titles: started.filter((name) => !failedNames.has(name)) };
}

/**
 * @param {string} suite
 * @param {readonly string[]} filters
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Part>}
 */
async function runVitest(suite, filters, folder, env) {
  const file = join(folder, `${suite}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { code } = await run([vitest, 'run', '--project', suite, ...reporters, ...filters], env);
  const result = await readVitest(file);
  const counts = countVitest(code, result);
  /** @type {Assertion[]} */
  const assertions =
    result?.testResults.flatMap((/** @type {{ assertionResults: Assertion[] }} */ one) => one.assertionResults) ?? [];
  const titles = assertions.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName);
  // A filter that finds nothing would pass for a success.
  const failed = counts.passed + counts.failed === 0 ? 1 : counts.failed;
  return { name: suite, passed: counts.passed, failed, titles };
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
  const { help, smoke, seed, programs } = parseArguments(args);
  if (help) {
    console.log(HELP);
    return;
  }
  const env = {
    ...process.env,
    PLIMSOLL_TEST_SIZE: smoke ? 'smoke' : 'full',
    PLIMSOLL_TEST_SEED: String(seed),
    ...(programs === 0 ? {} : { PLIMSOLL_TEST_PROGRAMS: String(programs) }),
  };
  const repeat = `npm run test:store -- ${smoke ? '--smoke ' : ''}${programs === 0 ? '' : `--programs ${programs} `}`;
  console.log(`seed ${seed} (repeat with: ${repeat}--seed ${seed})`);
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-store-'));
  try {
    // The bundle is no module of this package: without a type of its own it would not load as one.
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const parts = [
      await runCases(folder, env),
      await runVitest('unit', UNITS, folder, env),
      await runVitest('property', PROPERTIES, folder, env),
    ];
    const { lines, missing } = reportNumbers(parts.flatMap(({ titles }) => titles));
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

/** Ctrl-C and a polite kill end the children as well. */
function endChildren() {
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
  endChildren();
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('Cannot run the tests'))) throw error;
    console.error(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
  }
}
