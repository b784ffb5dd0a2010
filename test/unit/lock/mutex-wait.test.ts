import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { SessionExpiredError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { openMutexRig } from './mutex-rig.ts';

describe('R46: who is woken', () => {
  it('one waiter, however many there are', async () => {
    const clock = createVirtualClock();
    const store = await openStore<string>({ clock });
    const first = await store.acquireLock('m');
    const waiting = Array.from({ length: 20 }, () => probe(store.acquireLock('m')));
    await clock.settle();
    // Each watches its own key, and all but the first the one before it.
    expect(store.stats().watchers).toEqual({ idle: 41, pending: 0 });
    void store.delete(first.key);
    expect(store.stats().watchers.pending).toBe(2);
    await clock.settle();
    expect(waiting.map(({ state }) => state)).toEqual(['resolved', ...Array.from({ length: 19 }, () => 'pending')]);
    await store.close();
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('one in the middle goes: the one behind it waits for the one before', async () => {
    const { one, two, clock, close } = await openMutexRig('replicas');
    const holder = await one.acquireLock('m');
    const abort = new AbortController();
    const middle = probe(two.acquireLock('m', { signal: abort.signal }));
    await clock.settle();
    const last = probe(one.acquireLock('m'));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    expect([middle.error, last.state]).toEqual(['enough', 'pending']);
    await holder.release();
    await clock.settle();
    expect(last.state).toBe('resolved');
    await close();
  });
});

describe('R46: a replica that lags does not decide who owns', () => {
  it('its turn has come by what it sees, its key is gone by what the backend has: it is told, and does not own', async () => {
    const { one, two, data, backends, clock, close } = await openMutexRig('replicas');
    const a = await one.acquireLock('m');
    const session = await two.grantLease({ ttlMs: 60_000 });
    const b = probe(two.acquireLock('m', { lease: session }));
    await clock.settle();
    const c = await probeSoon(one.acquireLock('m'), clock.settle);
    backends[1]?.delayItems(50);
    await a.release();
    await data?.delete(new TextEncoder().encode(`m/${BigInt(session.id).toString(16)}`));
    await clock.advance(50);
    // The deletion of its own key has not come yet.
    expect(two.range({ prefix: 'm/' }).count).toBe(2);
    expect(b.state).toBe('pending');
    await clock.advance(50);
    expect([b.error, c.state]).toEqual([expect.any(SessionExpiredError), 'resolved']);
    await clock.advance(1000);
    await close();
    expect(clock.pending).toBe(0);
  });
});

async function probeSoon<T>(promise: Promise<T>, settle: () => Promise<void>) {
  const found = probe(promise);
  await settle();
  return found;
}
