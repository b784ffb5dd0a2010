import { describe, expect, it } from 'vitest';
import { readPinOptions } from '../../../src/store/pins.ts';
import type { Retention } from '../../../src/store/retention.ts';
import { SPANS_MAX, Window } from '../../../src/store/window.ts';
import { CompactedError } from '../../../src/types/errors.ts';
import { Parts } from '../store/fixture.ts';

/**
 * Spans and holes: M9, M12, M13, M15, M16, scenarios 5-8 and 10, at the level of the applier, since an embedded store
 * publishes no span.
 *
 * ```text
 *   C=1            A=9             S=30
 *   o--- ... --o---o ............. o--- revision
 *                  (9, 30] is a hole: 10..29 cannot be read, 11..30 are no start
 * ```
 */
function openWithHole(...events: Parameters<Parts['span']>[1][]): Parts {
  const parts = new Parts();
  for (const revision of [5, 8, 9]) parts.commit(revision, ['put', 'k']);
  parts.span(30, ...events);
  return parts;
}

const start = async (parts: Parts, fromRevision: number) => {
  const reader = parts.watch({ prefix: '' }, { fromRevision });
  const [first = 'nothing'] = await reader.take();
  return reader.error === undefined ? first : `CompactedError ${(reader.error as { minRevision: number }).minRevision}`;
};

describe('floors', () => {
  it('5, M15: after a first list at 20, reads start at 20 and watches at 21', async () => {
    const parts = new Parts({ revision: 0 });
    parts.mvcc.state.publish({ revision: 20, changes: parts.changes(20, [['put', 'a']]) }, 'apply the first list');
    parts.mvcc.window.prime(20);
    expect([await start(parts, 20), await start(parts, 21)]).toEqual(['CompactedError 21', 'nothing']);
    expect([parts.at('a', 20), parts.at('a', 19)]).toEqual(['a(20,20,1)', 'CompactedError 20']);
    expect(parts.mvcc.window.watchFloor).toBe(21);
  });

  it('6, M12: starts around a hole', async () => {
    const parts = openWithHole(['put', 'k'], ['put', 'n']);
    const expected: [number, string][] = [
      [9, '9: put k(5,9,3)'],
      [10, '(9,30]: put k(5,30,4), put n(30,30,1)'],
      [11, 'CompactedError 31'],
      [20, 'CompactedError 31'],
      [30, 'CompactedError 31'],
      [31, 'nothing'],
    ];
    for (const [from, outcome] of expected) expect([from, await start(parts, from)]).toEqual([from, outcome]);
  });

  it('7, M9: reads around a hole', () => {
    const parts = openWithHole(['put', 'k']);
    expect([9, 10, 29, 30].map((revision) => parts.at('k', revision))).toEqual([
      'k(5,9,3)',
      'CompactedError 30',
      'CompactedError 30',
      'k(5,30,4)',
    ]);
  });

  it('8, M12: a start that waits inside the hole is ended, also by an empty span; idle watches see nothing', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k']);
    const idle = parts.watch({ prefix: '' });
    const waiting = [10, 11, 15, 30, 31].map((fromRevision) => parts.watch({ prefix: '' }, { fromRevision }));
    parts.span(30);
    expect(await idle.take()).toEqual([]);
    const outcomes = [];
    for (const reader of waiting)
      outcomes.push([...(await reader.take()), (reader.error as { minRevision?: number })?.minRevision]);
    expect(outcomes).toEqual([
      [undefined],
      ['CompactedError', 31],
      ['CompactedError', 31],
      ['CompactedError', 31],
      [undefined],
    ]);
    parts.commit(31, ['put', 'k']);
    expect([await idle.take(), await waiting[0]?.take(), await waiting[4]?.take()]).toEqual([
      ['31: put k(9,31,2)'],
      ['31: put k(9,31,2)'],
      ['31: put k(9,31,2)'],
    ]);
    expect(parts.at('k', 15)).toBe('CompactedError 30');
  });

  it('10, M16: a compaction that lands in a hole moves to its end', () => {
    for (const wanted of [10, 20, 29, 30]) {
      const parts = openWithHole(['put', 'k']);
      expect(parts.applier.compact(wanted, 'compact')).toBe(30);
      expect([parts.mvcc.window.compactRevision, parts.mvcc.window.watchFloor]).toEqual([30, 31]);
    }
    const below = openWithHole(['put', 'k']);
    expect(below.applier.compact(9, 'compact')).toBe(9);
    expect([below.mvcc.window.watchFloor, below.at('k', 20)]).toEqual([9, 'CompactedError 30']);
  });

  it('a span of one revision leaves no hole', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k']);
    parts.span(10, ['put', 'k'], ['put', 'n']);
    expect([await start(parts, 10), await start(parts, 11), parts.applier.compact(10, 'compact')]).toEqual([
      '(9,10]: put k(9,10,2), put n(10,10,1)',
      'nothing',
      10,
    ]);
    expect(parts.mvcc.window.watchFloor).toBe(10);
  });

  it('M6: a revision in a hole is known to be applied', () => {
    const { window } = openWithHole(['put', 'k']).mvcc;
    expect([9, 10, 29, 30, 31].map((revision) => window.isInHole(revision))).toEqual([false, true, true, true, false]);
  });
});

describe('watches and spans', () => {
  it('M10, M12: a caught-up watch gets the span, with prevKv from before it', async () => {
    const parts = new Parts();
    parts.commit(8, ['put', 'gone'], ['put', 'k'], ['put', 'same']);
    parts.commit(9, ['put', 'k']);
    const reader = parts.watch({ prefix: '' }, { prevKv: true });
    parts.span(30, ['delete', 'gone'], ['put', 'k'], ['put', 'new']);
    expect(reader.watch.progressRevision).toBe(9);
    expect(await reader.take()).toEqual([
      '(9,30]: delete gone@30 <gone(8,8,1), put k(8,30,3) <k(8,9,2), put new(30,30,1)',
    ]);
    expect(reader.watch.progressRevision).toBe(30);
  });

  it('M26: the position of a span is where it starts, so that a compaction inside it ends the watch', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k']);
    const reader = parts.watch({ prefix: '' });
    parts.span(30, ['put', 'k']);
    parts.applier.compact(20, 'compact');
    expect(await reader.take()).toEqual(['CompactedError']);
    expect(reader.error).toMatchObject({ minRevision: 31, compactRevision: 30 });
  });

  it('M26: a watch that looks ahead to a span waits at its start too', async () => {
    const parts = new Parts();
    const reader = parts.watch({ prefix: '' });
    parts.commit(9, ['put', 'k']);
    parts.span(30, ['put', 'k']);
    await reader.drain(1);
    expect(reader.watch.progressRevision).toBe(9);
    parts.applier.compact(9, 'compact');
    expect(reader.watch.progressRevision).toBe(9);
    parts.applier.compact(10, 'compact');
    expect(await reader.take()).toEqual(['CompactedError']);
  });

  it('M26: and one up to its start does not', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k']);
    const reader = parts.watch({ prefix: '' }, { prevKv: true });
    parts.span(30, ['put', 'k']);
    parts.applier.compact(9, 'compact');
    expect(await reader.take()).toEqual(['(9,30]: put k(9,30,2) <k(9,9,1)']);
  });

  it('M13: a repair raises both floors; caught-up watches get the span, lagging ones end', async () => {
    const parts = new Parts();
    parts.commit(8, ['put', 'k']);
    const lagging = parts.watch({ key: 'k' });
    parts.commit(9, ['put', 'k']);
    const caughtUp = parts.watch({ key: 'k' }, { prevKv: true });
    const other = parts.watch({ key: 'other' });
    parts.repair(30, ['put', 'k']);
    expect([parts.mvcc.window.compactRevision, parts.mvcc.window.watchFloor]).toEqual([30, 31]);
    expect(await lagging.take()).toEqual(['CompactedError']);
    expect(lagging.error).toMatchObject({ minRevision: 31, compactRevision: 30 });
    await parts.compactFully();
    expect(await caughtUp.take()).toEqual(['(9,30]: put k(8,30,3)']);
    parts.commit(31, ['put', 'other']);
    expect(await other.take()).toEqual(['31: put other(31,31,1)']);
  });

  it('M13: what a repair woke has read up to before its end, and no compaction to there ends it', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k']);
    const reader = parts.watch({ key: 'k' });
    parts.repair(30, ['put', 'k']);
    expect(reader.watch.progressRevision).toBe(29);
    parts.hub.compacted();
    expect(await reader.take()).toEqual(['(9,30]: put k(9,30,2)']);
  });

  it('M13: a repair without a difference ends lagging watches only', async () => {
    const parts = new Parts();
    const lagging = parts.watch({ key: 'k' });
    parts.commit(9, ['put', 'k']);
    const idle = parts.watch({ key: 'k' });
    parts.applier.distrustHistory();
    expect(await lagging.take()).toEqual(['CompactedError']);
    expect([await idle.take(), await start(parts, 9), await start(parts, 10), parts.at('k', 9)]).toEqual([
      [],
      'CompactedError 10',
      'nothing',
      'k(9,9,1)',
    ]);
  });

  it('M13, M14: a coalescing watch that a repair woke gets the difference from where it really was', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k']);
    const reader = parts.watch({ prefix: '' }, { onSlow: 'coalesce', lagEventsMax: 1 });
    parts.repair(30, ['put', 'k'], ['put', 'n']);
    expect(await reader.take()).toEqual(['(9,30]: put k(9,30,2), put n(30,30,1)']);
  });

  it('M14: a lagging watch coalesces over a published span', async () => {
    const parts = new Parts();
    parts.commit(9, ['put', 'k'], ['put', 'gone']);
    const reader = parts.watch({ prefix: '' }, { onSlow: 'coalesce', lagEventsMax: 2, prevKv: true });
    parts.span(30, ['delete', 'gone'], ['put', 'k']);
    parts.commit(31, ['put', 'n']);
    expect(await reader.take()).toEqual([
      '(9,31]: delete gone@30 <gone(9,9,1), put k(9,30,2) <k(9,9,1), put n(31,31,1)',
    ]);
  });

  it('numbers may jump: a start between two commits waits for the next one', async () => {
    const parts = new Parts();
    parts.commit(10, ['put', 'k']);
    const reader = parts.watch({ prefix: '' }, { fromRevision: 15 });
    parts.commit(20, ['put', 'k']);
    expect(await reader.take()).toEqual(['20: put k(10,20,2)']);
    expect(parts.at('k', 15)).toBe('k(10,10,1)');
  });
});

describe('Window', () => {
  it('keeps a bounded number of spans, by asking for a compaction', () => {
    const parts = new Parts({ retention: { events: Number.POSITIVE_INFINITY } });
    parts.commit(2, ['put', 'k']);
    expect(SPANS_MAX).toBe(10_000);
    for (let index = 1; index <= SPANS_MAX + 50; index++) {
      parts.span(2 + index * 10, ['put', 'k']);
      expect(parts.mvcc.window.compactRevision).toBe(index <= SPANS_MAX ? 0 : 2 + (index - SPANS_MAX + 1) * 10);
    }
  });

  it('joins old spans in which nothing has changed before it asks for one: an event is kept, however long ago', () => {
    const window = new Window(1);
    window.advance(2);
    const pinned = 2 + 300 * 10;
    for (let index = 1; index <= 5 * SPANS_MAX; index++) {
      window.advance(2 + index * 10, 2 + (index - 1) * 10, true);
      window.joinSpans((revision) => revision === pinned);
      if (window.spansFloor !== 0) expect(window.spansFloor).toBe(0);
    }
    expect([window.compactRevision, window.readable(2, 'read'), window.illegalStart(2)]).toEqual([0, 2, 0]);
    // What is pinned, and the newer half, can be read as before; what lies between old ones is the price.
    expect(window.readable(pinned, 'read')).toBe(pinned);
    const newest = 2 + 5 * SPANS_MAX * 10;
    for (let back = 0; back < SPANS_MAX / 2; back++)
      expect(window.readable(newest - back * 10, 'read')).toBe(newest - back * 10);
    expect(() => window.readable(pinned - 10, 'read')).toThrow(CompactedError);
    expect(() => window.readable(pinned - 10, 'read')).toThrow(expect.objectContaining({ minRevision: pinned }));
    expect(window.isInHole(pinned - 10)).toBe(true);
  });

  it('joins none up to the bound, and past it none of the newer half', () => {
    const window = new Window(1);
    const end = (index: number) => index * 10;
    const isReadable = (index: number) => !window.isInHole(end(index)) || window.spanAt(end(index)) !== undefined;
    window.advance(end(1));
    for (let index = 2; index <= SPANS_MAX + 1; index++) {
      window.advance(end(index), end(index - 1), true);
      window.joinSpans(() => false);
    }
    for (let index = 1; index <= SPANS_MAX + 1; index++) expect(isReadable(index)).toBe(true);
    window.advance(end(SPANS_MAX + 2), end(SPANS_MAX + 1), true);
    window.joinSpans(() => false);
    // Spans 0 to SPANS_MAX / 2 are one now: it ends where the last of them did.
    const oldest = SPANS_MAX / 2 + 2;
    for (let index = 2; index < oldest; index++) expect(isReadable(index)).toBe(false);
    for (let index = oldest; index <= SPANS_MAX + 2; index++) expect(isReadable(index)).toBe(true);
    expect(window.spanAt(end(oldest))).toMatchObject({ after: end(1), revision: end(oldest) });
  });

  it('empty spans with a commit between them are not joined: what it did can be read', () => {
    const window = new Window(1);
    for (let index = 1; index <= SPANS_MAX + 10; index++) {
      window.advance(index * 100);
      window.advance(index * 100 + 50, index * 100, true);
      window.joinSpans(() => false);
    }
    for (const index of [1, 2, 3, 500, SPANS_MAX]) {
      expect([window.readable(index * 100, 'read'), window.isInHole(index * 100)]).toEqual([index * 100, false]);
    }
  });

  it('what a pin is on is held when spans are joined', () => {
    const parts = new Parts({ retention: { events: Number.POSITIVE_INFINITY } });
    parts.commit(2, ['put', 'k']);
    const pinned = 2 + 300 * 10;
    for (let index = 1; index <= 2 * SPANS_MAX; index++) {
      parts.span(2 + index * 10);
      if (index === 300) parts.applier.pins.pin(pinned, readPinOptions({ owner: 'backup' }, 'pin'));
    }
    expect([parts.at('k', pinned), parts.at('k', pinned - 10)]).toEqual(['k(2,2,1)', `CompactedError ${pinned}`]);
  });

  it('spans with events, and those on two sides of one, are not joined', () => {
    const window = new Window(1);
    for (let index = 1; index <= SPANS_MAX + 10; index++) {
      const at = index * 100;
      window.advance(at);
      window.advance(at + 50, at, index % 2 === 0);
      window.joinSpans(() => false);
    }
    for (const index of [1, 2, 3, 500, SPANS_MAX]) {
      expect([window.readable(index * 100, 'read'), window.readable(index * 100 + 50, 'read')]).toEqual([
        index * 100,
        index * 100 + 50,
      ]);
    }
    expect(window.spansFloor).toBe(11 * 100 + 50);
  });

  it('never lowers a floor (F12)', () => {
    const window = new Window(100);
    window.raise(50, 51);
    window.raise(40, 41);
    expect([window.compactRevision, window.watchFloor]).toEqual([50, 51]);
    expect(() => window.compact(45, 'compact')).toThrow(/^Cannot compact: compacted/);
  });
});

describe('M18: retention and spans', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => ['put', `k${index}`] as const);

  it.each<[string, Retention, number]>([
    ['more entries than are kept', { events: 3 }, 5],
    ['more bytes than are kept', { bytes: 10 }, 5],
    ['one entry, the only one kept', { events: 1 }, 1],
    ['more entries than are kept by default', {}, 10_001],
  ])('a span of %s still reaches who is caught up', async (_, retention, count) => {
    const parts = new Parts({ retention });
    parts.commit(9, ['put', 'a']);
    const idle = parts.watch({ prefix: '' });
    await idle.drain();
    parts.span(30, ...keys(count));
    // Not above the revision that the span starts from: what waits at 10 gets it, and 10 is a legal start.
    expect(parts.mvcc.window.compactRevision).toBeLessThanOrEqual(9);
    const [batch] = (await idle.drain()).batches;
    expect([batch?.after, batch?.revision, batch?.events.length, idle.error]).toEqual([9, 30, count, undefined]);
    expect(await start(parts, 10)).toMatch(/^\(9,30\]: put k0/);
    expect(await start(parts, 11)).toBe('CompactedError 31');
    await parts.compactFully();
    expect(await start(parts, 10)).toMatch(/^\(9,30\]: put k0/);
  });

  it('the age of what came before an outage ends nobody either, nor the timer that finds out later', async () => {
    const parts = new Parts({ retention: { ageMs: 60_000 } });
    for (const revision of [8, 9]) parts.commit(revision, ['put', 'a']);
    const idle = parts.watch({ prefix: '' });
    await idle.drain();
    await parts.clock.advance(61_000);
    parts.span(30, ['put', 'b']);
    await parts.clock.advance(3_600_000);
    expect([await idle.take(), parts.mvcc.window.compactRevision]).toEqual([['(9,30]: put b(30,30,1)'], 9]);
  });

  it('a span that fits is kept with its start, an older one goes as a whole', async () => {
    const parts = new Parts({ retention: { events: 5 } });
    parts.commit(9, ['put', 'a'], ['put', 'b']);
    parts.span(30, ...keys(4));
    parts.commit(31, ['put', 'a']);
    expect(parts.mvcc.window.compactRevision).toBe(9);
    expect(await start(parts, 10)).toMatch(/^\(9,30\]/);
    parts.commit(32, ['put', 'a']);
    expect([parts.mvcc.window.compactRevision, await start(parts, 10)]).toEqual([31, 'CompactedError 31']);
  });

  it('a span without a change pushes nothing out, neither does a commit outside of what is kept', async () => {
    const parts = new Parts({ retention: { ageMs: 1_000 } });
    parts.commit(9, ['put', 'a']);
    const lagging = parts.watch({ prefix: '' }, { fromRevision: 9 });
    await parts.clock.advance(2_000);
    parts.span(30);
    parts.commit(31);
    await parts.clock.advance(2_000);
    expect([await lagging.take(), parts.mvcc.window.compactRevision]).toEqual([['9: put a(9,9,1)'], 0]);
  });

  it('user compaction still moves to the end of a hole (M16)', async () => {
    const parts = openWithHole(['put', 'k']);
    expect(parts.applier.compact(30, 'compact')).toBe(30);
    expect([await start(parts, 10), await start(parts, 31)]).toEqual(['CompactedError 31', 'nothing']);
  });
});
