import { describe, expect, it } from 'vitest';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { KEEPS } from './handlers-keep.ts';
import { createProgram } from './handlers-program.ts';
import { runProgram } from './handlers-run.ts';

describe("handlers: random programs over every kind of progress store (A40' to A43')", () => {
  for (const keep of KEEPS.filter((one) => one !== 'memory')) {
    it(`keep the invariants I1' to I8', I10', I12' to I14', I17' to I19' with records in: ${keep}`, async () => {
      const total = { calls: 0, crashes: 0 };
      const failed: string[] = [];
      const programs = sized({ smoke: 100, full: 3000 });
      for (let index = 0; index < programs && failed.length < 5; index++) {
        const seed = (testSeed() + index) >>> 0;
        const { violations, calls, crashes } = await runProgram(createProgram(seed), keep);
        total.calls += calls;
        total.crashes += crashes;
        if (violations.length > 0) failed.push(`program ${seed}: ${violations.slice(0, 3).join('; ')}`);
      }
      expect(failed, reproduce('property')).toEqual([]);
      expect(total.calls / programs).toBeGreaterThan(3);
      expect(total.crashes / programs).toBeGreaterThan(0.4);
    });
  }
});
