import {
  BackendError,
  ConflictError,
  FutureRevisionError,
  isRetryable,
  NotAppliedError,
  UnsupportedError,
} from 'plimsoll';
import { equal, rejects, test } from '../harness.ts';
import { bytes, openReplica, pass, standing } from './replica-support.ts';

test('replica: who has written reads the own write', async () => {
  const { store } = await openReplica();
  const { revision } = await store.put('k', '1');
  equal([revision, store.revision, store.get('k')?.value], [2, 2, '1']);
  equal(await store.delete('k'), { revision: 3, deleted: 1 });
  equal(store.get('k'), undefined);
  await store.close();
});

test('replica: a write is shown by the stream, not by its answer', async () => {
  const { store, backend, clock } = await openReplica();
  backend.holdItems();
  const put = standing(store.put('k', '1'));
  await pass(clock, 0);
  equal([put.state, store.revision, store.get('k')], ['pending', 1, undefined]);
  backend.releaseItems();
  await pass(clock, 0);
  equal([put.state, store.revision], ['resolved', 2]);
  await store.close();
});

test('replica: a conflict is told when what it conflicts with can be read', async () => {
  const { store, data, backend, clock } = await openReplica();
  await store.put('k', 'mine');
  backend.holdItems();
  await data.put(bytes('k'), bytes('theirs'));
  const put = standing(store.put('k', 'again', { expect: { modRevision: 2 } }));
  await pass(clock, 0);
  equal(put.state, 'pending');
  backend.releaseItems();
  await pass(clock, 0);
  const error = await rejects(Promise.reject(put.error), { class: ConflictError, code: 'CONFLICT' });
  equal([error.expectedRevision, error.actualRevision, store.get('k')?.value], [2, 3, 'theirs']);
  await store.close();
});

test('replica: a no-op waits for its revision', async () => {
  const { store, data, backend, clock } = await openReplica({ prefixes: ['a/'] });
  backend.holdItems();
  await data.put(bytes('b'), bytes('1'));
  const none = standing(store.delete('a/none'));
  await pass(clock, 0);
  equal(none.state, 'pending');
  backend.releaseItems();
  await pass(clock, 200);
  equal([none.state, store.revision], ['resolved', 2]);
  await store.close();
});

test('replica: a transaction is one revision in several prefixes', async () => {
  const { store } = await openReplica({ prefixes: ['a/', 'b/'] });
  const result = await store.txn({
    compare: [{ key: 'a/x', target: 'create', result: '=', value: 0 }],
    then: [
      { type: 'put', key: 'a/x', value: '1' },
      { type: 'put', key: 'b/x', value: '1' },
      { type: 'range', prefix: 'a/' },
    ],
  });
  equal([result.revision, result.succeeded], [2, true]);
  equal([store.get('a/x')?.modRevision, store.get('b/x')?.modRevision], [2, 2]);
  await store.close();
});

test('replica: committed and not yet seen is NotAppliedError, with the answer', async () => {
  const { store, data, backend, clock } = await openReplica();
  backend.holdItems();
  const abort = new AbortController();
  const put = store.put('k', '1', { signal: abort.signal });
  const failing = rejects(put, { class: NotAppliedError, code: 'NOT_APPLIED' });
  await pass(clock, 0);
  abort.abort(new Error('enough'));
  const error = await failing;
  equal([error.revision, error.result, isRetryable(error)], [2, { revision: 2 }, false]);
  equal(data.revision, 2);
  await store.close();
});

test('replica: a lost answer says that the write may be committed', async () => {
  const { store, data, backend } = await openReplica();
  backend.fail('txn', { when: 'after' });
  const error = await rejects(store.put('k', '1'), { class: BackendError, code: 'BACKEND' });
  equal([error.maybeCommitted, isRetryable(error), data.revision], [true, false, 2]);
  backend.fail('txn');
  const refused = await rejects(store.put('k', '2'), { class: BackendError });
  equal([refused.maybeCommitted, isRetryable(refused), data.revision], [false, true, 2]);
  backend.fail('txn', { error: new UnsupportedError('write', 'txn') });
  await rejects(store.put('k', '2'), { class: UnsupportedError, code: 'UNSUPPORTED' });
  await store.close();
});

test('replica: a range that selects nothing deletes nothing', async () => {
  const { store, data } = await openReplica();
  await store.put('b', '1');
  equal(await store.delete({ start: 'b', end: '' }), { revision: 2, deleted: 0 });
  equal([data.revision, store.range({ prefix: '' }).count], [2, 1]);
  await store.close();
});

test('replica: compact() compacts the backend and the own window', async () => {
  const { store, data } = await openReplica();
  for (let count = 0; count < 5; count++) await store.put('k', `${count}`);
  equal(await store.compact(4), { requested: 4, compactRevision: 4 });
  equal([data.compactRevision, store.compactRevision], [4, 4]);
  await rejects(store.compact(99), { class: FutureRevisionError, code: 'FUTURE_REVISION' });
  await store.close();
});
