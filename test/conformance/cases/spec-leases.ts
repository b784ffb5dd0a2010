import {
  LeaseExistsError,
  LeaseLostError,
  LeaseNotFoundError,
  LimitExceededError,
  openStore,
  type Store,
  type Watch,
} from 'plimsoll';
import { createVirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';
import { createSilentClock, keysOf, openStillStore, restart } from './spec-support.ts';
import { replay, take, text } from './store-support.ts';

/** Leases: grant, revoke, expiry, restart; and the scenarios of expiry that no timer brought about. */
const NOT_FOUND = { class: LeaseNotFoundError, code: 'LEASE_NOT_FOUND' };

/** The list at a revision with everything that a watch brings after it, as keys. */
async function replayed(store: Store<string>, revision: number, batches: number): Promise<string[]> {
  const state = new Set(store.range({ prefix: '', revision }).kvs.map(({ key }) => key));
  const watch = store.watch({ prefix: '' }, { fromRevision: revision + 1 });
  for (const { events } of await take(watch, batches)) {
    for (const { type, kv } of events) {
      if (type === 'put') state.add(kv.key);
      else state.delete(kv.key);
    }
  }
  await watch.return();
  return [...state].sort();
}

test('C58 an id is granted once, and a TTL has a bound', async () => {
  const store = await openStillStore();
  const lease = await store.grantLease({ id: '1', ttlMs: 1000 });
  equal([lease.id, lease.ttlMs], ['1', 1000]);
  const exists = await rejects(store.grantLease({ id: '1', ttlMs: 1000 }), {
    class: LeaseExistsError,
    code: 'LEASE_EXISTS',
  });
  equal(exists.leaseId, '1');
  // 0 is "none", and no lease.
  await rejects(store.grantLease({ id: '0', ttlMs: 1000 }), { class: RangeError });
  const tooLong = await rejects(store.grantLease({ id: '2', ttlMs: 9e12 + 1 }), {
    class: LimitExceededError,
    code: 'LIMIT_EXCEEDED',
  });
  equal([tooLong.max, tooLong.actual], [9e12, 9e12 + 1]);
  equal((await store.grantLease({ id: '2', ttlMs: 9e12 })).ttlMs, 9e12);
  const made = await store.grantLease({ ttlMs: 1000 });
  equal([await store.leases(), store.revision], [['1', '2', made.id], 1]);
});

test('C59 revoke deletes the keys of a lease in one revision', async () => {
  const store = await openStillStore();
  const lease = await store.grantLease({ ttlMs: 100_000 });
  await store.put('foo', 'x', { lease: lease.id });
  await store.put('bar', 'x', { lease: lease.id });
  await store.put('other', 'x');
  equal((await lease.timeToLive({ keys: true }))?.keys, ['bar', 'foo']);
  equal(await lease.revoke(), { revision: 5, deleted: 2 });
  equal(await replay(store, { prefix: '' }, 1, { fromRevision: 5 }), ['5: delete bar, delete foo']);
  equal([keysOf(store.range({ prefix: '' })), store.revision], ['other', 5]);
  equal(
    [await store.leaseTimeToLive(lease.id), await lease.timeToLive(), await store.leases()],
    [undefined, undefined, []],
  );
  equal((await rejects(store.revokeLease(lease.id), NOT_FOUND)).leaseId, lease.id);
});

test('C60 a lease that is due is not kept alive, whether a timer ran or not', async () => {
  const clock = createSilentClock();
  const store = await openStore<string>({ clock });
  const lease = await store.grantLease({ ttlMs: 1000 });
  await store.put('foo', 'x', { lease: lease.id });
  clock.time = 999;
  equal(await lease.keepAlive(), { ttlMs: 1000 });
  clock.time = 1999;
  await rejects(lease.keepAlive(), NOT_FOUND);
  equal([store.get('foo'), store.revision], [undefined, 3]);
  await rejects(store.keepAliveLease(lease.id), NOT_FOUND);
  await rejects(lease.revoke(), NOT_FOUND);
  equal(store.revision, 3);
});

test('C61 a key that moved to another lease survives the first one, also after a restart', async () => {
  const first = await openStillStore();
  const [a, b] = [await first.grantLease({ ttlMs: 60_000 }), await first.grantLease({ ttlMs: 60_000 })];
  await first.put('foo', 'x', { lease: a.id });
  await first.put('foo', 'x', { lease: b.id });
  const store = await restart(first, { clock: createVirtualClock() });
  equal(await store.revokeLease(a.id), { revision: 3, deleted: 0 });
  equal([store.get('foo')?.lease, store.revision], [b.id, 3]);
  equal(await store.revokeLease(b.id), { revision: 4, deleted: 1 });
  equal(store.get('foo'), undefined);
});

test('C62 a key that was put without a lease survives the one it had', async () => {
  const store = await openStillStore();
  const lease = await store.grantLease({ ttlMs: 60_000 });
  await store.put('foo', 'x', { lease: lease.id });
  await store.put('foo', 'y');
  equal((await lease.timeToLive({ keys: true }))?.keys, []);
  equal(await lease.revoke(), { revision: 3, deleted: 0 });
  equal([store.get('foo')?.value, store.get('foo')?.lease], ['y', '0']);
});

test('C63 after a restart no lease expires before its TTL', async () => {
  const [before, after] = [createVirtualClock(), createVirtualClock({ startMs: 1_000_000 })];
  const first = await openStore<string>({ clock: before });
  const ids = Array.from({ length: 200 }, (_, index) => String(index + 1));
  for (const id of ids) {
    await first.grantLease({ id, ttlMs: Number(id) <= 100 ? 10_000 : 11_000 });
    await first.put(`k${id.padStart(3, '0')}`, 'x', { lease: id });
  }
  await before.advance(4000);
  const store = await restart(first, { clock: after }, [before, after]);
  equal([(await store.leases()).length, store.revision], [200, 201]);
  const leftMs = async (id: string) => (await store.leaseTimeToLive(id))?.remainingMs;
  equal([await leftMs('1'), await leftMs('200')], [6000, 7000]);
  await after.advance(5999);
  equal([(await store.leases()).length, store.range({ prefix: '' }).count], [200, 200]);
  await after.advance(1);
  equal([await store.leases(), store.range({ prefix: '' }).count, store.revision], [ids.slice(100), 100, 301]);
  await after.advance(999);
  equal((await store.leases()).length, 100);
  // Kept alive, it has its whole TTL again.
  equal(await store.keepAliveLease('200'), { ttlMs: 11_000 });
  await after.advance(1);
  equal([await store.leases(), keysOf(store.range({ prefix: '' })), store.revision], [['200'], 'k200', 400]);
  await after.advance(11_000);
  equal([await store.leases(), store.range({ prefix: '' }).count, store.revision], [[], 0, 401]);
  // One revision each, in the order of deadlines and ids.
  const expected = ids.map((id, index) => `${202 + index}: delete k${id.padStart(3, '0')}`);
  equal(await replay(store, { prefix: '' }, 200, { fromRevision: 202 }), expected);
});

test('C64 a put with an unknown lease writes nothing', async () => {
  const store = await openStillStore();
  const error = await rejects(store.put('foo', 'x', { lease: '999' }), NOT_FOUND);
  equal([error.leaseId, store.revision, store.get('foo')], ['999', 1, undefined]);
  await rejects(
    store.txn({
      then: [
        { type: 'put', key: 'bar', value: 'x' },
        { type: 'put', key: 'foo', value: 'x', lease: '999' },
      ],
    }),
    NOT_FOUND,
  );
  equal([store.revision, store.range({ prefix: '' }).count], [1, 0]);
});

/** What may be asked first of a store with a lease that is due, and the answer; the watch was there before. */
type First = (store: Store<string>, watch: Watch<string>) => unknown;
const FIRST: readonly (readonly [name: string, ask: First, answer: unknown])[] = [
  ['revision', (store) => store.revision, 4],
  ['get', (store) => store.get('k'), undefined],
  ['range', (store) => [keysOf(store.range({ prefix: '' })), store.range({ prefix: '' }).revision], ['stays', 4]],
  ['watch', (store) => replay(store, { prefix: '' }, 1, { fromRevision: 4 }), ['4: delete k']],
  ['next()', async (_, watch) => (await take(watch, 1)).map(text), ['4: delete k']],
  ['put', async (store) => (await store.put('other', 'x')).revision, 5],
  ['delete', async (store) => (await store.delete('k')).deleted, 0],
  ['txn', async (store) => (await store.txn({ then: [{ type: 'range', key: 'k' }] })).revision, 4],
  ['leases', (store) => store.leases(), []],
  ['time to live', (store) => store.leaseTimeToLive('1'), undefined],
];

test('scenario 20 what is due is in the revision, though no timer ran', async () => {
  for (const [name, ask, answer] of FIRST) {
    const clock = createSilentClock();
    const store = await openStore<string>({ clock });
    await store.grantLease({ id: '1', ttlMs: 10 });
    await store.put('stays', 'x');
    await store.put('k', 'x', { lease: '1' });
    equal([store.revision, keysOf(store.range({ prefix: '' }))], [3, 'k stays']);
    const watch = store.watch({ key: 'k' });
    clock.time = 11;
    equal([name, await ask(store, watch)], [name, answer]);
    await store.delete('other');
    // History has it still, and a list and what came after it make the newest list.
    equal([store.get('k'), keysOf(store.range({ prefix: '', revision: 3 }))], [undefined, 'k stays']);
    equal(await replayed(store, 3, store.revision - 3), ['stays']);
    equal(await replay(store, { prefix: '' }, 1, { fromRevision: 4 }), ['4: delete k']);
  }
});

test('scenario 21 two leases are due, and the one that expired last is kept alive', async () => {
  const clock = createSilentClock();
  const store = await openStore<string>({ clock });
  await store.grantLease({ id: '2', ttlMs: 10 });
  await store.grantLease({ id: '1', ttlMs: 12 });
  await store.put('of 1', 'x', { lease: '1' });
  await store.put('of 2', 'x', { lease: '2' });
  clock.time = 20;
  equal((await rejects(store.keepAliveLease('1'), NOT_FOUND)).leaseId, '1');
  equal([store.revision, await store.leases()], [5, []]);
  equal(await replay(store, { prefix: '' }, 2, { fromRevision: 4 }), ['4: delete of 2', '5: delete of 1']);
});

test('scenario 22 who hears that a lease is gone sees its end, and writes after it', async () => {
  const clock = createVirtualClock();
  const store = await openStore<string>({ clock });
  const watch = store.watch({ prefix: '' });
  const lease = await store.grantLease({ ttlMs: 10 });
  await store.put('a', 'x', { lease: lease.id });
  await store.put('b', 'x', { lease: lease.id });
  const heard: unknown[] = [];
  lease.signal.addEventListener('abort', () => {
    heard.push(store.revision, store.range({ prefix: '' }).count);
    heard.push(store.put('c', 'x').then(({ revision }) => revision));
  });
  await clock.advance(10);
  const reason: unknown = lease.signal.reason;
  equal(reason instanceof LeaseLostError && [reason.leaseId, reason.end, reason.revision], [lease.id, 'expired', 4]);
  equal(await Promise.all(heard), [4, 0, 5]);
  equal((await take(watch, 4)).map(text), ['2: put a', '3: put b', '4: delete a, delete b', '5: put c']);
});
