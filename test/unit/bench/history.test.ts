import { describe, expect, it } from 'vitest';
import { MapHistory } from '../../../bench/compaction/map-history.mjs';
import { compactCase, expectedFreed } from '../../../bench/compaction/suite.mjs';
import { generateHistory } from '../../../bench/data/history.mjs';
import { measureCase, WrongAnswerError } from '../../../bench/harness/measure.mjs';
import { caseNames, replayCase } from '../../../bench/replay/suite.mjs';
import { Core } from '../../../src/core/core.ts';
import { coreModule } from '../../../src/core/module.ts';

const TOOLS = {
  rounds: 2,
  rate: ({ operation }: { operation?: () => unknown }) => {
    operation?.();
    return 1;
  },
  now: (() => {
    let now = 0;
    return () => ++now;
  })(),
  collectGarbage: () => undefined,
};
const SIZE = { keys: 1000, events: 20_000, upTo: 18_000 };

describe('the suite compaction', () => {
  it('holds everybody to the keep-rule, and notes the longest step of each', async () => {
    const steps: Record<string, { rounds: number }> = {};
    const benchCase = compactCase('compact', () => new Core(coreModule()), steps as never, SIZE);
    const { subject, peers } = await measureCase(benchCase, TOOLS);
    expect([subject, ...peers].map(({ rates }) => rates.length)).toEqual([2, 2, 2]);
    expect(Object.values(steps).map(({ rounds }) => rounds)).toEqual([2, 2, 2]);
  });

  it.each([
    ['keeps one version too many', (core: Core) => core.compactStep(17_000, 1e6)],
    ['says that it is done when it is not', (core: Core) => ({ ...core.compactStep(18_000, 10), done: true })],
  ])('refuses a core that %s', async (_, step) => {
    const create = (): Core => {
      const core = new Core(coreModule());
      return Object.create(core, {
        compactStep: { value: () => step(core) },
        ...Object.fromEntries(
          (['internKey', 'append', 'slotAt', 'isTombstone', 'commitRevision', 'findKey'] as const).map((method) => [
            method,
            { value: (core[method] as (...args: never[]) => unknown).bind(core) },
          ]),
        ),
      });
    };
    await expect(measureCase(compactCase('compact', create, {}, SIZE), TOOLS)).rejects.toThrow(WrongAnswerError);
  });

  it('frees what the keep-rule frees: expectedFreed agrees with the plain history', () => {
    const history = generateHistory(50, 2000);
    for (const upTo of [1, 2, 500, 1999, 2000]) {
      const freed = new MapHistory(history).compact(upTo).sort((left, right) => left - right);
      expect(expectedFreed(history, upTo)).toEqual(freed);
    }
  });
});

describe('the suite replay', () => {
  it.each(caseNames())('holds everybody to the events of %s', async (name) => {
    const matches: Record<string, number> = {};
    await measureCase(replayCase(name, new Core(coreModule()), matches, { keys: 20_000, events: 40_000 }), TOOLS);
    expect(matches[name]).toBeGreaterThan(5);
  });
});
