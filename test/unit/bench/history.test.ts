import { describe, expect, it } from 'vitest';
import { MapHistory } from '../../../bench/compaction/map-history.mjs';
import { compactCase, expectedFreed, STEP_ENTRIES } from '../../../bench/compaction/suite.mjs';
import { TypedHistory } from '../../../bench/compaction/typed-history.mjs';
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

  it('asks for steps as long as the longest the core can do, so that its peer has the same', () => {
    const core = new Core(coreModule());
    const id = core.internKey('a');
    for (let revision = 1; revision <= 3 * STEP_ENTRIES; revision++)
      core.append(id, revision, revision, 1, 1, 0, false);
    expect(core.compactStep(2 * STEP_ENTRIES + 1, STEP_ENTRIES).work).toBe(STEP_ENTRIES);
    expect(core.compactStep(2 * STEP_ENTRIES + 1, 1e6).work).toBe(STEP_ENTRIES);
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

  it('has a peer in typed arrays that finds the events of any prefix, by a directory or not', () => {
    const keys = [
      'a',
      '/',
      '/a/b',
      '/a/b/c',
      '/a/b/c/d',
      '/a/b/c/e',
      '/a/b/cd/e',
      '/a/b/c/e/f',
      '/a/b/c/e/',
      '////',
      '///',
    ];
    const keyOf = Uint32Array.from({ length: 60 }, (_, event) => (event * 7) % keys.length);
    const typed = new TypedHistory({ keys, keyOf, isDelete: new Uint8Array(60) });
    const prefixes = new Set(keys.flatMap((key) => Array.from(key, (_, last) => key.slice(0, last + 1))));
    // The second time shows that the first left no marks.
    for (const prefix of [...prefixes, ...prefixes, '/a/b/x/', '/a/b/x/y', 'b']) {
      const next = String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
      const found = typed.replay(prefix, `${prefix.slice(0, -1)}${next}`, new Uint32Array(60));
      const expected = Array.from(keyOf.keys()).filter((event) => keys[keyOf[event] ?? 0]?.startsWith(prefix));
      expect([prefix, Array.from(found)]).toEqual([prefix, expected]);
    }
  });
});
