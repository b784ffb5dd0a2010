// @ts-check
// The benchmarks: `npm run bench`. See docs/benchmarks.md for how it measures and what that cannot show.
import { spawn } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chooseCases, parseOptions, UsageError } from './harness/arguments.mjs';
import { medianFacts } from './harness/facts.mjs';
import { ensurePeers } from './harness/peers.mjs';
import { report, table } from './harness/report.mjs';
import { findRuntime, RUNTIMES } from './harness/runtimes.mjs';
import { exitOnSignals, scratchFolder } from './harness/scratch.mjs';
import { OWN_SUITES, SUITES } from './suites.mjs';

/**
 * @typedef {import('./harness/arguments.mjs').Options} Options
 * @typedef {import('./harness/process.mjs').Suite} Suite
 * @typedef {import('./memory/suite.mjs').OwnSuite} OwnSuite
 * @typedef {import('./harness/process.mjs').Job} Job
 * @typedef {import('./harness/process.mjs').ProcessResult} ProcessResult
 */

const root = fileURLToPath(new URL('../', import.meta.url));

/** @type {readonly (Suite | OwnSuite)[]} */
const ALL = [...SUITES, ...OWN_SUITES];

const HELP = `Measures plimsoll against the best packages one can install, and says where it loses.

  npm run bench -- SUITE            a table
  npm run -s bench -- SUITE --json  one JSON document on standard output, progress on standard error

Suites:
${ALL.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

Options:
  --json           {suite, runtime, cases: [{name, n, bytes?, per?, subject, peers, best, ratio, ratioRange}]};
                   ratio is the subject's rate divided by that of the best peer that does the whole job
  --runtime NAME   what the processes run in: ${RUNTIMES.join(', ')} (node, the one that runs this command); for
                   memory only node, for backends node and node24
  --case TEXT      only cases whose names start with TEXT; may be repeated
  --rounds N       turns of everyone in a process, 1 to 99 (7; 3 with --quick); not for memory
  --processes N    processes one after the other, medians over them, 1 to 20 (3; 1 with --quick)
  --quick          shorter turns, and no case that takes minutes: to see that it works, not to publish
  --list           the suites and their cases
  --help           this

The first run installs what it compares with into bench/node_modules (npm ci --prefix bench); later ones use no network.
The first run in another runtime installs those of test/runtimes, in the versions that are pinned there.
Exit code: 0 done; 1 somebody answered wrongly, or it could not be measured; 2 wrong use.
`;

/** Length of one turn of one contestant. */
const SLOT_MS = 40;
const QUICK_SLOT_MS = 10;

/** @param {readonly string[]} args */
async function main(args) {
  const options = parseOptions(
    args,
    ALL.map(({ name }) => name),
    RUNTIMES,
  );
  const chosen = ALL.filter(({ name }) => options.suite === '' || options.suite === name);
  const [suite] = chosen;
  if (options.help || suite === undefined) process.stdout.write(HELP);
  else if (options.list) process.stdout.write(listing(chosen));
  else if ('measure' in suite) await runOwnSuite(suite, options);
  else await runSuite(suite, options);
}

/** @param {readonly (Suite | OwnSuite)[]} suites */
function listing(suites) {
  return suites
    .flatMap(({ name, caseNames }) => [`${name}\n`, ...caseNames(false).map((text) => `  ${text}\n`)])
    .join('');
}

/**
 * One that needs nobody's packages and starts its own processes.
 *
 * @param {OwnSuite} suite
 * @param {Options} options
 */
async function runOwnSuite(suite, { json, quick, processes, cases: beginnings, runtime: name }) {
  if (name !== RUNTIMES[0]) {
    throw new UsageError(
      `Cannot run the benchmarks: ${suite.name} asks the heap of the Node that runs the command, it cannot run in ${name}`,
    );
  }
  const cases = chooseCases(suite.caseNames(quick), beginnings);
  const log = (/** @type {string} */ line) => console.error(line);
  await buildPackage();
  const address = pathToFileURL(join(root, 'dist/mod.js')).href;
  const result = await suite.measure({ cases, processes, quick, package: address, log });
  if (!json) {
    process.stdout.write(suite.table(result));
    return;
  }
  const { runtime, ...rest } = result;
  const document = { suite: suite.name, runtime, machine: machine(), settings: { processes, quick }, ...rest };
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

/**
 * @param {Suite} suite
 * @param {Options} options
 */
async function runSuite(suite, options) {
  const cases = chooseCases(suite.caseNames(options.quick), options.cases);
  const { name, runtimes = RUNTIMES } = suite;
  if (!runtimes.includes(options.runtime)) {
    throw new UsageError(
      `Cannot run the benchmarks: ${name} runs in ${runtimes.join(', ')}, not in ${options.runtime}`,
    );
  }
  const log = (/** @type {string} */ line) => console.error(line);
  await ensurePeers(log);
  await buildPackage();
  const { folder: scratch, remove } = await scratchFolder();
  /** @type {import('./harness/process.mjs').Prepared | undefined} */
  let prepared;
  try {
    const runtime = await findRuntime(options.runtime, join(scratch, 'cache'));
    prepared = await suite.prepare?.({ cases, folder: scratch, log });
    const core = suite.needsCore === true ? await bundleCore(scratch) : undefined;
    /** @type {Job} */
    const job = {
      suite: suite.name,
      cases,
      rounds: options.rounds,
      slotMs: options.quick ? QUICK_SLOT_MS : SLOT_MS,
      package: pathToFileURL(join(root, 'dist/mod.js')).href,
      ...(core === undefined ? {} : { core }),
      ...(prepared === undefined ? {} : { given: prepared.given }),
    };
    /** @type {ProcessResult[]} */
    const results = [];
    for (let index = 0; index < options.processes; index++) {
      log(`${suite.name}: process ${index + 1} of ${options.processes}`);
      results.push(JSON.parse(await run(runtime, ['bench/child.mjs', JSON.stringify(job)], 'measure', scratch)));
    }
    print(suite, options, results);
  } finally {
    await prepared?.close();
    remove();
  }
}

/**
 * @param {Suite} suite
 * @param {Options} options
 * @param {readonly ProcessResult[]} results
 */
function print(suite, { json, quick, rounds, processes }, results) {
  const facts = {
    suite: suite.name,
    runtime: results[0]?.runtime ?? '',
    machine: machine(),
    settings: { rounds, processes, quick },
    inputs: medianFacts(results.map((result) => result.facts)),
  };
  const result = report(
    facts,
    results.map(({ cases }) => cases),
  );
  process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : table(result));
}

function machine() {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), load: loadavg()[0] ?? 0 };
}

/**
 * The core is not part of the package's face, so it is bundled from the sources for the suites that need it.
 *
 * @param {string} folder
 */
async function bundleCore(folder) {
  const { build } = await import('esbuild');
  const outfile = join(folder, 'core.mjs');
  const contents = [
    `export { Core } from './src/core/core.ts';`,
    `export { KeyIndex } from './src/core/key-index.ts';`,
    `export { coreModule } from './src/core/module.ts';`,
  ].join('');
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    outfile,
    logLevel: 'error',
  });
  return pathToFileURL(outfile).href;
}

async function buildPackage() {
  const node = { command: process.execPath, args: [], env: {} };
  await run(node, ['tools/build.mjs', '--frozen', '--if-stale'], 'build the package');
}

/**
 * Runs a module and resolves with what it printed; what it says on standard error is progress.
 *
 * @param {import('./harness/runtimes.mjs').Runtime} runtime
 * @param {readonly string[]} program its path and arguments
 * @param {string} action
 * @param {string} [folder] where it may make temporary files, which go with it
 * @returns {Promise<string>}
 */
function run({ command, args, env }, program, action, folder = undefined) {
  const child = spawn(command, [...args, ...program], {
    cwd: root,
    env: { ...process.env, ...env, ...(folder === undefined ? {} : { TMPDIR: folder }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // It does not hear of a signal to this process alone, and would measure on, without what this one has taken away.
  const kill = () => void child.kill();
  process.on('exit', kill);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('exit', kill);
      if (code === 0) resolve(output);
      else reject(new Error(`Cannot ${action}: the process ended with ${signal ?? code}`));
    });
  });
}

exitOnSignals();
try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof UsageError) console.error('Try: npm run bench -- --help');
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
