import { check, integer, property } from 'fast-check';
import { expect, it } from 'vitest';
import { sized, testSeed } from '../support/size.ts';

/** False above 1000: if this ever passes, the property tests prove nothing. */
const isSmall = property(integer({ min: 0, max: 1_000_000 }), (value) => value <= 1000);

it('canary: a false property is refuted, shrunk to its smallest case, and repeated by the seed of the run', () => {
  const numRuns = sized({ smoke: 100, full: 1000 });
  const [first, second] = [check(isSmall, { numRuns }), check(isSmall, { numRuns })];
  expect(first.failed).toBe(true);
  expect(first.counterexample).toEqual([1001]);
  expect(first.seed).toBe(testSeed());
  expect([second.counterexamplePath, second.numRuns]).toEqual([first.counterexamplePath, first.numRuns]);
});
