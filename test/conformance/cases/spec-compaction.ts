import { CompactedError, FutureRevisionError, openStore, type RangeRequest, type Store } from 'plimsoll';
import { createVirtualClock, type VirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';
import { brief, keysOf, openPuts, outcome, restart, runTimers } from './spec-support.ts';
import { replay } from './store-support.ts';

/**
 * What compaction keeps. Compacted revisions are given back in timers, so a case asks before and after they ran.
 *
 * ```text
 *   foo      2   4   6t   8   10   12t   14 15 16t          of C16-C18; t: a delete
 *   other      3   5   7   9    11    13    15     17       so that foo has these revisions; at 15 it is put first
 * ```
 */
const FOO = [2, 4, 6, 8, 10, 12, 14, 15, 16];
const FOO_DELETES = [6, 12, 16];
const OTHER = [3, 5, 7, 9, 11, 13, 15, 17];

async function openHistory(clock: VirtualClock = createVirtualClock()): Promise<Store<string>> {
  const store = await openStore<string>({ clock });
  for (let revision = 2; revision <= 17; revision++) {
    if (FOO_DELETES.includes(revision)) await store.delete('foo');
    else if (!OTHER.includes(revision)) await store.put('foo', 'x');
    else if (!FOO.includes(revision)) await store.put('other', 'x');
    else {
      await store.txn({
        then: [
          { type: 'put', key: 'other', value: 'x' },
          { type: 'put', key: 'foo', value: 'x' },
        ],
      });
    }
    equal(store.revision, revision);
  }
  return store;
}

/** What a watch of foo from a revision on delivers up to 17: `6t 8`. */
async function eventsFrom(store: Store<string>, fromRevision: number): Promise<string[]> {
  const expected = FOO.filter((revision) => revision >= fromRevision).length;
  const batches = await replay(store, { key: 'foo' }, expected, { fromRevision });
  return batches.map((batch) => `${Number.parseInt(batch, 10)}${batch.includes('delete') ? 't' : ''}`);
}

test('C14 each put stays readable through the compactions below it', async () => {
  const clock = createVirtualClock();
  const store = await openStore<string>({ clock });
  await store.put('foo', 'b0');
  await store.put('foo', 'b1');
  await store.delete('foo');
  await store.put('foo', 'b2');
  const seen: string[] = [];
  for (const revision of [1, 2, 3, 4]) {
    await store.compact(revision);
    await runTimers(clock);
    const kv = store.get('foo', { revision: revision + 1 });
    seen.push(`${kv?.value} ${brief(kv)}`);
  }
  equal(seen, ['b0 foo(2,2,1)', 'b1 foo(2,3,2)', 'undefined none', 'b2 foo(5,5,1)']);
});

test('C15 which revisions can be compacted', async () => {
  const store = await openPuts(3);
  const outcomes: unknown[] = [];
  for (const revision of [0, 1, 1, 4, 5, 100]) {
    outcomes.push(
      await store.compact(revision).then(
        ({ compactRevision }) => compactRevision,
        ({ name }: Error) => name,
      ),
    );
  }
  equal(outcomes, [0, 1, 'CompactedError', 4, 'FutureRevisionError', 'FutureRevisionError']);
  equal((await rejects(store.compact(4), { class: CompactedError, code: 'COMPACTED' })).minRevision, 5);
  const future = await rejects(store.compact(9), { class: FutureRevisionError, code: 'FUTURE_REVISION' });
  equal([future.revision, future.currentRevision], [9, 4]);
});

test('C16 a key of three generations at every revision', async () => {
  const states = [
    ...['none', 'none', 'foo(14,15,2)', 'foo(14,14,1)', 'none', 'none', 'foo(8,10,2)', 'foo(8,10,2)', 'foo(8,8,1)'],
    ...['foo(8,8,1)', 'none', 'none', 'foo(2,4,2)', 'foo(2,4,2)', 'CompactedError', 'CompactedError', 'CompactedError'],
  ];
  const clock = createVirtualClock();
  const store = await openHistory(clock);
  await store.compact(4);
  const ask = () => states.map((_, index) => outcome(() => brief(store.get('foo', { revision: 17 - index }))));
  equal(ask(), states);
  await runTimers(clock);
  equal(ask(), states);
  // 0 is the newest one here, and not a revision below the compacted one.
  equal(store.get('foo', { revision: 0 }), undefined);
});

test('C17 what is left of the key after a compaction', async () => {
  const all = ['2', '4', '6t', '8', '10', '12t', '14', '15', '16t'];
  // The first `gone` of them are not needed from these n on.
  const table: readonly (readonly [gone: number, ns: readonly number[]])[] = [
    [0, [1, 2, 3]],
    [1, [4, 5]],
    [2, [6]],
    [3, [7, 8, 9]],
    [4, [10, 11]],
    [5, [12]],
    [6, [13, 14]],
    [7, [15]],
    [8, [16]],
    [9, [17]],
  ];
  const left = table.flatMap(([gone, ns]) => ns.map((n) => [n, all.slice(gone)] as const));
  for (const [n, survivors] of left) {
    const clock = createVirtualClock();
    const store = await openHistory(clock);
    await store.compact(n);
    await runTimers(clock);
    // Of a put below n only a read at n can tell.
    const state = store.get('foo', { revision: n })?.modRevision ?? n;
    const readable = [...(state < n ? [String(state)] : []), ...(await eventsFrom(store, n))];
    equal([n, readable], [n, survivors]);
    const others = OTHER.filter((revision) => revision >= n).length + (OTHER.includes(n) || n < 3 ? 0 : 1);
    equal([n, store.stats().storedVersions], [n, survivors.length + others]);
  }
});

test('C18 what a read and a watch at the compacted revision need', async () => {
  const needed: readonly (readonly [ns: readonly number[], read: number | undefined, watched?: string])[] = [
    [[1], undefined],
    [[2, 3], 2],
    [[4, 5], 4],
    [[6], undefined, '6t'],
    [[7], undefined],
    [[8, 9], 8],
    [[10, 11], 10],
    [[12], undefined, '12t'],
    [[13], undefined],
    [[14], 14],
    [[15], 15],
    [[16], undefined, '16t'],
    [[17], undefined],
  ];
  for (const [n, read, watched] of needed.flatMap(([ns, ...rest]) => ns.map((n) => [n, ...rest] as const))) {
    const clock = createVirtualClock();
    const store = await openHistory(clock);
    await store.compact(n);
    await runTimers(clock);
    equal([n, store.get('foo', { revision: n })?.modRevision], [n, read]);
    if (watched !== undefined) equal((await eventsFrom(store, n))[0], watched);
  }
});

test('C19 ranges at every revision are the same after a restart', async () => {
  const clock = createVirtualClock();
  let store = await openStore<string>({ clock });
  for (let index = 1; index <= 5; index++) await store.put(`foo${index}`, 'x');
  await store.delete('foo1');
  await store.compact(7);
  const ranges: RangeRequest[] = [{ prefix: '' }, { start: 'foo2', end: 'foo4' }, { key: 'foo1' }];
  const ask = () =>
    ranges.flatMap((range) =>
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((revision) =>
        outcome(() =>
          store
            .range({ ...range, revision })
            .kvs.map(brief)
            .join(' '),
        ),
      ),
    );
  const before = ask();
  equal(before[7], 'foo2(3,3,1) foo3(4,4,1) foo4(5,5,1) foo5(6,6,1)');
  equal([before[6], before[8]], ['CompactedError', 'FutureRevisionError']);
  await runTimers(clock);
  equal(ask(), before);
  const { keys } = store.stats();
  store = await restart(store);
  equal([ask(), store.stats().keys, store.get('foo1')], [before, keys, undefined]);
  equal([(await store.put('foo1', 'again')).revision, brief(store.get('foo1'))], [8, 'foo1(8,8,1)']);
});

test('C20 of a key nothing but a delete at the compacted revision', async () => {
  const clock = createVirtualClock();
  const first = await openStore<string>({ clock });
  await first.put('foo', 'x');
  while (first.revision < 15) await first.put('other', 'x');
  await first.delete('foo');
  await first.compact(16);
  await runTimers(clock);
  const store = await restart(first, { clock });
  // The delete, and the last put of `other`.
  equal([store.revision, store.stats().storedVersions, store.get('foo', { revision: 16 })], [16, 2, undefined]);
  equal(
    [17, 20].map((revision) => outcome(() => store.get('foo', { revision }))),
    ['FutureRevisionError', 'FutureRevisionError'],
  );
  for (const revision of [17, 18]) equal((await store.put('foo', 'x')).revision, revision);
  equal(
    [16, 17, 18].map((revision) => brief(store.get('foo', { revision }))),
    ['none', 'foo(17,17,1)', 'foo(17,18,2)'],
  );
  equal(await replay(store, { key: 'foo' }, 3, { fromRevision: 16 }), ['16: delete foo', '17: put foo', '18: put foo']);
  await store.compact(17);
  await runTimers(clock);
  equal(store.stats().storedVersions, 3);
  equal(await replay(store, { key: 'foo' }, 2, { fromRevision: 17 }), ['17: put foo', '18: put foo']);
});

test('C21 an emptied store keeps its revision through a restart', async () => {
  const clock = createVirtualClock();
  const first = await openStore<string>({ clock });
  for (let index = 0; index < 3; index++) await first.put('foo', 'x');
  await first.delete('foo');
  await first.compact(5);
  await runTimers(clock);
  const store = await restart(first);
  equal([store.revision, store.compactRevision, store.get('foo')], [5, 5, undefined]);
  equal((await store.put('foo', 'x')).revision, 6);
});

test('C23 what is needed of three revisions stays, the rest goes', async () => {
  const table: readonly (readonly [name: string, writes: string, n: number, stored: number, state: string])[] = [
    ['one is superseded', 'a a a', 3, 2, 'a(2,4,3)'],
    ['all are superseded', 'a a -a b', 5, 1, 'b(5,5,1)'],
    ['each is a state', 'a b c', 2, 3, 'a(2,2,1) b(3,3,1) c(4,4,1)'],
    ['two are states', 'a a b', 4, 2, 'a(2,3,2) b(4,4,1)'],
  ];
  for (const [name, writes, n, stored, state] of table) {
    const clock = createVirtualClock();
    const store = await openStore<string>({ clock });
    for (const write of writes.split(' ')) {
      if (write.startsWith('-')) await store.delete(write.slice(1));
      else await store.put(write, 'x');
    }
    await store.compact(n);
    await runTimers(clock);
    equal([name, store.stats().storedVersions], [name, stored]);
    equal([name, store.range({ prefix: '' }).kvs.map(brief).join(' ')], [name, state]);
  }
});

test('C24 keys rewritten in the reverse order', async () => {
  const store = await openStore<string>();
  for (const key of ['foo', 'foo1', 'foo2', 'foo2', 'foo1', 'foo']) await store.put(key, 'x');
  const mods = (start: string, revision: number) =>
    store.range({ start, end: 'fop', revision }).kvs.map(({ modRevision }) => modRevision);
  equal(mods('foo', 7), [7, 6, 5]);
  const limited = store.range({ start: 'foo', end: 'fop', revision: 7, limit: 1 });
  equal([keysOf(limited), limited.kvs[0]?.modRevision, limited.count, limited.more], ['foo', 7, 3, true]);
  equal(mods('foo', 4), [2, 3, 4]);
  equal(
    [2, 3, 5, 6].map((revision) => mods('foo1', revision)),
    [[], [3], [3, 5], [6, 5]],
  );
});
