import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { TestSequencer, TestSpecification } from 'vitest/node';

/** Later is slower: most faults fall to a table of the unit tests before a random program has to run. */
const SLOW = [/\/mutants\//, /full-store/, /\/property\//];

class QuickestFirst implements TestSequencer {
  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => SLOW.findLastIndex((pattern) => pattern.test(moduleId));
    return [...files].sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

const source = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/**
 * What is run against a fault: unit and property tests as in the gate, and the conformance cases on the sources instead
 * of the package. Which of them is told by the environment.
 */
export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  resolve: {
    alias: [
      { find: /^plimsoll$/, replacement: source('mod.ts') },
      { find: /^plimsoll\/etcd$/, replacement: source('adapters/etcd/mod.ts') },
      { find: /^plimsoll\/kubernetes$/, replacement: source('adapters/kubernetes/mod.ts') },
      { find: /^plimsoll\/sqlite$/, replacement: source('adapters/sqlite/mod.ts') },
      { find: /^plimsoll\/testing$/, replacement: source('testing/mod.ts') },
    ],
  },
  test: {
    include: (process.env.PLIMSOLL_MUTANT_TESTS ?? 'test/**/*.test.ts').split(','),
    env: {
      PLIMSOLL_TEST_SEED: process.env.PLIMSOLL_TEST_SEED ?? '1',
      PLIMSOLL_TEST_SIZE: 'smoke',
    },
    setupFiles: ['test/support/fast-check.setup.ts'],
    sequence: { sequencer: QuickestFirst },
    testTimeout: 60_000,
  },
});
