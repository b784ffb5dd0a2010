import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import {
  ClosedError,
  LeaseLostError,
  LockLostError,
  LockReentryError,
  LockTimeoutError,
  NotCachedError,
  SessionExpiredError,
} from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { probe } from '../../support/replica-rig.ts';
import { KINDS, openMutexRig } from './mutex-rig.ts';

describe.each(KINDS)('a lock of %s', (kind) => {
  it('R46, R47: its key is name/hex of the lease, its token the create revision; release leaves nothing', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('jobs');
    expect(lock.key).toBe(`jobs/${BigInt(lock.lease.id).toString(16)}`);
    expect(one.get(lock.key)).toMatchObject({ createRevision: lock.fencingToken, lease: lock.lease.id, value: 'null' });
    expect([lock.name, lock.signal.aborted]).toEqual(['jobs', false]);
    const waiting = probe(two.acquireLock('jobs'));
    await clock.settle();
    expect(waiting.state).toBe('pending');
    await lock.release();
    await lock.release();
    await clock.settle();
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', end: 'released', lock: 'jobs' });
    expect(waiting.value?.fencingToken).toBeGreaterThan(lock.fencingToken);
    await waiting.value?.release();
    await clock.settle();
    expect([one.range({ prefix: '' }).count, await one.leases()]).toEqual([0, []]);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('R46: waiters get it in the order of arrival, and one commit wakes one of them', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const first = await one.acquireLock('q');
    const order: number[] = [];
    for (let index = 0; index < 5; index++) {
      void (index % 2 === 0 ? one : two).acquireLock('q').then(async (lock) => {
        order.push(index);
        await lock.release();
      });
      await clock.settle();
    }
    await first.release();
    await clock.settle();
    expect(order).toEqual([0, 1, 2, 3, 4]);
    await close();
  });

  it('C65: A unlocks, and the session of B, who is next, is dead already: C has it, B is told SESSION_EXPIRED', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const a = await one.acquireLock('m', { ttlMs: 60_000 });
    const session = await two.grantLease({ ttlMs: 1000 });
    const b = probe(two.acquireLock('m', { lease: session }));
    await clock.settle();
    const c = probe(one.acquireLock('m', { ttlMs: 60_000 }));
    await clock.advance(999);
    expect([b.state, c.state]).toEqual(['pending', 'pending']);
    // Not when its turn comes: at once.
    await clock.advance(1);
    expect(b.error).toBeInstanceOf(SessionExpiredError);
    expect(b.error).toMatchObject({ leaseId: session.id });
    // Of replicas, the handle or the deletion may be first.
    if (kind === 'embedded store') expect(b.error).toMatchObject({ cause: expect.any(LeaseLostError) });
    expect(c.state).toBe('pending');
    await a.release();
    await clock.settle();
    expect(c.value?.fencingToken).toBeGreaterThan(a.fencingToken);
    await close();
  });

  it('R46: a waiter whose key somebody deletes has lost its place, and so has nobody else', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const a = await one.acquireLock('m');
    const session = await two.grantLease({ ttlMs: 10_000, keepAlive: true });
    const b = probe(two.acquireLock('m', { lease: session }));
    await clock.settle();
    const c = probe(one.acquireLock('m'));
    await clock.settle();
    await one.delete(`m/${BigInt(session.id).toString(16)}`);
    await clock.settle();
    expect([b.error, c.state]).toEqual([expect.any(SessionExpiredError), 'pending']);
    await a.release();
    await clock.settle();
    expect(c.state).toBe('resolved');
    await close();
  });

  it('R46: its signal aborts when its key is deleted, or deleted and put again; its lease goes too', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    for (const again of [false, true]) {
      const lock = await one.acquireLock('m');
      await two.delete(lock.key);
      if (again) await two.put(lock.key, 'other');
      await clock.settle();
      expect(lock.signal.reason).toBeInstanceOf(LockLostError);
      expect(lock.signal.reason).toMatchObject({ end: 'lost', fencingToken: lock.fencingToken });
      await expect(lock.txn({})).rejects.toMatchObject({ code: 'LOCK_LOST', end: 'lost' });
      expect(await one.leases()).toEqual([]);
      await lock.release();
      await two.delete({ prefix: 'm/' });
    }
    await close();
  });

  it('a lease that is revoked elsewhere ends the lock', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m');
    await two.revokeLease(lock.lease.id);
    await clock.settle();
    expect(lock.signal.aborted).toBe(true);
    await lock.release();
    await close();
    expect(clock.pending).toBe(0);
  });

  it('renews itself as long as it is held', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m', { ttlMs: 900 });
    const waiting = probe(two.acquireLock('m'));
    await clock.advance(60_000);
    expect([lock.signal.aborted, waiting.state]).toEqual([false, 'pending']);
    await close();
    await clock.settle();
    expect(lock.signal.reason).toBeInstanceOf(ClosedError);
    expect(waiting.error).toBeInstanceOf(ClosedError);
    expect(clock.pending).toBe(0);
  });

  it('tryLock: undefined while somebody has it or waits, and nothing is left of the attempt', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lock = await one.tryLock('m');
    const { revision } = two;
    const leases = await two.leases();
    expect(await two.tryLock('m')).toBeUndefined();
    const session = await two.grantLease({ ttlMs: 5000 });
    expect(await two.tryLock('m', { lease: session })).toBeUndefined();
    await session.revoke();
    await clock.settle();
    expect([two.revision, await two.leases()]).toEqual([revision, leases]);
    await lock?.release();
    await using next = await two.tryLock('m');
    expect(next?.fencingToken).toBeGreaterThan(lock?.fencingToken ?? 0);
    await next?.[Symbol.asyncDispose]();
    await close();
  });

  it('R51: a second lock of one lease on one name is refused, one that was released or given up is not', async () => {
    const { one, clock, close } = await openMutexRig(kind);
    const lease = await one.grantLease({ ttlMs: 10_000 });
    const lock = await one.acquireLock('v/m', { lease });
    await expect(one.acquireLock('v/m', { lease })).rejects.toBeInstanceOf(LockReentryError);
    await expect(one.prefix('v/').tryLock('m', { lease })).rejects.toMatchObject({
      code: 'LOCK_REENTRY',
      lock: 'm',
      owner: `lease ${lease.id}`,
    });
    expect(lock.signal.aborted).toBe(false);
    const other = await one.acquireLock('v/n', { lease });
    await lock.release();
    const again = await one.acquireLock('v/m', { lease });
    expect([again.key, lease.signal.aborted, other.signal.aborted]).toEqual([lock.key, false, false]);
    await again.release();
    // By another process that has the same lease: the key is there.
    await one.put(again.key, 'null', { lease: lease.id });
    await expect(one.acquireLock('v/m', { lease })).rejects.toBeInstanceOf(LockReentryError);
    expect(one.get(again.key)?.value).toBe('null');
    await one.delete(again.key);
    const blocked = await one.acquireLock('v/m');
    const abort = new AbortController();
    const waiting = probe(one.acquireLock('v/m', { lease, signal: abort.signal }));
    await clock.settle();
    await expect(one.acquireLock('v/m', { lease })).rejects.toBeInstanceOf(LockReentryError);
    abort.abort('enough');
    await clock.settle();
    expect(waiting.error).toBe('enough');
    await blocked.release();
    expect(await one.tryLock('v/m', { lease })).toBeDefined();
    await close();
  });

  it.each(['own lease', 'given lease'] as const)('an abort or a timeout, with its %s: its key goes', async (which) => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const lock = await one.acquireLock('m');
    const lease = which === 'given lease' ? { lease: await two.grantLease({ ttlMs: 60_000 }) } : {};
    const abort = new AbortController();
    const aborted = probe(two.acquireLock('m', { ...lease, signal: abort.signal }));
    await clock.settle();
    expect(one.range({ prefix: 'm/' }).count).toBe(2);
    abort.abort('enough');
    await clock.settle();
    expect([aborted.error, one.range({ prefix: 'm/' }).count]).toEqual(['enough', 1]);
    const late = probe(two.acquireLock('m', { ...lease, timeoutMs: 500 }));
    await clock.advance(499);
    expect(late.state).toBe('pending');
    await clock.advance(1);
    expect(late.error).toBeInstanceOf(LockTimeoutError);
    expect(late.error).toMatchObject({ lock: 'm', timeoutMs: 500 });
    expect([one.range({ prefix: 'm/' }).count, lock.signal.aborted]).toEqual([1, false]);
    await expect(two.acquireLock('m', { ...lease, signal: abort.signal })).rejects.toBe('enough');
    await lock.release();
    await close();
    expect(clock.pending).toBe(0);
  });
});

describe('a lock of a part of a store', () => {
  it('has its names below the prefix, in a store of text and in one of bytes', async () => {
    const text = await openStore<number>({ clock: createVirtualClock() });
    const lock = await text.prefix('app/').acquireLock('m');
    expect(lock.key).toMatch(/^m\/[0-9a-f]+$/);
    expect(text.range({ prefix: 'app/m/' }).count).toBe(1);
    expect(await text.tryLock('app/m')).toBeUndefined();
    await text.close();
    const bytes = await openStore<number, Uint8Array>({ keys: 'bytes', clock: createVirtualClock() });
    const raw = await bytes.acquireLock('ü');
    const hex = BigInt(raw.lease.id).toString(16);
    expect([raw.key, bytes.get(raw.key)?.createRevision]).toEqual([
      new TextEncoder().encode(`ü/${hex}`),
      raw.fencingToken,
    ]);
    expect(await bytes.tryLock('ü')).toBeUndefined();
    await raw.release();
    expect(bytes.get(raw.key)).toBeUndefined();
    await bytes.close();
  });

  it('outside of what a replica has it is refused before anything is written', async () => {
    const { data, clock, backends, close } = await openMutexRig('replicas');
    const [backend] = backends;
    if (backend === undefined) throw new TypeError('Cannot test: no backend');
    const store = await openStore<string>({ backend, clock, prefixes: ['a/'] });
    const before = data?.revision;
    await expect(store.acquireLock('b/m')).rejects.toBeInstanceOf(NotCachedError);
    await clock.settle();
    expect([data?.revision, await data?.leases()]).toEqual([before, []]);
    await store.close();
    await close();
  });
});

describe('what a lock is asked for', () => {
  it.each<[string, (store: Store<string>) => Promise<unknown>, unknown]>([
    ['name is of type number', (store) => store.acquireLock(5 as never), TypeError],
    ['name is empty', (store) => store.acquireLock(''), RangeError],
    ['lone surrogate', (store) => store.tryLock('\ud800'), TypeError],
    ['unknown option ttl', (store) => store.acquireLock('m', { ttl: 5 } as never), TypeError],
    ['unknown option timeoutMs', (store) => store.tryLock('m', { timeoutMs: 5 } as never), TypeError],
    ['ttlMs is 0', (store) => store.acquireLock('m', { ttlMs: 0 }), RangeError],
    ['ttlMs is -5', (store) => store.tryLock('m', { ttlMs: -5 }), RangeError],
    ['timeoutMs is 0', (store) => store.acquireLock('m', { timeoutMs: 0 }), RangeError],
    ['timeoutMs is of type string', (store) => store.acquireLock('m', { timeoutMs: '5' as never }), TypeError],
    ['lease is not the handle', (store) => store.acquireLock('m', { lease: '7' as never }), TypeError],
    ['signal is not an AbortSignal', (store) => store.acquireLock('m', { signal: 1 as never }), TypeError],
    ['the token is not an object', (store) => store.resumeLock('m' as never), TypeError],
    ['unknown member of a token key', (store) => store.resumeLock({ key: 'm' } as never), TypeError],
    [
      'lease and ttlMs exclude',
      async (store) => store.acquireLock('m', { ttlMs: 5, lease: await store.grantLease({ ttlMs: 5 }) }),
      TypeError,
    ],
  ])('refuses it: %s', async (message, call, type) => {
    const store = await openStore<string>({ clock: createVirtualClock() });
    const error = await call(store).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(type);
    expect(String(error)).toContain(message);
    expect(store.revision).toBe(1);
    await store.close();
    await expect(store.acquireLock('m')).rejects.toBeInstanceOf(ClosedError);
  });
});
