import { describe, expect, it } from 'vitest';
import { BackendError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { answers, openLeaseRig } from './lease-rig.ts';

describe('the answer of a lease call that is lost (M4)', () => {
  const lost = new Error('socket hang up');

  it('of grant and revoke is BackendError, maybe committed', async () => {
    const { store, backend } = await openLeaseRig();
    const lease = await store.grantLease({ ttlMs: 1000, id: '7' });
    for (const call of [() => store.grantLease({ ttlMs: 1000 }), () => lease.revoke(), () => store.revokeLease('8')]) {
      backend.fail('leases', { when: 'before', error: lost });
      await expect(call()).rejects.toMatchObject({ code: 'BACKEND', maybeCommitted: true, cause: lost });
    }
    expect(lease.signal.aborted).toBe(false);
    await store.close();
  });

  it('one that cannot be read as well', async () => {
    const bend = () => ({ grant: answers({ id: '7' }), revoke: answers({ deleted: 'all' }) });
    const { store } = await openLeaseRig({ bend });
    for (const call of [() => store.grantLease({ ttlMs: 1000 }), () => store.revokeLease('8')]) {
      await expect(call()).rejects.toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    }
    await store.close();
  });

  it('the store closes under grant: the same, and nothing of it is left', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { store, data, clock } = await openLeaseRig();
      const granted = probe(store.grantLease({ ttlMs: 60_000 }));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await store.close();
      await clock.settle();
      if (granted.value === undefined) expect(granted.error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
      else expect(granted.value.signal.aborted).toBe(true);
      await data.close();
      expect(clock.pending).toBe(0);
    }
  });

  it('the data are replaced under grant, at whatever turn: no lease of theirs lives on', async () => {
    const ends = new Set<string>();
    for (let turns = 0; turns < 30; turns++) {
      let replace = () => {};
      const replaced = new Promise<void>((resolve) => {
        replace = resolve;
      });
      const list = async () => {
        await replaced;
        return { identity: 'other', revision: 1, leases: [] };
      };
      const { store, clock } = await openLeaseRig({ bend: () => ({ list }) });
      const listed = probe(store.leases());
      await clock.settle();
      const granted = probe(store.grantLease({ ttlMs: 60_000 }));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      replace();
      await clock.settle();
      expect(listed.error).toMatchObject({ code: 'IDENTITY_CHANGED' });
      ends.add((granted.error as { code?: string } | undefined)?.code ?? granted.state);
      expect([turns, store.stats().leases, granted.value?.signal.aborted ?? true]).toEqual([turns, 0, true]);
      await store.close();
    }
    expect([...ends].sort()).toEqual(['IDENTITY_CHANGED', 'resolved']);
  });

  it('of the lease that a put is to have: the put was not sent, so it may be sent again', async () => {
    const { store, backend, clock } = await openLeaseRig();
    for (const error of [lost, new BackendError('call leases', 'gone', { maybeCommitted: true })]) {
      backend.fail('leases', { when: 'after', error });
      const put = probe(store.put('k', '1', { ttlMs: 1000 }));
      await clock.settle();
      expect(put.error).toMatchObject({ code: 'BACKEND', maybeCommitted: false });
      expect((put.error as Error).message).toBe('Cannot put a key: its lease could not be granted');
    }
    expect([backend.calls.txn, store.revision]).toEqual([0, 1]);
  });

  it('of a put with a TTL that was aborted: it may be committed, so its lease is not revoked', async () => {
    const { store, data, backend, clock } = await openLeaseRig();
    const abort = new AbortController();
    backend.hang('txn');
    const put = probe(store.put('k', '1', { ttlMs: 60_000, signal: abort.signal }));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    backend.heal();
    await clock.settle();
    expect([put.error, store.get('k')?.value, (await data.leases()).length]).toEqual(['enough', '1', 1]);
  });
});
