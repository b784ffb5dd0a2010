import type { Cell, Figures, Target } from './cell.ts';
import {
  CAP_MS,
  DEFAULT_STRATEGIES,
  leaderOf,
  type Run,
  STRATEGIES,
  type StrategyName,
  simulate,
  WATCHES,
  type Watch,
} from './strategies.ts';

/** `both`: seeds take turns, where a run is long. */
export type ListOrder = 'fixed' | 'shuffled' | 'both';

export function listOrders(keys: number): readonly ListOrder[] {
  return keys >= 10_000 ? ['both'] : ['fixed', 'shuffled'];
}

export function listOrderOf(order: ListOrder, seed: number): 'fixed' | 'shuffled' {
  if (order !== 'both') return order;
  return seed % 2 === 0 ? 'fixed' : 'shuffled';
}

const REPLICAS = [1, 3, 5, 20, 50] as const;
const KEYS = [1, 100, 1000, 10_000] as const;
const QUIET_MS = 7_200_000;
/** Where a run is too long for many seeds: it is reported, and has no target. */
const RARE_SEEDS = 3;

interface Place {
  readonly replicas: number;
  readonly keys: number;
  readonly watch: Watch;
  readonly listOrder: ListOrder;
  readonly strategy: StrategyName;
}

/**
 * A cold start, then two hours of quiet and one change, then the death of the idle leader and another change: one run has
 * all three, since each begins where the one before ends.
 */
export function coldCells(seeds: number): readonly Cell[] {
  const cells: Cell[] = [];
  for (const keys of KEYS) {
    for (const replicas of REPLICAS) {
      for (const watch of WATCHES) {
        for (const listOrder of listOrders(keys)) {
          for (const strategy of STRATEGIES)
            cells.push(coldCell({ replicas, keys, watch, listOrder, strategy }, seeds));
        }
      }
    }
  }
  return cells;
}

function coldCell(place: Place, seeds: number): Cell {
  const { replicas, keys, watch, listOrder, strategy } = place;
  const isRare = keys >= 10_000 && (replicas > 20 || strategy === 'naive');
  return {
    group: 'cold start, quiet, death of an idle leader',
    world: `N=${replicas} M=${keys} ${watch} ${listOrder}`,
    strategy,
    seeds: isRare ? Math.min(RARE_SEEDS, seeds) : seeds,
    targets: isRare ? [] : targetsOf(place),
    measure: (seed) => measure(place, seed),
  };
}

function targetsOf({ replicas, keys, watch, strategy }: Place): readonly Target[] {
  if (!DEFAULT_STRATEGIES.includes(strategy)) return [];
  const isQuick = watch === 'fast' || strategy === 'plimsoll+read';
  const tolerance = isQuick && replicas > 1 ? Math.min(replicas - 1, Math.max(3, replicas / 10)) : replicas - 1;
  const targets: Target[] = [
    { figure: 'attempts', atMost: keys + tolerance },
    { figure: 'leaders', atMost: 1, atLeast: 1 },
    { figure: 'quiet attempts', atMost: 1 },
    { figure: 'quiet conflicts', atMost: 0 },
  ];
  return replicas < 3 ? targets : [...targets, { figure: 'idle death ms', atMost: CAP_MS + 100 }];
}

async function measure({ strategy, ...place }: Place, seed: number): Promise<Figures> {
  const world = { ...place, listOrder: listOrderOf(place.listOrder, seed) };
  const run = simulate(strategy, seed, world);
  const { simulator } = run;
  await simulator.runUntilConverged(QUIET_MS);
  const convergedMs = simulator.stats().convergedAtMs ?? Number.POSITIVE_INFINITY;
  await simulator.run(QUIET_MS - simulator.nowMs);
  const { attempts, conflicts, unchanged, takeovers } = simulator.stats();
  const leaders = simulator.leaders().length;
  const quiet = await changeOne(run, seed);
  const figures = {
    attempts,
    conflicts,
    unchanged,
    'converged ms': convergedMs,
    takeovers,
    leaders,
    'quiet attempts': quiet.attempts,
    'quiet conflicts': quiet.conflicts,
    'quiet ms': quiet.ms,
  };
  if (strategy === 'naive' || world.replicas === 1) return figures;
  await simulator.run(600_000);
  simulator.kill(leaderOf(run));
  await simulator.run(600_000);
  const dead = await changeOne(run, seed + 1);
  return { ...figures, 'idle death attempts': dead.attempts, 'idle death ms': dead.ms };
}

async function changeOne(
  { simulator }: Run,
  pick: number,
): Promise<{ attempts: number; conflicts: number; ms: number }> {
  const before = simulator.stats();
  const key = simulator.keys[(pick * 7919) % simulator.keys.length] ?? '';
  const editedAt = simulator.nowMs;
  simulator.edit(key);
  await simulator.run(120_000);
  const { attempts, conflicts, convergedAtMs = Number.POSITIVE_INFINITY } = simulator.stats();
  return {
    attempts: attempts - before.attempts,
    conflicts: conflicts - before.conflicts,
    ms: convergedAtMs - editedAt,
  };
}
