import type { StrategyName } from './strategies.ts';

/** What one run gives, by name; times are in ms. */
export type Figures = Readonly<Record<string, number>>;

/** A bound for a figure in every run. Only the default strategy has any. */
export interface Target {
  readonly figure: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** A place in the table: one strategy in one world, for a number of seeds. */
export interface Cell {
  readonly group: string;
  readonly world: string;
  readonly strategy: StrategyName;
  readonly seeds: number;
  readonly targets: readonly Target[];
  readonly measure: (seed: number) => Promise<Figures>;
}

export interface Spread {
  readonly p50: number;
  readonly p90: number;
  readonly max: number;
  readonly min: number;
}

export interface CellResult {
  readonly group: string;
  readonly world: string;
  readonly strategy: StrategyName;
  readonly seeds: number;
  readonly figures: Readonly<Record<string, Spread>>;
  readonly targets: readonly (Target & { readonly actual: number; readonly met: boolean })[];
}

/** Runs a cell seed by seed. `isStopped` is asked between them. */
export async function measureCell(cell: Cell, isStopped: () => boolean = () => false): Promise<CellResult> {
  const samples = new Map<string, number[]>();
  let seeds = 0;
  for (let seed = 1; seed <= cell.seeds && !isStopped(); seed++) {
    for (const [name, value] of Object.entries(await cell.measure(seed))) {
      const values = samples.get(name) ?? [];
      samples.set(name, values);
      values.push(value);
    }
    seeds++;
  }
  const figures = Object.fromEntries([...samples].map(([name, values]) => [name, spreadOf(values)]));
  const { group, world, strategy } = cell;
  return { group, world, strategy, seeds, figures, targets: cell.targets.map((target) => judge(target, figures)) };
}

function judge(target: Target, figures: Readonly<Record<string, Spread>>): CellResult['targets'][number] {
  const { figure, atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = target;
  const spread = figures[figure];
  if (spread === undefined) return { ...target, actual: Number.NaN, met: false };
  const actual = target.atMost === undefined ? spread.min : spread.max;
  return { ...target, actual, met: spread.max <= atMost && spread.min >= atLeast };
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9), max: at(1), min: at(0) };
}
