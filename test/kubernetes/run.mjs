// @ts-check
// The proof of what is for Kubernetes: `npm run test:kubernetes`. Runs the unit tests and, at full size, the properties of informers and
// their transports; then says which numbered rules and public reports ran. Ends with `N passed, N failed` alone on a line; exit
// code 1 when anything failed or a number is missing.
//
//   npm run test:kubernetes                     full size
//   npm run test:kubernetes -- --smoke          half a minute instead of minutes
//   npm run test:kubernetes -- --seed 42        the chance of a run before
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCount, reportProof, runProof, runVitest, SEED_MAX } from '../support/proof.mjs';
import { reportNumbers } from './numbers.mjs';

const HELP = `Usage: npm run test:kubernetes -- [--smoke] [--seed N]

  --smoke     a small run
  --seed N    the chance of an earlier run, 0 to ${SEED_MAX}
  --help      this text

To repeat a failure, take the seed that was printed.`;

/** @type {readonly { suite: string, filters: readonly string[] }[]} */
const PARTS = [
  { suite: 'unit', filters: ['test/unit/kubernetes'] },
  { suite: 'property', filters: ['test/property/informer'] },
];

/** @param {readonly string[]} args */
export function parseArguments(args) {
  const options = { help: false, smoke: false, seed: Math.floor(Math.random() * SEED_MAX) };
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2);
    if (name === '--help') options.help = true;
    else if (name === '--smoke') options.smoke = true;
    else if (name === '--seed') options.seed = parseCount(name, inline ?? args[++index], 0, SEED_MAX);
    else throw new TypeError(`Cannot run the tests: unknown argument "${args[index]}"`);
  }
  return options;
}

/** @param {readonly string[]} args */
async function main(args) {
  const { help, smoke, seed } = parseArguments(args);
  if (help) {
    console.log(HELP);
    return;
  }
  const env = {
    ...process.env,
    PLIMSOLL_TEST_SIZE: smoke ? 'smoke' : 'full',
    PLIMSOLL_TEST_SEED: String(seed),
  };
  console.log(`seed ${seed} (repeat with: npm run test:kubernetes -- ${smoke ? '--smoke ' : ''}--seed ${seed})`);
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-kubernetes-'));
  try {
    const parts = [];
    for (const { suite, filters } of PARTS) parts.push(await runVitest(suite, filters, folder, env));
    reportProof(parts, await reportNumbers(parts.flatMap(({ told }) => told)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProof(main, HELP);
