import { ConflictError, openStore } from 'plimsoll';
import { equal, rejects, test } from '../harness.ts';
import { numbers, storeOf } from './store-support.ts';

test('put: each one is a revision', async () => {
  const store = await openStore<string>();
  equal(
    [await store.put('a', 'x'), await store.put('b', 'x'), await store.put('a', 'x')],
    [{ revision: 2 }, { revision: 3 }, { revision: 4 }],
  );
  equal([numbers(store, 'a'), numbers(store, 'b'), store.revision], ['a(2,4,2)', 'b(3,3,1)', 4]);
});

test('put: the state is there when the call returns, before it is awaited', async () => {
  const store = await openStore<string>();
  const writing = store.put('a', 'x');
  equal(store.get('a')?.value, 'x');
  await writing;
});

test('put: prevKv is the state before, and absent for a create', async () => {
  const store = await storeOf('a');
  equal((await store.put('a', 'x', { prevKv: true })).prevKv?.value, 'value of a');
  equal(await store.put('b', 'x', { prevKv: true }), { revision: 4 });
});

test('put: expect lets the right state pass', async () => {
  const store = await storeOf('a');
  equal(await store.put('a', 'x', { expect: { modRevision: 2 } }), { revision: 3 });
  equal(await store.put('b', 'x', { expect: { modRevision: 0 } }), { revision: 4 });
});

test('put: expect refuses another state and writes nothing', async () => {
  const store = await storeOf('a');
  const error = await rejects(store.put('a', 'x', { expect: { modRevision: 0 } }), {
    class: ConflictError,
    code: 'CONFLICT',
  });
  equal([error.key, error.expectedRevision, error.actualRevision], ['a', 0, 2]);
  equal([store.revision, store.get('a')?.value], [2, 'value of a']);
});

test('put: of many that expect the same state one wins', async () => {
  const store = await storeOf('a');
  const writes = Array.from({ length: 20 }, () => store.put('a', 'x', { expect: { modRevision: 2 } }));
  const outcomes = await Promise.allSettled(writes);
  equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  equal([store.revision, numbers(store, 'a')], [3, 'a(2,3,2)']);
});

test('delete: a key, and a key that is not there', async () => {
  const store = await storeOf('a');
  equal(await store.delete('a'), { revision: 3, deleted: 1 });
  equal(await store.delete('a'), { revision: 3, deleted: 0 });
  equal([store.get('a'), store.get('a', { revision: 2 })?.value], [undefined, 'value of a']);
});

test('delete: prevKv returns the states before, in key order', async () => {
  const store = await storeOf('b', 'a');
  const { prevKvs } = await store.delete({ prefix: '' }, { prevKv: true });
  equal(
    prevKvs?.map(({ key, modRevision }) => `${key}@${modRevision}`),
    ['a@3', 'b@2'],
  );
});

test('delete: expect, for one key', async () => {
  const store = await storeOf('a');
  await rejects(store.delete('a', { expect: { modRevision: 9 } }), { class: ConflictError, code: 'CONFLICT' });
  equal(await store.delete({ key: 'a' }, { expect: { modRevision: 2 } }), { revision: 3, deleted: 1 });
  equal(await store.delete('a', { expect: { modRevision: 0 } }), { revision: 3, deleted: 0 });
});

test('writes: an aborted signal before the start means no effect', async () => {
  const store = await storeOf('a');
  const reason = new Error('too late');
  const signal = AbortSignal.abort(reason);
  for (const call of [
    store.put('a', 'x', { signal }),
    store.delete('a', { signal }),
    store.txn({ then: [{ type: 'delete', key: 'a' }] }, { signal }),
    store.compact(2, { signal }),
  ]) {
    equal((await rejects(call, { class: Error })) === reason, true);
  }
  equal([store.revision, store.compactRevision], [2, 0]);
});

test('writes: a thousand keys, then every tenth again', async () => {
  const store = await openStore<number>();
  for (let index = 0; index < 1000; index++) await store.put(`key ${String(index).padStart(4, '0')}`, index);
  for (let index = 0; index < 1000; index += 10) await store.put(`key ${String(index).padStart(4, '0')}`, -index);
  const { kvs, count } = store.range({ prefix: 'key 05', limit: 3 });
  equal([kvs.map(({ value }) => value), count, store.revision], [[-500, 501, 502], 100, 1101]);
});

test('byte keys: what goes in comes out, and is copied both ways', async () => {
  const store = await openStore<string, Uint8Array>({ keys: 'bytes' });
  const key = Uint8Array.of(0, 255, 128);
  await store.put(key, 'x');
  key.fill(1);
  const kv = store.get(Uint8Array.of(0, 255, 128));
  equal(kv?.key, Uint8Array.of(0, 255, 128));
  kv?.key.fill(9);
  equal(store.get(Uint8Array.of(0, 255, 128))?.key, Uint8Array.of(0, 255, 128));
  equal(await store.delete(Uint8Array.of(0, 255, 128)), { revision: 3, deleted: 1 });
});
