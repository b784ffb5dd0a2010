import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { type OpenStoreOptions, openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Store } from '../../../src/types/store.ts';
import type { Watch } from '../../../src/types/watch.ts';

export interface Opened {
  readonly store: Store<string>;
  readonly clock: VirtualClock;
}

export type StoreOptions = Pick<OpenStoreOptions<string>, 'retention'>;

export const KINDS = ['embedded', 'replica'] as const;

/** Runs a test with an embedded store, or with a replica of one. */
export async function withStore(
  kind: (typeof KINDS)[number],
  run: (opened: Opened) => Promise<void>,
  options: StoreOptions = {},
): Promise<void> {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const seams = { ...options, clock, random };
  if (kind === 'embedded') {
    const store = await openStore<string>(seams);
    await run({ store, clock });
    return store.close();
  }
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
  const store = await openStore<string>({ ...seams, backend: createMemoryBackend(data) });
  await run({ store, clock });
  await store.close();
  await data.close();
}

/** Keys of a watch's batches, as far as they come without waiting for more. */
export async function take(watch: Watch<string>, clock: VirtualClock): Promise<string[]> {
  const found: string[] = [];
  let isWaiting = true;
  const read = async () => {
    for await (const batch of watch) {
      found.push(...batch.events.map(({ type, kv }) => `${type} ${kv.key}@${batch.revision}`));
    }
  };
  const reading = read().finally(() => {
    isWaiting = false;
  });
  await clock.settle();
  if (isWaiting) await watch.return();
  await reading;
  return found;
}
