// @ts-check
// What the long proofs (`npm run test:store`, `test:locks`, `test:core`) have in common: counts as arguments, children that
// end with their parent, vitest as one of them, and the verdict.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countVitest, readResult } from '../run.mjs';

/**
 * @typedef {{ file: string, title: string }} Told A test that passed; the title with the headings it stands below.
 * @typedef {{ name: string, passed: number, failed: number }} Part
 * @typedef {{ name: string, assertionResults: { fullName: string, status: string }[] }} TestFile What is used of vitest's report.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));

export const SEED_MAX = 0x7fffffff;

/** Process groups of the children that run now: their own children end with them. @type {Set<number>} */
const groups = new Set();

/**
 * A count that was given as an argument.
 *
 * @param {string} name
 * @param {string | undefined} text
 * @param {number} min
 * @param {number} max
 */
export function parseCount(name, text, min, max) {
  const count = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && count >= min && count <= max) return count;
  throw new RangeError(`Cannot run the tests: ${name} is "${text}", not an integer from ${min} to ${max}`);
}

/**
 * Runs a script with this Node. Resolves with its exit code (1 for a signal) and, when captured, what it printed; one that
 * is not over after `timeoutMs` is ended.
 *
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {{ capture?: boolean, timeoutMs?: number }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function runNode(args, env, { capture = false, timeoutMs } = {}) {
  const stdout = capture ? 'pipe' : 'inherit';
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', stdout, 'inherit'], detached: true });
  const group = child.pid;
  if (group !== undefined) groups.add(group);
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (group !== undefined) groups.delete(group);
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

/**
 * Runs a part of a suite of vitest, which prints what it does; its result goes through a file in `folder`.
 *
 * @param {string} suite
 * @param {readonly string[]} filters
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Part & { told: Told[] }>}
 */
export async function runVitest(suite, filters, folder, env) {
  const file = join(folder, `${suite}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { code } = await runNode([vitest, 'run', '--project', suite, ...reporters, ...filters], env);
  const result = await readResult(file);
  const { passed, failed } = countVitest(code, result);
  const files = /** @type {TestFile[]} */ (/** @type {unknown} */ (result?.testResults ?? []));
  const told = files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed')
      .map(({ fullName }) => ({ file: name.replaceAll('\\', '/'), title: fullName })),
  );
  // A filter that finds nothing would pass for a success.
  return { name: suite, passed, failed: passed + failed === 0 ? 1 : failed, told };
}

/**
 * Prints the numbered rules that ran and were missing, each part, and `N passed, N failed`; sets the exit code. A rule that
 * is missing is a failure.
 *
 * @param {readonly Part[]} parts
 * @param {{ lines: readonly string[], missing: readonly string[] }} numbers
 */
export function reportProof(parts, { lines, missing }) {
  console.log(`\n${lines.join('\n')}\n`);
  for (const { name, passed, failed } of parts) console.log(`${name.padEnd(12)} ${passed} passed, ${failed} failed`);
  const passed = parts.reduce((sum, part) => sum + part.passed, 0);
  const failed = parts.reduce((sum, part) => sum + part.failed, missing.length);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/**
 * Runs `main` with the arguments of this process; wrong ones get `help`, and exit code 2. Ctrl-C and a polite kill end the
 * children as well.
 *
 * @param {(args: readonly string[]) => Promise<void>} main
 * @param {string} help
 */
export async function runProof(main, help) {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    process.on(signal, () => {
      for (const group of groups) process.kill(-group, 'SIGTERM');
      process.exit(code);
    });
  }
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('Cannot run the tests'))) throw error;
    console.error(`${error.message}\n\n${help}`);
    process.exitCode = 2;
  }
}
