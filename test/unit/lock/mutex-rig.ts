import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createFaultyBackend, type FaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Store } from '../../../src/types/store.ts';

/** Two users of one data set: parts of one embedded store, or replicas of one backend. */
export interface MutexRig {
  readonly clock: VirtualClock;
  readonly one: Store<string>;
  readonly two: Store<string>;
  /** Of replicas, in the same order. */
  readonly backends: readonly FaultyBackend[];
  readonly data: Store<Uint8Array, Uint8Array> | undefined;
  readonly close: () => Promise<void>;
}

export type RigKind = 'embedded store' | 'replicas';

export const KINDS: readonly RigKind[] = ['embedded store', 'replicas'];

export async function openMutexRig(kind: RigKind, seed = 1): Promise<MutexRig> {
  const clock = createVirtualClock();
  const random = createSeededRandom(seed);
  if (kind === 'embedded store') {
    const store = await openStore<string>({ clock, random, codec: textCodec() });
    return { clock, one: store, two: store, backends: [], data: undefined, close: () => store.close() };
  }
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
  const backends = [createFaultyBackend(createMemoryBackend(data), { clock })];
  backends.push(createFaultyBackend(createMemoryBackend(data), { clock }));
  const [one, two] = await Promise.all(
    backends.map((backend) => openStore<string>({ backend, clock, random, codec: textCodec() })),
  );
  if (one === undefined || two === undefined) throw new TypeError('Cannot open two replicas');
  const close = async () => {
    await Promise.all([one.close(), two.close()]);
    await data.close();
  };
  return { clock, one, two, backends, data, close };
}
