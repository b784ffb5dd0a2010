import type { SimulatedCommit } from '../src/testing/simulator-types.ts';
import type { Cell, Figures, Target } from './cell.ts';
import {
  CONTENTION_MS,
  DEFAULT_STRATEGIES,
  STRATEGIES,
  type StrategyName,
  simulate,
  WATCHES,
  type Watch,
} from './strategies.ts';

const WORLDS = [
  [3, 2, 20, 0],
  [20, 2, 20, 0],
  [20, 2, 100, 0],
  [20, 3, 100, 0],
  [6, 6, 20, 0],
  [6, 2, 1000, 0],
  // Mates whose clocks differ do not wake together (CT5): later rounds cost more.
  [20, 2, 20, 0.05],
] as const;
/** Contested writes in an interval that a tracker lets pass (CT6). */
const BUDGET = 100;
/** The first holds end after this. */
const FIRST_ROUND_MS = 170_000;
const LATER_MS = 7_200_000;
/** Later rounds differ little from seed to seed, and two hours are long. */
const LATER_SEEDS = 5;
/** Without a lease or tracker it goes on for ever, so few replicas and a minute are enough to see it. */
const NAIVE_MS = 60_000;
const NAIVE_REPLICAS = 3;

interface Place {
  readonly replicas: number;
  readonly configurations: number;
  readonly keys: number;
  readonly watch: Watch;
  readonly drift: number;
}

/** Writers of several configurations that want different values of every key, for two hours. */
export function disagreeCells(seeds: number): readonly Cell[] {
  return WORLDS.flatMap(([replicas, configurations, keys, drift]) =>
    WATCHES.flatMap((watch) =>
      STRATEGIES.filter((strategy) => strategy !== 'naive' || replicas === NAIVE_REPLICAS).map((strategy): Cell => {
        const place = { replicas, configurations, keys, watch, drift };
        return {
          group: 'disagreeing writers: the first 170 s, then two hours',
          world: `N=${replicas} configurations=${configurations} M=${keys} ${watch}${drift > 0 ? ' drift' : ''}`,
          strategy,
          seeds: strategy === 'naive' ? Math.min(3, seeds) : seeds,
          targets: targetsOf(place, strategy),
          measure: (seed) => measureDisagreement(place, strategy, seed),
        };
      }),
    ),
  );
}

function targetsOf({ configurations, keys, watch }: Place, strategy: StrategyName): readonly Target[] {
  if (!DEFAULT_STRATEGIES.includes(strategy)) return [];
  const perKey = configurations === 2 ? 4 : strategy === 'plimsoll+read' ? 6 : 5;
  const budget = BUDGET * configurations * (watch === 'fast' ? 1.1 : 1.7);
  return [
    { figure: 'writes per key', atMost: perKey },
    { figure: 'writes', atMost: keys + budget },
    { figure: 'last write ms', atMost: 20_000 + keys * 25 },
    { figure: 'later writes per interval', atMost: budget },
    // An interval that begins within one of theirs has the end of that and the beginning of the next.
    { figure: 'most later writes in an interval', atMost: Math.max(budget, 1.5 * BUDGET * configurations) },
  ];
}

async function measureDisagreement(place: Place, strategy: StrategyName, seed: number): Promise<Figures> {
  const { simulator } = simulate(strategy, seed, { ...place, tracked: true });
  await simulator.run(strategy === 'naive' ? NAIVE_MS : FIRST_ROUND_MS);
  const { writes, conflicts, writesPerKeyMax, lastWriteAtMs = 0 } = simulator.stats();
  const first = { 'writes per key': writesPerKeyMax, writes, conflicts, 'last write ms': lastWriteAtMs };
  if (strategy === 'naive' || seed > LATER_SEEDS) return first;
  await simulator.run(LATER_MS);
  const later = simulator.stats().writes - writes;
  return {
    ...first,
    'later writes': later,
    'later writes per interval': (later * CONTENTION_MS) / LATER_MS,
    'most later writes in an interval': mostInAnInterval(simulator.commits(FIRST_ROUND_MS)),
  };
}

/** In the interval with most of them, wherever it begins: nothing but replicas writes in these cells. */
function mostInAnInterval(commits: readonly SimulatedCommit[]): number {
  let first = 0;
  return commits.reduce((most, { atMs }, index) => {
    while ((commits[first]?.atMs ?? atMs) <= atMs - CONTENTION_MS) first++;
    return Math.max(most, index + 1 - first);
  }, 0);
}
