// @ts-check
// Runs the conformance suite of this build in every runtime and adds up:
//
//   node test/conformance/runner.mjs [node] [deno] [bun] [workerd]
//
// The package is packed and unpacked into a temporary project, as a user would get it; the suite is bundled beside it
// with the package left external, so that each runtime resolves `plimsoll` through the exports map itself. workerd
// resolves nothing, so there esbuild does, with workerd's condition: see workerd.mjs.
import { execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { build } from '../../tools/build.mjs';
import { findRuntimes, RUNTIMES } from './runtimes.mjs';
import { makeWorker } from './workerd.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULT_MARK = 'PLIMSOLL-RESULT ';
/** A case starts; the last one of these is the case under way when a run ends without a result. */
const CASE_MARK = 'PLIMSOLL-CASE ';

const HELP = `Usage: npm run test:runtimes -- [RUNTIME...]

Packs this build, installs it in an empty project, and runs the conformance suite in each runtime: ${RUNTIMES.join(', ')},
all of them if none is named. Runtimes that are missing are installed from npm. Exit code 1 when a case failed.
`;

/** A runtime that has not answered by then hangs: the suite takes seconds. */
const RUN_MS_MAX = 120_000;

/** @typedef {{ passed: number, failed: number, failures: { name: string, message: string }[] }} Result */

/**
 * A project with the package in node_modules.
 *
 * @param {string} folder
 */
async function makeProject(folder) {
  const installed = join(folder, 'node_modules/plimsoll');
  await mkdir(installed, { recursive: true });
  // No scripts: `prepare` would build once more.
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', pack, { cwd: root });
  const archive = join(folder, stdout.trim());
  await promisify(execFile)('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  const own = { name: 'plimsoll-conformance', private: true, type: 'module', dependencies: { plimsoll: '*' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(own));
}

/**
 * Bundles the suite beside the package; returns its path.
 *
 * @param {string} folder
 */
async function makeModule(folder) {
  const outfile = join(folder, 'suite.mjs');
  await esbuild.build({
    entryPoints: [join(root, 'test/conformance/main.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    external: ['plimsoll', 'plimsoll/*'],
    // "sideEffects": false of package.json would drop `import './cases/x.ts'`, and no test at all would pass.
    ignoreAnnotations: true,
    tsconfigRaw: {},
    logLevel: 'warning',
  });
  return outfile;
}

/** How what a runtime runs is made; see `Program`. */
const MAKE = { module: makeModule, worker: makeWorker };

/**
 * Runs one runtime in the project. Whatever it does, the answer is a result: no answer is one failure.
 *
 * @param {import('./runtimes.mjs').Runtime} runtime
 * @param {string} folder
 * @param {string} program
 * @returns {Promise<Result>}
 */
function runSuite(runtime, folder, program) {
  const env = { ...process.env, ...runtime.env, DENO_DIR: join(folder, '.deno') };
  const child = spawn(runtime.command, [...runtime.args, program], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX);
    child.on('error', (error) => {
      output += String(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve(readResult(output, code ?? signal));
    });
  });
}

/**
 * @param {string} output
 * @param {number | string | null} end
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
    await makeProject(folder);
    /** @type {Map<import('./runtimes.mjs').Program, string>} */
    const programs = new Map();
    for (const runtime of await findRuntimes(names.length > 0 ? names : RUNTIMES)) {
      const program = programs.get(runtime.program) ?? (await MAKE[runtime.program](folder));
      programs.set(runtime.program, program);
      const start = performance.now();
      const { passed, failed, failures } = await runSuite(runtime, folder, program);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`${runtime.name} ${runtime.version}: ${passed} passed, ${failed} failed (${seconds} s)`);
      for (const { name, message } of failures) console.log(`  ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
      total.passed += passed;
      total.failed += failed;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`all runtimes: ${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
