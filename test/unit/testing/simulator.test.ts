import { describe, expect, it } from 'vitest';
import { createClassicWriter } from '../../../sim/classic-writer.ts';
import { createNaiveWriter } from '../../../sim/naive-writer.ts';
import { createSimulator } from '../../../src/testing/simulator.ts';
import type { SimulatedEnvironment, SimulatedWriter, SimulatorOptions } from '../../../src/testing/simulator-types.ts';

function simulate(options: Partial<SimulatorOptions> = {}) {
  return createSimulator({ replicas: 3, keys: 20, writer: createNaiveWriter, ...options });
}

/** A writer that does nothing but note what it is told. */
function recorder() {
  const seen: { at: number; replica: number; key: string; revision: number; changed: boolean; satisfied: boolean }[] =
    [];
  const environments: SimulatedEnvironment[] = [];
  const writer = (environment: SimulatedEnvironment): SimulatedWriter => {
    environments.push(environment);
    return {
      try: () => true,
      observe(key, observation) {
        if (!('satisfied' in observation)) throw new TypeError('Cannot observe: no flags');
        const { revision, changed, satisfied } = observation;
        seen.push({ at: environment.clock.now(), replica: environment.index, key, revision, changed, satisfied });
      },
      async close() {},
    };
  };
  return { seen, environments, writer };
}

describe('a simulation', () => {
  it('is the same for the same seed, and another for another one', async () => {
    const runOf = async (seed: number) => {
      const simulator = simulate({
        seed,
        drift: 0.05,
        repeatedEvents: 0.1,
        listOrder: 'shuffled',
        watchLatencyMs: [100, 300],
      });
      simulator.every(700, () => simulator.edit('key-3'));
      await simulator.run(10_000);
      return { stats: simulator.stats(), commits: simulator.commits() };
    };
    const [first, second, other] = [await runOf(7), await runOf(7), await runOf(8)];
    expect(second).toEqual(first);
    expect(other.stats).not.toEqual(first.stats);
  });

  it('counts each attempt once: as a write, a conflict or an error', async () => {
    const simulator = simulate({ replicas: 5, keys: 50, seed: 3 });
    expect(await simulator.runUntilConverged(60_000)).toBe(true);
    await simulator.run(1000);
    const { attempts, writes, conflicts, errors, writesPerKeyMax, unsatisfied, convergedAtMs } = simulator.stats();
    expect(attempts).toBe(writes + conflicts + errors);
    expect([writes, conflicts > 20, writesPerKeyMax, unsatisfied]).toEqual([50, true, 1, 0]);
    expect(simulator.commits().map(({ revision }) => revision)).toEqual(Array.from({ length: 50 }, (_, i) => 51 + i));
    expect(convergedAtMs).toBe(simulator.commits().at(-1)?.atMs);
  });

  it('shows what a wrong writer does: one that never writes, and one that never waits for what it has to see', async () => {
    const idle = simulate({ writer: recorder().writer });
    expect(await idle.runUntilConverged(60_000)).toBe(false);
    expect([idle.stats().unsatisfied, idle.stats().worstWaitMs]).toEqual([20, 60_000]);

    const hasty = (): SimulatedWriter => ({
      try(key, { revision, work }) {
        const call = async (): Promise<void> => {
          const outcome = await work({ key, revision, fencingToken: undefined, signal: new AbortController().signal });
          if (outcome === 'conflict') await call();
        };
        void call();
        return true;
      },
      observe() {},
      async close() {},
    });
    const simulator = simulate({ writer: hasty, watchLatencyMs: [1000, 3000], startSpreadMs: 0 });
    await simulator.run(5000);
    expect(simulator.stats().conflicts).toBeGreaterThan(20 * 50);
  });

  it('delivers every commit to every replica, in order, within the latency', async () => {
    const { seen, writer } = recorder();
    const simulator = simulate({ writer, watchLatencyMs: [10, 400], startSpreadMs: 0 });
    simulator.every(50, () => simulator.touch(simulator.keys[Math.floor(simulator.nowMs / 50) % 20] ?? ''));
    await simulator.run(10_000);
    for (const replica of [0, 1, 2]) {
      const events = seen.filter((event) => event.replica === replica && event.revision > 20);
      expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => 21 + index));
      const commits = simulator.commits();
      const lags = events.map(({ at }, index) => at - (commits[index]?.atMs ?? 0));
      expect([Math.min(...lags) >= 10, Math.max(...lags) <= 400]).toEqual([true, true]);
    }
    expect(seen.filter(({ revision }) => revision <= 20).length).toBe(60);
  });

  it('shows a state that the store was in, however often it is listed again', async () => {
    const { seen, writer } = recorder();
    const simulator = simulate({ writer, watchLatencyMs: [10, 400], startSpreadMs: 0 });
    simulator.every(20, () => simulator.touch(simulator.keys[Math.floor(simulator.nowMs / 20) % 20] ?? ''));
    simulator.every(300, () => simulator.relist(0));
    await simulator.run(10_000);
    const mine = seen.filter(({ replica }) => replica === 0);
    const newest = new Map<string, number>();
    for (const [index, { at, key, revision }] of mine.entries()) {
      expect([key, revision > (newest.get(key) ?? 0)]).toEqual([key, true]);
      newest.set(key, revision);
      if (mine[index + 1]?.at === at) continue;
      // Everything up to the newest revision that it knows of has been seen, or what replaced it.
      const last = Math.max(...newest.values());
      const unseen = simulator.commits().filter((commit) => commit.revision <= last);
      expect(unseen.filter((commit) => (newest.get(commit.key) ?? 0) < commit.revision)).toEqual([]);
    }
    expect(mine.length).toBeGreaterThan(300);
  });

  it('waits for long promise chains before time moves on', async () => {
    const steps: number[] = [];
    const writer = ({ clock }: SimulatedEnvironment): SimulatedWriter => {
      const chain = async (): Promise<void> => {
        for (let step = 0; step < 20; step++) await undefined;
        steps.push(clock.now());
      };
      return { try: () => true, observe: () => void chain(), async close() {} };
    };
    await simulate({ replicas: 1, keys: 1, writer, startSpreadMs: 0 }).run(1);
    expect(steps).toEqual([0]);
  });

  it('ends a run with what a writer throws, and refuses a second run beside it', async () => {
    const writer = (): SimulatedWriter => ({
      try() {
        throw new Error('broken');
      },
      observe() {},
      async close() {},
    });
    await expect(simulate({ writer }).run(1000)).rejects.toThrow('broken');
    const simulator = simulate();
    const running = simulator.run(1000);
    await expect(simulator.run(1000)).rejects.toThrow(/it is running/);
    await running;
    expect(simulator.nowMs).toBe(1000);
  });
});

describe('configurations', () => {
  it('want different values of contested keys, and the same of the others', async () => {
    const simulator = simulate({ replicas: 2, configurations: 2, contestedKeys: 5 });
    await simulator.run(5000);
    expect(simulator.writesOf('key-4')).toBeGreaterThan(10);
    expect([simulator.writesOf('key-5'), simulator.configurationOf('key-5')]).toEqual([1, 0]);
    simulator.edit('key-5');
    expect(simulator.configurationOf('key-5')).toBe(undefined);
    simulator.kill(0);
    await simulator.run(5000);
    expect(simulator.configurationOf('key-4')).toBe(1);
    simulator.configure(0, 1);
    simulator.restart(0);
    const before = simulator.writesOf('key-4');
    await simulator.run(5000);
    expect(simulator.writesOf('key-4')).toBe(before);
  });

  it('may be compared by the writer: observations and reads with values', async () => {
    const values: unknown[] = [];
    const writer = ({ read }: SimulatedEnvironment): SimulatedWriter => ({
      try: () => true,
      observe(key, observation) {
        values.push(observation);
        if (values.length === 1) void read(key).then((result) => values.push(result));
      },
      async close() {},
    });
    await simulate({ replicas: 1, keys: 1, writer, observations: 'values' }).run(1000);
    expect(values).toEqual([
      { revision: 1, value: undefined, wanted: 0 },
      { revision: 1, value: undefined },
    ]);
  });
});

describe('options', () => {
  it('that cannot be are refused, with what is allowed', () => {
    const make = (options: object) => () => simulate(options);
    expect(make({ replicas: 0 })).toThrow(/replicas is 0, allowed is an integer from 1 to 1000/);
    expect(make({ keys: 1.5 })).toThrow(RangeError);
    expect(make({ watchLatencyMs: [50, 5] })).toThrow(/its first must be <= its second/);
    expect(make({ watchLatencyMs: 50 })).toThrow(TypeError);
    expect(make({ writeLatencyMs: [-1, 5] })).toThrow(RangeError);
    expect(make({ drift: 0.6 })).toThrow(/drift is 0.6, allowed is 0 to 0.5/);
    expect(make({ listOrder: 'random' })).toThrow(/allowed are fixed, shuffled/);
    expect(make({ contestedKeys: 21 })).toThrow(RangeError);
    expect(make({ writer: undefined })).toThrow(TypeError);
    expect(make({ latency: 5 })).toThrow(/unknown option latency/);
    const simulator = simulate({ writer: createClassicWriter });
    expect(() => simulator.kill(3)).toThrow(/replica is 3, allowed is an integer from 0 to 2/);
    expect(() => simulator.edit('nothing')).toThrow(RangeError);
    expect(() => simulator.pause(0, Number.NaN)).toThrow(RangeError);
    expect(() => simulator.pause(0, 1000)).toThrow(/number 0 has not started at 0 ms/);
    expect(() => simulator.jumpWallTime(0, Number.POSITIVE_INFINITY)).toThrow(RangeError);
    expect(() => simulator.configure(0, 1)).toThrow(RangeError);
    expect(() => simulator.every(0, () => {})).toThrow(RangeError);
    expect(() => Reflect.apply(simulator.after, simulator, [5])).toThrow(/fn is of type undefined/);
    expect(() => Reflect.apply(simulator.every, simulator, [5, 7])).toThrow(/fn is of type number/);
  });
});
