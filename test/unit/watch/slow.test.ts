import { describe, expect, it } from 'vitest';
import { SlowWatcherError } from '../../../src/types/errors.ts';
import { openTestStore, Reader } from '../store/fixture.ts';

/** Watches that lag: M14, M18, M26, R37, and the regression scenarios 16, 17, 23 and 24. */
describe('idle and pending', () => {
  it('16, F11: a quiet watch is not ended by compactions of what it would not have been given', async () => {
    const { store } = await openTestStore({ retention: { events: 100 } });
    const reader = new Reader(store.watch({ prefix: 'quiet/' }));
    for (let index = 0; index < 5000; index++) await store.put(`busy/${index % 50}`, index);
    expect(await reader.take()).toEqual([]);
    await store.put('quiet/a', 1);
    expect(await reader.take()).toEqual(['5002: put quiet/a(5002,5002,1)']);
  });

  it('17: one that was woken and sleeps through the window gets one CompactedError', async () => {
    const { store } = await openTestStore({ retention: { events: 100 } });
    const reader = new Reader(store.watch({ prefix: 'mine/' }));
    for (let index = 0; index < 200; index++) await store.put('mine/a', index);
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
    expect(await reader.take()).toEqual(['CompactedError']);
    expect(reader.error).toMatchObject({ minRevision: 102, compactRevision: 102 });
    expect(await reader.watch.next()).toEqual({ value: undefined, done: true });
  });

  it('M26: delivery of the last entry makes a watch idle at once, before it asks again', async () => {
    const { store } = await openTestStore({ retention: { events: 10 } });
    const watch = store.watch({ prefix: 'mine/' });
    await store.put('mine/a', 1);
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 1 });
    await watch.next();
    expect(store.stats().watchers).toEqual({ idle: 1, pending: 0 });
    for (let index = 0; index < 50; index++) await store.put('other', index);
    await store.put('mine/a', 2);
    expect((await watch.next()).value?.revision).toBe(53);
  });

  it('M26: a position counts by what is to be delivered, not by what was asked for', async () => {
    const { store } = await openTestStore();
    for (const key of ['mine', 'other', 'other', 'mine']) await store.put(key, 1);
    const reader = new Reader(store.watch({ key: 'mine' }, { fromRevision: 2 }));
    await reader.drain(1);
    // Its next event is at 5; what is compacted below does not concern it.
    await store.compact(5);
    expect(await reader.take()).toEqual(['5: put mine(2,5,2)']);
  });

  it('23, M29: a pending delete exactly at the low watermark is delivered without prevKv, and to a new watch too', async () => {
    const { store, clock } = await openTestStore();
    await store.put('x', 1);
    await store.put('x', 1);
    await store.put('k', 1);
    for (let index = 0; index < 4; index++) await store.put('x', 1);
    const reader = new Reader(store.watch({ key: 'k' }, { fromRevision: 9, prevKv: true }));
    expect((await store.delete('k')).revision).toBe(9);
    await store.compact(9);
    while (await clock.advanceToNext());
    expect(await reader.take()).toEqual(['9: delete k@9']);
    expect(await new Reader(store.watch({ key: 'k' }, { fromRevision: 9, prevKv: true })).take()).toEqual([
      '9: delete k@9',
    ]);
  });

  it('M29: prevKv does not depend on how far the physical compaction has come', async () => {
    const { store } = await openTestStore();
    await store.put('k', 1);
    await store.put('k', 2);
    await store.put('k', 3);
    await store.compact(3);
    expect(await new Reader(store.watch({ key: 'k' }, { fromRevision: 3, prevKv: true })).take()).toEqual([
      '3: put k(2,3,2)',
      '4: put k(2,4,3) <k(2,3,2)',
    ]);
  });

  it('24, F5: a filtered watch stays idle through a thousand filtered events and their compaction', async () => {
    const { store } = await openTestStore();
    const reader = new Reader(store.watch({ prefix: 'a/' }, { filter: 'nodelete' }));
    await store.txn({
      then: Array.from({ length: 100 }, (_, index) => ({ type: 'put', key: `a/${index}`, value: 1 }) as const),
    });
    await reader.drain();
    for (let index = 0; index < 100; index++) await store.delete(`a/${index}`);
    expect(store.stats().watchers).toEqual({ idle: 1, pending: 0 });
    await store.compact(store.revision);
    await store.put('a/x', 1);
    expect((await reader.take()).length).toBe(1);
    expect(reader.error).toBeUndefined();
  });

  it('11: the position exactly at the low watermark is kept, the one below is not', async () => {
    const { store } = await openTestStore();
    const readers: Reader<unknown>[] = [];
    for (let index = 0; index < 5; index++) {
      readers.push(new Reader(store.watch({ key: 'k' })));
      await store.put('k', index);
    }
    await store.compact(4);
    const outcomes = await Promise.all(readers.map((reader) => reader.drain()));
    expect(
      outcomes.map(({ error, batches }) =>
        error === undefined ? batches.map(({ revision }) => revision) : 'compacted',
      ),
    ).toEqual(['compacted', 'compacted', [4, 5, 6], [5, 6], [6]]);
  });
});

describe('onSlow', () => {
  /** A watch of `prefix ''` that is asleep while `writes` entries are added. */
  async function sleeper(options: object, writes: number) {
    const { store } = await openTestStore<number>();
    await store.put('a', 0);
    await store.put('b', 0);
    const reader = new Reader(store.watch({ prefix: '' }, { lagEventsMax: 5, prevKv: true, ...options }));
    for (let index = 0; index < writes; index++) await store.put(index % 2 === 0 ? 'a' : 'c', index);
    return { store, reader };
  }

  it('lag replays everything, whatever the bound', async () => {
    const { reader } = await sleeper({ onSlow: 'lag' }, 20);
    expect((await reader.drain()).batches.length).toBe(20);
  });

  it('lag is the default', async () => {
    const { reader } = await sleeper({}, 20);
    expect((await reader.drain()).batches.length).toBe(20);
  });

  it('coalesce at the bound replays', async () => {
    const { reader } = await sleeper({ onSlow: 'coalesce' }, 5);
    expect((await reader.take()).map((text) => text.split(':')[0])).toEqual(['4', '5', '6', '7', '8']);
  });

  it('coalesce one above the bound gives the difference as one span, then goes on live', async () => {
    const { store, reader } = await sleeper({ onSlow: 'coalesce' }, 6);
    await store.delete('b');
    expect(await reader.take()).toEqual(['(3,10]: put a(2,8,4) <a(2,2,1), delete b@10 <b(3,3,1), put c(5,9,3)']);
    await store.put('a', 9);
    expect(await reader.take()).toEqual(['11: put a(2,11,5) <a(2,8,4)']);
    expect(reader.watch.progressRevision).toBe(11);
  });

  it('M14: a key that came and went is in no event, and a span without events is not delivered', async () => {
    const { store, reader } = await sleeper({ onSlow: 'coalesce', filter: 'nodelete' }, 0);
    await store.put('c', 1);
    await store.delete('c');
    await store.txn({ then: [{ type: 'delete', prefix: '' }] });
    for (const key of ['x', 'y']) {
      await store.put(key, 1);
      await store.delete(key);
    }
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 1 });
    expect(await reader.take()).toEqual([]);
    expect(store.stats().watchers).toEqual({ idle: 1, pending: 0 });
    await store.put('a', 1);
    expect(await reader.take()).toEqual(['11: put a(11,11,1)']);
  });

  it('M14: a key deleted and made again is one put, known by its create revision', async () => {
    const { store, reader } = await sleeper({ onSlow: 'coalesce' }, 0);
    await store.delete('a');
    for (let index = 0; index < 5; index++) await store.put('a', index);
    expect(await reader.take()).toEqual(['(3,9]: put a(5,9,5) <a(2,2,1)']);
  });

  it('M29: a span from below the low watermark has no prevKv and keeps the deletes nobody can judge', async () => {
    const { store, reader } = await sleeper({ onSlow: 'coalesce' }, 6);
    await store.delete('c');
    await store.compact(4);
    expect(await reader.take()).toEqual(['(3,10]: put a(2,8,4), delete c@10']);
  });

  it('close at the bound replays, one above it ends with the revision to resume from', async () => {
    expect((await (await sleeper({ onSlow: 'close' }, 5)).reader.take()).length).toBe(5);
    const { store, reader } = await sleeper({ onSlow: 'close' }, 6);
    expect(await reader.take()).toEqual(['SlowWatcherError']);
    expect(reader.error).toMatchObject({ code: 'SLOW_WATCHER', resumeRevision: 4, lagEvents: 6 });
    expect((await reader.watch.next()).done).toBe(true);
    expect((await new Reader(store.watch({ prefix: '' }, { fromRevision: 4 })).take()).length).toBe(6);
  });

  it.each([
    [1000, 0],
    [1001, 1],
  ])('the bound is 1,000 entries if nobody says one: %i of them', async (events, errors) => {
    const { store } = await openTestStore<number>();
    const reader = new Reader(store.watch({ prefix: '' }, { onSlow: 'close' }));
    for (let event = 0; event < events; event++) await store.put('a', event);
    const taken = await reader.take();
    expect(taken.filter((line) => line === 'SlowWatcherError').length).toBe(errors);
    expect(reader.error === undefined).toBe(errors === 0);
  });

  it('the bound counts log entries of all keys from the position on', async () => {
    const { store } = await openTestStore<number>();
    const reader = new Reader(store.watch({ key: 'mine' }, { onSlow: 'close', lagEventsMax: 3 }));
    for (const key of ['x', 'x', 'x', 'x', 'mine', 'x', 'x']) await store.put(key, 1);
    await reader.drain(1);
    expect(reader.batches.map(({ revision }) => revision)).toEqual([6]);
    for (const key of ['mine', 'x', 'x', 'x']) await store.put(key, 1);
    expect(await reader.take()).toEqual(['SlowWatcherError']);
  });

  it('R37: a slow watch holds up neither writers nor other watches', async () => {
    const { store } = await openTestStore<number>({ retention: { events: 10 } });
    const slow = store.watch({ prefix: '' });
    const reader = new Reader(store.watch({ prefix: '' }));
    for (let index = 0; index < 100; index++) {
      await store.put('a', index);
      await reader.drain();
    }
    expect(reader.batches.length).toBe(100);
    await expect(slow.next()).rejects.toMatchObject({ code: 'COMPACTED' });
  });
});

describe('resuming after close', () => {
  it('a watch from resumeRevision delivers what it was opened for, and then is held to its bound again', async () => {
    const { store } = await openTestStore<number>();
    const options = { onSlow: 'close', lagEventsMax: 2 } as const;
    const watch = store.watch({ prefix: '' }, options);
    for (let index = 0; index < 4; index++) await store.put('k', index);
    const error = await watch.next().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SlowWatcherError);
    const { resumeRevision } = error as SlowWatcherError;
    const resumed = store.watch({ prefix: '' }, { ...options, fromRevision: resumeRevision });
    const revisions: number[] = [];
    for (let index = 0; index < 3; index++) revisions.push((await resumed.next()).value?.revision ?? 0);
    expect(revisions).toEqual([2, 3, 4]);
    for (let index = 0; index < 3; index++) await store.put('k', index);
    await expect(resumed.next()).rejects.toMatchObject({ code: 'SLOW_WATCHER', resumeRevision: 5, lagEvents: 3 });
  });
});
