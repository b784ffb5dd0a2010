import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { BackendLeases } from '../../../src/types/backend.ts';
import { UnsupportedError } from '../../../src/types/errors.ts';

async function setUp() {
  const clock = createVirtualClock();
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random: createSeededRandom(1) });
  return { data, faulty: createFaultyBackend(createMemoryBackend(data)) };
}

describe('faults of leases', () => {
  it('a call fails before or after it had an effect', async () => {
    const { data, faulty } = await setUp();
    const leases = faulty.leases as BackendLeases;
    faulty.fail('leases');
    await expect(leases.grant({ ttlMs: 1000, id: '1' })).rejects.toMatchObject({ maybeCommitted: false });
    expect(await data.leases()).toEqual([]);
    faulty.fail('leases', { when: 'after' });
    await expect(leases.grant({ ttlMs: 1000, id: '1' })).rejects.toMatchObject({ maybeCommitted: true });
    expect(await data.leases()).toEqual(['1']);
    faulty.offline();
    await expect(leases.list({})).rejects.toMatchObject({ name: 'BackendError' });
    faulty.online();
    expect((await leases.list({})).leases).toEqual(['1']);
    expect(faulty.calls.leases).toBe(4);
  });

  it('data without leases may come behind them', async () => {
    const { faulty } = await setUp();
    const leases = faulty.leases as BackendLeases;
    faulty.replace(createCommitHistory());
    expect(faulty.leases).toBeUndefined();
    await expect(leases.list({})).rejects.toBeInstanceOf(UnsupportedError);
  });
});
