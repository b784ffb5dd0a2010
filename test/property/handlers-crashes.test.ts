import { describe, expect, it } from 'vitest';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { type CrashPoint, createScenario, runScenario, WHENS } from './handlers-scenario.ts';

describe('handlers: a process that dies', () => {
  it("at any write of a scenario leaves nothing to be seen at the end: same objects, same records, same effects (I13')", async () => {
    const scenarios = sized({ smoke: 6, full: 200 });
    const failed: string[] = [];
    let crashes = 0;
    for (let index = 0; index < scenarios && failed.length < 3; index++) {
      const seed = (testSeed() + index) >>> 0;
      const scenario = createScenario(seed);
      const calm = await runScenario(scenario, undefined);
      for (const text of calm.violations) failed.push(`scenario ${seed}: ${text}`);
      for (let point = 0; point < calm.points; point++) {
        for (const when of WHENS) {
          const crash: CrashPoint = { point, when };
          const { violations, final } = await runScenario(scenario, crash);
          crashes++;
          const where = `scenario ${seed}, dead at write ${point} ${when}`;
          for (const text of violations) failed.push(`${where}: ${text}`);
          if (final !== calm.final) failed.push(`${where}: ${firstDifference(final, calm.final)}`);
        }
      }
    }
    expect(failed.slice(0, 3), reproduce('property')).toEqual([]);
    expect(crashes / scenarios).toBeGreaterThan(20);
  });
});

function firstDifference(found: string, expected: string): string {
  let at = 0;
  while (found[at] === expected[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 200), at + 200);
  return `at the end there is\n${around(found)}\nand without a crash\n${around(expected)}`;
}
