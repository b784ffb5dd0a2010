import { ClosedError, CompactedError, InvalidKeyError, NotCachedError, NotReadyError, openStore } from 'plimsoll';
import { createMemoryBackend } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';
import { bytes, openReplica, pass } from './replica-support.ts';

test('replica: openStore resolves with the first snapshot, and reads from there on', async () => {
  const { store, data } = await openReplica({
    before: async (_, data) => {
      await data.put(bytes('a'), bytes('1'));
      await data.put(bytes('a'), bytes('2'));
    },
  });
  equal([store.revision, store.compactRevision, store.epoch, store.identity], [3, 3, 1, data.identity]);
  const { key, value, createRevision, modRevision, version, lease } = store.get('a') ?? {};
  equal([key, value, createRevision, modRevision, version, lease], ['a', '2', 2, 3, 2, '0']);
  throws(() => store.get('a', { revision: 2 }), { class: CompactedError, code: 'COMPACTED' });
  equal(store.range({ prefix: '' }).kvs.length, 1);
  await store.close();
});

test('replica: a read before the snapshot is an error, never empty', async () => {
  const { store, backend, clock } = await openReplica({
    waitReady: false,
    before: (backend) => void backend.hang('range'),
  });
  throws(() => store.get('a'), { class: NotReadyError, code: 'NOT_READY' });
  throws(() => store.range({ prefix: '' }), { class: NotReadyError });
  backend.heal();
  await pass(clock, 0);
  await store.ready();
  equal(store.get('a'), undefined);
  await store.close();
});

test('replica: outside its prefixes it does not answer', async () => {
  const { store, data, clock } = await openReplica({ prefixes: ['a/'] });
  await data.put(bytes('a/x'), bytes('1'));
  await data.put(bytes('b/x'), bytes('1'));
  await pass(clock, 0);
  equal([store.get('a/x')?.value, store.stats().keys], ['1', 1]);
  throws(() => store.get('b/x'), { class: NotCachedError, code: 'NOT_CACHED' });
  throws(() => store.range({ prefix: '' }), { class: NotCachedError });
  throws(() => store.watch({ prefix: 'a' }), { class: NotCachedError });
  await store.close();
});

test('replica: keys sort as the bytes of the backend', async () => {
  const { store, data, clock } = await openReplica();
  const keys = ['\u{1f600}', '\ue000', 'b', 'a\u0000', 'a', 'é'];
  for (const key of keys) await data.put(bytes(key), bytes('1'));
  await pass(clock, 0);
  const listed = store.range({ prefix: '' }).kvs.map(({ key }) => key);
  equal(listed, ['a', 'a\u0000', 'b', 'é', '\ue000', '\u{1f600}']);
  await store.close();
});

test('replica: reads go on while the backend is away, and catch up', async () => {
  const { store, data, backend, clock } = await openReplica();
  await store.put('k', '1');
  backend.offline();
  await data.put(bytes('k'), bytes('2'));
  await pass(clock, 60_000);
  equal([store.revision, store.get('k')?.value], [2, '1']);
  backend.online();
  await pass(clock, 60_000);
  equal([store.revision, store.get('k')?.value, store.stats().replica?.relists], [3, '2', 0]);
  await store.close();
});

test('replica: a foreign key that is not UTF-8 is named, not replaced', async () => {
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
  await data.put(Uint8Array.of(0x61, 0xff), bytes('1'));
  const opened = openStore<string>({ backend: createMemoryBackend(data) });
  const error = await rejects(opened, { class: InvalidKeyError, code: 'INVALID_KEY' });
  equal(error.key, Uint8Array.of(0x61, 0xff));
  const asBytes = await openStore<unknown, Uint8Array>({ backend: createMemoryBackend(data), keys: 'bytes' });
  equal(asBytes.range({ prefix: new Uint8Array(0) }).count, 1);
  await asBytes.close();
});

test('replica: close() ends everything, also while the backend hangs', async () => {
  const { store, backend, clock } = await openReplica();
  backend.hang('txn');
  backend.hang('watch');
  backend.disconnect();
  await pass(clock, 100);
  const watch = store.watch({ prefix: '' });
  const [put, next] = [store.put('k', '1'), watch.next()];
  await pass(clock, 0);
  await Promise.all([
    store.close(),
    rejects(put, { class: Error, code: 'BACKEND' }),
    rejects(next, { class: ClosedError, code: 'CLOSED' }),
  ]);
  throws(() => store.get('k'), { class: ClosedError });
  backend.heal();
  await pass(clock, 1_000);
  equal([clock.pending, backend.openStreams], [0, 0]);
});
