import { openStore } from 'plimsoll';
import { equal, test } from '../harness.ts';
import { brief, keysOf, open3kv, openPuts, openStillStore, outcome } from './spec-support.ts';

/** Revisions, points, reads at a revision, deletes. */
test('C01 an empty store is at revision 1', async () => {
  const store = await openStore<string>();
  equal(store.get('x'), undefined);
  equal(store.range({ prefix: '' }), { revision: 1, kvs: [], count: 0, more: false });
  equal([store.revision, store.compactRevision, store.epoch, store.identity.length > 0], [1, 0, 1, true]);
});

test('C02 three puts are the revisions 2, 3 and 4', async () => {
  const store = await openStillStore();
  for (const id of ['1', '2', '3']) await store.grantLease({ id, ttlMs: 60_000 });
  equal((await store.put('foo', 'bar', { lease: '1' })).revision, 2);
  equal((await store.put('foo1', 'bar1', { lease: '2' })).revision, 3);
  equal((await store.put('foo2', 'bar2', { lease: '3' })).revision, 4);
  const { kvs } = store.range({ prefix: '' });
  equal(kvs.map(brief), ['foo(2,2,1)', 'foo1(3,3,1)', 'foo2(4,4,1)']);
  equal(
    kvs.map(({ value, lease }) => `${value} ${lease}`),
    ['bar 1', 'bar1 2', 'bar2 3'],
  );
});

test('C03 ranges without a key in them', async () => {
  const store = await open3kv();
  for (const range of [{ start: 'doo', end: 'foo' }, { start: 'foo', end: 'foo' }, { key: 'doo' }]) {
    equal(store.range(range), { revision: 4, kvs: [], count: 0, more: false });
  }
  equal(store.get('doo'), undefined);
});

test('C04 a range is half open', async () => {
  const store = await open3kv();
  equal(keysOf(store.range({ start: 'foo', end: 'foo3' })), 'foo foo1 foo2');
  equal(keysOf(store.range({ start: 'foo', end: 'foo1' })), 'foo');
  equal(keysOf(store.range({ key: 'foo' })), 'foo');
  equal(keysOf(store.range({ prefix: '' })), 'foo foo1 foo2');
});

test('C05 a range at a revision, with the header of now', async () => {
  const store = await open3kv();
  const seen = [-1, 0, 2, 3, 4].map((revision) => {
    const answer = store.range({ start: 'foo', end: 'foo3', revision });
    return `${keysOf(answer)} @${answer.revision}`;
  });
  equal(seen, ['foo foo1 foo2 @4', 'foo foo1 foo2 @4', 'foo @4', 'foo foo1 @4', 'foo foo1 foo2 @4']);
});

test('C06 reads below the compacted revision and above the newest one', async () => {
  const store = await open3kv();
  await store.compact(4);
  const ask = (revision: number) => outcome(() => keysOf(store.range({ start: 'foo', end: 'foo3', revision })));
  const all = 'foo foo1 foo2';
  const [compacted, future] = ['CompactedError', 'FutureRevisionError'];
  equal([-1, 0, 1, 2, 3, 4, 5, 100].map(ask), [all, all, compacted, compacted, compacted, all, future, future]);
  const get = (revision: number) => outcome(() => brief(store.get('foo', { revision })));
  equal([0, 3, 4, 5].map(get), ['foo(2,2,1)', compacted, 'foo(2,2,1)', future]);
});

test('C07 limit cuts rows, never the count', async () => {
  const store = await open3kv();
  const ask = (limit: number) => {
    const { kvs, count, more } = store.range({ start: 'foo', end: 'foo3', limit });
    return [kvs.length, count, more];
  };
  equal([-1, 0, 1, 2, 3, 100].map(ask), [
    [3, 3, false],
    [3, 3, false],
    [1, 3, true],
    [2, 3, true],
    [3, 3, false],
    [3, 3, false],
  ]);
});

test('C08 each put of a key counts, and the last lease is its lease', async () => {
  const store = await openStillStore();
  for (let index = 1; index <= 10; index++) {
    const { id } = await store.grantLease({ id: String(index), ttlMs: 60_000 });
    const { revision } = await store.put('foo', 'bar', { lease: id });
    const kv = store.get('foo');
    equal([revision, brief(kv), kv?.lease], [index + 1, `foo(2,${index + 1},${index})`, id]);
  }
});

test('C09 deletes of keys and ranges', async () => {
  const table = [
    ['foo', 1, 5, 'foo1 foo2'],
    [{ start: 'foo', end: 'foo1' }, 1, 5, 'foo1 foo2'],
    [{ start: 'foo', end: 'foo2' }, 2, 5, 'foo2'],
    [{ start: 'foo', end: 'foo3' }, 3, 5, ''],
    [{ start: 'foo3', end: 'foo8' }, 0, 4, 'foo foo1 foo2'],
    ['foo3', 0, 4, 'foo foo1 foo2'],
  ] as const;
  for (const [range, deleted, revision, left] of table) {
    const store = await open3kv();
    equal(await store.delete(range), { revision, deleted });
    equal([keysOf(store.range({ prefix: '' })), store.revision], [left, revision]);
  }
});

test('C10 a delete that hits nothing uses no revision', async () => {
  const store = await openPuts(1);
  equal(await store.delete('foo'), { revision: 3, deleted: 1 });
  for (let index = 0; index < 10; index++) equal(await store.delete('foo'), { revision: 3, deleted: 0 });
});

test('C11 each put after a delete is a new generation', async () => {
  const store = await openStore<string>();
  for (let index = 0; index < 10; index++) {
    const { revision } = await store.put('foo', 'bar');
    equal([revision, brief(store.get('foo'))], [2 * index + 2, `foo(${revision},${revision},1)`]);
    equal(await store.delete('foo'), { revision: revision + 1, deleted: 1 });
    equal([store.get('foo', { revision: revision + 1 }), store.get('foo')], [undefined, undefined]);
  }
});

test('C13 the same put twice is two revisions', async () => {
  const store = await openStillStore();
  const { id } = await store.grantLease({ id: '1', ttlMs: 60_000 });
  equal((await store.put('foo', 'bar', { lease: id })).revision, 2);
  equal((await store.put('foo', 'bar', { lease: id })).revision, 3);
  const kv = store.get('foo');
  equal([brief(kv), kv?.lease], ['foo(2,3,2)', '1']);
});
