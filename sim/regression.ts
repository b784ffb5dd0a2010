import type { Cell, Figures, Target } from './cell.ts';
import { DEFAULT_STRATEGIES, type StrategyName, type Watch } from './strategies.ts';

/** A scenario that failed once: G1 to G25, and others without a number. */
export interface Regression {
  readonly id: string;
  readonly text: string;
  /** Runs in the gate, and in `npm run sim` and the full tests. */
  readonly seeds: { readonly smoke: number; readonly full: number };
  readonly targets: readonly Target[];
  /** Watches that it is run with. @default as the scenario says */
  readonly worlds?: readonly Watch[];
  /** @default both variants of the default strategy */
  readonly strategies?: readonly StrategyName[];
  readonly measure: (strategy: StrategyName, seed: number, watch: Watch) => Promise<Figures>;
}

/** The cells of a regression: one for each strategy and watch. `scale` is for quick looks. */
export function regressionCells(
  regression: Regression,
  size: 'smoke' | 'full',
  seedsMax = Number.POSITIVE_INFINITY,
): readonly Cell[] {
  const { id, text, seeds, targets, worlds, strategies = DEFAULT_STRATEGIES, measure } = regression;
  return strategies.flatMap((strategy) =>
    (worlds ?? ['fast']).map((watch) => ({
      group: `${id} ${text}`,
      world: worlds === undefined ? '' : watch,
      strategy,
      seeds: Math.min(seeds[size], seedsMax),
      targets,
      measure: (seed: number) => measure(strategy, seed, watch),
    })),
  );
}
