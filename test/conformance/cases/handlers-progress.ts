import {
  createAnnotationProgress,
  createMemoryProgress,
  createStatusProgress,
  createStoreProgress,
  openStore,
  type ProgressStore,
} from 'plimsoll';
import {
  createObjectSource,
  createSeededRandom,
  createVirtualClock,
  type MemoryObjectSource,
  ProgressAssertionError,
  type ProgressSubject,
  testProgressStore,
} from 'plimsoll/testing';
import { equal, test } from '../harness.ts';

type Source = MemoryObjectSource<object>;

function onObjects(create: (source: Source) => ProgressStore): ProgressSubject {
  const source: Source = createObjectSource<object>({ clock: createVirtualClock(), random: createSeededRandom(1) });
  return {
    progress: create(source),
    createObject: (name) => source.put(name, {}).uid,
    deleteObject: (name) => source.delete(name),
  };
}

const overflow = (): ProgressStore => createMemoryProgress();
const SUITES = {
  store: testProgressStore({
    open: async () => ({ progress: createStoreProgress(await openStore<string>(), { prefix: 'p/' }) }),
  }),
  annotations: testProgressStore({
    open: () => onObjects((source) => createAnnotationProgress(source, { overflow: overflow() })),
    can: { createObject: true },
  }),
  status: testProgressStore({
    open: () => onObjects((source) => createStatusProgress(source, { overflow: overflow() })),
    can: { createObject: true },
  }),
};

for (const [store, cases] of Object.entries(SUITES)) {
  for (const { name, rule, run } of cases) test(`handlers: progress in ${store}, ${rule}: ${name}`, run);
}

test('handlers: a progress store that takes every write is found', async () => {
  const broken: ProgressStore = { ...createMemoryProgress(), compareAndSet: async () => true };
  const found: string[] = [];
  for (const { run } of testProgressStore({ open: () => ({ progress: broken }) })) {
    await run().catch((error: unknown) => {
      if (error instanceof ProgressAssertionError) found.push(error.rule);
    });
  }
  equal(found.length > 5, true);
});
