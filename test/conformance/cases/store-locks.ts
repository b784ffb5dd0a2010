import {
  LockLostError,
  LockReentryError,
  LockTimeoutError,
  NotLeaderError,
  openStore,
  SessionExpiredError,
  type Store,
} from 'plimsoll';
import { createMemoryBackend, createVirtualClock, type VirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';

/** Sessions, locks and elections, alike on an embedded store and on two replicas of one backend. */
interface Pair {
  readonly clock: VirtualClock;
  readonly one: Store<string>;
  readonly two: Store<string>;
  readonly close: () => Promise<void>;
}

async function open(kind: 'embedded store' | 'replicas'): Promise<Pair> {
  const clock = createVirtualClock();
  if (kind === 'embedded store') {
    const store = await openStore<string>({ clock });
    return { clock, one: store, two: store, close: () => store.close() };
  }
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
  const backend = createMemoryBackend(data);
  const one = await openStore<string>({ backend, clock });
  const two = await openStore<string>({ backend, clock });
  const close = async () => {
    await one.close();
    await two.close();
    await data.close();
  };
  return { clock, one, two, close };
}

for (const kind of ['embedded store', 'replicas'] as const) {
  test(`${kind}: a lock goes from one to the next, fenced by its token (store:R46, R47)`, async () => {
    const { clock, one, two, close } = await open(kind);
    const first = await one.acquireLock('jobs', { ttlMs: 1000 });
    equal(first.key, `jobs/${BigInt(first.lease.id).toString(16)}`);
    equal(one.get(first.key)?.createRevision, first.fencingToken);
    equal(await two.tryLock('jobs'), undefined);
    const waiting = two.acquireLock('jobs', { ttlMs: 1000 });
    const tired = two.acquireLock('jobs', { timeoutMs: 50 });
    const late = rejects(tired, { class: LockTimeoutError, code: 'LOCK_TIMEOUT' });
    await clock.advance(10_000);
    await late;
    equal(first.signal.aborted, false);
    const { responses } = await first.txn({ then: [{ type: 'put', key: 'a', value: 'first' }], else: [] });
    equal([responses.length, one.get('a')?.value], [1, 'first']);
    await first.release();
    const second = await waiting;
    equal(second.fencingToken > first.fencingToken, true);
    const stale = { type: 'put', key: 'a', value: 'stale' } as const;
    equal((await one.txn(first.guard({ then: [stale] }))).succeeded, false);
    await rejects(first.txn({ then: [stale] }), { class: LockLostError, code: 'LOCK_LOST' });
    equal(first.signal.reason instanceof LockLostError, true);
    equal(two.get('a')?.value, 'first');
    await second.release();
    await clock.settle();
    equal([two.range({ prefix: 'jobs/' }).count, await two.leases()], [0, []]);
    await close();
    equal(clock.pending, 0);
  });

  test(`${kind}: C65 who is next has a dead session: the one after has the lock`, async () => {
    const { clock, one, two, close } = await open(kind);
    const a = await one.acquireLock('m');
    const lease = await two.grantLease({ ttlMs: 1000 });
    const b = rejects(two.acquireLock('m', { lease }), { class: SessionExpiredError, code: 'SESSION_EXPIRED' });
    await clock.settle();
    const waiting = one.acquireLock('m');
    await clock.advance(1000);
    equal((await b).leaseId, lease.id);
    await a.release();
    const c = await waiting;
    equal(c.fencingToken > a.fencingToken, true);
    await close();
  });

  test(`${kind}: C67 an observer sees each leader's newest value, in order (store:R49)`, async () => {
    const { clock, one, two, close } = await open(kind);
    const seen: string[] = [];
    const observing = (async () => {
      for await (const { value } of two.observe('e')) if (seen.push(value) === 4) return;
    })();
    const a = await one.campaign('e', 'a:v1');
    const campaigning = two.campaign('e', 'b:v1');
    await clock.settle();
    await a.proclaim('a:v2');
    await clock.settle();
    equal([one.leader('e')?.value, two.leader('e')?.value], ['a:v2', 'a:v2']);
    await a.resign();
    const b = await campaigning;
    await clock.settle();
    await b.proclaim('b:v2');
    await observing;
    equal(seen, ['a:v1', 'a:v2', 'b:v1', 'b:v2']);
    await rejects(a.proclaim('late'), { class: NotLeaderError, code: 'NOT_LEADER' });
    await close();
    equal(clock.pending, 0);
  });

  test(`${kind}: a session lives until it is revoked; two locks of one on a name are refused (store:R51)`, async () => {
    const { clock, one, close } = await open(kind);
    const lease = await one.grantLease({ ttlMs: 600, keepAlive: true });
    const lock = await one.acquireLock('m', { lease });
    await rejects(one.acquireLock('m', { lease }), { class: LockReentryError, code: 'LOCK_REENTRY' });
    await clock.advance(60_000);
    equal([lease.signal.aborted, lock.signal.aborted], [false, false]);
    await lease.revoke();
    await clock.settle();
    equal([lock.signal.aborted, one.range({ prefix: 'm/' }).count], [true, 0]);
    await close();
    equal(clock.pending, 0);
  });
}

test('a lock is written down and taken up by another replica', async () => {
  const { clock, one, two, close } = await open('replicas');
  const lock = await one.acquireLock('m', { ttlMs: 1000 });
  const token = JSON.parse(JSON.stringify(lock));
  await one.close();
  const taken = await two.resumeLock(token);
  await clock.advance(10_000);
  equal([taken.fencingToken, taken.signal.aborted], [lock.fencingToken, false]);
  await taken.release();
  await close();
  equal(clock.pending, 0);
});
