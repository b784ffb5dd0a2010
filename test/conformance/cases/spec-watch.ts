import { CompactedError, type Operation, openStore, type WatchBatch } from 'plimsoll';
import { equal, rejects, test, throws } from '../harness.ts';
import { brief, openPuts } from './spec-support.ts';
import { replay, storeOf, take, text } from './store-support.ts';

/** Where watches start, and what they deliver. */
function numbersOf({ events }: WatchBatch<unknown>): string[] {
  return events.map(({ type, kv }) => (type === 'put' ? brief(kv) : `delete ${kv.key}@${kv.modRevision}`));
}

test('C39 watches from now on, and from a revision on', async () => {
  const store = await openStore<string>();
  const first = store.watch({ start: 'foo', end: 'fop' }, { fromRevision: 0 });
  await store.put('foo', 'bar');
  await store.put('foo1', 'bar1');
  equal((await take(first, 2)).flatMap(numbersOf), ['foo(2,2,1)', 'foo1(3,3,1)']);
  const second = store.watch({ start: 'foo1', end: 'foo2' }, { fromRevision: 3 });
  equal((await take(second, 1)).flatMap(numbersOf), ['foo1(3,3,1)']);
  await store.put('foo1', 'bar11');
  equal((await take(second, 1)).flatMap(numbersOf), ['foo1(3,4,2)']);
});

test('C40 the start is inclusive', async () => {
  const store = await openStore<string>();
  for (const value of ['r1', 'r2', 'r3']) await store.put('bar', value);
  const batches = await take(store.watch({ key: 'bar' }, { fromRevision: 3 }), 2);
  const values = batches.map(({ events }) => (events[0]?.type === 'put' ? events[0].kv.value : undefined));
  equal(
    [batches.map(text), values],
    [
      ['3: put bar', '4: put bar'],
      ['r2', 'r3'],
    ],
  );
});

test('C41 events come in the order of commits, not of keys', async () => {
  const store = await storeOf('key1', 'key3', 'key2');
  const range = { start: 'key', end: 'key3' };
  equal(await replay(store, range, 2, { fromRevision: 1 }), ['2: put key1', '4: put key2']);
});

test('C42 the delete of a range is one batch in key order', async () => {
  const store = await storeOf('foo_0', 'foo_1', 'foo_2');
  const range = { start: 'foo', end: 'foo_99' };
  const watch = store.watch(range);
  await store.delete(range);
  const event = (key: string) => ({ type: 'delete', kv: { key, modRevision: 5 } });
  equal(await take(watch, 1), [{ revision: 5, events: [event('foo_0'), event('foo_1'), event('foo_2')] }]);
});

test('C43 a start below the compacted revision is one error', async () => {
  const store = await openPuts(10);
  await store.compact(5);
  const watch = store.watch({ key: 'foo' }, { fromRevision: 4 });
  const error = await rejects(watch.next(), { class: CompactedError, code: 'COMPACTED' });
  equal([error.minRevision, error.compactRevision], [5, 5]);
  equal(await watch.next(), { value: undefined, done: true });
});

test('C44 a start at the compacted revision is legal', async () => {
  const store = await openPuts(10);
  await store.compact(5);
  const batches = await take(store.watch({ key: 'foo' }, { fromRevision: 5 }), 7);
  equal(
    batches.map(({ revision }) => revision),
    [5, 6, 7, 8, 9, 10, 11],
  );
});

test('C46 a start in the future waits for it', async () => {
  const store = await openStore<string>();
  const watch = store.watch({ prefix: '' }, { fromRevision: 10 });
  const reading = take(watch, 1);
  for (let index = 0; index < 10; index++) await store.put('k', String(index));
  const [batch] = await reading;
  equal([batch?.revision, numbersOf(batch as WatchBatch<string>)], [10, ['k(2,10,9)']]);
});

test('C47 12 revisions of 3 events are 12 whole batches', async () => {
  const store = await openStore<string>();
  const put = (key: string): Operation<string> => ({ type: 'put', key, value: 'x' });
  for (let index = 0; index < 12; index++) await store.txn({ then: [put('a'), put('c'), put('b')] });
  const watch = store.watch({ prefix: '' }, { fromRevision: 1 });
  const expected = Array.from({ length: 12 }, (_, index) => `${index + 2}: put a, put c, put b`);
  equal((await take(watch, 12)).map(text), expected);
  // Live again.
  await store.put('d', 'x');
  equal((await take(watch, 1)).map(text), ['14: put d']);
});

test('C48 256 watches of one key see each of 64 puts once, in order', async () => {
  const store = await openStore<number>();
  const watches = Array.from({ length: 256 }, () => store.watch({ key: 'foo' }));
  // Half of them wait already.
  const reading = watches.map((watch, index) => (index % 2 === 0 ? take(watch, 64) : undefined));
  await Promise.all(Array.from({ length: 64 }, (_, index) => store.put('foo', index)));
  const expected = Array.from({ length: 64 }, (_, index) => `${index + 2}: put foo`);
  for (const [index, watch] of watches.entries()) {
    const batches = await (reading[index] ?? take(watch, 64));
    equal(batches.map(text), expected);
  }
  equal(store.stats().watchers, { idle: 256, pending: 0 });
  // Nothing after: what comes next is the next put.
  await store.put('foo', 64);
  for (const watch of watches) equal((await take(watch, 1)).map(text), ['66: put foo']);
});

test('C49 progress on request, once everything was delivered and the start was reached', async () => {
  const store = await openPuts(1);
  const progress = (revision: number) => ({ revision, progress: true, events: [] });
  const open = (fromRevision: number) => store.watch({ key: 'bad' }, { fromRevision });
  const [now, first, second, third, fourth] = [open(0), open(1), open(2), open(3), open(4)];
  const behind = store.watch({ key: 'foo' }, { fromRevision: 1 });
  for (const watch of [now, first, second, third, fourth, behind]) watch.requestProgress();
  // Those without anything to deliver are answered at once, another one after its event.
  for (const watch of [now, first, second]) equal(await take(watch, 1), [progress(2)]);
  const [event, answer] = await take(behind, 2);
  equal([text(event as WatchBatch<string>), answer], ['2: put foo', progress(2)]);
  // Those whose start is in the future never are, also not later: what they get is events.
  const reading = [take(third, 2), take(fourth, 1)];
  for (const value of ['x', 'y']) await store.put('bad', value);
  equal(
    (await Promise.all(reading)).map((batches) => batches.map(text)),
    [['3: put bad', '4: put bad'], ['4: put bad']],
  );
  await store.put('bad', 'z');
  for (const watch of [third, fourth]) equal((await take(watch, 1)).map(text), ['5: put bad']);
  // Now both are there. Several requests are one.
  for (const watch of [third, fourth]) {
    watch.requestProgress();
    watch.requestProgress();
    equal(await take(watch, 1), [progress(5)]);
  }
  await store.put('bad', 'again');
  for (const watch of [third, fourth]) equal((await take(watch, 1)).map(text), ['6: put bad']);
});

test('C51 noput leaves the puts out', async () => {
  const store = await openStore<string>();
  const watch = store.watch({ key: 'foo' }, { filter: 'noput' });
  await store.put('foo', 'x');
  await store.delete('foo');
  equal((await take(watch, 1)).map(text), ['3: delete foo']);
  await store.put('foo', 'x');
  await store.delete('foo');
  equal((await take(watch, 1)).map(text), ['5: delete foo']);
});

test('C52 a range that can hold no key is refused, one without end is not', async () => {
  const store = await openStore<string>();
  throws(() => store.watch({ start: 'b', end: 'b' }), { class: RangeError });
  throws(() => store.watch({ start: 'c', end: 'b' }), { class: RangeError });
  const watch = store.watch({ start: 'b' });
  await store.put('a', 'x');
  await store.put('z', 'x');
  equal((await take(watch, 1)).map(text), ['3: put z']);
});

test('C55 a negative start is refused at once and touches no other watch', async () => {
  const store = await openStore<string>();
  const other = store.watch({ key: 'a' });
  throws(() => store.watch({ key: 'a' }, { fromRevision: -1 }), { class: RangeError });
  await store.put('a', 'x');
  equal((await take(other, 1)).map(text), ['2: put a']);
  equal(store.stats().watchers, { idle: 1, pending: 0 });
});

test('C56 what one watch does to its event no other one sees', async () => {
  const store = await openStore<unknown>();
  const watches = [store.watch({ prefix: '' }), store.watch({ key: 'b' })] as const;
  await store.put('b', Uint8Array.of(1, 2));
  await store.put('b', { list: [1] });
  const valueIn = ({ events }: WatchBatch<unknown>) => (events[0]?.type === 'put' ? events[0].kv.value : undefined);
  const [bytes, data] = await take(watches[0], 2);
  (valueIn(bytes as WatchBatch<unknown>) as Uint8Array).fill(9);
  throws(() => (valueIn(data as WatchBatch<unknown>) as { list: number[] }).list.push(2), { class: TypeError });
  throws(() => Object.assign(data?.events[0]?.kv ?? {}, { version: 9 }), { class: TypeError });
  throws(() => ((data as WatchBatch<unknown>).events as unknown[]).pop(), { class: TypeError });
  const seen = await take(watches[1], 2);
  equal(seen.map(valueIn), [Uint8Array.of(1, 2), { list: [1] }]);
  equal(seen.flatMap(numbersOf), ['b(2,2,1)', 'b(2,3,2)']);
  equal([store.get('b', { revision: 2 })?.value, store.get('b')?.value], [Uint8Array.of(1, 2), { list: [1] }]);
});
