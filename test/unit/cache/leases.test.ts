import { describe, expect, it } from 'vitest';
import { BackendError, ClosedError, LeaseLostError, LeaseNotFoundError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { answers, openLeaseRig } from './lease-rig.ts';

describe('keepAlive on a replica', () => {
  it.each<[string, Record<string, unknown>]>([
    ['another lease', { id: '55', ttlMs: 1000 }],
    ['no TTL', { id: '7', ttlMs: 'soon' }],
    ['a TTL of 0', { id: '7', ttlMs: 0 }],
  ])('refuses an answer about %s', async (_, answer) => {
    const { store } = await openLeaseRig({ bend: () => ({ keepAlive: answers(answer) }) });
    const lease = await store.grantLease({ ttlMs: 1000, id: '7' });
    await expect(lease.keepAlive()).rejects.toBeInstanceOf(BackendError);
    await expect(store.keepAliveLease('7')).rejects.toBeInstanceOf(BackendError);
    expect(lease.signal.aborted).toBe(false);
    await store.close();
  });

  it.each([
    [3000, 3000],
    [1000, 1000],
    [400, 400],
  ])('the handle lives by the TTL that was answered: %i ms', async (ttlMs, livesMs) => {
    const { store, data, clock } = await openLeaseRig({ bend: () => ({ keepAlive: answers({ id: '7', ttlMs }) }) });
    const lease = await store.grantLease({ ttlMs: 1000, id: '7' });
    await clock.advance(100);
    expect(await lease.keepAlive()).toEqual({ ttlMs });
    await clock.advance(livesMs - 1);
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', end: 'expired', revision: 0 });
    await Promise.all([store.close(), data.close()]);
    expect(clock.pending).toBe(0);
  });

  it('an answer that comes after a later one does not shorten it', async () => {
    const release: (() => void)[] = [];
    const { store, clock } = await openLeaseRig({
      bend: () => ({
        keepAlive: async ({ id }) => {
          await new Promise<void>((resolve) => release.push(resolve));
          return { identity: '', revision: 1, id, ttlMs: 1000 };
        },
      }),
    });
    const lease = await store.grantLease({ ttlMs: 1000 });
    const calls = [probe(lease.keepAlive())];
    await clock.advance(500);
    calls.push(probe(lease.keepAlive()));
    await clock.settle();
    release[1]?.();
    await clock.settle();
    release[0]?.();
    await clock.advance(999);
    expect([calls.map(({ state }) => state), lease.signal.aborted]).toEqual([['resolved', 'resolved'], false]);
    await clock.advance(1);
    expect(lease.signal.aborted).toBe(true);
    await store.close();
  });
});

describe('revoke on a replica', () => {
  it('aborts the signal when the deletes can be read, not before; the handle is of no use at once', async () => {
    const { store, backend, clock } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 60_000 });
    await store.put('k', '1', { lease: lease.id });
    const seen: unknown[] = [];
    lease.signal.addEventListener('abort', () => seen.push(store.get('k')));
    backend.holdItems();
    const revoked = probe(lease.revoke());
    await clock.settle();
    expect([revoked.state, lease.signal.aborted, store.get('k')?.value]).toEqual(['pending', false, '1']);
    const { leases } = backend.calls;
    await expect(lease.keepAlive()).rejects.toMatchObject({ code: 'LEASE_NOT_FOUND' });
    await expect(lease.revoke()).rejects.toMatchObject({ code: 'LEASE_NOT_FOUND' });
    expect([await lease.timeToLive(), backend.calls.leases]).toEqual([undefined, leases]);
    // Longer than the lease would have lived: it was revoked all the same.
    await clock.advance(70_000);
    expect(lease.signal.aborted).toBe(false);
    backend.releaseItems();
    await clock.settle();
    expect([revoked.value, seen]).toEqual([{ revision: 3, deleted: 1 }, [undefined]]);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', end: 'revoked', revision: 3 });
  });

  it('by who awaits it: the signal has aborted', async () => {
    const { store } = await openLeaseRig();
    const [one, two] = [await store.grantLease({ ttlMs: 1000 }), await store.grantLease({ ttlMs: 1000 })];
    await one.revoke();
    expect(one.signal.aborted).toBe(true);
    await store.put('k', '1', { lease: two.id });
    await store.revokeLease(two.id);
    expect(two.signal.aborted).toBe(true);
    await store.close();
  });

  it('cut short is NotAppliedError with the answer; the lease’s signal still waits for the deletes', async () => {
    const { store, backend, clock } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 60_000 });
    await store.put('k', '1', { lease: lease.id });
    backend.holdItems();
    const abort = new AbortController();
    const revoked = probe(lease.revoke({ signal: abort.signal }));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    const result = { revision: 3, deleted: 1 };
    expect(revoked.error).toMatchObject({ code: 'NOT_APPLIED', revision: 3, result, cause: 'enough' });
    expect(lease.signal.aborted).toBe(false);
    backend.releaseItems();
    await clock.settle();
    expect([lease.signal.aborted, store.get('k')]).toEqual([true, undefined]);
  });

  it('and a store that is closed meanwhile: it was revoked, the signal aborts', async () => {
    const { store, backend, clock } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 60_000 });
    await store.put('k', '1', { lease: lease.id });
    backend.holdItems();
    const revoked = probe(lease.revoke());
    await clock.settle();
    await store.close();
    await clock.settle();
    expect(revoked.error).toMatchObject({ code: 'NOT_APPLIED', revision: 3 });
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
    await expect(lease.keepAlive()).rejects.toBeInstanceOf(ClosedError);
    expect(clock.pending).toBe(0);
  });
});

describe('a lease whose id is granted again', () => {
  it('is gone with its handle, and the other one is not hurt by what comes for it', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { store, data, clock } = await openLeaseRig({
      bend: () => ({
        keepAlive: async ({ id }) => {
          await released;
          throw new LeaseNotFoundError('keep a lease alive', id);
        },
      }),
    });
    const first = await store.grantLease({ ttlMs: 1000, id: '7' });
    const late = probe(first.keepAlive());
    await data.revokeLease('7');
    const second = await store.grantLease({ ttlMs: 5000, id: '7' });
    release();
    await clock.settle();
    expect([late.error, first.signal.aborted]).toMatchObject([{ code: 'LEASE_NOT_FOUND' }, true]);
    expect(store.stats().leases).toBe(1);
    await clock.advance(4999);
    expect(second.signal.aborted).toBe(false);
    await store.close();
  });

  it('elsewhere: the old handle is lost when the new one is there', async () => {
    const { store, data, clock } = await openLeaseRig();
    const first = await store.grantLease({ ttlMs: 1000, id: '7' });
    await data.revokeLease('7');
    const second = await store.grantLease({ ttlMs: 5000, id: '7' });
    await clock.settle();
    expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
    await expect(first.keepAlive()).rejects.toMatchObject({ code: 'LEASE_NOT_FOUND' });
    await store.close();
  });
});

describe('options of a handle on a replica', () => {
  it.each([Number.NaN, 0, -1, 1.5, 1e13, Number.POSITIVE_INFINITY, '1000'])(
    'a TTL of %s is refused at the door: the backend is not asked',
    async (ttlMs) => {
      const asked: unknown[] = [];
      const grant = async (request: unknown) => {
        asked.push(request);
        throw new Error('asked');
      };
      const { store } = await openLeaseRig({ bend: () => ({ grant }) });
      await expect(store.grantLease({ ttlMs: ttlMs as number })).rejects.toThrow('Cannot grant a lease: ');
      expect(asked).toEqual([]);
      await store.close();
    },
  );

  it('a signal that has aborted: no effect, its reason; a wrong option: TypeError', async () => {
    const { store, backend } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 1000 });
    const { leases } = backend.calls;
    const signal = AbortSignal.abort('no');
    for (const call of [
      (options: object) => lease.keepAlive(options),
      (options: object) => lease.timeToLive(options),
      (options: object) => lease.revoke(options),
    ]) {
      await expect(call({ signal })).rejects.toBe('no');
      await expect(call({ signal: 5 })).rejects.toBeInstanceOf(TypeError);
      await expect(call({ ttl: 5 })).rejects.toBeInstanceOf(TypeError);
    }
    await expect(lease.timeToLive({ keys: 'yes' as never })).rejects.toBeInstanceOf(TypeError);
    expect([backend.calls.leases, lease.signal.aborted]).toEqual([leases, false]);
    await store.close();
  });

  it('a signal that aborts while the backend is deaf: its reason, at once', async () => {
    const { store, backend, clock } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 1000 });
    backend.hang('leases');
    const abort = new AbortController();
    const { signal } = abort;
    const calls = [lease.keepAlive({ signal }), lease.timeToLive({ signal }), lease.revoke({ signal })].map((call) =>
      probe<unknown>(call),
    );
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    expect(calls.map(({ error }) => error)).toEqual(['enough', 'enough', 'enough']);
    await store.close();
  });
});
