import { describe, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { createMemoryProgress } from '../../../src/handlers/progress.ts';
import { createStoreProgress } from '../../../src/handlers/store-progress.ts';
import { openStore } from '../../../src/open-store.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import type { ProgressSubject } from '../../../src/testing/progress-session.ts';
import { type ProgressSuiteOptions, testProgressStore } from '../../../src/testing/progress-suite.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

/** What each case of the suite says of a store. */
function check(name: string, options: ProgressSuiteOptions): void {
  describe(`progress stores: ${name} keeps what a controller relies on (A30')`, () => {
    for (const one of testProgressStore(options)) it(`${one.rule}: ${one.name}`, () => one.run());
  });
}

check('in memory', { open: () => ({ progress: createMemoryProgress() }) });

check('under a prefix of an embedded store', {
  open: async () => {
    const store = await openStore<number>();
    return {
      progress: createStoreProgress(store, { prefix: 'progress/' }),
      other: createStoreProgress(store.prefix('prog'), { prefix: 'ress/' }),
    };
  },
});

/** Two replicas of one backend. */
async function openReplicas(): Promise<ProgressSubject> {
  const clock = createVirtualClock();
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
  const replica = async () => {
    const backend = createFaultyBackend(createMemoryBackend(data), { clock });
    const opening = openStore<number>({ backend, clock, random: () => 0 });
    await clock.settle();
    return { backend, progress: createStoreProgress(await opening, { prefix: 'progress/' }) };
  };
  const [first, second] = [await replica(), await replica()];
  return {
    progress: first.progress,
    other: second.progress,
    loseAnswer: (isApplied) => first.backend.fail('txn', { when: isApplied ? 'after' : 'before' }),
  };
}

check('under a prefix of two replicas', { open: openReplicas, can: { loseAnswer: true } });
