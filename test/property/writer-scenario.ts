import { expect } from 'vitest';
import { type Cell, measureCell } from '../../sim/cell.ts';
import { type Regression, regressionCells } from '../../sim/regression.ts';
import { testSize } from '../support/size.ts';

/**
 * One test for each scenario, watch and variant of the default strategy, by the number of the scenario. Seeds are 1 and on,
 * not those of the run: the bounds are those of `npm run sim`, where the same seeds give the same figures.
 */
export function scenarios(
  regressions: readonly Regression[],
): readonly { readonly title: string; readonly cell: Cell }[] {
  return regressions.flatMap((regression) =>
    regressionCells(regression, testSize()).map((cell) => {
      const where = [cell.world, cell.strategy].filter((part) => part !== '').join(' ');
      return { title: `${regression.id}: ${regression.text} (${where})`, cell };
    }),
  );
}

/** Every target of the cell is met; a failure shows all of its figures. */
export async function expectMet(cell: Cell): Promise<void> {
  const { targets, figures } = await measureCell(cell);
  expect(targets.length).toBeGreaterThan(0);
  expect({ missed: targets.filter(({ met }) => !met), figures }).toEqual({ missed: [], figures });
}
