// @ts-check
// `npm run bench:compare -- BASE [NEW]`: what has changed between two runs of bench:all, and what is noise.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readResults } from './report.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What two runs of the same code differ by, error bars or not: the state of the machine is in neither. */
const NOISE_MIN = 0.05;

const HELP = `npm run bench:compare -- BASE [NEW] [--json]

Compares a saved run of bench:all with another, case by case.

  BASE     a folder with results, or a commit that has bench/results
  NEW      the same; bench/results if it is left out
  --json   prints the rows as JSON
  --help   this text

A case is faster or slower if the two differ by more than both errors together, and by more than ${NOISE_MIN * 100} %. Exit code: 0; 1 if
something is slower; 2 wrong use.`;

/**
 * @typedef {import('./report.mjs').SavedResult} SavedResult
 * @typedef {{ runtime: string, name: string, base: number, now: number, ratio: number, noise: number, verdict: 'same' | 'faster' | 'slower' }} Row
 */

/**
 * @param {readonly SavedResult[]} base
 * @param {readonly SavedResult[]} now
 * @returns {Row[]} of what both have
 */
export function compareResults(base, now) {
  return now.flatMap((result) => {
    const before = base.find(({ runtime }) => runtime === result.runtime);
    return result.results.flatMap(({ name, opsPerSecond, rme }) => {
      const old = before?.results.find((one) => one.name === name);
      if (old === undefined) return [];
      const ratio = opsPerSecond / old.opsPerSecond;
      const noise = Math.max(NOISE_MIN, Math.hypot(rme, old.rme) / 100);
      const verdict = Math.abs(Math.log(ratio)) <= Math.log1p(noise) ? 'same' : ratio > 1 ? 'faster' : 'slower';
      return [{ runtime: result.runtime, name, base: old.opsPerSecond, now: opsPerSecond, ratio, noise, verdict }];
    });
  });
}

/**
 * The results of a folder, or of a commit.
 *
 * @param {string} place
 * @returns {Promise<SavedResult[]>}
 */
async function read(place) {
  if (await isFolder(place)) return readResults(place);
  const git = (/** @type {string[]} */ ...args) => promisify(execFile)('git', args, { cwd: root, maxBuffer: 1 << 26 });
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-results-'));
  try {
    const { stdout } = await git('ls-tree', '--name-only', place, 'bench/results/');
    for (const path of stdout.split('\n').filter((name) => name.endsWith('.json'))) {
      const { stdout: text } = await git('show', `${place}:${path}`);
      await writeFile(join(folder, basename(path)), text);
    }
    return await readResults(folder);
  } catch (cause) {
    throw new RangeError(`Cannot compare: "${place}" is neither a folder nor a commit with results`, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {string} path */
async function isFolder(path) {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** @param {readonly string[]} args */
async function main(args) {
  const places = args.filter((argument) => !argument.startsWith('--'));
  const unknown = args.find((argument) => argument.startsWith('--') && !['--json', '--help'].includes(argument));
  if (args.includes('--help')) {
    console.log(HELP);
    return;
  }
  if (unknown !== undefined || places.length < 1 || places.length > 2) {
    throw new RangeError(
      `Cannot compare: ${unknown === undefined ? 'name one run or two' : `unknown option ${unknown}`}`,
    );
  }
  const [base = '', now = join(root, 'bench/results')] = places;
  const [old, next] = [await read(base), await read(now)];
  const rows = compareResults(old, next);
  if (rows.length === 0) throw new RangeError('Cannot compare: the two runs have no case in common');
  const machines = new Set([...old, ...next].map(({ machine }) => `${machine.cpu}, ${machine.cores} cores`));
  if (machines.size > 1) console.error(`Not of one machine: ${[...machines].join('; ')}`);
  if (args.includes('--json')) console.log(JSON.stringify(rows, null, 2));
  else for (const row of rows) console.log(lineOf(row));
  process.exitCode = rows.some(({ verdict }) => verdict === 'slower') ? 1 : 0;
}

/** @param {Row} row */
function lineOf({ runtime, name, base, now, ratio, noise, verdict }) {
  const rates = [base, now].map((rate) => Math.round(rate).toLocaleString('en').padStart(11)).join(' ->');
  const change = `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
  return `${verdict.padEnd(7)} ${runtime.padEnd(9)} ${name.padEnd(38)} ${rates}  ${change.padStart(8)}  noise ${(noise * 100).toFixed(0)} %`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
