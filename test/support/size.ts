/**
 * How much a property test does, and where its chance comes from. Both are set by `test/run.mjs` through the
 * environment, and by `vitest.config.ts` when vitest is started by hand, so that every run can be repeated:
 *
 * ```text
 *   PLIMSOLL_TEST_SIZE   smoke (default) | full     npm test | npm run test:full
 *   PLIMSOLL_TEST_SEED   0 .. 2^31-1                npm test -- --seed N
 * ```
 */
export type TestSize = 'smoke' | 'full';

/** The size of this run. @default 'smoke' */
export function testSize(): TestSize {
  const size = process.env.PLIMSOLL_TEST_SIZE ?? 'smoke';
  if (size !== 'smoke' && size !== 'full') {
    throw new RangeError(`Cannot run the tests: PLIMSOLL_TEST_SIZE is "${size}", not "smoke" or "full"`);
  }
  return size;
}

/**
 * One figure for each size.
 *
 * @example
 * fc.assert(property, { numRuns: sized({ smoke: 200, full: 20_000 }) });
 */
export function sized<T>(choice: { readonly smoke: T; readonly full: T }): T {
  return choice[testSize()];
}

/** The seed of this run. fast-check gets it without further ado (`fast-check.setup.ts`). */
export function testSeed(): number {
  const text = process.env.PLIMSOLL_TEST_SEED;
  const seed = Number(text);
  if (text === undefined || text === '' || !Number.isInteger(seed) || seed < 0 || seed > 0x7fffffff) {
    throw new RangeError(`Cannot run the tests: PLIMSOLL_TEST_SEED is "${text}", not an integer from 0 to 2147483647`);
  }
  return seed;
}

/** What a generator of ours puts into a failure message, so that the run can be repeated. */
export function reproduce(suite: string): string {
  const full = testSize() === 'full' ? ' --full' : '';
  return `repeat with: npm test -- ${suite}${full} --seed ${testSeed()}`;
}
