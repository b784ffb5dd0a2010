// @ts-check
// The proof of handlers: `npm run test:handlers`. Runs their unit tests and properties at full size, then takes out the
// rules of the algorithm one at a time and sees that tests fail; says which numbered sequences and invariants ran. Ends with
// `N passed, N failed` alone on a line; exit code 1 when anything failed, survived, or a number is missing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCount, reportProof, runNode, runProof, runVitest, SEED_MAX } from '../support/proof.mjs';
import { reportNumbers } from './numbers.mjs';

/** @typedef {import('../support/proof.mjs').Part} Part */

const PROGRAMS_MAX = 100_000_000;

const HELP = `Usage: npm run test:handlers -- [--smoke] [--seed N] [--programs N] [--without-ablations]

  --smoke              a small run
  --seed N             the chance of an earlier run, 0 to ${SEED_MAX}
  --programs N         random programs (20000, or 1000 with --smoke); program n has the seed of the run plus n
  --without-ablations  leaves out the runs with a rule taken out
  --help               this text

To repeat a failure, take the seed that was printed; to repeat one program, its seed and --programs 1.`;

/** @type {readonly { suite: string, filters: readonly string[] }[]} */
const PARTS = [
  { suite: 'unit', filters: ['test/unit/handlers', 'test/unit/queue'] },
  { suite: 'property', filters: ['test/property/handlers'] },
];

/** @param {readonly string[]} args */
export function parseArguments(args) {
  const seed = Math.floor(Math.random() * SEED_MAX);
  const options = { help: false, smoke: false, seed, programs: 0, ablations: true };
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2);
    if (name === '--help') options.help = true;
    else if (name === '--smoke') options.smoke = true;
    else if (name === '--without-ablations') options.ablations = false;
    else if (name === '--seed') options.seed = parseCount(name, inline ?? args[++index], 0, SEED_MAX);
    else if (name === '--programs') options.programs = parseCount(name, inline ?? args[++index], 1, PROGRAMS_MAX);
    else throw new TypeError(`Cannot run the tests: unknown argument "${args[index]}"`);
  }
  return options;
}

/**
 * Takes out the rules that `test/mutants/list/handlers.ts` names, one at a time. One that is noticed has passed.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {number} seed
 * @returns {Promise<Part>}
 */
async function takeOutRules(env, seed) {
  const script = fileURLToPath(new URL('../mutants/run.mjs', import.meta.url));
  const list = await runNode([script, 'faults', '--list', '--json'], env, { capture: true });
  /** @type {readonly { id: string, file: string }[]} */
  const faults = JSON.parse(list.output);
  const ids = faults.filter(({ file }) => file.startsWith('src/handlers/')).map(({ id }) => id);
  const args = [script, 'faults', '--json', '--seed', String(seed), '--only', ids.join(',')];
  const { output } = await runNode(args, env, { capture: true });
  /** @type {{ caught: number }} */
  const { caught } = output.trim() === '' ? { caught: 0 } : JSON.parse(output);
  return { name: 'ablations', passed: caught, failed: ids.length - caught };
}

/** @param {readonly string[]} args */
async function main(args) {
  const { help, smoke, seed, programs, ablations } = parseArguments(args);
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
  const flags = `${smoke ? '--smoke ' : ''}${programs === 0 ? '' : `--programs ${programs} `}`;
  console.log(`seed ${seed} (repeat with: npm run test:handlers -- ${flags}--seed ${seed})`);
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-handlers-'));
  try {
    const parts = [];
    for (const { suite, filters } of PARTS) parts.push(await runVitest(suite, filters, folder, env));
    const numbers = reportNumbers(parts.flatMap(({ told }) => told));
    reportProof(ablations ? [...parts, await takeOutRules(process.env, seed)] : parts, numbers);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProof(main, HELP);
