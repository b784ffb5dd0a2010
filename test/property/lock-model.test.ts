import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lockProgram, lockRuns, runLockProgram } from './lock-program.ts';

const numRuns = lockRuns({ smoke: 300, full: 15_000 });

describe('a keyed lock beside its model', () => {
  it(`L1 L2 L4 L5: the same requests hold after every step, and no wake-up is lost (${numRuns} programs)`, async () => {
    await fc.assert(
      fc.asyncProperty(lockProgram, async (program) => {
        const run = await runLockProgram(program);
        // Nothing is left of free keys but what is remembered, and the tree is gone where nothing is.
        expect(run.locks.stats().idleKeys).toBeLessThanOrEqual(program.idleKeysMax);
        if (program.idleKeysMax === 0) expect(run.tree.size).toBe(0);
      }),
      { numRuns },
    );
  });
});
