import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendCapabilities, BackendLeases } from '../../../src/types/backend.ts';

export interface LeaseRigOptions {
  readonly capabilities?: BackendCapabilities;
  /** Calls of the backend's leases that do something else. */
  readonly bend?: (leases: BackendLeases) => Partial<BackendLeases>;
}

/** A replica of an embedded store, which has leases and lives by the same clock. */
export async function openLeaseRig({ capabilities, bend }: LeaseRigOptions = {}) {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
  const behind = createMemoryBackend(data);
  const leases = behind.leases as BackendLeases;
  const bent: Backend = {
    capabilities: capabilities ?? behind.capabilities,
    range: (request) => behind.range(request),
    status: (request) => behind.status(request),
    watch: (request) => behind.watch(request),
    // Deaf: what was sent is committed, whatever the signal says meanwhile.
    txn: ({ signal: _, ...request }) => behind.txn(request),
    compact: (request) => behind.compact(request),
    leases: {
      grant: (request) => leases.grant(request),
      keepAlive: (request) => leases.keepAlive(request),
      revoke: (request) => leases.revoke(request),
      timeToLive: (request) => leases.timeToLive(request),
      list: (request) => leases.list(request),
      ...bend?.(leases),
    },
    [Symbol.asyncDispose]: () => behind[Symbol.asyncDispose](),
  };
  const backend = createFaultyBackend(bent, { clock });
  const store = await openStore<string>({ backend, clock, random, codec: textCodec(), waitReady: false });
  await clock.settle();
  return { data, backend, store, clock };
}

/** A call that is answered with this, whatever it asks. */
export const answers = (answer: Record<string, unknown>) => async () =>
  ({ identity: '', revision: 1, ...answer }) as never;
