import { describe, expect, it } from 'vitest';
import { measureCase } from '../../../bench/harness/measure.mjs';
import { compactionCase, quantile } from '../../../bench/store/compaction.mjs';
import { MvccBaseline } from '../../../bench/store/mvcc-baseline.mjs';
import { longestTurn, StepClock } from '../../../bench/store/step-clock.mjs';

type Opened = Parameters<typeof compactionCase>[2];
type HistoryStore = Awaited<ReturnType<Opened['open']>>;
type StepFacts = Parameters<Opened['report']>[0];

const TOOLS = {
  rounds: 2,
  rate: () => Number.NaN,
  now: () => performance.now(),
  collectGarbage: () => undefined,
};

/** Keeps the event loop for so long. */
function stall(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Compacts in timers of the clock: at once or, with `breakIt`, not quite. */
function inSteps(clock: StepClock, stepMs: number, breakIt = false): HistoryStore {
  const store = new MvccBaseline();
  return {
    get revision() {
      return store.revision;
    },
    put: (key, value) => store.put(key, value),
    delete: (key) => store.delete(key),
    get: (key) => store.get(key),
    stats: () => store.stats(),
    close: () => store.close(),
    compact: async (revision) => {
      clock.after(0, () => {
        stall(stepMs);
        clock.after(0, () => void store.compact(breakIt ? 5 : revision));
      });
    },
  };
}

async function factsOf(shape: 'overwritten' | 'deleted', stepMs: number, breakIt = false) {
  const reported: StepFacts[] = [];
  const benchCase = compactionCase(
    'compact',
    { shape, entries: 1000 },
    { open: async (clock) => inSteps(clock, stepMs, breakIt), report: (facts) => void reported.push(facts) },
  );
  const measured = await measureCase(benchCase, TOOLS);
  return { measured, reported };
}

describe('compactionCase', () => {
  it.each(['overwritten', 'deleted'] as const)('counts the steps of the warm rounds (%s)', async (shape) => {
    const { measured, reported } = await factsOf(shape, 5);
    expect(measured.subject.rates).toHaveLength(2);
    expect(reported).toHaveLength(1);
    const [facts] = reported;
    expect([facts?.logEntries, facts?.steps, facts?.isMet]).toEqual([1000, 4, false]);
    expect(facts?.maxMs).toBeGreaterThanOrEqual(5);
    // Every other step stalls; a loaded machine may make more of them slow, never fewer.
    expect(facts?.overTarget).toBeGreaterThanOrEqual(2);
    expect(facts?.cpuMaxMs).toBeGreaterThan(0);
    expect(facts?.coldMaxMs).toBeGreaterThanOrEqual(5);
    expect(facts?.longestTurnMs).toBeGreaterThanOrEqual(5);
  });

  it('refuses a store that has not compacted everything, or has forgotten something', async () => {
    await expect(factsOf('overwritten', 0, true)).rejects.toThrow('versions left');
    await expect(factsOf('deleted', 0, true)).rejects.toThrow('versions left');
  });
});

describe('StepClock', () => {
  it('times what runs in its timers, and waits for those that start others', async () => {
    const clock = new StepClock();
    clock.after(0, () => clock.after(0, () => stall(3)));
    const cancel = clock.after(0, () => stall(1000));
    cancel();
    await clock.idle();
    const steps = clock.takeSteps();
    expect(steps).toHaveLength(2);
    expect(steps[1]?.wallMs).toBeGreaterThanOrEqual(3);
    expect(steps[1]?.cpuMs).toBeGreaterThan(0);
    expect(clock.takeSteps()).toEqual([]);
    await clock.idle();
  });

  it('sees a stall from the side', async () => {
    expect(await longestTurn(async () => stall(4))).toBeGreaterThanOrEqual(4);
  });
});

describe('quantile', () => {
  it('is a value that was measured', () => {
    const values = Array.from({ length: 100 }, (_, place) => place + 1);
    expect([quantile(values, 0.5), quantile(values, 0.99), quantile([7], 0.99), quantile([], 0.5)]).toEqual([
      51, 100, 7, 0,
    ]);
  });
});

describe('MvccBaseline', () => {
  it('answers at old revisions, and compacts what no read can see', async () => {
    const store = new MvccBaseline();
    await store.put('foo', 1); // 2
    await store.put('foo', 2); // 3
    await store.delete('foo'); // 4
    await store.put('foo', 3); // 5
    await store.put('bar', 4); // 6
    await store.delete('bar'); // 7
    const at = (revision: number) => store.get('foo', { revision })?.value;
    expect([at(1), at(2), at(3), at(4), at(5), at(0)]).toEqual([undefined, 1, 2, undefined, 3, 3]);
    expect(store.get('foo')).toMatchObject({ createRevision: 5, modRevision: 5, version: 1 });
    expect(store.stats().storedVersions).toBe(6);
    await store.compact(7);
    expect([at(0), store.stats().storedVersions]).toEqual([3, 2]);
  });

  it('compares mod revisions before it writes', async () => {
    const store = new MvccBaseline();
    const write = (value: number) => store.txn({ compare: [{ key: 'a', value }], then: [{ key: 'a', value: 'x' }] });
    expect(await write(0)).toEqual({ revision: 2, succeeded: true });
    expect(await write(0)).toEqual({ revision: 2, succeeded: false });
    expect(await write(2)).toEqual({ revision: 3, succeeded: true });
  });
});
