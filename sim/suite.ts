import type { Cell } from './cell.ts';
import { coldCells } from './cells-cold.ts';
import { deathCells } from './cells-death.ts';
import { disagreeCells } from './cells-disagree.ts';
import { chaosCells, faultCells } from './cells-faults.ts';
import { OPEN_POINTS } from './open-points.ts';
import { type Regression, regressionCells } from './regression.ts';
import { LEASE_REGRESSIONS } from './regressions-lease.ts';
import { ROLE_REGRESSIONS } from './regressions-roles.ts';
import { TRACKER_REGRESSIONS } from './regressions-tracker.ts';

/** The parts of the suite, by the name that `--cells` knows. */
export const PARTS = ['cold', 'death', 'disagree', 'faults', 'chaos', 'regressions', 'open'] as const;
export type Part = (typeof PARTS)[number];

/** Seeds of a cell where nothing else is said. */
export const SEEDS = 30;

export const REGRESSIONS: readonly Regression[] = [...LEASE_REGRESSIONS, ...ROLE_REGRESSIONS, ...TRACKER_REGRESSIONS];

export interface SuiteOptions {
  /** One seed, small cells. */
  readonly isSmoke: boolean;
  /** @default 30, or what a regression says */
  readonly seeds: number | undefined;
  /** Parts or beginnings of a cell's name, such as `cold`, `G9`, `N=5`; all of them have to fit. */
  readonly cells: readonly string[];
}

/** Every cell of the writer lease's simulation that is asked for, in the order of the table. */
export function writerLeaseCells({ isSmoke, seeds, cells }: SuiteOptions): readonly Cell[] {
  const count = seeds ?? (isSmoke ? 1 : SEEDS);
  const regressions = (all: readonly Regression[]): readonly Cell[] =>
    all.flatMap((regression) => regressionCells(regression, isSmoke ? 'smoke' : 'full', seeds));
  const parts: Readonly<Record<Part, () => readonly Cell[]>> = {
    cold: () => coldCells(count),
    death: () => deathCells(count),
    disagree: () => disagreeCells(count),
    faults: () => faultCells(count),
    chaos: () => chaosCells(count),
    regressions: () => regressions(REGRESSIONS),
    open: () => regressions(OPEN_POINTS),
  };
  return PARTS.flatMap((part) => {
    const words = cells.filter((word) => word !== part);
    if (words.some((word) => (PARTS as readonly string[]).includes(word))) return [];
    return parts[part]().filter((cell) => fits(cell, words) && !(isSmoke && isLarge(cell)));
  });
}

/** Whole words of the cell's names: `M=100` is not `M=1000`. */
function fits({ group, world, strategy }: Cell, words: readonly string[]): boolean {
  const names = new Set([...group.split(/[ ,:]+/), ...world.split(/[ ,:]+/), strategy]);
  return words.every((word) => names.has(word));
}

function isLarge({ group, world }: Cell): boolean {
  const [, keys = 0, replicas = 0] = [0, Number(/M=(\d+)/.exec(world)?.[1]), Number(/N=(\d+)/.exec(world)?.[1])];
  return keys * replicas > 5000 || (group.startsWith('chaos') && replicas > 5);
}
