import { describe, it } from 'vitest';
import { testBackend } from '../../../src/testing/backend-suite.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

const clock = createVirtualClock();

describe('a history that is fed by hand keeps every promise', () => {
  const cases = testBackend({
    capabilities: { progress: true, writable: true },
    open: () => createCommitHistory(),
    settle: () => clock.settle(),
  });
  for (const { name, rule, run } of cases) it(`${rule}: ${name}`, run);
});
