import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { CompactedError, StoreFullError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { openTestStore, Reader } from './fixture.ts';

/** Whether a write was refused because the store is full; any other error is one of the test. */
async function isRefused(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return false;
  } catch (error) {
    if (error instanceof StoreFullError) return true;
    throw error;
  }
}

/** Puts each key so often until one is refused; answers which. */
async function fillUp(store: Store<number>, key: (index: number) => string, puts: number): Promise<number> {
  for (let index = 0; ; index++) {
    for (let put = 0; put < puts; put++) if (await isRefused(store.put(key(index), index))) return index;
  }
}

/** A store at its memory limit: refused writes change nothing, and deletes with compaction make room again. */
describe('a full store', () => {
  it('refuses the write that does not fit, changes nothing, and goes on after deletes and compaction', async () => {
    const { store, clock } = await openTestStore<number>({ memoryBytesMax: 1_048_576 });
    const key = (index: number) => `${index}/`.padEnd(400, 'k');
    let count = 0;
    const fill = async () => {
      for (;;) {
        const before = [store.revision, store.stats().keys];
        try {
          await store.put(key(count), count);
          count++;
        } catch (error) {
          expect(error).toBeInstanceOf(StoreFullError);
          expect(error).toMatchObject({ code: 'STORE_FULL', memoryBytesMax: 1_048_576 });
          expect([store.revision, store.stats().keys]).toEqual(before);
          return;
        }
      }
    };
    await fill();
    expect(count).toBeGreaterThan(500);
    expect(store.stats().memoryBytes).toBeLessThanOrEqual(1_048_576);
    expect(store.get(key(count - 1))?.value).toBe(count - 1);
    expect(store.get(key(count))).toBeUndefined();
    // Puts leave room for deletes, or nothing could ever be compacted.
    for (let index = 0; index < 7; index++) expect((await store.delete(key(index))).deleted).toBe(1);
    const reader = new Reader(store.watch({ prefix: '' }));
    for (let round = 0; round < 3; round++) {
      const filled = count;
      for (let index = 0; index < filled && store.range({ prefix: '', countOnly: true }).count > filled / 4; index++) {
        await store.delete(key(index));
        if (index % 25 === 0) {
          await store.compact(store.revision).catch((error: unknown) => expect(error).toBeInstanceOf(CompactedError));
          while (await clock.advanceToNext());
        }
      }
      await store.compact(store.revision).catch((error: unknown) => expect(error).toBeInstanceOf(CompactedError));
      while (await clock.advanceToNext());
      await fill();
      expect(count).toBeGreaterThan(filled + 300);
    }
    await reader.drain();
    const { kvs } = store.range({ prefix: '' });
    expect(kvs.map(({ value }) => key(value)).sort()).toEqual(kvs.map(({ key: name }) => name));
  });

  // Without room kept back, not one delete works in most of these.
  it.each([
    [2, 1, 1],
    [2, 2, 1],
    [8, 1, 1],
    [20, 3, 1000],
  ])('can be emptied: keys of %i bytes, %i puts each, %i events of history', async (length, puts, events) => {
    const { store } = await openTestStore<number>({ memoryBytesMax: 1_048_576, retention: { events } });
    const key = (index: number) => index.toString(36).padEnd(length, '.');
    const fill = () => fillUp(store, key, puts);
    const first = await fill();
    for (let index = 0; index < first; index++) {
      expect((await store.delete(key(index))).deleted).toBe(1);
      // No timer runs here: a write that needs the memory gets what is compacted.
      if (index % 5 === 4 && store.compactRevision < store.revision) await store.compact(store.revision);
    }
    expect(await fill()).toBeGreaterThan(first * 0.5);
  });

  // Deletes until the last bit of memory is used up, which compaction gives back in pieces as small as they were.
  it.each([
    [2, 1, 1_048_576],
    [7, 1, 1_048_576],
    [7, 3, 1_048_576],
    [7, 1, 2_097_152],
    [40, 1, 1_048_576],
    [400, 2, 1_048_576],
    [3000, 1, 1_048_576],
  ])(
    'can be emptied by who compacts only when a delete is refused: keys of %i bytes, %i puts, %i bytes',
    async (length, puts, memoryBytesMax) => {
      const { store } = await openTestStore<number>({ memoryBytesMax });
      const key = (index: number) => index.toString(36).padEnd(length, '.');
      const fill = () => fillUp(store, key, puts);
      const first = await fill();
      let refusals = 0;
      // Of the last key some puts may have fitted.
      for (let index = 0; index <= first; ) {
        if (!(await isRefused(store.delete(key(index))))) {
          index++;
          continue;
        }
        refusals++;
        const { logEntries } = store.stats();
        expect(logEntries).toBeGreaterThan(1);
        await store.compact(store.revision);
      }
      expect(refusals).toBeGreaterThan(0);
      expect(refusals).toBeLessThan(20);
      expect(store.range({ prefix: '' }).count).toBe(0);
      if (store.compactRevision < store.revision) await store.compact(store.revision);
      expect(await fill()).toBeGreaterThan(first * 0.25);
    },
  );

  it.each([7, 400])('M37: a lease that is due ends, and every read works: keys of %i bytes', async (length) => {
    const { store, clock } = await openTestStore<number>({ memoryBytesMax: 1_048_576 });
    const key = (index: number) => index.toString(36).padEnd(length, '.');
    await store.grantLease({ ttlMs: 60_000, id: '7' });
    for (let index = 0; index < 40; index++) await store.put(key(index), index, { lease: '7' });
    let count = 40;
    while (!(await isRefused(store.put(key(count), 1)))) count++;
    // Nothing is kept back any more.
    let deleted = 0;
    while (!(await isRefused(store.delete(key(40 + deleted))))) deleted++;
    await clock.advance(60_000);
    expect(store.get(key(0))).toBeUndefined();
    expect(store.range({ prefix: '' }).count).toBe(count - 40 - deleted);
    expect([await store.leases(), store.stats().leases]).toEqual([[], 0]);
    await store.delete(key(count - 1));
  });

  it('a transaction that does not fit is not half done', async () => {
    const { store } = await openTestStore<number>({ memoryBytesMax: 1_048_576 });
    const operations = Array.from(
      { length: 128 },
      (_, index) => ({ type: 'put', key: `${index}`.padEnd(30_000, 'x'), value: 1 }) as const,
    );
    await expect(store.txn({ then: operations })).rejects.toThrow(StoreFullError);
    expect([store.revision, store.range({ prefix: '' }).count]).toEqual([1, 0]);
    await store.txn({ then: operations.slice(0, 10) });
    expect([store.revision, store.range({ prefix: '' }).count]).toEqual([2, 10]);
  });

  it('answers every read, however long, and a long read takes nothing from the writes', async () => {
    const capacity = async (reads: boolean): Promise<number> => {
      const { store } = await openTestStore<number>({
        memoryBytesMax: 1_310_720,
        retention: { events: Number.POSITIVE_INFINITY },
      });
      let count = 0;
      for (; ; count++) {
        if (await isRefused(store.put(`k${count}`, 1))) break;
        if (reads && count === 4_000) store.range({ prefix: '' });
      }
      if (!reads) return count;
      const all = store.range({ prefix: '' });
      expect([all.count, all.kvs.length]).toEqual([count, count]);
      expect(store.range({ prefix: 'k', limit: 10_000 }).kvs.length).toBe(Math.min(10_000, count));
      expect(store.range({ prefix: 'k', revision: 5_000 }).kvs.length).toBe(4_999);
      const { value: initial } = await store.watch({ prefix: '' }, { initial: true }).next();
      expect(initial?.events.length).toBe(count);
      const slow = store.watch({ prefix: '' }, { fromRevision: 2, onSlow: 'coalesce', lagEventsMax: 10 });
      expect((await slow.next()).value?.events.length).toBe(count);
      const { responses } = await store.txn({ then: [{ type: 'range', prefix: '' }] });
      expect(responses[0]).toMatchObject({ count });
      // What puts left room for: a few deletes at once.
      expect((await store.delete({ start: 'k1000', end: 'k10003' })).deleted).toBe(4);
      return count;
    };
    expect(await capacity(true)).toBe(await capacity(false));
  });

  /** Keys, a share of them in a lease, that fill the store, then writes over them at random until nothing fits. */
  async function written(seed: number) {
    const rig = await openTestStore<number>({ memoryBytesMax: 1_048_576, retention: { events: 10 } });
    const { store } = rig;
    const random = createSeededRandom(seed);
    const { id: lease } = await store.grantLease({ ttlMs: 1000 });
    let count = 0;
    while (!(await isRefused(store.put(`k${count}`, 1, random() < 0.3 ? { lease } : {})))) count++;
    while (!(await isRefused(store.put(`k${Math.floor(random() * count)}`, 2, { ignoreLease: true }))));
    return { ...rig, count };
  }

  it.each([1, 2, 3, 4, 5, 6])('M31, M37: a lease of many keys expires, and the store goes on (%d)', async (seed) => {
    const { store, clock, count } = await written(seed);
    await clock.advance(1000);
    const left = store.range({ prefix: '', countOnly: true }).count;
    expect(left).toBeLessThan(count);
    expect(await isRefused(store.put('again', 1))).toBe(false);
    await store.close();
  });
});

/** Found from outside: large keys took all memory that was not in use, and what they left could become no page (M37). */
describe('memory that large keys have left', () => {
  const MAX = 1_179_648;
  const large = (index: number) => `${index}/`.padEnd(20_000, 'k');

  async function emptied(keep: number) {
    const { store, clock } = await openTestStore<number>({ memoryBytesMax: MAX, retention: { events: 50 } });
    let count = 0;
    const fill = async () => {
      for (; ; count++) await store.put(large(count), 1);
    };
    await expect(fill()).rejects.toBeInstanceOf(StoreFullError);
    expect(count).toBeGreaterThan(30);
    for (let index = keep; index < count; index++) await store.delete(large(index));
    if (store.compactRevision < store.revision) await store.compact(store.revision);
    while (await clock.advanceToNext());
    return store;
  }

  it('is room for pages of the log: a store with two keys takes any number of puts and deletes', async () => {
    const store = await emptied(2);
    for (let round = 0; round < 4_000; round++) {
      await store.put('x', round);
      if (round % 3 === 0) await store.delete('x');
    }
    for (const { key } of store.range({ prefix: '' }).kvs) await store.delete(key);
    expect(store.range({ prefix: '' }).count).toBe(0);
    await store.close();
  });
});
