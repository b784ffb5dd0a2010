import { defineConfig } from 'vitest/config';
import type { TestSequencer, TestSpecification } from 'vitest/node';

/** Later is slower: most mutants fall to a table of the unit tests before a random program has to run. */
const SLOW = [/\/property\//, /full-store/];

class QuickestFirst implements TestSequencer {
  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => SLOW.findLastIndex((pattern) => pattern.test(moduleId));
    return [...files].sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** What is run against a mechanical mutant: the tests of the store, its watches and its leases. */
export default defineConfig({
  test: {
    include: (process.env.PLIMSOLL_MUTATION_TESTS ?? '').split(',').filter((pattern) => pattern !== ''),
    env: {
      PLIMSOLL_TEST_SEED: process.env.PLIMSOLL_TEST_SEED ?? '1',
      PLIMSOLL_TEST_SIZE: 'smoke',
    },
    setupFiles: ['test/support/fast-check.setup.ts'],
    sequence: { sequencer: QuickestFirst },
    testTimeout: 60_000,
  },
});
