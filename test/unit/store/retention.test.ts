import { describe, expect, it } from 'vitest';
import { textCodec } from '../../../src/store/codecs.ts';
import { readPinOptions } from '../../../src/store/pins.ts';
import type { Retention } from '../../../src/store/retention.ts';
import { SPANS_MAX } from '../../../src/store/window.ts';
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

  it('a bound that is undefined is one that is not said', async () => {
    const retention = { events: undefined, bytes: undefined, ageMs: undefined } as unknown as Retention;
    const { store, clock } = await openTestStore({ retention });
    for (let index = 0; index < 10; index++) await store.put('a', index);
    await clock.advance(1e9);
    await store.put('a', 10);
    expect([store.compactRevision, clock.pending]).toEqual([0, 0]);
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

  it('a delete brings no bytes, with a codec too', async () => {
    for (const codec of [undefined, textCodec()]) {
      const { store } = await openTestStore<string>({
        retention: { bytes: 6 },
        ...(codec === undefined ? {} : { codec }),
      });
      await store.put('a', 'xxx');
      await store.delete('a');
      await store.put('a', 'xxx');
      expect(store.compactRevision).toBe(0);
      await store.put('a', 'x');
      expect(store.compactRevision).toBe(3);
    }
  });

  it('after thousands of commits, by each bound', async () => {
    const { store } = await openTestStore({ retention: { bytes: 20 } });
    for (let index = 0; index < 5000; index++) await store.put('a', value(10));
    expect([store.revision, store.compactRevision]).toEqual([5001, 5000]);
    const wide = await openTestStore({ retention: { bytes: 15_000 } });
    for (let index = 0; index < 5000; index++) await wide.store.put('a', value(10));
    expect([wide.store.revision, wide.store.compactRevision]).toEqual([5001, 3502]);
    const old = await openTestStore({ retention: { ageMs: 10 } });
    for (let index = 0; index < 3000; index++) {
      await old.store.put('a', value(10));
      await old.clock.advance(1);
    }
    expect([old.store.revision, old.store.compactRevision]).toEqual([3001, 2992]);
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

describe('retention and a pin', () => {
  const owner = 'backup';

  it('events: nothing from the pin on goes, and what should have gone goes with the pin', async () => {
    const { store, clock } = await openTestStore({ retention: { events: 5 } });
    await store.put('a', 0);
    const pin = store.pin(2, { owner });
    for (let index = 1; index < 20; index++) await store.put('a', index);
    expect([store.compactRevision, store.get('a', { revision: 2 })?.value, store.stats().logEntries]).toEqual([
      2, 0, 20,
    ]);
    pin.release();
    expect([store.compactRevision, store.revision]).toEqual([17, 21]);
    while (await clock.advanceToNext());
    expect([store.stats().logEntries, store.stats().storedVersions]).toEqual([5, 5]);
    await store.put('a', 20);
    expect(store.compactRevision).toBe(18);
  });

  it('events: up to a pin that is in the middle', async () => {
    const { store } = await openTestStore({ retention: { events: 5 } });
    for (let index = 0; index < 4; index++) await store.put('a', index);
    const pin = store.pin(4, { owner });
    for (let index = 0; index < 10; index++) await store.put('a', index);
    expect(store.compactRevision).toBe(4);
    pin.release();
    expect(store.compactRevision).toBe(11);
  });

  it('bytes', async () => {
    const { store } = await openTestStore({ retention: { bytes: 100 } });
    await store.put('a', 'x'.repeat(60));
    const pin = store.pin(2, { owner });
    for (const size of [60, 30, 30, 40]) await store.put('a', 'x'.repeat(size));
    expect(store.compactRevision).toBe(2);
    pin.release();
    expect(store.compactRevision).toBe(4);
    await store.put('a', 'x');
    expect(store.compactRevision).toBe(5);
  });

  it('age: the timer finds the pin, and the end of the pin finds what the timer wanted', async () => {
    const { store, clock } = await openTestStore({ retention: { ageMs: 1000 } });
    await store.put('a', 1);
    const pin = store.pin(2, { owner, ttlMs: 5000 });
    await clock.advance(600);
    await store.put('a', 2);
    await clock.advance(100);
    await store.put('a', 3);
    await clock.advance(2000);
    expect(store.compactRevision).toBe(2);
    await clock.advance(2300);
    expect([pin.signal.aborted, store.compactRevision, clock.pending]).toEqual([true, 4, 0]);
  });

  it('a span that retention keeps with its start is kept so when the pin goes, a request of the user is not', () => {
    const open = () => {
      const parts = new Parts({ retention: { events: 1 } });
      for (const revision of [5, 8, 9]) parts.commit(revision, ['put', 'k']);
      const pin = parts.applier.pins.pin(9, readPinOptions({ owner }, 'pin'));
      parts.span(30, ['put', 'k']);
      const { window } = parts.mvcc;
      return { parts, pin, floors: () => [window.compactRevision, window.watchFloor] };
    };
    const kept = open();
    kept.pin.release();
    expect(kept.floors()).toEqual([9, 9]);
    const asked = open();
    asked.parts.applier.compact(20, 'compact');
    expect(asked.floors()).toEqual([9, 9]);
    asked.pin.release();
    expect(asked.floors()).toEqual([30, 31]);
  });

  it('the bound on spans waits for the pin too', () => {
    const parts = new Parts({ retention: { events: Number.POSITIVE_INFINITY } });
    parts.commit(2, ['put', 'k']);
    const pin = parts.applier.pins.pin(2, readPinOptions({ owner }, 'pin'));
    for (let index = 0; index < SPANS_MAX + 10; index++) parts.span(10 + 5 * index, ['put', 'other']);
    const { window } = parts.mvcc;
    expect(window.compactRevision).toBe(2);
    expect(parts.at('k', 10)).toBe('k(2,2,1)');
    pin.release();
    expect([window.compactRevision, window.watchFloor]).toEqual([10 + 5 * 10, 10 + 5 * 10 + 1]);
  });

  it('what was wanted of data that are gone means nothing for those after them', () => {
    const parts = new Parts({ retention: { events: 1 } });
    parts.commit(2, ['put', 'k']);
    parts.applier.pins.pin(2, readPinOptions({ owner }, 'pin'));
    for (const revision of [100, 200, 300]) parts.commit(revision, ['put', 'k']);
    parts.applier.compact(150, 'compact');
    parts.applier.stop();
    parts.mvcc.state.clear();
    parts.applier.pins.resetBelow(Number.POSITIVE_INFINITY);
    for (const revision of [2, 3]) parts.commit(revision, ['put', 'k']);
    expect(parts.mvcc.window.compactRevision).toBe(3);
    parts.commit(250, ['put', 'k']);
    parts.commit(400, ['put', 'k']);
    expect(parts.mvcc.window.compactRevision).toBe(400);
  });
});
