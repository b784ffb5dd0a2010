// @ts-check
// The proof of what is for Kubernetes: `npm run test:kubernetes`. Runs the unit tests and, at full size, the properties of informers, of the resource
// cache and of the test API server; then the watch stream of the shared data through that server to a resource cache in each runtime, while things
// go wrong. Says which numbered rules and public reports ran. Ends with `N passed, N failed` alone on a line; exit code 1 when anything
// failed or a number is missing.
//
//   npm run test:kubernetes                     full size
//   npm run test:kubernetes -- --smoke          two minutes instead of many
//   npm run test:kubernetes -- --seed 42        the chance of a run before
//   npm run test:kubernetes -- --part stream    a part of it; then no number can be missing
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCount, reportProof, runNode, runProof, runVitest, SEED_MAX } from '../support/proof.mjs';
import { reportNumbers } from './numbers.mjs';

const HELP = `Usage: npm run test:kubernetes -- [--smoke] [--seed N] [--part NAME]...

  --smoke      a small run
  --seed N     the chance of an earlier run, 0 to ${SEED_MAX}
  --part NAME  unit, property, stream, apiserver
  --help       this text

To repeat a failure, take the seed that was printed. The part apiserver is the stream on a kube-apiserver: on the one that
PLIMSOLL_KUBE_APISERVER names, else on a program that stands in for it. It needs an etcd, which is installed as for npm run test:etcd.`;

/** @type {readonly { suite: string, filters: readonly string[] }[]} */
const SUITES = [
  { suite: 'unit', filters: ['test/unit/kubernetes', 'test/unit/resource-cache', 'test/unit/server'] },
  {
    suite: 'property',
    filters: ['test/property/informer', 'test/property/resource-cache.test.ts', 'test/property/api-server.test.ts'],
  },
];
const PARTS = ['unit', 'property', 'stream', 'apiserver'];
const STREAM = fileURLToPath(new URL('stream/run.mjs', import.meta.url));
const STAND_IN = fileURLToPath(new URL('stream/stand-in.mjs', import.meta.url));

/** @param {readonly string[]} args */
export function parseArguments(args) {
  const options = {
    help: false,
    smoke: false,
    seed: Math.floor(Math.random() * SEED_MAX),
    parts: /** @type {string[]} */ ([]),
  };
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2);
    if (name === '--help') options.help = true;
    else if (name === '--smoke') options.smoke = true;
    else if (name === '--seed') options.seed = parseCount(name, inline ?? args[++index], 0, SEED_MAX);
    else if (name === '--part') options.parts.push(partOf(inline ?? args[++index]));
    else throw new TypeError(`Cannot run the tests: unknown argument "${args[index]}"`);
  }
  return options;
}

/** @param {string | undefined} text */
function partOf(text) {
  const part = PARTS.find((one) => one === text);
  if (part === undefined) throw new TypeError(`Cannot run the tests: unknown part "${text}"`);
  return part;
}

/** @param {readonly string[]} args */
async function main(args) {
  const { help, smoke, seed, parts } = parseArguments(args);
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
  const isChosen = (/** @type {string} */ part) => parts.length === 0 || parts.includes(part);
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubernetes-'));
  // On a signal too.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const suites = [];
  for (const { suite, filters } of SUITES) {
    if (isChosen(suite)) suites.push(await runVitest(suite, filters, folder, env));
  }
  const streams = [];
  if (isChosen('stream')) streams.push(await runStream('stream', streamArguments(smoke, seed), env));
  if (isChosen('apiserver')) streams.push(await runApiServer(smoke, seed, env));
  const told = suites.flatMap((suite) => suite.told);
  const numbers = parts.length === 0 ? await reportNumbers(told) : { lines: [], missing: [] };
  reportProof([...suites, ...streams], numbers);
}

/**
 * On a kube-apiserver the same; on what stands in for one a small run, of how one is started and used.
 *
 * @param {boolean} smoke
 * @param {number} seed
 * @param {NodeJS.ProcessEnv} env
 */
function runApiServer(smoke, seed, env) {
  const { PLIMSOLL_KUBE_APISERVER: command = STAND_IN } = env;
  const small = ['--generated', '--events', '400', '--faults', '20'];
  const size = command === STAND_IN ? small : [];
  const args = [...streamArguments(smoke, seed), ...size];
  return runStream('apiserver', args, { ...env, PLIMSOLL_KUBE_APISERVER: command });
}

/**
 * @param {boolean} smoke
 * @param {number} seed
 */
function streamArguments(smoke, seed) {
  return ['--seed', String(seed), ...(smoke ? ['--smoke'] : [])];
}

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<import('../support/proof.mjs').Part>}
 */
async function runStream(name, args, env) {
  const { PLIMSOLL_KUBE_APISERVER: _, ...rest } = env;
  console.log(`\n${name}`);
  const own = name === 'apiserver' ? env : rest;
  const { code, output } = await runNode([STREAM, ...args], own, { capture: true });
  process.stdout.write(output);
  const [, passed = 0, failed = 0] = /(\d+) passed, (\d+) failed\s*$/.exec(output) ?? [];
  // One that ends without a verdict has failed.
  return { name, passed: Number(passed), failed: Math.max(Number(failed), code === 0 ? 0 : 1) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProof(main, HELP);
