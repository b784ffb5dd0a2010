import type { Regression } from './regression.ts';
import { editAll, leaderOf, type Run, simulate } from './strategies.ts';

const HOLD_MS = 180_000;

/** G13 and G20 to G25: the lease with its contention tracker. */
export const TRACKER_REGRESSIONS: readonly Regression[] = [
  ...[2, 3].map(
    (configurations): Regression => ({
      id: 'G13',
      text: `${configurations} configurations with the read hook, N=20, slow: <= ${configurations === 2 ? 4 : 6} writes per key [WL22]`,
      seeds: { smoke: 3, full: 60 },
      strategies: ['plimsoll+read'],
      targets: [{ figure: 'writes per key', atMost: configurations === 2 ? 4 : 6 }],
      measure: async (strategy, seed) => {
        const world = { replicas: 20, keys: 100, configurations, watch: 'slow', tracked: true, drift: 0 } as const;
        const { simulator } = simulate(strategy, seed, world);
        await simulator.run(170_000);
        return { 'writes per key': simulator.stats().writesPerKeyMax };
      },
    }),
  ),
  {
    id: 'G20',
    text: 'one replica, watch 1-8 ms, 50 keys changed each 30 s: no refusal [CT2]',
    seeds: { smoke: 2, full: 30 },
    targets: [
      { figure: 'refusals', atMost: 0 },
      { figure: 'later wait ms', atMost: 200 },
    ],
    measure: async (strategy, seed) => {
      const world = { replicas: 1, keys: 50, watchLatencyMs: [1, 8], tracked: true } as const;
      const run = simulate(strategy, seed, world);
      await run.simulator.run(20_000);
      const waits = laterWaits(run);
      editAll(run.simulator, 30_000);
      await run.simulator.run(600_000);
      return { refusals: sum(run.trackers.map((tracker) => tracker.stats().refusals)), 'later wait ms': waits() };
    },
  },
  {
    id: 'G21',
    text: 'three mates, 20 keys changed each 10 s, leader killed: right again within the cap [CT1]',
    seeds: { smoke: 5, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [
      { figure: 'worst wait ms', atMost: 15_000 + 20 * 12.5 + 3000 },
      { figure: 'refusals', atMost: 0 },
    ],
    measure: async (strategy, seed, watch) => {
      const run = simulate(strategy, seed, { replicas: 3, keys: 20, watch, tracked: true });
      editAll(run.simulator, 10_000);
      await run.simulator.run(120_000);
      run.simulator.kill(leaderOf(run));
      await run.simulator.run(120_000);
      const refusals = sum(run.trackers.map((tracker) => tracker.stats().refusals));
      return { 'worst wait ms': run.simulator.stats().worstWaitMs, refusals };
    },
  },
  {
    id: 'G22',
    text: 'ten contended keys, change of an eleventh: written within 100 ms [CT6]',
    seeds: { smoke: 5, full: 60 },
    targets: [{ figure: 'healthy ms', atMost: 100 }],
    measure: async (strategy, seed) => {
      const { simulator } = simulate(strategy, seed, contested(4));
      await simulator.run(60_000);
      return { 'healthy ms': await changeMs(simulator, 'key-10') };
    },
  },
  {
    id: 'G23',
    text: 'a contended key that changes each second for 600 s: <= 1 write per change, others <= 6, a healthy key 100 ms [CT3, CT6]',
    seeds: { smoke: 2, full: 30 },
    targets: [
      { figure: 'writes per change', atMost: 1.05 },
      { figure: 'writes of others', atMost: 6 },
      { figure: 'healthy ms', atMost: 100 },
    ],
    measure: flapping,
  },
  {
    id: 'G24',
    text: 'the writer that disagrees is removed: values right within one hold [CT7]',
    seeds: { smoke: 3, full: 30 },
    worlds: ['fast', 'slow'],
    targets: [{ figure: 'right after ms', atMost: 1.25 * HOLD_MS }],
    measure: async (strategy, seed, watch) => {
      const { simulator } = simulate(strategy, seed, {
        replicas: 4,
        keys: 20,
        configurations: 2,
        watch,
        tracked: true,
      });
      await simulator.run(30_000);
      simulator.kill(1);
      simulator.kill(3);
      return { 'right after ms': await rightAfterMs(simulator, 600_000) };
    },
  },
  {
    id: 'G25',
    text: 'the writer that disagrees is corrected and restarted: values right within the cap [CT7]',
    seeds: { smoke: 5, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [{ figure: 'right after ms', atMost: 15_000 }],
    measure: async (strategy, seed, watch) => {
      const { simulator } = simulate(strategy, seed, {
        replicas: 4,
        keys: 20,
        configurations: 2,
        watch,
        tracked: true,
      });
      await simulator.run(30_000);
      for (const replica of [1, 3]) {
        simulator.configure(replica, 0);
        simulator.restart(replica);
      }
      return { 'right after ms': await rightAfterMs(simulator, 600_000) };
    },
  },
];

type Simulated = Run['simulator'];

/** Two configurations that differ in ten keys of eleven. */
function contested(replicas: number) {
  return { replicas, keys: 11, configurations: 2, contestedKeys: 10, tracked: true, drift: 0 } as const;
}

async function flapping(...[strategy, seed]: Parameters<Regression['measure']>) {
  const { simulator } = simulate(strategy, seed, contested(4));
  await simulator.run(30_000);
  const before = simulator.keys.map((key) => simulator.writesOf(key));
  const writesOf = (key: string): number => simulator.writesOf(key) - (before[simulator.keys.indexOf(key)] ?? 0);
  const stop = simulator.every(1000, () => simulator.edit('key-0'));
  let healthy = 0;
  for (let round = 0; round < 10; round++) {
    await simulator.run(59_000);
    healthy = Math.max(healthy, await changeMs(simulator, 'key-10'));
  }
  stop();
  return {
    'writes per change': writesOf('key-0') / 600,
    'writes of others': Math.max(...simulator.keys.slice(1, 10).map(writesOf)),
    'healthy ms': healthy,
  };
}

/** How long a change of a key takes to be written, and a second on top has passed. */
async function changeMs(simulator: Simulated, key: string): Promise<number> {
  const editedAt = simulator.nowMs;
  simulator.edit(key);
  await simulator.run(1000);
  const written = simulator.commits(editedAt).find((commit) => commit.key === key && commit.replica !== undefined);
  return written === undefined ? Number.POSITIVE_INFINITY : written.atMs - editedAt;
}

async function rightAfterMs(simulator: Simulated, maxMs: number): Promise<number> {
  const from = simulator.nowMs;
  const isRight = (): boolean => simulator.keys.every((key) => simulator.configurationOf(key) === 0);
  return (await simulator.runUntil(isRight, maxMs)) ? simulator.nowMs - from : Number.POSITIVE_INFINITY;
}

/** The worst wait of changes made from now on. */
function laterWaits({ simulator }: Run): () => number {
  const from = simulator.nowMs;
  return () => {
    const editedAt = new Map<string, number>();
    let worst = 0;
    for (const { key, replica, atMs } of simulator.commits(from)) {
      if (replica === undefined) editedAt.set(key, editedAt.get(key) ?? atMs);
      else {
        worst = Math.max(worst, atMs - (editedAt.get(key) ?? atMs));
        editedAt.delete(key);
      }
    }
    for (const at of editedAt.values()) worst = Math.max(worst, Math.min(simulator.nowMs - at, worst + 1e9));
    return worst;
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
