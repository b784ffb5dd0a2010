// @ts-check
// Runs the conformance suite of this build in every runtime and adds up:
//
//   node test/conformance/runner.mjs [RUNTIME...]
//
// The package is packed, and for each runtime installed into an empty folder, as a user would get it; the suite is bundled
// beside it with the package left external, so that each runtime resolves `plimsoll` through the exports map itself. What
// resolves nothing gets it by esbuild, with the condition of that runtime: see workerd.mjs, edge.mjs, chromium.mjs.
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../tools/build.mjs';
import { outputOf } from '../../tools/child-output.mjs';
import { makeProject, packPackage } from '../../tools/packed-project.mjs';
import { bundle } from './bundle.mjs';
import { makePage, makePolicy, makeWebWorker } from './chromium.mjs';
import { makeEdge } from './edge.mjs';
import { addBetterSqlite, findRuntimes, RUNTIMES } from './runtimes.mjs';
import { makeWorker, makeWorkerWithCore } from './workerd.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULT_MARK = 'PLIMSOLL-RESULT ';
/** A case starts; the last one of these is the case under way when a run ends without a result. */
const CASE_MARK = 'PLIMSOLL-CASE ';

const HELP = `Usage: npm run test:runtimes -- [RUNTIME...]

Packs this build, installs it in an empty folder for each runtime, and runs the conformance suite there: ${RUNTIMES.join(', ')};
all of them if none is named. Those that are missing are installed: from npm, and Chromium from the system's packages (as
root). One that cannot be had on this machine is told as not run; where it was named, or with CI set, that is an error.
About a minute. Exit code 1 when a case failed, 2 for a name that is none.
`;

/** A runtime that has not answered by then hangs: the suite takes seconds. */
const RUN_MS_MAX = 120_000;

/** @typedef {{ passed: number, failed: number, failures: { name: string, message: string }[] }} Result */

/**
 * Bundles the suite beside the package; returns its path.
 *
 * @param {string} folder
 */
async function makeModule(folder) {
  const outfile = join(folder, 'suite.mjs');
  await bundle({
    entryPoints: [join(root, 'test/conformance/main.ts')],
    outfile,
    platform: 'neutral',
    external: ['plimsoll', 'plimsoll/*'],
  });
  return outfile;
}

/** How what a runtime runs is made; see `Program`. */
const MAKE = {
  module: makeModule,
  worker: makeWorker,
  workerWithCore: makeWorkerWithCore,
  edge: makeEdge,
  page: makePage,
  webWorker: makeWebWorker,
  policy: makePolicy,
};

/**
 * Runs the suite in the project. Whatever happens, the answer is a result: no answer is one failure.
 *
 * @param {string} command
 * @param {import('./runtimes.mjs').Run} run
 * @param {string} folder
 * @param {string} program
 * @returns {Promise<Result>}
 */
async function runSuite(command, run, folder, program) {
  const env = { ...run.env, DENO_DIR: join(folder, '.deno') };
  const { output, end } = await outputOf(command, [...run.args, program], { cwd: folder, env, msMax: RUN_MS_MAX });
  return readResult(output, end);
}

/**
 * @param {string} output
 * @param {number | string} end
 * @returns {Result}
 */
export function readResult(output, end) {
  const lines = output.split('\n');
  const line = lines.find((text) => text.startsWith(RESULT_MARK));
  const started = lines.findLast((text) => text.startsWith(CASE_MARK));
  const where = started === undefined ? 'before any case' : `in the case ${started.slice(CASE_MARK.length)}`;
  // Without the marks: what the runtime or a case said of itself is what helps.
  const said = lines.filter((text) => !text.startsWith(CASE_MARK) && !text.startsWith(RESULT_MARK)).join('\n');
  /** @type {Result} */
  const result =
    line === undefined ? { passed: 0, failed: 0, failures: [] } : JSON.parse(line.slice(RESULT_MARK.length));
  const problem =
    line === undefined
      ? `it ended (${end}) without a result, ${where}:\n${said}`
      : end !== 0
        ? `it ended with ${end}:\n${said}`
        : result.passed + result.failed === 0
          ? 'it ran no test'
          : undefined;
  if (problem === undefined) return result;
  return {
    ...result,
    failed: result.failed + 1,
    failures: [...result.failures, { name: 'the run', message: problem }],
  };
}

/** @param {readonly string[]} names */
async function main(names) {
  if (names.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const unknown = names.find((name) => !RUNTIMES.includes(name));
  if (unknown !== undefined) {
    process.stderr.write(`Cannot run "${unknown}": the runtimes are ${RUNTIMES.join(', ')} (--help tells more)\n`);
    process.exitCode = 2;
    return;
  }
  await build({ frozen: true, ifStale: true });
  const total = { passed: 0, failed: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-conformance-'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      rmSync(folder, { recursive: true, force: true });
      process.exit(1);
    });
  }
  try {
    const archive = await packPackage(folder);
    const must = names.length > 0 || (process.env.CI ?? '') !== '';
    const { runtimes, missing } = await findRuntimes(names.length > 0 ? names : RUNTIMES, must);
    for (const { name, version, command, runs } of runtimes) {
      const project = join(folder, name);
      await makeProject(project, archive);
      const { env, reason } = await addBetterSqlite({ name, version, command }, project);
      if (reason !== undefined) missing.push({ name: `better-sqlite3 in ${name}`, reason });
      for (const one of runs) {
        const run = { ...one, env: { ...one.env, ...env } };
        const program = await MAKE[run.program](project);
        const start = performance.now();
        const { passed, failed, failures } = await runSuite(command, run, project, program);
        const seconds = ((performance.now() - start) / 1000).toFixed(1);
        console.log(`${run.title} ${version}: ${passed} passed, ${failed} failed (${seconds} s)`);
        for (const { name, message } of failures) console.log(`  ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
        total.passed += passed;
        total.failed += failed;
      }
    }
    for (const { name, reason } of missing) console.log(`${name}: not run: ${reason}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`all runtimes: ${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
