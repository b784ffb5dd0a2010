import { describe, expect, it } from 'vitest';
import { openTestStore, Parts, Reader } from '../store/fixture.ts';

/** Retention (M18): at each bound and one above it; live keys are never bounded. */
describe('retention by events', () => {
  it('keeps as many entries as it says, and the next one pushes the oldest out', async () => {
    const { store } = await openTestStore({ retention: { events: 5 } });
    for (let index = 0; index < 5; index++) await store.put('a', index);
    expect(store.compactRevision).toBe(0);
    await store.put('a', 5);
    expect([store.compactRevision, store.revision]).toEqual([3, 7]);
    expect(store.get('a', { revision: 3 })?.value).toBe(1);
    await store.put('a', 6);
    expect(store.compactRevision).toBe(4);
  });

  it('keeps a commit whole or not at all', async () => {
    const { store } = await openTestStore({ retention: { events: 5 } });
    const put = (count: number) =>
      store.txn({
        then: Array.from({ length: count }, (_, index) => ({ type: 'put', key: `k${index}`, value: 1 }) as const),
      });
    await put(3);
    await put(2);
    expect(store.compactRevision).toBe(0);
    await put(1);
    expect(store.compactRevision).toBe(3);
    await put(2);
    expect(store.compactRevision).toBe(3);
    await put(2);
    expect(store.compactRevision).toBe(4);
  });

  it('keeps the newest commit in any case', async () => {
    const { store } = await openTestStore({ retention: { events: 2 } });
    await store.txn({
      then: Array.from({ length: 5 }, (_, index) => ({ type: 'put', key: `k${index}`, value: 1 }) as const),
    });
    expect(store.compactRevision).toBe(2);
    expect((await new Reader(store.watch({ prefix: '' }, { fromRevision: 2 })).drain()).batches[0]?.events.length).toBe(
      5,
    );
    await store.put('a', 1);
    expect([store.compactRevision, store.range({ prefix: '' }).count]).toEqual([3, 6]);
  });

  it('with one event, the low watermark is the revision', async () => {
    const { store } = await openTestStore({ retention: { events: 1 } });
    for (let index = 0; index < 300; index++) {
      const { revision } = await store.put(`k${index % 7}`, index);
      expect(store.compactRevision).toBe(index === 0 ? 0 : revision);
    }
    expect(store.range({ prefix: '' }).count).toBe(7);
    expect(store.stats().storedVersions).toBeLessThan(200);
  });

  it('counts entries, not revision numbers', async () => {
    const parts = new Parts({ retention: { events: 3 } });
    for (const revision of [10, 200, 3000]) parts.commit(revision, ['put', 'a']);
    expect(parts.mvcc.window.compactRevision).toBe(0);
    parts.commit(40_000, ['put', 'a']);
    expect(parts.mvcc.window.compactRevision).toBe(200);
  });

  it('10,000 entries are the default', async () => {
    const { store } = await openTestStore({ values: 'trusted' });
    for (let index = 0; index < 10_000; index++) await store.put('a', index);
    expect(store.compactRevision).toBe(0);
    await store.put('a', 0);
    expect(store.compactRevision).toBe(3);
    expect(store.stats().logEntries).toBeLessThan(10_200);
  });

  it('a burst of one turn ends a watcher that was woken in it, an infinite bound none', async () => {
    for (const [events, expected] of [
      [5, ['CompactedError']],
      [Number.POSITIVE_INFINITY, 'batches'],
    ] as const) {
      const { store } = await openTestStore({ retention: { events } });
      const reader = new Reader(store.watch({ prefix: '' }));
      await reader.drain();
      const writes = Array.from({ length: 10 }, (_, index) => store.put('a', index));
      const seen = await reader.take();
      await Promise.all(writes);
      if (expected === 'batches') expect(seen.length).toBe(10);
      else expect(seen).toEqual(expected);
    }
  });
});

describe('retention by bytes', () => {
  const value = (bytes: number) => 'x'.repeat(bytes);

  it('sums the values of the retained commits', async () => {
    const { store } = await openTestStore({ retention: { bytes: 100 } });
    await store.put('a', value(60));
    await store.put('b', value(40));
    expect(store.compactRevision).toBe(0);
    await store.put('c', value(1));
    expect(store.compactRevision).toBe(3);
    await store.delete('a');
    await store.put('d', value(59));
    expect(store.compactRevision).toBe(3);
    await store.put('e', value(1));
    expect(store.compactRevision).toBe(4);
  });

  it('measures UTF-8 and the bytes of a codec, and keeps the newest commit however large', async () => {
    const { store } = await openTestStore({ retention: { bytes: 6 } });
    await store.put('a', '\u00e9\u00e9\u00e9');
    await store.put('a', Uint8Array.of());
    expect(store.compactRevision).toBe(0);
    await store.put('a', { large: 'x'.repeat(1000) });
    expect(store.compactRevision).toBe(4);
  });

  it('does not count what the user or another bound has compacted', async () => {
    const { store } = await openTestStore({ retention: { bytes: 100 } });
    await store.put('a', value(90));
    await store.put('b', value(5));
    await store.compact(3);
    await store.put('c', value(95));
    expect(store.compactRevision).toBe(3);
    const both = await openTestStore({ retention: { bytes: 100, events: 2 } });
    for (const size of [90, 90, 1, 1]) await both.store.put('a', value(size));
    expect(both.store.compactRevision).toBe(4);
    await both.store.put('a', value(98));
    expect(both.store.compactRevision).toBe(5);
    await both.store.put('a', value(2));
    expect(both.store.compactRevision).toBe(6);
  });
});

describe('retention by age', () => {
  it('is judged by a timer, on the injected clock, and keeps the newest commit', async () => {
    const { store, clock } = await openTestStore({ retention: { ageMs: 1000 } });
    await store.put('a', 1);
    await clock.advance(600);
    await store.put('a', 2);
    await clock.advance(400);
    expect(store.compactRevision).toBe(0);
    await clock.advance(1);
    expect(store.compactRevision).toBe(3);
    await clock.advance(100_000);
    expect([store.compactRevision, store.get('a')?.value, clock.pending]).toEqual([3, 2, 0]);
    await store.put('a', 3);
    expect(store.compactRevision).toBe(4);
  });

  it('is judged at a commit too', async () => {
    const parts = new Parts({ retention: { ageMs: 10 } });
    parts.commit(2, ['put', 'a']);
    await parts.clock.advance(11);
    expect(parts.mvcc.window.compactRevision).toBe(0);
    parts.commit(3, ['put', 'a']);
    expect(parts.mvcc.window.compactRevision).toBe(3);
  });

  it('a jump of the wall time means nothing, and a closed store has no timer', async () => {
    const { store, clock } = await openTestStore({ retention: { ageMs: 1000 } });
    await store.put('a', 1);
    await store.put('a', 2);
    clock.jumpWallTime(1e9);
    await clock.advance(999);
    expect(store.compactRevision).toBe(0);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it('0 keeps the newest commit only, once the clock has moved', async () => {
    const { store, clock } = await openTestStore({ retention: { ageMs: 0 } });
    await store.put('a', 1);
    await store.put('a', 2);
    await clock.advance(1);
    expect(store.compactRevision).toBe(3);
  });
});
