import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sized } from '../support/size.ts';
import { type LeaseStep, runLeaseProgram } from './writer-program.ts';

/**
 * Random programs of events, faults and time against a store of compare-and-set writes, with several leases. What is checked
 * while they run is in `writer-program.ts`: one call at a time, a window within the cap, leadership only of who wrote. At the
 * end, when faults have stopped: every wish is right, one leader after one more change, no timer left.
 */
const replica = fc.nat({ max: 2 });
const key = fc.nat({ max: 4 });

const step: fc.Arbitrary<LeaseStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('edit' as const), key }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('touch' as const), key }) },
  {
    weight: 10,
    arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 9000 }) }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('repeat' as const), replica, back: fc.nat({ max: 20 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('fail' as const), replica, key, count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('hang' as const), replica, isCommitted: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('blind' as const), replica, ms: fc.integer({ min: 1, max: 30_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('restart' as const), replica }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), replica, key }) },
);

const program = fc.record({
  seed: fc.nat({ max: 0xffffffff }),
  replicas: fc.integer({ min: 1, max: 3 }),
  isSlow: fc.boolean(),
  hasRead: fc.boolean(),
  hasValues: fc.boolean(),
  hasTracker: fc.boolean(),
  steps: fc.array(step, { maxLength: 40 }),
});

describe('a writer lease under random programs', () => {
  it('loses no wish, makes one call at a time, and ends with one leader and no timer (WL2-WL24)', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (given) => {
        expect(await runLeaseProgram(given)).toEqual([]);
      }),
      { numRuns: sized({ smoke: 60, full: 3000 }) },
    );
  });
});
