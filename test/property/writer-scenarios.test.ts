import { describe, expect, it } from 'vitest';
import { measureCell } from '../../sim/cell.ts';
import { coldCells } from '../../sim/cells-cold.ts';
import { type Regression, regressionCells } from '../../sim/regression.ts';
import { LEASE_REGRESSIONS } from '../../sim/regressions-lease.ts';
import { ROLE_REGRESSIONS } from '../../sim/regressions-roles.ts';
import { sized } from '../support/size.ts';
import { expectMet, scenarios } from './writer-scenario.ts';

describe('the lease in its first drain and in handovers, on the simulator', () => {
  for (const { title, cell } of scenarios(LEASE_REGRESSIONS)) it(title, () => expectMet(cell));
});

describe('who leads, on the simulator', () => {
  for (const { title, cell } of scenarios(ROLE_REGRESSIONS)) it(title, () => expectMet(cell));
});

describe('the table of the simulator', () => {
  const cells = coldCells(sized({ smoke: 2, full: 30 })).filter(({ world, targets }) => {
    const [replicas, keys] = [Number(/N=(\d+)/.exec(world)?.[1]), Number(/M=(\d+)/.exec(world)?.[1])];
    return targets.length > 0 && replicas <= 20 && keys <= 100;
  });

  it.each(cells)('S19, X4: cold start, quiet, and death of an idle leader: $world $strategy', (cell) =>
    expectMet(cell),
  );

  it('bites: the classic strategy misses what the default meets', async () => {
    const missedBy = async (id: string): Promise<readonly string[]> => {
      const all = [...LEASE_REGRESSIONS, ...ROLE_REGRESSIONS].filter((regression) => regression.id === id);
      const classic = all.map((regression): Regression => ({ ...regression, strategies: ['classic'] }));
      const results = await Promise.all(
        classic.flatMap((one) => regressionCells(one, 'smoke', 1)).map((one) => measureCell(one)),
      );
      return results.flatMap(({ targets }) => targets.filter(({ met }) => !met).map(({ figure }) => figure));
    };
    expect(await missedBy('G2')).toEqual(['attempts']);
    expect(await missedBy('G4')).toEqual(['takeovers']);
    expect(await missedBy('G10')).toEqual(['attempts', 'conflicts']);
    expect(await missedBy('G11')).toEqual(['excess over drain ms']);
  });
});
