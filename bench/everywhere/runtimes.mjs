// @ts-check
// How the cases are measured in each runtime: from inside by benchmark.js, where there is a clock and a compiler for it; from
// outside by the slope of longer and longer calls (slope.mjs) in workerd and in the edge machine.
import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { findOrInstallChromium } from '../../tools/chromium.mjs';
import { openPage } from '../../tools/chromium-page.mjs';
import { EDGE_BUNDLE, openEdgeMachine } from '../../tools/edge.mjs';
import { freePort } from '../../tools/free-port.mjs';
import { findPrograms } from '../../tools/runtimes.mjs';
import { WORKERD_BUNDLE, workerdConfig } from '../../tools/workerd.mjs';
import { CASES } from './cases.mjs';
import { measureSlope } from './slope.mjs';

/**
 * @typedef {{ name: string, opsPerSecond: number, rme: number, samples: number }} Measured rme: the error in percent, of 95 %
 * @typedef {{ version: string, harness: string, results: Measured[] }} RuntimeResult
 */

const MARK = 'PLIMSOLL-RESULT ';
const DENO = ['run', '--quiet', '--no-prompt', '--allow-env', '--node-modules-dir=manual'];

/** @type {Readonly<Record<string, (folder: string, options: { seconds: number }) => Promise<RuntimeResult>>>} */
const MEASURE = {
  node: (folder, options) => inside('node', [], folder, options),
  node22: (folder, options) => inside('node22', [], folder, options),
  node24: (folder, options) => inside('node24', [], folder, options),
  node26: (folder, options) => inside('node26', [], folder, options),
  deno: (folder, options) => inside('deno', DENO, folder, options),
  bun: (folder, options) => inside('bun', ['run', '--no-install'], folder, options),
  workerd: inWorkerd,
  edge: inEdge,
  chromium: inChromium,
};

export const RUNTIMES = Object.keys(MEASURE);

/**
 * @param {string} name
 * @param {string} folder a project with the package installed
 * @param {{ seconds: number }} options for each case
 */
export async function measureIn(name, folder, options) {
  const measure = MEASURE[name];
  if (measure === undefined) throw new RangeError(`Cannot measure in ${name}: it is no runtime of these`);
  return measure(folder, options);
}

/**
 * @param {string} folder
 * @param {string} entry
 * @param {string} outfile
 * @param {esbuild.BuildOptions} options
 */
async function bundle(folder, entry, outfile, options) {
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outfile: join(folder, outfile),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    nodePaths: [join(folder, 'node_modules'), fileURLToPath(new URL('../../node_modules', import.meta.url))],
    // Both ask for things that they do without: process and microtime.
    logLevel: 'error',
    ...options,
  });
  return join(folder, outfile);
}

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @param {string} folder
 * @param {{ seconds: number }} options
 * @returns {Promise<RuntimeResult>}
 */
async function inside(name, args, folder, { seconds }) {
  const [program] = await findPrograms([name]);
  if (program === undefined) throw new RangeError(`Cannot measure in ${name}: it has no program`);
  const script = await bundle(folder, 'main.mjs', 'bench.mjs', {
    platform: 'neutral',
    mainFields: ['main'],
    external: ['plimsoll'],
  });
  const env = {
    ...process.env,
    PLIMSOLL_SECONDS: String(seconds),
    DENO_DIR: join(folder, '.deno'),
    DENO_NO_UPDATE_CHECK: '1',
  };
  const { stdout } = await promisify(execFile)(program.command, [...args, script], {
    cwd: folder,
    env,
    maxBuffer: 1 << 24,
  });
  return { version: program.version, harness: 'benchmark.js', results: resultIn(stdout.split('\n')) };
}

/**
 * @param {readonly string[]} lines
 * @returns {Measured[]}
 */
function resultIn(lines) {
  const line = lines.find((text) => text.startsWith(MARK));
  if (line === undefined) throw new Error(`it ended without a result:\n${lines.join('\n')}`);
  return JSON.parse(line.slice(MARK.length));
}

/**
 * @param {string} folder
 * @param {{ seconds: number }} options
 * @returns {Promise<RuntimeResult>}
 */
async function inChromium(folder, { seconds }) {
  const { path, version } = await findOrInstallChromium();
  await findPrograms(['playwright']);
  await bundle(folder, 'main.mjs', 'bench.mjs', { platform: 'browser', define: { global: 'globalThis' } });
  const page = { folder, script: 'bench.mjs', query: `?seconds=${seconds}`, browser: path, mark: MARK };
  // benchmark.js compiles its loops.
  const lines = await openPage({ ...page, hasEval: true, waitMsMax: 300_000 });
  return { version, harness: 'benchmark.js', results: resultIn(lines) };
}

/**
 * @param {string} folder
 * @returns {Promise<RuntimeResult>}
 */
async function inWorkerd(folder) {
  const [program] = await findPrograms(['workerd']);
  if (program === undefined) throw new RangeError('Cannot measure in workerd: it has no program');
  await bundle(folder, 'worker.mjs', 'bench-worker.mjs', {
    ...WORKERD_BUNDLE,
    external: [...WORKERD_BUNDLE.external],
    conditions: ['workerd'],
  });
  const port = await freePort();
  const config = join(folder, 'bench.capnp');
  await writeFile(config, workerdConfig({ script: 'bench-worker.mjs', port }));
  const child = spawn(program.command, ['serve', config], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const end = () => child.kill('SIGKILL');
  process.on('exit', end);
  try {
    const call = async (/** @type {number} */ index, /** @type {number} */ count) => {
      const response = await fetch(`http://127.0.0.1:${port}/${index}/${count}`);
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
    };
    await untilListening(port);
    return { version: program.version, harness: 'slope, from outside', results: await slopes(call) };
  } finally {
    end();
    process.off('exit', end);
  }
}

/**
 * @param {string} folder
 * @returns {Promise<RuntimeResult>}
 */
async function inEdge(folder) {
  const [program] = await findPrograms(['edge']);
  const script = await bundle(folder, 'edge-main.mjs', 'bench-edge.js', EDGE_BUNDLE);
  const machine = await openEdgeMachine(folder, script);
  const results = await slopes((index, count) => machine.evaluate(`plimsollRunCase(${index}, ${count})`));
  return { version: program?.version ?? '', harness: 'slope, from outside', results };
}

/** @param {(index: number, count: number) => Promise<void>} call */
async function slopes(call) {
  const results = [];
  for (const [index, { name }] of CASES.entries())
    results.push(await measureSlope(name, (count) => call(index, count)));
  return results;
}

/** @param {number} port */
async function untilListening(port) {
  const end = performance.now() + 10_000;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/0/1`);
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
