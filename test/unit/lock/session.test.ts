import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { BackendError, LeaseLostError, LeaseNotFoundError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { openLeaseRig } from '../cache/lease-rig.ts';
import { KINDS, openMutexRig } from './mutex-rig.ts';

describe.each(KINDS)('a lease of %s that keeps itself alive', (kind) => {
  it('lives until it is revoked, and leaves no timer', async () => {
    const { one, clock, close } = await openMutexRig(kind);
    const lease = await one.grantLease({ ttlMs: 300, keepAlive: true });
    await one.put('k', 'v', { lease: lease.id });
    await clock.advance(100_000);
    expect([lease.signal.aborted, one.get('k')?.value]).toEqual([false, 'v']);
    await lease.revoke();
    await clock.settle();
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
    await clock.advance(100_000);
    expect(clock.pending).toBe(0);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('lives on for its TTL at most when the signal of the call aborts', async () => {
    const { one, clock, close } = await openMutexRig(kind);
    const abort = new AbortController();
    const lease = await one.grantLease({ ttlMs: 300, keepAlive: true, signal: abort.signal });
    await clock.advance(1000);
    abort.abort();
    await clock.settle();
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(300);
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('without the option nothing renews it; a wrong option is refused', async () => {
    const { one, clock, close } = await openMutexRig(kind);
    const lease = await one.grantLease({ ttlMs: 300 });
    await clock.advance(300);
    expect(lease.signal.aborted).toBe(true);
    const wrong = { ttlMs: 300, keepAlive: 'yes' as never };
    await expect(one.grantLease(wrong)).rejects.toThrow('keepAlive is yes, allowed are true and false');
    await close();
  });

  it('is resumed by its id: whole again, and renewed from there', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lease = await one.grantLease({ ttlMs: 1000 });
    await clock.advance(600);
    const resumed = await two.resumeLease(lease.id, { keepAlive: true });
    expect([resumed.id, resumed.ttlMs]).toEqual([lease.id, 1000]);
    await clock.advance(10_000);
    expect(resumed.signal.aborted).toBe(false);
    expect((await two.leaseTimeToLive(lease.id))?.grantedTtlMs).toBe(1000);
    await resumed.revoke();
    await expect(two.resumeLease(lease.id)).rejects.toBeInstanceOf(LeaseNotFoundError);
    await expect(two.resumeLease('x')).rejects.toBeInstanceOf(RangeError);
    await close();
  });
});

describe('a session of a replica', () => {
  it('asks again and again while the backend is away, and is lost before the backend can let anybody else in', async () => {
    const { store, backend, data, clock } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 1000, keepAlive: true });
    await store.put('k', 'v', { lease: lease.id });
    const lostAt: number[] = [];
    lease.signal.addEventListener('abort', () => lostAt.push(clock.now()));
    const start = clock.now();
    backend.offline();
    await clock.advance(850);
    backend.online();
    await clock.advance(5000);
    expect(lostAt).toEqual([]);
    backend.offline();
    const before = backend.calls.leases;
    const goneAt: number[] = [];
    void data
      .watch({ key: new TextEncoder().encode('k') })
      .next()
      .then(() => goneAt.push(clock.now()));
    await clock.advance(2000);
    expect(backend.calls.leases - before).toBeGreaterThan(2);
    expect([lostAt.length, goneAt.length]).toEqual([1, 1]);
    expect((goneAt[0] ?? 0) - (lostAt[0] ?? 0)).toBeGreaterThanOrEqual(100);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', end: 'expired' });
    expect(start).toBeLessThan(lostAt[0] ?? 0);
    await store.close();
    await data.close();
    expect(clock.pending).toBe(0);
  });

  it('a renewal that hangs is given up, and the next one saves the lease', async () => {
    let hangs = 0;
    const { store, data, clock } = await openLeaseRig({
      bend: (leases) => ({
        keepAlive: (request) => (hangs++ === 0 ? new Promise(() => undefined) : leases.keepAlive(request)),
      }),
    });
    const lease = await store.grantLease({ ttlMs: 900, keepAlive: true });
    await clock.advance(60_000);
    expect([lease.signal.aborted, hangs > 1]).toEqual([false, true]);
    await Promise.all([store.close(), data.close()]);
    expect(clock.pending).toBe(0);
  });

  it('an answer that comes after its deadline does not save it: 60 s for a lease of 15 s', async () => {
    const { store, data, clock } = await openLeaseRig({
      bend: (leases) => ({
        keepAlive: async (request) => {
          await new Promise<void>((resolve) => clock.after(60_000, resolve));
          return leases.keepAlive(request);
        },
      }),
    });
    const lease = await store.grantLease({ ttlMs: 15_000, keepAlive: true });
    await clock.advance(13_499);
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    const late = probe(lease.keepAlive());
    await clock.advance(120_000);
    expect(late.error).toBeInstanceOf(LeaseNotFoundError);
    await Promise.all([store.close(), data.close()]);
  });

  it('what was lost is answered as any call: a backend that refuses does not end it before its time', async () => {
    const { store, data, clock } = await openLeaseRig({
      bend: () => ({
        keepAlive: async () => {
          throw new BackendError('keep a lease alive', 'refused');
        },
      }),
    });
    const lease = await store.grantLease({ ttlMs: 1000, keepAlive: true });
    await clock.advance(899);
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(lease.signal.aborted).toBe(true);
    await Promise.all([store.close(), data.close()]);
    expect(clock.pending).toBe(0);
  });
});

describe('renewals', () => {
  it('come after a third of the TTL, less up to a fifth of that by chance', async () => {
    for (const [random, firstMs] of [
      [() => 0, 1000],
      [() => 0.5, 900],
      [() => 0.999_999, 801],
    ] as const) {
      const clock = createVirtualClock();
      const store = await openStore<string>({ clock, random });
      const lease = await store.grantLease({ ttlMs: 3000, id: '7', keepAlive: true });
      await clock.advance(firstMs - 1);
      expect((await lease.timeToLive())?.remainingMs).toBe(3000 - firstMs + 1);
      await clock.advance(1);
      expect((await lease.timeToLive())?.remainingMs).toBeGreaterThanOrEqual(2999);
      await store.close();
      expect(clock.pending).toBe(0);
    }
  });

  it('a signal that has aborted: no lease at all', async () => {
    const store = await openStore<string>({ clock: createVirtualClock() });
    await expect(store.grantLease({ ttlMs: 5, keepAlive: true, signal: AbortSignal.abort('no') })).rejects.toBe('no');
    expect(await store.leases()).toEqual([]);
    await store.close();
  });
});
