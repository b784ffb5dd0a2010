import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Core } from '../../src/core/core.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { CoverageTable } from './store-coverage.ts';
import { createProgram } from './store-generator.ts';
import { Mismatch, show } from './store-outcome.ts';
import type { Program, Step } from './store-program.ts';
import { runProgram } from './store-runner.ts';

const PROGRAMS_FULL = 10_000;
const PROGRAMS_SMOKE = 300;

/** Bound of a slice of physical compaction in the program that runs, and the cores it made. */
let sliceEntries = Number.MAX_SAFE_INTEGER;
const cores = new Set<Core>();
const { compactStep } = Core.prototype;

beforeAll(() => {
  Core.prototype.compactStep = function (this: Core, revision: number, budget: number) {
    cores.add(this);
    return compactStep.call(this, revision, Math.min(budget, sliceEntries));
  };
});

afterAll(() => {
  Core.prototype.compactStep = compactStep;
});

describe('random programs', () => {
  it('the embedded store answers like the reference model', async () => {
    const count = programCount();
    const coverage = new CoverageTable();
    let steps = 0;
    for (let number = 0; number < count; number++) {
      const program = createProgram(createSeededRandom(testSeed() + number));
      steps += program.steps.length;
      const failure = await attempt(program, coverage.mark);
      if (failure !== undefined) expect.fail(await explain(program, number, failure));
    }
    const average = steps / count;
    console.log(`${count} programs, ${average.toFixed(1)} operations on average\n\n${coverage.print()}`);
    expect(average).toBeGreaterThanOrEqual(40);
    expect(coverage.below(count >= PROGRAMS_FULL ? 100 : count >= PROGRAMS_SMOKE ? 1 : 0)).toEqual([]);
  });
});

/** Of the size of the run, or as many as `npm run test:store -- --programs N` asks for. */
function programCount(): number {
  const asked = process.env.PLIMSOLL_TEST_PROGRAMS;
  return asked === undefined ? sized({ smoke: PROGRAMS_SMOKE, full: PROGRAMS_FULL }) : Number(asked);
}

async function attempt(program: Program, mark: (name: string) => void): Promise<Error | undefined> {
  sliceEntries = program.settings.sliceEntries;
  cores.clear();
  try {
    await runProgram(program, mark);
    for (const core of cores) core.verify();
    return undefined;
  } catch (error) {
    if (error instanceof Mismatch) return error;
    // Anything else is a bug too: what a call throws is an outcome, so this came from where nothing may throw.
    return error instanceof Error ? new Error(error.stack) : new Error(String(error));
  }
}

async function explain(program: Program, number: number, failure: Error): Promise<string> {
  const small = await shrink(program);
  const again = (await attempt(small, () => undefined)) ?? failure;
  const steps = small.steps.map((step, index) => `  ${index}  ${show(step)}`).join('\n');
  const where = `program ${number}, cut down from ${program.steps.length} to ${small.steps.length} steps`;
  return `${where}: ${again.message}\n${show(small.settings)}\n${steps}\n${reproduce('property')}`;
}

/** Leaves out steps for as long as the program still fails, larger pieces first; then parts of the steps that are left. */
async function shrink(program: Program): Promise<Program> {
  let steps: readonly Step[] = program.steps;
  for (let size = steps.length >> 1; size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let start = 0; start < steps.length; ) {
      const shorter = [...steps.slice(0, start), ...steps.slice(start + size)];
      if ((await attempt({ ...program, steps: shorter }, () => undefined)) === undefined) start += size;
      else steps = shorter;
    }
  }
  return { ...program, steps: await shrinkParts(program, steps) };
}

/** Drops elements of lists inside the steps: operations, compares, entries. */
async function shrinkParts(program: Program, steps: readonly Step[]): Promise<readonly Step[]> {
  let best = steps;
  for (let index = 0; index < best.length; index++) {
    for (let tried = 0; ; tried++) {
      const smaller = withoutElement(best[index], { left: tried });
      if (smaller === undefined) break;
      const changed = best.map((step, at) => (at === index ? (smaller as Step) : step));
      if ((await attempt({ ...program, steps: changed }, () => undefined)) === undefined) continue;
      best = changed;
      tried = -1;
    }
  }
  return best;
}

/** The same data without the n-th element of all arrays in it; `undefined` if there are not so many. */
function withoutElement(data: unknown, n: { left: number }): unknown {
  if (typeof data !== 'object' || data === null || data instanceof Uint8Array) return undefined;
  for (const [name, part] of Object.entries(data)) {
    if (Array.isArray(data) && n.left-- === 0) return data.filter((_, index) => index !== Number(name));
    const smaller = withoutElement(part, n);
    if (smaller === undefined) continue;
    return Array.isArray(data) ? data.with(Number(name), smaller) : { ...data, [name]: smaller };
  }
  return undefined;
}
