import { createSeededRandom } from '../src/system/seeded-random.ts';
import type { Cell, Figures, Target } from './cell.ts';
import {
  DEFAULT_STRATEGIES,
  editAll,
  leaderOf,
  type Run,
  type StrategyName,
  simulate,
  WATCHES,
  type Watch,
  type World,
} from './strategies.ts';

const MINUTE_MS = 60_000;

interface Fault {
  readonly name: string;
  readonly replicas: number;
  readonly watch: Watch;
  /** Done after 30 s. */
  readonly begin: (run: Run) => void;
  /** Each key changes once in so long. @default 30000 */
  readonly eachMs?: number;
  /** Longest wait of a key, and attempts that were no success, for the default strategy: watch alone, with reads. */
  readonly waitMs: readonly [number, number];
  readonly extra?: readonly [number, number];
}

const kill = (run: Run): void => run.simulator.kill(leaderOf(run));
const pause = (run: Run): void => run.simulator.pause(leaderOf(run), 2 * MINUTE_MS);
const cutWrites = (run: Run): void => run.simulator.cutWrites(leaderOf(run), MINUTE_MS);
const cutWatch = (run: Run): void => run.simulator.cutWatch(leaderOf(run), MINUTE_MS);
const cutFollowers = (run: Run): void => {
  const leader = leaderOf(run);
  for (let replica = 0; replica < 20; replica++) {
    if (replica !== leader) run.simulator.cutWatch(replica, MINUTE_MS);
  }
};

/**
 * Both followers may act within one watch latency, before one sees what the other wrote: then two lead for as long. It takes
 * slow watches, and keys that only one of them knows to be wrong; in one run of ten it costs some thirty conflicts.
 */
const TWO_LEADERS = [48, 32] as const;

/**
 * Bounds: the maxima that the rules were designed by, times 1.25 and rounded up, since the maximum of thirty
 * runs is a matter of luck; waits at least 4 s with slow watches, and at most 20 s. Where every key changes each 5 s, what
 * conflicts are edits (G9).
 */
const FAULTS: readonly Fault[] = [
  { name: 'none', replicas: 20, watch: 'slow', begin: () => {}, waitMs: [4000, 4000], extra: [24, 4] },
  { name: 'leader killed', replicas: 3, watch: 'fast', begin: kill, waitMs: [15_000, 15_000], extra: [3, 3] },
  { name: 'leader killed', replicas: 3, watch: 'slow', begin: kill, waitMs: [20_000, 20_000], extra: TWO_LEADERS },
  { name: 'leader paused 120 s', replicas: 3, watch: 'fast', begin: pause, waitMs: [15_000, 15_000], extra: [6, 6] },
  {
    name: 'leader paused 120 s',
    replicas: 3,
    watch: 'slow',
    begin: pause,
    waitMs: [20_000, 20_000],
    extra: TWO_LEADERS,
  },
  {
    name: "leader's writes cut 60 s",
    replicas: 3,
    watch: 'slow',
    begin: cutWrites,
    waitMs: [20_000, 20_000],
    extra: TWO_LEADERS,
  },
  {
    name: "leader's watch cut 60 s",
    replicas: 3,
    watch: 'slow',
    begin: cutWatch,
    waitMs: [20_000, 20_000],
    extra: TWO_LEADERS,
  },
  {
    name: "followers' watches cut 60 s",
    replicas: 20,
    watch: 'slow',
    begin: cutFollowers,
    waitMs: [5000, 5000],
    extra: [105, 10],
  },
  {
    name: 'changes each 5 s, leader killed',
    replicas: 3,
    watch: 'slow',
    begin: kill,
    eachMs: 5000,
    waitMs: [20_000, 20_000],
  },
];

/** 300 s in which every key changes each 30 s, and something happens after 30 s. */
export function faultCells(seeds: number): readonly Cell[] {
  return FAULTS.flatMap((fault) =>
    (['classic', ...DEFAULT_STRATEGIES] as const).map((strategy) => ({
      group: 'faults, M=100, 300 s, every key changes each 30 s',
      world: `${fault.name}, N=${fault.replicas} ${fault.watch}`,
      strategy,
      seeds,
      targets: targetsOf(fault, strategy),
      measure: (seed: number) => measureFault(fault, strategy, seed),
    })),
  );
}

function targetsOf({ waitMs, extra }: Fault, strategy: StrategyName): readonly Target[] {
  const which = DEFAULT_STRATEGIES.indexOf(strategy);
  if (which < 0) return [];
  const targets: Target[] = [
    { figure: 'worst wait ms', atMost: waitMs[which] ?? 0 },
    { figure: 'leaders', atMost: 1, atLeast: 1 },
  ];
  return extra === undefined ? targets : [...targets, { figure: 'extra attempts', atMost: extra[which] ?? 0 }];
}

async function measureFault(fault: Fault, strategy: StrategyName, seed: number): Promise<Figures> {
  const run = simulate(strategy, seed, { replicas: fault.replicas, keys: 100, watch: fault.watch });
  const { simulator } = run;
  const stop = editAll(simulator, fault.eachMs ?? 30_000);
  await simulator.run(30_000);
  fault.begin(run);
  await simulator.run(270_000);
  stop();
  await simulator.run(MINUTE_MS);
  const { attempts, writes, worstWaitMs, takeovers, conflicts, errors } = simulator.stats();
  const leaders = simulator.leaders().length;
  return { 'worst wait ms': worstWaitMs, 'extra attempts': attempts - writes, conflicts, errors, takeovers, leaders };
}

/** 20 random kills with restart, pauses and cuts in ten minutes; then half a minute of peace. */
export function chaosCells(seeds: number): readonly Cell[] {
  const cells: Cell[] = [];
  for (const replicas of [3, 5, 20]) {
    for (const watch of WATCHES) {
      for (const repeatedEvents of [0, 0.1]) {
        for (const strategy of ['classic', ...DEFAULT_STRATEGIES] as const) {
          if (strategy === 'classic' && repeatedEvents > 0) continue;
          const isDefault = strategy !== 'classic';
          const done: Target[] = [
            { figure: 'unsatisfied', atMost: 0 },
            { figure: 'leaders', atMost: 1, atLeast: 1 },
          ];
          // With three replicas both survivors are often down together.
          const quick: Target[] = replicas === 20 ? [{ figure: 'worst wait ms', atMost: 22_000 }] : [];
          cells.push({
            group: 'chaos, M=100, 20 faults in 10 min, every key changes each 30 s',
            world: `N=${replicas} ${watch}${repeatedEvents > 0 ? ' repeated events' : ''}`,
            strategy,
            seeds,
            targets: isDefault ? [...done, ...quick] : [],
            measure: (seed) => measureChaos(strategy, seed, { replicas, watch, repeatedEvents }),
          });
        }
      }
    }
  }
  return cells;
}

export async function measureChaos(strategy: StrategyName, seed: number, world: World): Promise<Figures> {
  const { simulator } = simulate(strategy, seed, { keys: 100, ...world });
  const random = createSeededRandom(seed);
  const replicas = world.replicas ?? 5;
  const stop = editAll(simulator, 30_000);
  await simulator.run(1000);
  for (let fault = 0; fault < 20; fault++) {
    const replica = Math.floor(random() * replicas);
    const forMs = 1000 + random() * 59_000;
    simulator.after(random() * 600_000, () => {
      const kind = Math.floor(random() * 5);
      if (kind === 0) simulator.kill(replica);
      if (kind === 0) simulator.after(forMs, () => simulator.restart(replica));
      if (kind === 1) simulator.pause(replica, forMs);
      if (kind === 2) simulator.cutWrites(replica, forMs, { outcome: 'either' });
      if (kind === 3) simulator.cutWatch(replica, forMs);
      if (kind === 4) simulator.jumpWallTime(replica, (random() < 0.5 ? -1 : 1) * 3_600_000);
    });
  }
  await simulator.run(660_000);
  stop();
  await simulator.run(30_000);
  simulator.edit(simulator.keys[seed % simulator.keys.length] ?? '');
  await simulator.run(60_000);
  const { unsatisfied, worstWaitMs, attempts, writes, conflicts, errors, takeovers } = simulator.stats();
  const leaders = simulator.leaders().length;
  return {
    unsatisfied,
    'worst wait ms': worstWaitMs,
    'extra attempts': attempts - writes,
    conflicts,
    errors,
    takeovers,
    leaders,
  };
}
