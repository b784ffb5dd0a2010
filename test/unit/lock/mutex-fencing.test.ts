import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { IdentityChangedError, LockLostError, LockReentryError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { KINDS, openMutexRig } from './mutex-rig.ts';

describe.each(KINDS)('R47: writes that are guarded by a lock of %s', (kind) => {
  it('answer as the store would: then, else, ranges', async () => {
    const { one, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m');
    const { revision } = await lock.txn({ then: [{ type: 'put', key: 'a', value: '1' }] });
    expect(one.get('a')).toMatchObject({ modRevision: revision, value: '1' });
    const answer = await lock.txn({
      compare: [{ key: 'a', target: 'value', result: '=', value: 'other' }],
      then: [{ type: 'put', key: 'a', value: '2' }],
      else: [
        { type: 'range', key: 'a' },
        { type: 'put', key: 'b', value: '3' },
      ],
    });
    expect(answer).toMatchObject({
      revision: revision + 1,
      succeeded: false,
      responses: [{ type: 'range', count: 1 }, { type: 'put' }],
    });
    expect([one.get('a')?.value, one.get('b')?.value]).toEqual(['1', '3']);
    await close();
  });

  it('are refused from the deletion of the key on, whoever has heard of it; the next owner’s are not', async () => {
    const { one, two, backends, clock, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m');
    const guarded = lock.guard({ then: [{ type: 'put', key: 'a', value: 'stale' }] });
    // The holder hears of nothing more, but its writes arrive.
    backends[0]?.holdItems();
    await two.revokeLease(lock.lease.id);
    const next = await two.acquireLock('m');
    await next.txn({ then: [{ type: 'put', key: 'a', value: 'fresh' }] });
    const late = probe(one.txn(guarded));
    const lost = probe(lock.txn({ then: [{ type: 'put', key: 'a', value: 'stale' }] }));
    await clock.settle();
    backends[0]?.releaseItems();
    await clock.settle();
    expect([late.value?.succeeded, lost.error]).toEqual([false, expect.any(LockLostError)]);
    expect([two.get('a')?.value, lock.signal.aborted, next.signal.aborted]).toEqual(['fresh', true, false]);
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
    await close();
  });

  it('are refused after the release, without asking anybody', async () => {
    const { one, backends, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m');
    await lock.release();
    const asked = backends[0]?.calls.txn;
    await expect(lock.txn({})).rejects.toMatchObject({ code: 'LOCK_LOST', end: 'released' });
    expect(backends[0]?.calls.txn).toBe(asked);
    expect(() => lock.guard(5 as never)).toThrow(TypeError);
    await close();
  });

  it('a lock is written down, and taken up elsewhere; the lease is renewed there, a release ends it', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m', { ttlMs: 1000 });
    const token = JSON.parse(JSON.stringify(lock));
    expect(token).toEqual({
      identity: one.identity,
      name: 'm',
      leaseId: lock.lease.id,
      fencingToken: lock.fencingToken,
      ownsLease: true,
    });
    if (kind === 'embedded store') {
      // Who has it here has it: it is one store.
      await expect(two.resumeLock(token)).rejects.toBeInstanceOf(LockReentryError);
      await clock.advance(30_000);
      expect(lock.signal.aborted).toBe(false);
      return close();
    }
    const taken = await two.resumeLock(token);
    expect([taken.key, taken.fencingToken, taken.toJSON()]).toEqual([lock.key, lock.fencingToken, token]);
    await one.close();
    await clock.advance(30_000);
    expect(taken.signal.aborted).toBe(false);
    await taken.txn({ then: [{ type: 'put', key: 'a', value: '1' }] });
    await taken.release();
    await clock.settle();
    expect([two.range({ prefix: 'm/' }).count, await two.leases()]).toEqual([0, []]);
    await expect(two.resumeLock(token)).rejects.toMatchObject({ code: 'LOCK_LOST', end: 'lost' });
    await expect(two.resumeLock({ ...token, identity: 'other' })).rejects.toBeInstanceOf(IdentityChangedError);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('a token of a lock that somebody else has by now is not taken up, and its lease not renewed', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lease = await one.grantLease({ ttlMs: 1000 });
    const lock = await one.acquireLock('m', { lease });
    await one.delete(lock.key);
    await clock.settle();
    const other = await two.acquireLock('m');
    await expect(two.resumeLock(lock.toJSON())).rejects.toBeInstanceOf(LockLostError);
    await clock.advance(1000);
    expect([lease.signal.aborted, other.signal.aborted]).toEqual([true, false]);
    await close();
    expect(clock.pending).toBe(0);
  });
});

describe('a lock across a restart', () => {
  it('is taken up by the store that goes on from a snapshot', async () => {
    const clock = createVirtualClock();
    const first = await openStore<string>({ clock });
    const lock = await first.acquireLock('m', { ttlMs: 1000 });
    const making = first.createSnapshot();
    await clock.settle();
    const snapshot = await making;
    const token = lock.toJSON();
    await first.close();
    const opening = openStore<string>({ clock, snapshot, keepIdentity: true });
    await clock.settle();
    const second = await opening;
    const taken = await second.resumeLock(token);
    await clock.advance(10_000);
    expect([taken.fencingToken, taken.signal.aborted]).toEqual([lock.fencingToken, false]);
    await second.close();
  });
});
