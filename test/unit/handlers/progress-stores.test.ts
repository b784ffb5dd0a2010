import { describe, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { createAnnotationProgress } from '../../../src/handlers/annotation-progress.ts';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import { createStatusProgress } from '../../../src/handlers/status-progress.ts';
import { createStoreProgress } from '../../../src/handlers/store-progress.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createObjectSource, type MemoryObjectSource } from '../../../src/testing/object-source.ts';
import type { ProgressSubject } from '../../../src/testing/progress-session.ts';
import { type ProgressSuiteOptions, testProgressStore } from '../../../src/testing/progress-suite.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { BackendError } from '../../../src/types/errors.ts';
import type { Thing } from './harness.ts';

/** What each case of the suite says of a store. */
function check(name: string, options: ProgressSuiteOptions): void {
  describe(`progress stores: ${name} keeps what a controller relies on (A40')`, () => {
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

/** A source in memory, whose objects are of a world of their own. */
function openObjects(
  create: (source: MemoryObjectSource<Thing>, overflow: ProgressStore) => ProgressStore,
  isTight: boolean,
): ProgressSubject {
  const clock = createVirtualClock();
  const source = createObjectSource<Thing>({ clock, random: createSeededRandom(1) });
  const text = 'x'.repeat(isTight ? 262_144 - 1200 : 1);
  const overflow = createMemoryProgress();
  let doubt: boolean | undefined;
  const faulty: MemoryObjectSource<Thing> = Object.create(source, {
    list: { value: source.list.bind(source) },
    get: { value: source.get.bind(source) },
    compare: { value: source.compare.bind(source) },
    patch: {
      async value(...call: Parameters<typeof source.patch>) {
        const isApplied = doubt;
        doubt = undefined;
        if (isApplied === undefined) return source.patch(...call);
        if (isApplied) await source.patch(...call);
        throw new BackendError('patch an object', 'no answer', { maybeCommitted: true });
      },
    },
  });
  return {
    progress: create(faulty, overflow),
    other: create(source, overflow),
    createObject: (name) => source.put(name, { metadata: { annotations: { text } } }).uid,
    deleteObject: (name) => source.delete(name),
    loseAnswer: (isApplied) => {
      doubt = isApplied;
    },
  };
}

for (const isTight of [false, true]) {
  const room = isTight ? 'with little room' : 'with room';
  const can = { createObject: true, loseAnswer: true };
  check(`in annotations ${room}`, {
    open: () => openObjects((source, overflow) => createAnnotationProgress(source, { overflow }), isTight),
    can,
  });
  check(`in the status ${room}`, {
    open: () =>
      openObjects(
        (source, overflow) => createStatusProgress(source, { overflow, bytesMax: isTight ? 900 : 1e5 }),
        isTight,
      ),
    can,
  });
}

check('in annotations, and none elsewhere', {
  open: () => openObjects((source) => createAnnotationProgress(source, { prefix: 'a.example' }), false),
  can: { createObject: true, loseAnswer: true },
});
