import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/types/store.ts';
import { openLeaseRig } from '../cache/lease-rig.ts';
import { openTestStore } from '../store/fixture.ts';

/** M43: a lease that renews itself has at least 3 ms, since its renewal comes after a third of that, in whole ms. */
const open = async (kind: 'embedded' | 'replica') => {
  const { store, clock } = kind === 'embedded' ? await openTestStore<string>() : await openLeaseRig();
  return { store: store as Store<string>, clock };
};

describe.each(['embedded', 'replica'] as const)('M43: a lease that renews itself, %s', (kind) => {
  it.each([1, 2])('of %d ms is refused, by whatever makes one, and nothing is granted', async (ttlMs) => {
    const { store } = await open(kind);
    const allowed = `ttlMs with keepAlive is ${ttlMs}, allowed is an integer from 3 to 9000000000000`;
    for (const [action, call] of [
      ['grant a lease', () => store.grantLease({ ttlMs, keepAlive: true })],
      ['acquire a lock', () => store.acquireLock('l', { ttlMs })],
      ['acquire a lock', () => store.tryLock('l', { ttlMs })],
      ['campaign', () => store.campaign('l', 'me', { ttlMs })],
    ] as const) {
      const error = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(RangeError);
      expect(String(error)).toBe(`RangeError: Cannot ${action}: ${allowed}`);
    }
    await store.grantLease({ ttlMs, id: '7' });
    await expect(store.resumeLease('7', { keepAlive: true })).rejects.toThrow(`Cannot resume a lease: ${allowed}`);
    expect(await store.leases()).toEqual(['7']);
  });

  it('of one that is gone is told so, whatever its TTL was', async () => {
    const { store } = await open(kind);
    await expect(store.resumeLease('8', { keepAlive: true })).rejects.toMatchObject({ code: 'LEASE_NOT_FOUND' });
  });

  it.each([3, 4, 5, 7, 10])('of %d ms lives on and on, with any chance', async (ttlMs) => {
    const { store, clock } = await open(kind);
    const lease = await store.grantLease({ ttlMs, keepAlive: true });
    for (let ms = 0; ms < 200; ms++) await clock.advance(1);
    expect([lease.signal.aborted, await store.leases()]).toEqual([false, [lease.id]]);
    await store.close();
  });
});
