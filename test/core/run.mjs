// @ts-check
// The proof of the WebAssembly core: `npm run test:core`. Runs its unit tests and properties, random programs on every
// export against plain JavaScript, published and hostile texts, guards around everything that may not be touched, counts
// of work, and the build without SIMD; then says what each export has answered how often. Ends with `N passed, N failed`
// alone on a line; exit code 1 when anything failed or an export, status or reason was never met.
//
//   npm run test:core                        full size: 200,000 programs
//   npm run test:core -- --smoke             two minutes instead of many
//   npm run test:core -- --seed 42           the chance of a run before
//   npm run test:core -- --seed 42 --program bytes:17   one program of it, as a failure prints
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseCount, runProof, SEED_MAX } from '../support/proof.mjs';
import { createRunner } from './processes.mjs';

/** @typedef {import('./part.ts').PartResult & { name: string }} Result */

const PROGRAMS_MAX = 10_000_000;
const PROGRAMS = { smoke: 4000, full: 200_000 };
const JOBS_MAX = 64;
/** Failures of one kind are mostly one fault. */
const FAILURES_SHOWN = 10;

/** In this order; the first two are suites of vitest. */
const PARTS = ['unit', 'property', 'programs', 'texts', 'accesses', 'work', 'twins'];
const FILTERS = {
  unit: ['test/unit/core', 'test/unit/essence'],
  // Without core-exports: a little of what the other parts have.
  property: [
    'test/property/core.test',
    'test/property/core-memory',
    'test/property/core-index',
    'test/property/essence',
  ],
};

const HELP = `Usage: npm run test:core -- [--smoke] [--seed N] [--programs N] [--jobs N] [--part NAME] [--program KIND:N]

  --smoke          a small run: ${PROGRAMS.smoke} random programs, and less of everything else
  --seed N         the chance of an earlier run, 0 to ${SEED_MAX}
  --programs N     number of random programs (${PROGRAMS.full}, or ${PROGRAMS.smoke} with --smoke)
  --jobs N         processes for them, 1 to ${JOBS_MAX} (as many as there are processors)
  --part NAME      only this part: ${PARTS.join(', ')}; may be given again
  --program K:N    only this program, as a failure prints it: its kind and its number
  --help           this text

Without all parts there is no verdict on what is covered.`;

/** @param {readonly string[]} args */
function parseArguments(args) {
  /** @type {{ help: boolean, smoke: boolean, seed: number, programs: number, jobs: number, parts: string[], only?: string }} */
  const options = {
    help: false,
    smoke: false,
    seed: Math.floor(Math.random() * SEED_MAX),
    programs: 0,
    jobs: Math.min(availableParallelism(), JOBS_MAX),
    parts: [],
  };
  for (let index = 0; index < args.length; index++) {
    const [name = '', inline] = (args[index] ?? '').split('=', 2);
    const value = () => inline ?? args[++index];
    if (name === '--help') options.help = true;
    else if (name === '--smoke') options.smoke = true;
    else if (name === '--seed') options.seed = parseCount(name, value(), 0, SEED_MAX);
    else if (name === '--programs') options.programs = parseCount(name, value(), 1, PROGRAMS_MAX);
    else if (name === '--jobs') options.jobs = parseCount(name, value(), 1, JOBS_MAX);
    else if (name === '--part') options.parts.push(parseWord(name, value(), /^\w+$/, PARTS));
    else if (name === '--program') options.only = parseWord(name, value(), /^[\w-]+:\d+$/);
    else throw new TypeError(`Cannot run the tests: unknown argument "${args[index]}"`);
  }
  return options;
}

/**
 * @param {string} name
 * @param {string | undefined} text
 * @param {RegExp} form
 * @param {readonly string[]} [list]
 */
function parseWord(name, text, form, list) {
  if (text !== undefined && form.test(text) && (list === undefined || list.includes(text))) return text;
  throw new TypeError(`Cannot run the tests: ${name} is "${text}", not ${list?.join(', ') ?? 'KIND:NUMBER'}`);
}

/** @param {readonly string[]} args */
async function main(args) {
  const { help, smoke, seed, programs: asked, jobs, parts, only } = parseArguments(args);
  if (help) {
    console.log(HELP);
    return;
  }
  const programs = asked === 0 ? PROGRAMS[smoke ? 'smoke' : 'full'] : asked;
  const repeat = `npm run test:core --${smoke ? ' --smoke' : ''}${asked === 0 ? '' : ` --programs ${asked}`} --seed ${seed}`;
  console.log(`seed ${seed} (repeat with: ${repeat})`);
  const runner = await createRunner({ smoke, seed });
  /** @type {Result[]} */
  const results = [];
  const options = { seed, programs, smoke, worker: 0, workers: 1, ...(only === undefined ? {} : { only }) };
  for (const name of only === undefined ? (parts.length === 0 ? PARTS : parts) : ['programs']) {
    console.error(`${name} ...`);
    const started = performance.now();
    const found = await runPart(runner, name, options, only === undefined ? jobs : 1);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    if (sum(found, 'passed') + sum(found, 'failures') === 0) {
      // A kind that does not exist would pass for a success.
      found.push({ name, passed: 0, failures: [{ name, message: 'nothing was run' }], notes: [], tally: {} });
    }
    for (const result of found) report(result, `${repeat} --program `);
    console.log(`${name.padEnd(12)} ${sum(found, 'passed')} passed, ${sum(found, 'failures')} failed   ${seconds} s\n`);
    results.push(...found);
  }
  // Parts that were left out, and a part that ended early, have covered less for no fault of the core.
  if (only === undefined && parts.length === 0 && sum(results, 'failures') === 0) {
    const coverage = await runner.coverage(results.map(({ tally }) => tally));
    report(coverage, '');
    console.log(`${'coverage'.padEnd(12)} ${coverage.passed} passed, ${coverage.failures.length} failed\n`);
    results.push(coverage);
  }
  const failed = sum(results, 'failures');
  console.log(`${sum(results, 'passed')} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/**
 * @param {Awaited<ReturnType<typeof createRunner>>} runner
 * @param {string} name
 * @param {Record<string, unknown>} options
 * @param {number} jobs
 * @returns {Promise<Result[]>}
 */
async function runPart(runner, name, options, jobs) {
  if (name === 'unit' || name === 'property') return [await runner.vitest(name, FILTERS[name])];
  if (name !== 'programs') return [await runner.worker(name, options)];
  const workers = Array.from({ length: jobs }, (_, worker) => worker);
  return Promise.all(workers.map((worker) => runner.worker(name, { ...options, worker, workers: jobs })));
}

/**
 * @param {Result} result
 * @param {string} repeat command that repeats a program, up to its name
 */
function report({ name, notes, failures }, repeat) {
  for (const note of notes) console.log(`  ${note}`);
  for (const failure of failures.slice(0, FAILURES_SHOWN)) {
    console.log(`\nFAILED ${name}: ${failure.name}\n  ${failure.message.replaceAll('\n', '\n  ')}`);
    if (name === 'programs') console.log(`  repeat with: ${repeat}${failure.name}`);
  }
  if (failures.length > FAILURES_SHOWN) console.log(`\n... and ${failures.length - FAILURES_SHOWN} more of ${name}`);
}

/**
 * @param {readonly Result[]} results
 * @param {'passed' | 'failures'} what
 */
function sum(results, what) {
  return results.reduce((total, result) => total + (what === 'passed' ? result.passed : result.failures.length), 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProof(main, HELP);
