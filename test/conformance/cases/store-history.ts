import {
  ConflictError,
  jsonCodec,
  KeyNotFoundError,
  openStore,
  PinBrokenError,
  SnapshotError,
  UnsupportedError,
} from 'plimsoll';
import { createMemoryBackend, createVirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';

/** Pins, snapshots, parts and updates: what stands on top of revisions. */

test('pin: holds compaction back until it is released, and breaks at its bounds', async () => {
  const clock = createVirtualClock();
  const store = await openStore<number>({ clock });
  for (let index = 0; index < 5; index++) await store.put('a', index);
  const pin = store.pin(3, { owner: 'export', ttlMs: 100 });
  const { compactRevision } = await store.compact(5);
  equal([compactRevision, store.compactRevision, store.get('a', { revision: 3 })?.value], [3, 3, 1]);
  equal(store.stats().pins, [{ owner: 'export', revision: 3, bytes: store.stats().pins[0]?.bytes }]);
  pin.release();
  equal([store.compactRevision, pin.signal.aborted], [5, false]);
  const late = store.pin(5, { owner: 'export', ttlMs: 100 });
  await clock.advance(100);
  equal(late.signal.reason instanceof PinBrokenError, true);
  equal((late.signal.reason as PinBrokenError).reason, 'ttlMs');
  await store.close();
});

test('snapshot: state, history, leases and counters come back, and bytes that are none are refused', async () => {
  const clock = createVirtualClock();
  const store = await openStore<unknown>({ clock });
  await store.grantLease({ id: '7', ttlMs: 5000 });
  await store.put('a', { n: 1 }, { lease: '7' });
  await store.put('b', new Uint8Array([1, 2, 255]));
  await store.delete('b');
  await store.put('text', 'é\u{1F600}');
  await store.compact(3);
  await clock.advance(1000);
  const making = store.createSnapshot();
  await clock.advance(1);
  const snapshot = await making;
  const restored = await openStore<unknown>({ clock, snapshot });
  equal([restored.revision, restored.compactRevision, restored.identity === store.identity], [5, 3, false]);
  equal(restored.range({ prefix: '' }), store.range({ prefix: '' }));
  equal(restored.get('b', { revision: 3 })?.value, new Uint8Array([1, 2, 255]));
  equal((await restored.leaseTimeToLive('7', { keys: true }))?.keys, ['a']);
  equal((await restored.put('a', 2)).revision, 6);
  equal(restored.get('a')?.version, 2);
  const same = await openStore<unknown>({ clock, snapshot, keepIdentity: true });
  equal(same.identity, store.identity);
  for (const bytes of [snapshot.slice(0, -1), new Uint8Array(0), Uint8Array.of(...snapshot.slice(0, 40), 0)]) {
    await rejects(openStore({ clock, snapshot: bytes }), { class: SnapshotError, code: 'SNAPSHOT' });
  }
  await Promise.all([store.close(), restored.close(), same.close()]);
});

test('put: ignoreValue and ignoreLease keep what is there, and need it', async () => {
  const store = await openStore<number>();
  const missing = await rejects(store.put('a', undefined, { ignoreValue: true }), {
    class: KeyNotFoundError,
    code: 'KEY_NOT_FOUND',
  });
  equal([missing.key, store.revision], ['a', 1]);
  await rejects(store.put('a', 1, { ignoreLease: true }), { class: KeyNotFoundError, code: 'KEY_NOT_FOUND' });
  await store.put('a', 1);
  await store.put('a', undefined, { ignoreValue: true });
  equal([store.get('a')?.value, store.get('a')?.version], [1, 2]);
});

test('update and prefix: on an embedded store and on a replica alike', async () => {
  const truth = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock: createVirtualClock() });
  const replica = await openStore<number>({ backend: createMemoryBackend(truth) });
  for (const store of [await openStore<number>(), replica]) {
    const part = store.prefix('n/', { codec: jsonCodec<number>() });
    const bump = () => part.update((txn) => txn.put('x', (txn.get('x') ?? 0) + 1));
    await Promise.all([bump(), bump(), bump()]);
    equal([part.get('x')?.value, store.get('n/x')?.version], [3, 3]);
    const never = part.update(
      async (txn) => {
        txn.put('x', (txn.get('x') ?? 0) + 1);
        await part.put('x', 0);
      },
      { retries: 2 },
    );
    await rejects(never, { class: ConflictError, code: 'CONFLICT' });
  }
  const lease = await replica.grantLease({ ttlMs: 60_000 });
  await replica.putAll([{ key: 'a', value: 1, lease: lease.id }]);
  const { lease: own = '0' } = await replica.put('b', 2, { ttlMs: 60_000 });
  equal([replica.get('a')?.lease, replica.get('b')?.lease === own, own === '0'], [lease.id, true, false]);
  equal((await lease.revoke()).deleted, 1);
  equal(replica.get('a'), undefined);
  await rejects(replica.createSnapshot(), { class: UnsupportedError, code: 'UNSUPPORTED' });
  await replica.close();
  await truth.close();
});
