import type { Cell, Figures, Target } from './cell.ts';
import { type ListOrder, listOrderOf, listOrders } from './cells-cold.ts';
import {
  CAP_MS,
  DEFAULT_STRATEGIES,
  leaderOf,
  type StrategyName,
  simulate,
  WATCHES,
  type Watch,
  WRITE_MS,
} from './strategies.ts';

const SIZES = [
  [2, 100],
  [3, 100],
  [5, 100],
  [20, 100],
  [50, 100],
  [3, 1000],
  [5, 1000],
  [20, 1000],
  [50, 1000],
  [5, 10_000],
] as const;
/** Done by the leader when it dies; seeds take turns. */
const SHARES = [0.1, 0.5, 0.9] as const;
/** So long the classic strategy may take. */
const PATIENCE_MS = 7_200_000;
/** What the last foreign evidence and the write latencies may add for two replicas (G11). */
const PAIR_MS = 500;

interface Place {
  readonly replicas: number;
  readonly keys: number;
  readonly watch: Watch;
  readonly listOrder: ListOrder;
}

/** The leader dies in the middle of its first drain: how long until somebody else writes, and until all is right. */
export function deathCells(seeds: number): readonly Cell[] {
  return SIZES.flatMap(([replicas, keys]) =>
    WATCHES.flatMap((watch) =>
      listOrders(keys).flatMap((listOrder) =>
        strategiesOf(keys).map((strategy) => deathCell({ replicas, keys, watch, listOrder }, strategy, seeds)),
      ),
    ),
  );
}

function strategiesOf(keys: number): readonly StrategyName[] {
  return keys > 1000 ? DEFAULT_STRATEGIES : ['classic', ...DEFAULT_STRATEGIES];
}

function deathCell(place: Place, strategy: StrategyName, seeds: number): Cell {
  const { replicas, keys, watch, listOrder } = place;
  const targets: Target[] = [{ figure: 'excess over drain ms', atMost: CAP_MS + (replicas === 2 ? PAIR_MS : 0) }];
  return {
    group: 'death of a leader at 10, 50 and 90 % done',
    world: `N=${replicas} M=${keys} ${watch} ${listOrder}`,
    strategy,
    seeds,
    targets: DEFAULT_STRATEGIES.includes(strategy) ? targets : [],
    measure: (seed) => measureDeath(place, strategy, seed),
  };
}

export async function measureDeath(place: Place, strategy: StrategyName, seed: number): Promise<Figures> {
  const run = simulate(strategy, seed, { ...place, listOrder: listOrderOf(place.listOrder, seed) });
  const { simulator } = run;
  const left = place.keys * (1 - (SHARES[seed % SHARES.length] ?? 0.5));
  await simulator.runUntil(() => simulator.unsatisfied <= left, 600_000);
  const leader = leaderOf(run);
  simulator.kill(leader);
  const diedAt = simulator.nowMs;
  const { unsatisfied } = simulator;
  await simulator.runUntilConverged(PATIENCE_MS);
  const { convergedAtMs = Number.POSITIVE_INFINITY, attempts, conflicts, takeovers } = simulator.stats();
  const foreign = simulator.commits(diedAt).find(({ replica }) => replica !== leader);
  return {
    'first foreign write ms': (foreign?.atMs ?? Number.POSITIVE_INFINITY) - diedAt,
    'converged ms': convergedAtMs - diedAt,
    'excess over drain ms': convergedAtMs - diedAt - unsatisfied * WRITE_MS,
    attempts,
    conflicts,
    takeovers,
  };
}
