import {
  ClosedError,
  CompactedError,
  IdentityChangedError,
  openStore,
  SlowWatcherError,
  type WatchBatch,
} from 'plimsoll';
import { equal, rejects, test, throws } from '../harness.ts';
import { replay, storeOf, take, text } from './store-support.ts';

test('watch: what comes after the call', async () => {
  const store = await storeOf('a');
  const watch = store.watch({ prefix: '' });
  await store.put('b', 'x');
  await store.delete('a');
  equal((await take(watch, 2)).map(text), ['3: put b', '4: delete a']);
});

test('watch: a point, a prefix, an interval', async () => {
  const store = await storeOf('a', 'a/', 'a/b', 'b');
  equal(await replay(store, { key: 'a' }, 1, { fromRevision: 1 }), ['2: put a']);
  equal(await replay(store, { prefix: 'a/' }, 2, { fromRevision: 1 }), ['3: put a/', '4: put a/b']);
  equal(await replay(store, { start: 'a/b' }, 2, { fromRevision: 1 }), ['4: put a/b', '5: put b']);
  equal(await replay(store, { start: 'a', end: 'a/b' }, 2, { fromRevision: 1 }), ['2: put a', '3: put a/']);
});

test('watch: a waiting next() is woken', async () => {
  const store = await storeOf();
  const watch = store.watch({ key: 'a' });
  const reading = watch.next();
  await store.put('b', 'x');
  await store.put('a', 'x');
  equal(text((await reading).value as WatchBatch<string>), '3: put a');
});

test('watch: put events carry the whole state, delete events key and revision', async () => {
  const store = await storeOf('a');
  await store.delete('a');
  const watch = store.watch({ prefix: '' }, { fromRevision: 2 });
  const batches = await take(watch, 2);
  equal(batches[0]?.events, [
    { type: 'put', kv: { key: 'a', value: 'value of a', createRevision: 2, modRevision: 2, version: 1, lease: '0' } },
  ]);
  equal(batches[1]?.events, [{ type: 'delete', kv: { key: 'a', modRevision: 3 } }]);
});

test('watch: prevKv is the state just before', async () => {
  const store = await storeOf('a', 'a');
  await store.delete('a');
  const watch = store.watch({ prefix: '' }, { fromRevision: 2, prevKv: true });
  equal(
    (await take(watch, 3)).map(({ events }) => events[0]?.prevKv?.modRevision),
    [undefined, 2, 3],
  );
});

test('watch: prevKv that compaction took is absent', async () => {
  const store = await storeOf('a', 'a', 'a');
  await store.compact(3);
  const watch = store.watch({ prefix: '' }, { fromRevision: 3, prevKv: true });
  equal(
    (await take(watch, 2)).map(({ events }) => events[0]?.prevKv?.modRevision),
    [undefined, 3],
  );
});

test('watch: filters', async () => {
  const store = await storeOf('a');
  await store.delete('a');
  await store.put('b', 'x');
  equal(await replay(store, { prefix: '' }, 1, { fromRevision: 2, filter: 'noput' }), ['3: delete a']);
  equal(await replay(store, { prefix: '' }, 2, { fromRevision: 2, filter: 'nodelete' }), ['2: put a', '4: put b']);
});

test('watch: initial gives the state, then what follows', async () => {
  const store = await storeOf('b', 'a', 'c');
  const watch = store.watch({ start: 'a', end: 'c' }, { initial: true });
  const [first] = await take(watch, 1);
  await store.put('a', 'x');
  equal(
    [first?.initial, text(first as WatchBatch<string>), text((await take(watch, 1))[0] as WatchBatch<string>)],
    [true, '4: put a, put b', '5: put a'],
  );
});

test('watch: initial of nothing is one empty batch', async () => {
  const watch = (await storeOf('a')).watch({ prefix: 'z' }, { initial: true });
  equal(await take(watch, 1), [{ revision: 2, initial: true, events: [] }]);
});

test('watch: compaction ends those that lag, not those that are idle', async () => {
  const store = await storeOf('a');
  const lagging = store.watch({ key: 'b' });
  const idle = store.watch({ key: 'c' });
  await store.put('b', 'x');
  for (let index = 0; index < 5; index++) await store.put('a', 'x');
  await store.compact(8);
  await rejects(lagging.next(), { class: CompactedError, code: 'COMPACTED' });
  await store.put('c', 'x');
  equal((await take(idle, 1)).map(text), ['9: put c']);
});

test('watch: onSlow coalesce gives the difference as one span', async () => {
  const store = await storeOf('a', 'b');
  const watch = store.watch({ prefix: '' }, { onSlow: 'coalesce', lagEventsMax: 2, prevKv: true });
  for (let index = 0; index < 5; index++) await store.put('a', String(index));
  await store.put('came', 'x');
  await store.delete({ prefix: 'came' });
  await store.delete('b');
  const [span] = await take(watch, 1);
  equal([span?.span, span?.after, span?.revision], [true, 3, 11]);
  equal(
    span?.events.map(({ type, kv, prevKv }) => [type, kv.key, kv.modRevision, prevKv?.modRevision]),
    [
      ['put', 'a', 8, 2],
      ['delete', 'b', 11, 3],
    ],
  );
});

test('watch: onSlow close ends with SlowWatcherError and where to go on', async () => {
  const store = await storeOf('a');
  const watch = store.watch({ prefix: '' }, { onSlow: 'close', lagEventsMax: 2 });
  for (let index = 0; index < 3; index++) await store.put('a', 'x');
  const error = await rejects(watch.next(), { class: SlowWatcherError, code: 'SLOW_WATCHER' });
  equal([error.resumeRevision, error.lagEvents], [3, 3]);
  equal((await replay(store, { prefix: '' }, 3, { fromRevision: error.resumeRevision })).length, 3);
});

test('watch: identity guards a saved position', async () => {
  const store = await storeOf('a');
  equal(await replay(store, { prefix: '' }, 1, { fromRevision: 2, identity: store.identity }), ['2: put a']);
  const watch = store.watch({ prefix: '' }, { fromRevision: 2, identity: 'another' });
  await rejects(watch.next(), { class: IdentityChangedError, code: 'IDENTITY_CHANGED' });
});

test('watch: break ends it', async () => {
  const store = await storeOf('a', 'b');
  for await (const { revision } of store.watch({ prefix: '' }, { fromRevision: 2 })) {
    equal(revision, 2);
    break;
  }
  equal(store.stats().watchers, { idle: 0, pending: 0 });
});

test('watch: return() ends a read under way', async () => {
  const watch = (await storeOf()).watch({ key: 'a' });
  const reading = watch.next();
  equal(await watch.return(), { value: undefined, done: true });
  equal(await reading, { value: undefined, done: true });
});

test('watch: asyncDispose ends it', async () => {
  const store = await storeOf();
  await store.watch({ key: 'a' })[Symbol.asyncDispose]();
  equal(store.stats().watchers, { idle: 0, pending: 0 });
});

test('watch: an aborted signal rejects with its reason', async () => {
  const store = await storeOf();
  const abort = new AbortController();
  const watch = store.watch({ key: 'a' }, { signal: abort.signal });
  const reading = watch.next();
  const reason = new Error('enough');
  abort.abort(reason);
  equal((await rejects(reading, { class: Error })) === reason, true);
  equal(await watch.next(), { value: undefined, done: true });
});

test('watch: close() of the store ends it with ClosedError', async () => {
  const store = await storeOf();
  const reading = store.watch({ key: 'a' }).next();
  const ended = rejects(reading, { class: ClosedError, code: 'CLOSED' });
  await store.close();
  await ended;
});

test('watch: progressRevision follows delivery, and stays after the end', async () => {
  const store = await storeOf('a', 'b', 'c');
  const watch = store.watch({ prefix: '' }, { fromRevision: 2 });
  equal(watch.progressRevision, 1);
  await take(watch, 2);
  equal(watch.progressRevision, 3);
  await take(watch, 1);
  await store.put('d', 'x');
  equal(watch.progressRevision, 4);
  await watch.return();
  equal(watch.progressRevision, 4);
});

test('watch: one consumer', async () => {
  const watch = (await storeOf()).watch({ key: 'a' });
  const reading = watch.next();
  await rejects(watch.next(), { class: TypeError });
  await watch.return();
  await reading;
});

test('watch: an empty range and options that contradict are refused at once', async () => {
  const store = await storeOf();
  throws(() => store.watch({ start: 'b', end: 'a' }), { class: RangeError });
  throws(() => store.watch({ key: 'a' }, { fromRevision: -1 }), { class: RangeError });
  throws(() => store.watch({ key: 'a' }, { fromRevision: 1, initial: true }), { class: TypeError });
});

test('watch: a list and a watch from the revision after it make the newest list', async () => {
  const store = await openStore<number>();
  for (let index = 0; index < 200; index++) {
    if (index % 7 === 3) await store.delete({ prefix: `k${index % 3}` });
    else await store.put(`k${index % 13}`, index);
  }
  const list = store.range({ prefix: '', revision: 50 });
  const state = new Map(list.kvs.map((kv) => [kv.key, kv.modRevision]));
  const watch = store.watch({ prefix: '' }, { fromRevision: 51 });
  while (watch.progressRevision < store.revision) {
    for (const { type, kv } of (await take(watch, 1))[0]?.events ?? []) {
      if (type === 'put') state.set(kv.key, kv.modRevision);
      else state.delete(kv.key);
    }
  }
  equal(
    [...state].sort(),
    store
      .range({ prefix: '' })
      .kvs.map(({ key, modRevision }) => [key, modRevision])
      .sort(),
  );
});
