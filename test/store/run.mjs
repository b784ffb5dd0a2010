// @ts-check
// The proof of the embedded store's semantics: `npm run test:store`. Runs the numbered cases, the unit tests of store,
// watches, leases and scenarios, random programs against the reference model, and the invariants; then says which numbers
// ran. Ends with `N passed, N failed` alone on a line; exit code 1 when anything failed or a number is missing.
//
//   npm run test:store                     full size: 10,000 programs
//   npm run test:store -- --smoke          a minute instead of many
//   npm run test:store -- --seed 42        the chance of a run before
//   npm run test:store -- --programs 500   so many random programs
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { readResult } from '../conformance/runner.mjs';
import { parseCount, reportProof, runNode, runProof, runVitest, SEED_MAX } from '../support/proof.mjs';
import { reportNumbers } from './numbers.mjs';

/** @typedef {import('../support/proof.mjs').Part & { titles: string[] }} Part */

const root = fileURLToPath(new URL('../../', import.meta.url));
const cases = join(root, 'test/conformance/cases');
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
  const { code, output } = await runNode([bundle], env, { capture: true, timeoutMs: CASES_MS_MAX });
  const { passed, failed, failures } = readResult(output, code);
  for (const { name, message } of failures) console.log(`  ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
  const failedNames = new Set(failures.map(({ name }) => name));
  const started = [...output.matchAll(/^PLIMSOLL-CASE (.*)$/gm)].map(([, name]) => String(JSON.parse(String(name))));
  return { name: 'cases', passed, failed, titles: started.filter((name) => !failedNames.has(name)) };
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
    const conformance = await runCases(folder, env);
    const unit = await runVitest('unit', UNITS, folder, env);
    const property = await runVitest('property', PROPERTIES, folder, env);
    const titles = [...unit.told, ...property.told].map(({ title }) => title);
    reportProof([conformance, unit, property], reportNumbers([...conformance.titles, ...titles]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProof(main, HELP);
