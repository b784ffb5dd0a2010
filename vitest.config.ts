import { defineConfig } from 'vitest/config';

/**
 * The suites that vitest runs; `test/run.mjs` starts one after the other and adds up (conformance has its own runner:
 * it runs in other runtimes). `npx vitest run --project unit test/unit/core` runs a part by hand.
 */
const seed = process.env.PLIMSOLL_TEST_SEED ?? String(Math.floor(Math.random() * 0x7fffffff));
if (process.env.PLIMSOLL_TEST_SEED === undefined) {
  process.env.PLIMSOLL_TEST_SEED = seed;
  console.error(`seed ${seed}`);
}

const env = { PLIMSOLL_TEST_SEED: seed, PLIMSOLL_TEST_SIZE: process.env.PLIMSOLL_TEST_SIZE ?? 'smoke' };
/** `it.only` fails the run here too, not just in the tidy suite. */
const allowOnly = false;
const setupFiles = ['test/support/fast-check.setup.ts'];

export default defineConfig({
  test: {
    // One worker a core; the machine of the gate has two.
    maxWorkers: 2,
    projects: [
      { test: { name: 'tidy', include: ['test/tidy/**/*.test.ts'], env, allowOnly, testTimeout: 300_000 } },
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          env,
          allowOnly,
          setupFiles,
          testTimeout: 20_000,
          // Some compile the core first.
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          env,
          allowOnly,
          setupFiles,
          testTimeout: 1_800_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], env, allowOnly, testTimeout: 120_000 } },
    ],
  },
});
