import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { StoreLock } from '../../../src/types/coordination.ts';
import { LockLostError, NotAppliedError } from '../../../src/types/errors.ts';
import type { Lease } from '../../../src/types/lease.ts';
import type { Store } from '../../../src/types/store.ts';
import { probe } from '../../support/replica-rig.ts';
import { KINDS, openMutexRig } from './mutex-rig.ts';

const CALLS: Readonly<Record<string, (store: Store<string>, name: string, lease: Lease) => Promise<unknown>>> = {
  acquireLock: (store, name, lease) => store.acquireLock(name, { lease }),
  tryLock: (store, name, lease) => store.tryLock(name, { lease }),
  campaign: (store, name, lease) => store.campaign(name, 'v', { lease }),
};

describe.each(KINDS)('a lease that is lost already, with %s', (kind) => {
  it.each(Object.keys(CALLS))('%s says so, again and again', async (name) => {
    const { one, clock, close } = await openMutexRig(kind);
    const lease = await one.grantLease({ ttlMs: 1000 });
    await lease.revoke();
    await clock.settle();
    expect(lease.signal.aborted).toBe(true);
    for (let times = 0; times < 2; times++) {
      await expect(CALLS[name]?.(one, 'm', lease)).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    }
    expect(clock.pending).toBe(0);
    await close();
  });
});

describe('an entry that is refused', () => {
  it.each(Object.keys(CALLS))('%s: nothing is tried afterwards, and the name can be asked for again', async (name) => {
    const clock = createVirtualClock();
    const store = await openStore<string>({ clock, codec: textCodec(), limits: { keyBytes: 20 } });
    const lease = await store.grantLease({ ttlMs: 1_000_000 });
    const timers = clock.pending;
    // The prefix fits, the key with the lease does not.
    for (let times = 0; times < 2; times++) {
      await expect(CALLS[name]?.(store, 'x'.repeat(15), lease)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
      await clock.settle();
      expect(clock.pending).toBe(timers);
    }
    await store.close();
  });

  it.each(['acquireLock', 'campaign'])(
    '%s by a replica that lags does not delete the key of another one',
    async (name) => {
      const { one, two, backends, data, clock, close } = await openMutexRig('replicas');
      const lease = await one.grantLease({ ttlMs: 10_000, keepAlive: true });
      const same = await two.resumeLease(lease.id, { keepAlive: true });
      backends[1]?.holdItems();
      const lock = await one.acquireLock('m', { lease });
      const refused = probe(CALLS[name]?.(two, 'm', same) ?? Promise.resolve());
      await clock.advance(100);
      backends[1]?.releaseItems();
      await clock.advance(1000);
      expect(refused.error).toMatchObject({ code: 'LOCK_REENTRY' });
      expect([lock.signal.aborted, data?.range({ prefix: new Uint8Array(0) }).count]).toEqual([false, 1]);
      await close();
    },
  );
});

it('a release that failed is forgotten with its lease: the id may be granted again', async () => {
  const { two, backends, clock, close } = await openMutexRig('replicas');
  const grant = () => two.grantLease({ id: '77', ttlMs: 1000 });
  const lock = await two.acquireLock('m', { lease: await grant() });
  backends[1]?.fail('txn');
  await expect(lock.release()).rejects.toMatchObject({ code: 'BACKEND' });
  await clock.advance(3000);
  const again = await two.acquireLock('m', { lease: await grant() });
  expect(again.signal.aborted).toBe(false);
  await close();
});

/** Microtasks between the call and what comes in its way. */
const TURNS = Array.from({ length: 40 }, (_, turns) => turns);

const ENDS: Readonly<Record<string, (store: Store<string>, key: string, lease: Lease) => Promise<unknown>>> = {
  'its key is deleted': (store, key) => store.delete(key),
  'its lease is revoked': (_, __, lease) => lease.revoke(),
};

describe.each(KINDS)('a lock that is resumed, with %s', (kind) => {
  it.each(Object.keys(ENDS))('while %s: hears of it, whenever that is', async (end) => {
    const outcomes = new Set<string>();
    for (const turns of TURNS) {
      const { one, two, clock, close } = await openMutexRig(kind);
      const lease = await one.grantLease({ ttlMs: 10_000 });
      const key = `m/${BigInt(lease.id).toString(16)}`;
      const { revision } = await one.put(key, 'null', { lease: lease.id });
      await clock.settle();
      const token = { identity: two.identity, name: 'm', leaseId: lease.id, fencingToken: revision, ownsLease: false };
      const resumed = two.resumeLock(token).then(
        (lock: StoreLock<string>) => lock,
        (error: unknown) => error,
      );
      for (let turn = 0; turn < turns; turn++) await undefined;
      await ENDS[end]?.(one, key, lease);
      // Not as long as the lease lives: a replica hears of its end elsewhere by the key.
      await clock.advance(100);
      const outcome = await resumed;
      outcomes.add(outcome instanceof LockLostError ? 'refused' : 'resumed');
      if (!(outcome instanceof LockLostError))
        expect([turns, outcome]).toMatchObject([turns, { signal: { aborted: true } }]);
      await close();
    }
    expect(outcomes).toContain('refused');
  });
});

it('a value that is published, only not to be seen here yet, is the leadership’s value', async () => {
  const { two, backends, clock, close } = await openMutexRig('replicas');
  const leadership = await two.campaign('e', 'v1');
  backends[1]?.holdItems();
  const abort = new AbortController();
  const published = probe(leadership.proclaim('v2', { signal: abort.signal }));
  await clock.settle();
  abort.abort('enough');
  await clock.settle();
  expect(published.error).toBeInstanceOf(NotAppliedError);
  expect(leadership.value).toBe('v2');
  await close();
});
