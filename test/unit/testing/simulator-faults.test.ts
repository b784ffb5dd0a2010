import { describe, expect, it } from 'vitest';
import { createClassicWriter } from '../../../sim/classic-writer.ts';
import { createSimulator } from '../../../src/testing/simulator.ts';
import { SimulatorLoop } from '../../../src/testing/simulator-loop.ts';
import type { SimulatedEnvironment, SimulatedWriter, SimulatorOptions } from '../../../src/testing/simulator-types.ts';
import { BackendError } from '../../../src/types/errors.ts';
import type { WriteOutcome, WriterTry } from '../../../src/types/writer-lease.ts';

/** One replica of a writer that writes when it is told to, and notes everything with its time. */
function rig(options: Partial<SimulatorOptions> = {}) {
  const log: [what: string, at: number][] = [];
  const tries = new Map<string, WriterTry<number>>();
  const environments: SimulatedEnvironment[] = [];
  const writer = (environment: SimulatedEnvironment): SimulatedWriter => {
    environments.push(environment);
    return {
      try: (key, request) => tries.set(key, request).size > 0,
      observe: (key, { revision }) => void log.push([`${key}@${revision}`, environment.clock.now()]),
      async close() {
        log.push(['closed', environment.clock.now()]);
      },
    };
  };
  const latency = { watchLatencyMs: [10, 10], writeLatencyMs: [20, 20], startSpreadMs: 0 } as const;
  const simulator = createSimulator({ replicas: 1, keys: 2, writer, ...latency, ...options });
  const write = async (key: string): Promise<WriteOutcome | string> => {
    const signal = new AbortController().signal;
    const outcome = Promise.resolve(tries.get(key)?.work({ key, revision: 0, fencingToken: undefined, signal }));
    return outcome.then(
      (value) => value ?? 'no work',
      (error: unknown) => (error instanceof BackendError ? `failed, maybe ${error.maybeCommitted}` : 'else'),
    );
  };
  /** Writes at a time, and gives the outcome with the time at which it came. */
  const writeAt = (delayMs: number, key: string): Promise<[WriteOutcome | string, number]> =>
    new Promise((resolve) => {
      simulator.after(delayMs, () => void write(key).then((outcome) => resolve([outcome, simulator.nowMs])));
    });
  return { simulator, log, environments, writeAt };
}

describe('requests of a simulated replica', () => {
  it('take their latency, and are committed at half of it', async () => {
    const { simulator, log, writeAt } = rig();
    const written = writeAt(100, 'key-0');
    await simulator.run(1000);
    expect(await written).toEqual([{ revision: 3 }, 120]);
    expect(simulator.commits()).toEqual([{ atMs: 110, revision: 3, key: 'key-0', replica: 0 }]);
    expect(log.at(-1)).toEqual(['key-0@3', 120]);
  });

  it('conflict when the view is old', async () => {
    const { simulator, writeAt } = rig();
    const written = writeAt(100, 'key-0');
    simulator.after(95, () => simulator.touch('key-0'));
    await simulator.run(1000);
    expect(await written).toEqual(['conflict', 120]);
  });

  it.each([
    ['lost', 0],
    ['committed', 1],
  ] as const)('that are cut fail after the time-out, and are %s', async (outcome, commits) => {
    const { simulator, writeAt } = rig();
    simulator.after(50, () => simulator.cutWrites(0, 100, { outcome }));
    const [during, after] = [writeAt(100, 'key-0'), writeAt(150, 'key-1')];
    await simulator.run(10_000);
    expect(await during).toEqual(['failed, maybe true', 5100]);
    expect(await after).toEqual([{ revision: 3 + commits }, 170]);
    expect(simulator.commits().length).toBe(1 + commits);
    expect(simulator.stats().errors).toBe(1);
  });

  it('lose their answer when the cut begins under way', async () => {
    const { simulator, writeAt } = rig({ requestTimeoutMs: 1000 });
    simulator.after(115, () => simulator.cutWrites(0, 100));
    const written = writeAt(100, 'key-0');
    await simulator.run(10_000);
    expect(await written).toEqual(['failed, maybe true', 1100]);
    expect(simulator.commits().length).toBe(1);
  });

  it('of a broken key are refused until it is mended', async () => {
    const { simulator, writeAt } = rig();
    simulator.breakKey('key-0');
    const first = writeAt(100, 'key-0');
    simulator.after(200, () => simulator.breakKey('key-0', false));
    const second = writeAt(300, 'key-0');
    await simulator.run(1000);
    expect([(await first)[0], (await second)[0]]).toEqual(['failed, maybe false', { revision: 3 }]);
  });
});

describe('watches of a simulated replica', () => {
  it('that are cut stand still and then bring all of it, or after a new list the newest alone', async () => {
    for (const relist of [false, true]) {
      const { simulator, log } = rig();
      simulator.after(50, () => simulator.cutWatch(0, 1000, { relist }));
      for (const at of [100, 200, 300]) simulator.after(at, () => simulator.touch('key-0'));
      await simulator.run(2000);
      const newest = ['key-0@5', 1060];
      expect(log.slice(2)).toEqual(relist ? [newest] : [['key-0@3', 1060], ['key-0@4', 1060], newest]);
    }
  });

  it('may lose events, hide a key, and repeat events', async () => {
    const { simulator, log } = rig();
    simulator.after(50, () => {
      simulator.loseEvents(0, 1);
      simulator.hideKey(0, 'key-1', 300);
    });
    simulator.after(100, () => simulator.touch('key-0'));
    for (const at of [200, 400]) simulator.after(at, () => simulator.touch('key-1'));
    await simulator.run(1000);
    expect(log.slice(2)).toEqual([['key-1@5', 410]]);
    simulator.relist(0);
    await simulator.run(1000);
    expect(log.slice(3)).toEqual([['key-0@3', 1010]]);

    const repeating = rig({ repeatedEvents: 1 });
    repeating.simulator.after(100, () => repeating.simulator.touch('key-0'));
    await repeating.simulator.run(5000);
    const [first, again, ...more] = repeating.log.slice(2);
    expect([first?.[0], again?.[0], more]).toEqual(['key-0@3', 'key-0@3', []]);
    expect(again?.[1]).toBeGreaterThanOrEqual(120);
  });
});

describe('processes of simulated replicas', () => {
  it('that are paused do everything afterwards, in order, and those killed nothing', async () => {
    const { simulator, log, environments } = rig({ replicas: 2 });
    await simulator.run(10);
    for (const { clock, index } of environments) clock.after(90, () => void log.push([`timer ${index}`, clock.now()]));
    const cancel = environments[0]?.clock.after(95, () => void log.push(['cancelled', 0]));
    environments[0]?.clock.after(92, () => cancel?.());
    simulator.pause(0, 500);
    simulator.pause(0, 100);
    simulator.after(50, () => simulator.touch('key-0'));
    simulator.kill(1);
    await simulator.run(2000);
    expect(log.slice(4)).toEqual([
      ['key-0@3', 510],
      ['timer 0', 510],
    ]);
  });

  it('begin anew with a list when they are restarted, and close their writer when they are stopped', async () => {
    const { simulator, log, environments } = rig();
    await simulator.run(100);
    simulator.edit('key-1');
    simulator.restart(0);
    await simulator.run(100);
    expect(log.slice(2)).toEqual([
      ['key-0@1', 100],
      ['key-1@3', 100],
    ]);
    expect(environments.length).toBe(2);
    simulator.stop(0);
    simulator.edit('key-1');
    await simulator.run(100);
    expect(log.slice(4)).toEqual([['closed', 200]]);
  });

  it('have clocks of their own: they drift, and the wall clock jumps', async () => {
    const { simulator, environments } = rig({ drift: 0.05, replicas: 20 });
    await simulator.run(10_000);
    const rates = environments.map(({ clock }) => clock.now() / 10_000);
    expect(rates.every((rate) => rate >= 0.95 && rate <= 1.05)).toBe(true);
    expect(new Set(rates).size).toBe(20);
    const clock = environments[0]?.clock;
    const [wall = 0, now = 0] = [clock?.wallTime(), clock?.now()];
    simulator.jumpWallTime(0, 3_600_000);
    expect([clock?.wallTime(), clock?.now()]).toEqual([wall + 3_600_000, now]);
    let fired = 0;
    clock?.after(1000, () => {
      fired = clock.now();
    });
    await simulator.run(1100);
    expect(fired).toBeCloseTo(now + 1000, 6);
  });

  it('lead as their writers say: kills end it, and the most at one time are counted', async () => {
    const simulator = createSimulator({ replicas: 3, keys: 5, writer: createClassicWriter });
    await simulator.run(60_000);
    const before = simulator.leaders();
    for (const leader of before) simulator.kill(leader);
    expect(simulator.leaders()).toEqual([]);
    simulator.edit('key-0');
    await simulator.run(60_000);
    expect([before.length, simulator.leaders().length]).toEqual([1, 1]);
    expect(simulator.stats().takeovers).toBeGreaterThanOrEqual(2);
    expect(simulator.stats().leadersMax).toBeGreaterThanOrEqual(1);
  });
});

describe('the loop of a simulation', () => {
  it('runs events by time and then by their making, and forgets cancelled ones when they are most of it', async () => {
    const loop = new SimulatorLoop();
    const log: string[] = [];
    loop.at(20, () => void log.push('c'));
    loop.at(10, () => void log.push('a'));
    loop.at(10, () => {
      log.push('b');
      loop.at(5, () => void log.push('now'));
    });
    const cancelled = Array.from({ length: 10_000 }, () => loop.at(15, () => void log.push('never')));
    for (const event of cancelled) loop.cancel(event);
    for (const event of cancelled) loop.cancel(event);
    expect(loop.pending).toBe(3);
    await loop.run(30);
    expect([log, loop.now, loop.pending]).toEqual([['a', 'b', 'now', 'c'], 30, 0]);
  });
});
