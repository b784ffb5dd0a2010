import { describe, expect, it } from 'vitest';
import { disagreeCells } from '../../sim/cells-disagree.ts';
import { measureChaos } from '../../sim/cells-faults.ts';
import { OPEN_POINTS } from '../../sim/open-points.ts';
import { TRACKER_REGRESSIONS } from '../../sim/regressions-tracker.ts';
import { DEFAULT_STRATEGIES, simulate, WATCHES } from '../../sim/strategies.ts';
import { sized } from '../support/size.ts';
import { expectMet, scenarios } from './writer-scenario.ts';

describe('the lease with its contention tracker, on the simulator', () => {
  for (const { title, cell } of scenarios(TRACKER_REGRESSIONS)) it(title, () => expectMet(cell));

  const small = disagreeCells(sized({ smoke: 1, full: 30 })).filter(
    ({ targets, world }) =>
      targets.length > 0 && sized({ smoke: /^N=(3|6) /.test(world) && !world.includes('M=1000'), full: true }),
  );
  it.each(small)('X12, CT4, CT6: few writes a key, then silence: $world $strategy', (cell) => expectMet(cell));

  it('bites: without a tracker two configurations overwrite each other for ever', async () => {
    const { simulator } = simulate('plimsoll', 1, { replicas: 2, keys: 5, configurations: 2 });
    await simulator.run(60_000);
    expect(simulator.stats().writesPerKeyMax).toBeGreaterThan(100);
  });
});

describe('what the rules were not modelled with, on the simulator', () => {
  for (const { title, cell } of scenarios(OPEN_POINTS)) it(title, () => expectMet(cell));
});

describe('chaos on the simulator', () => {
  const worlds = WATCHES.flatMap((watch) => DEFAULT_STRATEGIES.map((strategy) => ({ watch, strategy })));

  it.each(worlds)('ends with every key right and one leader: $watch $strategy', async ({ watch, strategy }) => {
    for (let seed = 1; seed <= sized({ smoke: 2, full: 60 }); seed++) {
      const figures = await measureChaos(strategy, seed, {
        replicas: 3 + (seed % 3),
        watch,
        repeatedEvents: 0.1 * (seed % 2),
      });
      expect({ seed, unsatisfied: figures.unsatisfied, leaders: figures.leaders }).toEqual({
        seed,
        unsatisfied: 0,
        leaders: 1,
      });
    }
  });
});
