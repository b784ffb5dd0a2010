import { describe, expect, it } from 'vitest';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { createSchedulingProgram, runScheduling } from './handlers-scheduling-world.ts';

describe('handlers: limits, priorities, breakers and pauses', () => {
  it("keep I1', I19', I26' to I28', and A35', in any mix", async () => {
    const total = { calls: 0, trips: 0, pauses: 0, held: 0 };
    const failed: string[] = [];
    const programs = sized({ smoke: 600, full: 12_000 });
    for (let index = 0; index < programs && failed.length < 5; index++) {
      const seed = (testSeed() + index) >>> 0;
      const verdict = await runScheduling(createSchedulingProgram(seed));
      total.calls += verdict.calls;
      total.trips += verdict.trips;
      total.pauses += verdict.pauses;
      total.held += verdict.held;
      if (verdict.violations.length > 0) failed.push(`program ${seed}: ${verdict.violations.slice(0, 3).join('; ')}`);
    }
    expect(failed, reproduce('property')).toEqual([]);
    // The programs must be of the kind that was meant: busy, and with everything in them.
    expect(total.calls / programs).toBeGreaterThan(10);
    expect(total.trips / programs).toBeGreaterThan(0.5);
    expect(total.pauses / programs).toBeGreaterThan(0.5);
    expect(total.held).toBeGreaterThan(0);
  });
});
