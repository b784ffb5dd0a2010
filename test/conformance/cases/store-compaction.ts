import { CompactedError, openStore } from 'plimsoll';
import { createVirtualClock, type VirtualClock } from 'plimsoll/testing';
import { equal, test, throws } from '../harness.ts';
import { numbers, storeOf } from './store-support.ts';

async function runTimers(clock: VirtualClock): Promise<void> {
  while (await clock.advanceToNext());
}

test('compact: says what was asked for and where the low watermark is', async () => {
  const store = await storeOf('a', 'b', 'c');
  equal(
    [store.compactRevision, await store.compact(3), store.compactRevision],
    [0, { requested: 3, compactRevision: 3 }, 3],
  );
});

test('compact: reads below it end, reads from it on stay as they were', async () => {
  const clock = createVirtualClock();
  const store = await openStore<string>({ clock });
  for (let index = 0; index < 5; index++) await store.put('a', String(index));
  await store.delete('a');
  await store.compact(4);
  for (const isDone of [false, true]) {
    if (isDone) await runTimers(clock);
    const error = throws(() => store.get('a', { revision: 3 }), { class: CompactedError, code: 'COMPACTED' });
    equal([error.minRevision, error.compactRevision], [4, 4]);
    equal(
      [4, 5, 6, 7].map((revision) => numbers(store, 'a', revision)),
      ['a(2,4,3)', 'a(2,5,4)', 'a(2,6,5)', 'none'],
    );
  }
});

test('compact: at the current revision', async () => {
  const store = await storeOf('a', 'b');
  await store.compact(3);
  equal([store.range({ prefix: '' }).count, store.revision], [2, 3]);
});

test('compact: the log and old versions are given back', async () => {
  const clock = createVirtualClock();
  const store = await openStore<number>({ clock });
  for (let index = 0; index < 1000; index++) await store.put(`k${index % 10}`, index);
  await store.compact(store.revision);
  await runTimers(clock);
  const { keys, storedVersions, logEntries } = store.stats();
  equal([keys, storedVersions, logEntries], [10, 10, 1]);
});

test('compact: a deleted key is forgotten, and can be made again', async () => {
  const clock = createVirtualClock();
  const store = await openStore<string>({ clock });
  await store.put('a', 'x');
  await store.delete('a');
  await store.put('b', 'x');
  await store.compact(4);
  await runTimers(clock);
  equal([store.stats().storedVersions, numbers(store, 'a')], [1, 'none']);
  await store.put('a', 'y');
  equal(numbers(store, 'a'), 'a(5,5,1)');
});

test('retention: by events, whole commits, the newest one always', async () => {
  const store = await openStore<number>({ retention: { events: 3 } });
  for (let index = 0; index < 4; index++) await store.put('a', index);
  equal(store.compactRevision, 3);
  await store.txn({
    then: Array.from({ length: 5 }, (_, index) => ({ type: 'put', key: `k${index}`, value: 1 }) as const),
  });
  equal([store.compactRevision, store.revision], [6, 6]);
});

test('retention: by bytes of the values', async () => {
  const store = await openStore<string>({ retention: { bytes: 10 } });
  for (const value of ['12345', '12345', '1']) await store.put('a', value);
  equal(store.compactRevision, 3);
});

test('retention: by age, on the clock of the store', async () => {
  const clock = createVirtualClock();
  const store = await openStore<number>({ clock, retention: { ageMs: 1000 } });
  await store.put('a', 1);
  await store.put('a', 2);
  await clock.advance(1000);
  equal(store.compactRevision, 0);
  await clock.advance(1);
  equal([store.compactRevision, store.get('a')?.value], [3, 2]);
});
