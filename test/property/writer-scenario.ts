import { expect, it } from 'vitest';
import { measureCell } from '../../sim/cell.ts';
import { type Regression, regressionCells } from '../../sim/regression.ts';
import { testSize } from '../support/size.ts';

/**
 * One test for each scenario, watch and variant of the default strategy, by the number of the scenario. Seeds are 1 and on,
 * not those of the run: the bounds are those of `npm run sim`, where the same seeds give the same figures.
 */
export function testRegressions(regressions: readonly Regression[]): void {
  for (const regression of regressions) {
    for (const cell of regressionCells(regression, testSize())) {
      const where = [cell.world, cell.strategy].filter((part) => part !== '').join(' ');
      it(`${regression.id}: ${regression.text} (${where})`, async () => {
        const { targets, figures } = await measureCell(cell);
        expect(targets.length).toBeGreaterThan(0);
        expect({ missed: targets.filter(({ met }) => !met), figures }).toEqual({ missed: [], figures });
      });
    }
  }
}
