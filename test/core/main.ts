import { readFile } from 'node:fs/promises';
import { coreModule } from '../../src/core/module.ts';
import { runAccesses } from './accesses.ts';
import { addTally, countCalls, describe, missing, type Tally } from './coverage.ts';
import { Part, type WorkerOptions } from './part.ts';
import { prepareKinds, seedOf } from './programs.ts';
import { runTexts } from './texts.ts';
import { runTwins } from './twins.ts';
import { runWork } from './work.ts';

/**
 * One worker of `npm run test:core`: `run.mjs` bundles this file and starts it with a part and its options. Progress goes
 * to standard error; the last line of the output is the result.
 *
 * ```text
 *   main.mjs programs '{"seed":42,"programs":200000,"worker":0,"workers":2,"smoke":false}'
 *   PLIMSOLL-CORE {"passed":100000,"failures":[],"notes":[],"tally":{...}}
 * ```
 */
const PARTS: Readonly<Record<string, (part: Part, options: WorkerOptions) => Promise<void>>> = {
  programs: runPrograms,
  texts: runTexts,
  accesses: runAccesses,
  work: runWork,
  twins: runTwins,
  coverage: reportCoverage,
};

/** Random programs of every kind; with several workers each takes every n-th. */
async function runPrograms(part: Part, { seed, programs, worker, workers, only }: WorkerOptions): Promise<void> {
  const kinds = await prepareKinds();
  const total = kinds.reduce((sum, { share }) => sum + share, 0);
  const [onlyKind, onlyIndex] = only?.split(':') ?? [];
  for (const [number, kind] of kinds.entries()) {
    if (onlyKind !== undefined && onlyKind !== kind.name) continue;
    const count = Math.max(1, Math.round((programs * kind.share) / total));
    const [first, end, step] = onlyIndex === undefined ? [worker, count, workers] : [+onlyIndex, +onlyIndex + 1, 1];
    const started = performance.now();
    let ran = 0;
    for (let index = first; index < end && !part.isOver; index += step, ran++) {
      part.count(`${kind.name}:${index}`, kind.run(seedOf(seed, number, index)));
      part.progress(() => `${kind.name}: program ${index} of ${count}`);
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    part.notes.push(`${kind.name}: ${ran} programs in ${seconds} s`);
  }
}

/** What all parts together have called and been answered; what is missing has failed. */
async function reportCoverage(part: Part, { tallies = '' }: WorkerOptions): Promise<void> {
  const sum: Tally = {};
  for (const tally of JSON.parse(await readFile(tallies, 'utf8')) as Tally[]) addTally(sum, tally);
  part.notes.push(...describe(sum, coreModule()));
  const gaps = missing(sum, coreModule());
  part.passed = Math.max(0, part.notes.length - gaps.length);
  for (const gap of gaps) part.failures.push({ name: 'coverage', message: gap });
}

const [name = '', options = '{}'] = process.argv.slice(2);
const run = PARTS[name];
if (run === undefined)
  throw new TypeError(`Cannot run the part "${name}": it is none of ${Object.keys(PARTS).join(', ')}`);
// Before the first instance: what is made earlier is not counted.
const tally = countCalls();
const part = new Part();
await run(part, JSON.parse(options) as WorkerOptions);
console.log(`PLIMSOLL-CORE ${JSON.stringify(part.result(tally))}`);
