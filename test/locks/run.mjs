// @ts-check
// The proof of locks and leases: `npm run test:locks`. Runs the unit tests of keyed locks, mutexes, elections and writer
// leases, and their properties at full size; then says which numbered rules and scenarios ran. Ends with `N passed, N failed`
// alone on a line; exit code 1 when anything failed or a number is missing.
//
//   npm run test:locks                     full size
//   npm run test:locks -- --smoke          a minute instead of many
//   npm run test:locks -- --seed 42        the chance of a run before
//   npm run test:locks -- --runs 500       so many random programs of keyed locks
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCount, reportProof, runProof, runVitest, SEED_MAX } from '../support/proof.mjs';
import { reportNumbers } from './numbers.mjs';

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
    filters: ['lock-', 'writer-', 'election-'].map((name) => `test/property/${name}`),
  },
];

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
    const parts = [];
    for (const { suite, filters } of PARTS) parts.push(await runVitest(suite, filters, folder, env));
    reportProof(parts, reportNumbers(parts.flatMap(({ told }) => told)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProof(main, HELP);
