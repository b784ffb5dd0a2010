import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Core } from '../../src/core/core.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { createProgram, type Program, type Step } from './store-program.ts';
import { Mismatch, runProgram, show } from './store-runner.ts';

/** Everything that has to happen in a run; a generator that no longer reaches one of them proves nothing about it. */
const REQUIRED = [
  ...['put', 'delete', 'txn', 'get', 'range', 'page', 'watch', 'read', 'return', 'abort', 'compact', 'tick'].map(
    (op) => `op:${op}`,
  ),
  ...['utf8', 'bytes'].map((keys) => `keys:${keys}`),
  ...['plain', 'json', 'trusted'].map((values) => `values:${values}`),
  ...['absent', 'current', 'other'].map((expectation) => `expect:${expectation}`),
  ...['value', 'create', 'mod', 'version', 'lease'].map((target) => `compare:${target}`),
  ...['txn:then', 'txn:else', 'range.more', 'range.keysOnly', 'range.countOnly'],
  ...['ordinary', 'span', 'initial'].map((batch) => `batch:${batch}`),
  ...['put', 'put+prevKv', 'delete', 'delete+prevKv'].map((event) => `event:${event}`),
  ...[
    'filter:noput',
    'filter:nodelete',
    'onSlow:lag',
    'onSlow:coalesce',
    'onSlow:close',
    'prevKv:true',
    'initial:true',
    'start:future',
  ].map((option) => `watch.${option}`),
  ...[
    'CompactedError',
    'FutureRevisionError',
    'ConflictError',
    'InvalidKeyError',
    'DuplicateKeyError',
    'LimitExceededError',
    'SlowWatcherError',
    'TypeError',
    'RangeError',
    'Error',
  ].map((name) => `error:${name}`),
];

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
    const counts = new Map<string, number>();
    const mark = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
    for (let number = 0; number < sized({ smoke: 3000, full: 60_000 }); number++) {
      const program = createProgram(createSeededRandom(testSeed() + number));
      const failure = await attempt(program, mark);
      if (failure === undefined) continue;
      const small = await shrink(program);
      const again = (await attempt(small, () => undefined)) ?? failure;
      const steps = small.steps.map((step, index) => `  ${index}  ${show(step)}`).join('\n');
      const where = `program ${number}, cut down from ${program.steps.length} to ${small.steps.length} steps`;
      expect.fail(`${where}: ${again.message}\n${show(small.settings)}\n${steps}\n${reproduce('property')}`);
    }
    const table = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    console.log(table.map(([name, count]) => `${name} ${count}`).join('   '));
    expect(REQUIRED.filter((name) => !counts.has(name))).toEqual([]);
  });
});

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

/** Leaves out steps for as long as the program still fails, larger pieces first. */
async function shrink(program: Program): Promise<Program> {
  let steps: readonly Step[] = program.steps;
  for (let size = steps.length >> 1; size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let start = 0; start < steps.length; ) {
      const shorter = [...steps.slice(0, start), ...steps.slice(start + size)];
      if ((await attempt({ ...program, steps: shorter }, () => undefined)) === undefined) start += size;
      else steps = shorter;
    }
  }
  return { ...program, steps };
}
