// @ts-check
// The child processes of `npm run test:core`: vitest for its suites, and workers made from main.ts for the rest.
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { runNode, runVitest } from '../support/proof.mjs';

/** @typedef {import('./part.ts').PartResult & { name: string }} Result */

const root = fileURLToPath(new URL('../../', import.meta.url));
const MARK = 'PLIMSOLL-CORE ';

/** @param {{ smoke: boolean, seed: number }} options */
export async function createRunner({ smoke, seed }) {
  // Inside of the repository, so that the bundle finds the packages; main.ts counts on two folders above it.
  await mkdir(join(root, 'build'), { recursive: true });
  const folder = await mkdtemp(join(root, 'build/core-tests-'));
  // Also when the run is ended by a signal.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const env = { ...process.env, PLIMSOLL_TEST_SIZE: smoke ? 'smoke' : 'full', PLIMSOLL_TEST_SEED: String(seed) };
  const bundle = join(folder, 'main.mjs');
  await esbuild.build({
    entryPoints: [join(root, 'test/core/main.ts')],
    outfile: bundle,
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'node20',
    platform: 'node',
    sourcemap: 'inline',
    tsconfigRaw: {},
    logLevel: 'warning',
  });

  /**
   * @param {string} name
   * @param {Record<string, unknown>} options
   * @returns {Promise<Result>}
   */
  async function worker(name, options) {
    const { code, output } = await runNode(['--enable-source-maps', bundle, name, JSON.stringify(options)], env, {
      capture: true,
    });
    const line = output.split('\n').findLast((text) => text.startsWith(MARK));
    if (code === 0 && line !== undefined) return { name, ...JSON.parse(line.slice(MARK.length)) };
    const message = `the process ended with ${code} and without a result`;
    return { name, passed: 0, failures: [{ name: 'worker', message }], notes: [], tally: {} };
  }

  /**
   * @param {string} name
   * @param {readonly string[]} filters
   * @returns {Promise<Result>}
   */
  async function vitest(name, filters) {
    const { passed, failed: count } = await runVitest(name, filters, folder, env);
    const failures = Array.from({ length: count }, () => ({ name, message: 'see what vitest printed above' }));
    return { name, passed, failures, notes: [], tally: {} };
  }

  /** @param {readonly unknown[]} tallies */
  async function coverage(tallies) {
    const file = join(folder, 'tallies.json');
    await writeFile(file, JSON.stringify(tallies));
    return worker('coverage', { tallies: file });
  }

  return { worker, vitest, coverage };
}
