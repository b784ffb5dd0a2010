import { describe, expect, it } from 'vitest';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { createProgram } from './handlers-program.ts';
import { runProgram } from './handlers-run.ts';

describe('handlers: random programs in a hostile world', () => {
  it("keep the invariants I1' to I8', I10', I12' to I14', I17' to I19'", async () => {
    const total = { calls: 0, writes: 0, crashes: 0 };
    const failed: string[] = [];
    const programs = programsAsked() ?? sized({ smoke: 1000, full: 20_000 });
    for (let index = 0; index < programs && failed.length < 5; index++) {
      const seed = (testSeed() + index) >>> 0;
      const verdict = await runProgram(createProgram(seed));
      total.calls += verdict.calls;
      total.writes += verdict.writes;
      total.crashes += verdict.crashes;
      if (verdict.violations.length > 0) failed.push(`program ${seed}: ${verdict.violations.slice(0, 3).join('; ')}`);
    }
    expect(failed, reproduce('property')).toEqual([]);
    // The programs must be of the kind that was meant: busy, and often interrupted.
    expect(total.calls / programs).toBeGreaterThan(4);
    expect(total.crashes / programs).toBeGreaterThan(0.5);
  });
});

/** By `npm run test:handlers -- --programs N`. */
function programsAsked(): number | undefined {
  const asked = process.env.PLIMSOLL_TEST_PROGRAMS;
  return asked === undefined ? undefined : Number(asked);
}
