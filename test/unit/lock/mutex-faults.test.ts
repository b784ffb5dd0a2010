import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import type { FaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { BackendError, IdentityChangedError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { openMutexRig } from './mutex-rig.ts';

async function openFaulty() {
  const rig = await openMutexRig('replicas');
  const [, backend] = rig.backends;
  if (backend === undefined) throw new TypeError('Cannot test: no backend');
  return { ...rig, backend };
}

/** With a lease of the lock's own, and with a session. */
const LEASES = ['own', 'given'] as const;

const options = async (which: 'own' | 'given', { two }: Awaited<ReturnType<typeof openFaulty>>) =>
  which === 'own' ? {} : { lease: await two.grantLease({ ttlMs: 5000, keepAlive: true }) };

/** A call that waits until it is let go. */
async function hung(backend: FaultyBackend, method: 'txn' | 'leases', settle: () => Promise<void>) {
  const release = backend.hang(method);
  await settle();
  return release;
}

describe.each(LEASES)('a lock with its %s lease, over a faulty connection', (which) => {
  it('the put’s answer is lost: it is told, and the key goes', async () => {
    const rig = await openFaulty();
    const { one, two, backend, clock, close } = rig;
    const given = await options(which, rig);
    backend.fail('txn', { when: 'after' });
    const failed = probe(two.acquireLock('m', given));
    await clock.advance(1000);
    expect(failed.error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    expect(one.range({ prefix: 'm/' }).count).toBe(0);
    const again = await two.acquireLock('m', given);
    expect(again.signal.aborted).toBe(false);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('it is cancelled while the put is under way: the key goes as soon as it has come', async () => {
    const rig = await openFaulty();
    const { one, two, backend, clock, close } = rig;
    const given = await options(which, rig);
    const abort = new AbortController();
    const release = await hung(backend, 'txn', () => clock.settle());
    const waiting = probe(two.acquireLock('m', { ...given, signal: abort.signal }));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    expect(waiting.error).toBe('enough');
    release();
    await clock.advance(1000);
    expect([one.range({ prefix: 'm/' }).count, (await one.leases()).length]).toEqual([0, which === 'own' ? 0 : 1]);
    const next = await one.tryLock('m');
    expect(next).toBeDefined();
    await close();
    expect(clock.pending).toBe(0);
  });

  it('the backend is away when it has to leave: it goes when the backend is back, or with its lease', async () => {
    const rig = await openFaulty();
    const { one, two, backend, clock, close } = rig;
    const given = await options(which, rig);
    const holder = await one.acquireLock('m');
    const abort = new AbortController();
    const waiting = probe(two.acquireLock('m', { ...given, signal: abort.signal }));
    await clock.settle();
    backend.offline();
    abort.abort('enough');
    await clock.advance(1000);
    expect([waiting.error, one.range({ prefix: 'm/' }).count]).toEqual(['enough', 2]);
    backend.online();
    await clock.advance(12_000);
    expect([one.range({ prefix: 'm/' }).count, holder.signal.aborted]).toEqual([1, false]);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('a release that fails says so, and can be tried again; until then it is held, and not used', async () => {
    const rig = await openFaulty();
    const { one, two, backend, clock, close } = rig;
    const lock = await two.acquireLock('m', await options(which, rig));
    backend.fail(which === 'own' ? 'leases' : 'txn');
    await expect(lock.release()).rejects.toBeInstanceOf(BackendError);
    expect([lock.signal.aborted, await one.tryLock('m')]).toEqual([true, undefined]);
    await expect(lock.txn({})).rejects.toMatchObject({ end: 'released' });
    await lock.release();
    const next = await one.tryLock('m');
    expect(next).toBeDefined();
    await close();
    expect(clock.pending).toBe(0);
  });

  it('other data: whoever has it or waits for it is told so', async () => {
    const rig = await openFaulty();
    const { two, backend, clock, close } = rig;
    const lock = await two.acquireLock('m', await options(which, rig));
    const waiting = probe(two.acquireLock('m', await options(which, rig)));
    await clock.settle();
    const other = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
    backend.replace(createMemoryBackend(other));
    await clock.advance(1000);
    expect([lock.signal.reason, waiting.error]).toEqual([
      expect.any(IdentityChangedError),
      expect.any(IdentityChangedError),
    ]);
    await lock.release();
    await close();
    await other.close();
    expect(clock.pending).toBe(0);
  });
});

describe('a lock over a faulty connection', () => {
  it('it is cancelled while its lease is granted: nothing is left when that has expired', async () => {
    const { one, two, backend, clock, close } = await openFaulty();
    const abort = new AbortController();
    const release = await hung(backend, 'leases', () => clock.settle());
    const waiting = probe(two.acquireLock('m', { ttlMs: 1000, signal: abort.signal }));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    release();
    expect(waiting.error).toBe('enough');
    await clock.advance(1000);
    expect([one.range({ prefix: '' }).count, await one.leases()]).toEqual([0, []]);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('the holder cannot reach the backend: its signal aborts before the next one has the lock', async () => {
    const { one, two, backend, clock, close } = await openFaulty();
    const lock = await two.acquireLock('m', { ttlMs: 1000 });
    const events: string[] = [];
    lock.signal.addEventListener('abort', () => events.push(`lost at ${clock.now() - start}`));
    void one.acquireLock('m').then(() => events.push(`next at ${clock.now() - start}`));
    await clock.settle();
    const start = clock.now();
    backend.offline();
    await clock.advance(5000);
    expect(events).toEqual(['lost at 900', 'next at 1000']);
    expect(lock.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    await close();
    expect(clock.pending).toBe(0);
  });

  it('a wait over a lost connection and a relist goes on, and ends when its turn has come', async () => {
    const { one, two, backend, clock, close } = await openFaulty();
    const holder = await one.acquireLock('m');
    const waiting = probe(two.acquireLock('m', { ttlMs: 60_000 }));
    await clock.settle();
    backend.offline();
    await holder.release();
    await one.put('x', '1');
    await one.compact(one.revision);
    await clock.advance(2000);
    expect(waiting.state).toBe('pending');
    backend.online();
    await clock.advance(15_000);
    expect(waiting.state).toBe('resolved');
    await close();
    expect(clock.pending).toBe(0);
  });
});
