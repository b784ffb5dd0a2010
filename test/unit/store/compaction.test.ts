import { describe, expect, it } from 'vitest';
import { Compactor } from '../../../src/store/compactor.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { CompactedError, FutureRevisionError } from '../../../src/types/errors.ts';
import { brief, openTestStore, Parts, type Sketch } from './fixture.ts';

/**
 * Compaction: rules R22-R24, R26, M16, cases C14-C22 and C24 without restarts (part 2; the index level C23 is in
 * test/unit/core).
 *
 * ```text
 *   the key of C16-C18        put     del     put      del      put put del
 *   revision              1 2 . 4 . . 6 . 8 . 10 . . 12 . . 14  15  16 17
 * ```
 */
const HISTORY: [number, 'put' | 'delete'][] = [
  [2, 'put'],
  [4, 'put'],
  [6, 'delete'],
  [8, 'put'],
  [10, 'put'],
  [12, 'delete'],
  [14, 'put'],
  [15, 'put'],
  [16, 'delete'],
];

/** C16's key, and another one that brings the store to 17. */
function openHistory(): Parts {
  const parts = new Parts();
  for (const [revision, type] of HISTORY) parts.commit(revision, [type, 'foo'] as Sketch);
  parts.commit(17, ['put', 'other']);
  return parts;
}

const STATES: [number, string][] = [
  [17, 'none'],
  [16, 'none'],
  [15, 'foo(14,15,2)'],
  [14, 'foo(14,14,1)'],
  [13, 'none'],
  [12, 'none'],
  [11, 'foo(8,10,2)'],
  [10, 'foo(8,10,2)'],
  [9, 'foo(8,8,1)'],
  [8, 'foo(8,8,1)'],
  [7, 'none'],
  [6, 'none'],
  [5, 'foo(2,4,2)'],
  [4, 'foo(2,4,2)'],
  [3, 'foo(2,2,1)'],
  [2, 'foo(2,2,1)'],
  [1, 'none'],
];

describe('what may be compacted', () => {
  it('C15, R22: 3 puts, then C0, C1, C1, C4, C5, C100', async () => {
    const { store } = await openTestStore();
    for (let index = 0; index < 3; index++) await store.put('foo', index);
    const outcomes: unknown[] = [];
    for (const revision of [0, 1, 1, 4, 5, 100]) {
      outcomes.push(await store.compact(revision).catch((error: unknown) => (error as Error).name));
    }
    const ok = (revision: number) => ({ requested: revision, compactRevision: revision });
    expect(outcomes).toEqual([ok(0), ok(1), 'CompactedError', ok(4), 'FutureRevisionError', 'FutureRevisionError']);
  });

  it('R22, M16: compactRevision reads 0 before the first compaction, and errors carry the legal values', async () => {
    const { store } = await openTestStore();
    await store.put('a', 1);
    await store.put('a', 2);
    expect(store.compactRevision).toBe(0);
    await store.compact(2);
    const low = await store.compact(2).catch((error: unknown) => error);
    expect(low).toBeInstanceOf(CompactedError);
    expect(low).toMatchObject({ minRevision: 3, compactRevision: 2 });
    const high = await store.compact(4).catch((error: unknown) => error);
    expect(high).toBeInstanceOf(FutureRevisionError);
    expect(high).toMatchObject({ revision: 4, currentRevision: 3 });
  });

  it('R26: compaction at the current revision is legal and changes no state', async () => {
    const { store, clock } = await openTestStore();
    await store.put('a', 1);
    await store.compact(2);
    while (await clock.advanceToNext());
    expect([store.revision, brief(store.get('a') as never), store.get('a', { revision: 2 })?.value]).toEqual([
      2,
      'a(2,2,1)',
      1,
    ]);
  });
});

describe('what is left', () => {
  it('C14, R24: history at and above the low watermark stays, versions go on counting', async () => {
    const { store, clock } = await openTestStore<string>();
    await store.put('foo', 'b0');
    await store.put('foo', 'b1');
    await store.delete('foo');
    await store.put('foo', 'b2');
    const seen: string[] = [];
    for (let revision = 1; revision <= 4; revision++) {
      await store.compact(revision);
      while (await clock.advanceToNext());
      const kv = store.get('foo', { revision: revision + 1 });
      seen.push(`${kv?.value} ${brief(kv)}`);
    }
    expect(seen).toEqual(['b0 foo(2,2,1)', 'b1 foo(2,3,2)', 'undefined none', 'b2 foo(5,5,1)']);
    await store.put('foo', 'b3');
    await store.compact(6);
    while (await clock.advanceToNext());
    expect(brief(store.get('foo'))).toBe('foo(5,6,2)');
  });

  it('C16, R23: every revision of a key with three generations', async () => {
    const parts = openHistory();
    for (const [revision, state] of STATES) expect([revision, parts.at('foo', revision)]).toEqual([revision, state]);
    parts.applier.compact(4, 'compact');
    for (const isDone of [false, true]) {
      if (isDone) await parts.compactFully();
      for (const [revision, state] of STATES) {
        expect([revision, parts.at('foo', revision)]).toEqual([revision, revision < 4 ? 'CompactedError 4' : state]);
      }
    }
  });

  // The versions that stay: those that a read or a watch from the low watermark on can still meet.
  it.each<[number, string[]]>([
    [1, ['2', '4', '6t', '8', '10', '12t', '14', '15', '16t']],
    [2, ['2', '4', '6t', '8', '10', '12t', '14', '15', '16t']],
    [3, ['2', '4', '6t', '8', '10', '12t', '14', '15', '16t']],
    [4, ['4', '6t', '8', '10', '12t', '14', '15', '16t']],
    [5, ['4', '6t', '8', '10', '12t', '14', '15', '16t']],
    [6, ['6t', '8', '10', '12t', '14', '15', '16t']],
    [7, ['8', '10', '12t', '14', '15', '16t']],
    [8, ['8', '10', '12t', '14', '15', '16t']],
    [9, ['8', '10', '12t', '14', '15', '16t']],
    [10, ['10', '12t', '14', '15', '16t']],
    [11, ['10', '12t', '14', '15', '16t']],
    [12, ['12t', '14', '15', '16t']],
    [13, ['14', '15', '16t']],
    [14, ['14', '15', '16t']],
    [15, ['15', '16t']],
    [16, ['16t']],
    [17, []],
  ])('C17, C18: compact(%i) leaves %j', async (revision, left) => {
    const parts = openHistory();
    parts.applier.compact(revision, 'compact');
    await parts.compactFully();
    // And `other`, put at 17.
    expect(parts.mvcc.core.stats().versions).toBe(left.length + 1);
    const reader = parts.watch({ key: 'foo' }, { fromRevision: revision });
    await reader.drain();
    const events = reader.batches.map(({ revision: at, events }) => `${at}${events[0]?.type === 'delete' ? 't' : ''}`);
    expect(events).toEqual(left.filter((name) => Number.parseInt(name, 10) >= revision));
    for (const [at, state] of STATES) if (at >= revision) expect(parts.at('foo', at)).toBe(state);
  });

  it('C17 step by step: the same from the first compaction to the last, one slice at a time', async () => {
    const parts = openHistory();
    for (let revision = 1; revision <= 17; revision++) {
      parts.applier.compact(revision, 'compact');
      while (!parts.mvcc.state.compactStep(1)) {
        parts.mvcc.core.verify();
        for (const [at, state] of STATES) if (at >= revision) expect(parts.at('foo', at)).toBe(state);
      }
    }
    expect(parts.mvcc.core.stats()).toMatchObject({ keys: 1, versions: 1 });
  });

  it('C19: reads at every revision, before and after', async () => {
    const { store, clock } = await openTestStore<string>();
    for (let index = 1; index <= 5; index++) await store.put(`foo${index}`, 'x');
    await store.delete('foo1');
    await store.compact(7);
    const ask = () =>
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((revision) => {
        try {
          return store.range({ prefix: '', revision }).kvs.map(brief).join(' ');
        } catch (error) {
          return (error as Error).name;
        }
      });
    const before = ask();
    while (await clock.advanceToNext());
    expect(ask()).toEqual(before);
    expect(before[7]).toBe('foo2(3,3,1) foo3(4,4,1) foo4(5,5,1) foo5(6,6,1)');
    await store.put('foo1', 'again');
    expect(brief(store.get('foo1'))).toBe('foo1(8,8,1)');
  });

  it('C20: a tombstone exactly at the low watermark stays for a watch, and goes at the next compaction', async () => {
    const parts = new Parts();
    parts.commit(15, ['put', 'foo']);
    parts.commit(16, ['delete', 'foo']);
    parts.applier.compact(16, 'compact');
    await parts.compactFully();
    parts.commit(17, ['put', 'foo']);
    parts.commit(18, ['put', 'foo']);
    expect(await parts.watch({ key: 'foo' }, { fromRevision: 16 }).take()).toEqual([
      '16: delete foo@16',
      '17: put foo(17,17,1)',
      '18: put foo(17,18,2)',
    ]);
    parts.applier.compact(17, 'compact');
    await parts.compactFully();
    expect(parts.mvcc.core.stats().versions).toBe(2);
    expect(await parts.watch({ key: 'foo' }, { fromRevision: 17 }).take()).toEqual([
      '17: put foo(17,17,1)',
      '18: put foo(17,18,2)',
    ]);
  });

  it('C21: an emptied store keeps its revision', async () => {
    const { store, clock } = await openTestStore();
    for (let index = 0; index < 3; index++) await store.put('foo', index);
    await store.delete('foo');
    await store.compact(5);
    while (await clock.advanceToNext());
    await store.put('bar', 1);
    await store.compact(6);
    while (await clock.advanceToNext());
    expect([store.revision, store.get('foo')]).toEqual([6, undefined]);
    expect(store.stats()).toMatchObject({ keys: 1, storedVersions: 1, logEntries: 1 });
  });

  it('C22: the logical compaction is at once, the physical one is a timer', async () => {
    const { store, clock } = await openTestStore();
    for (let index = 0; index < 3; index++) await store.put('foo', index);
    await store.compact(2);
    expect(() => store.get('foo', { revision: 1 })).toThrow(CompactedError);
    await store.compact(4);
    expect([store.stats().storedVersions, clock.pending]).toEqual([3, 1]);
    while (await clock.advanceToNext());
    expect([store.stats().storedVersions, clock.pending]).toEqual([1, 0]);
  });

  it('M13, M16: a repair frees what lies below it without another commit, a restart leaves no timer', async () => {
    const versions = (parts: Parts) => parts.mvcc.core.stats().versions;
    const open = () => {
      const parts = new Parts();
      for (let revision = 2; revision < 10; revision++) parts.commit(revision, ['put', 'k']);
      return parts;
    };
    const repairs: [string, (parts: Parts) => void, number][] = [
      ['with a difference', (parts) => parts.repair(30, ['put', 'k']), 1],
      ['without one', (parts) => parts.applier.distrustHistory(), 1],
    ];
    for (const [name, repair, expected] of repairs) {
      const parts = open();
      repair(parts);
      expect([name, parts.clock.pending]).toEqual([name, 1]);
      while (await parts.clock.advanceToNext());
      expect([name, versions(parts)]).toEqual([name, expected]);
    }
    const parts = open();
    parts.applier.compact(8, 'compact');
    parts.applier.restart({ revision: 30, changes: parts.changes(30, [['put', 'k']]) }, 'apply a list');
    expect([parts.clock.pending, versions(parts)]).toEqual([0, 1]);
  });

  it('C24: keys rewritten in the reverse order', async () => {
    const { store } = await openTestStore<string>();
    for (const key of ['foo', 'foo1', 'foo2', 'foo2', 'foo1', 'foo']) await store.put(key, 'x');
    const mods = (request: object) =>
      store.range({ start: 'foo', end: 'fop', ...request }).kvs.map((kv) => kv.modRevision);
    expect(mods({ revision: 7 })).toEqual([7, 6, 5]);
    expect(store.range({ start: 'foo', end: 'fop', revision: 7, limit: 1 })).toMatchObject({ count: 3, more: true });
    expect(mods({ revision: 4 })).toEqual([2, 3, 4]);
    expect([2, 3, 5, 6].map((revision) => mods({ start: 'foo1', revision }))).toEqual([[], [3], [3, 5], [6, 5]]);
  });

  it('U23: a compacted delete never lets an older put come back', async () => {
    const { store, clock } = await openTestStore();
    await store.put('node', 1);
    await store.put('node', 2);
    await store.delete('node');
    await store.put('other', 1);
    await store.compact(5);
    while (await clock.advanceToNext());
    expect([store.get('node'), store.range({ prefix: '' }).count]).toEqual([undefined, 1]);
  });
});

describe('Compactor', () => {
  function open(left: number) {
    const clock = createVirtualClock();
    const budgets: number[] = [];
    const work = { left };
    const compactor = new Compactor({
      clock,
      step: (budget) => {
        budgets.push(budget);
        work.left = Math.max(0, work.left - budget);
        return work.left === 0;
      },
    });
    return { clock, budgets, compactor, work };
  }

  it('works in slices by timer until nothing is left, and holds no timer then', async () => {
    const { clock, budgets, compactor } = open(10_000);
    compactor.start();
    compactor.start();
    expect([budgets.length, clock.pending]).toEqual([0, 1]);
    while (await clock.advanceToNext());
    expect([budgets, clock.pending]).toEqual([[4096, 4096, 4096], 0]);
  });

  it('takes a slice along when commits have added 64 entries, of sixteen times as many; less is for the timer', () => {
    const { clock, budgets, compactor } = open(100_000);
    compactor.onCommit(1000, false);
    expect([budgets, clock.pending]).toEqual([[], 0]);
    compactor.onCommit(63, true);
    expect([budgets, clock.pending]).toEqual([[], 1]);
    compactor.onCommit(1, false);
    compactor.onCommit(40, false);
    compactor.onCommit(40, false);
    compactor.onCommit(64, false);
    expect([budgets, clock.pending]).toEqual([[1024, 1280, 1024], 1]);
  });

  it('a commit or a slice that is the last one ends the timer, and what was added before counts no more', () => {
    for (const end of ['commit', 'slice', 'stop'] as const) {
      const { clock, budgets, compactor, work } = open(100);
      compactor.onCommit(63, true);
      if (end === 'commit') compactor.onCommit(1, false);
      else if (end === 'slice') expect(compactor.sliceNow()).toBe(true);
      else compactor.stop();
      expect([end, clock.pending, compactor.sliceNow()]).toEqual([end, 0, false]);
      work.left = 1000;
      compactor.onCommit(63, true);
      expect([end, clock.pending, budgets.length]).toEqual([end, 1, end === 'stop' ? 0 : 1]);
    }
  });

  it('a slice at once that is not the last one leaves the rest to the timer that there is', async () => {
    const { clock, budgets, compactor } = open(5000);
    compactor.start();
    expect([compactor.sliceNow(), clock.pending]).toEqual([true, 1]);
    while (await clock.advanceToNext());
    expect([budgets, clock.pending, compactor.sliceNow()]).toEqual([[4096, 4096], 0, false]);
    compactor.onCommit(63, false);
    expect([budgets.length, clock.pending]).toEqual([2, 0]);
  });

  it('the timer that is the last one leaves nothing of what was added', async () => {
    const { clock, budgets, compactor, work } = open(10);
    compactor.onCommit(63, true);
    while (await clock.advanceToNext());
    work.left = 1000;
    compactor.onCommit(63, true);
    expect([budgets, clock.pending]).toEqual([[4096], 1]);
  });

  it('keeps up with writers that never let a timer run', () => {
    const { compactor, work } = open(0);
    for (let commit = 0; commit < 2000; commit++) {
      work.left += 10;
      compactor.onCommit(10, true);
    }
    expect(work.left).toBeLessThan(200);
  });

  it('keeps up with commits larger than any slice', () => {
    const { compactor, work } = open(0);
    for (let commit = 0; commit < 20; commit++) {
      work.left += 100_000;
      compactor.onCommit(100_000, true);
    }
    expect(work.left).toBe(0);
  });

  it('does nothing while nothing is compacted, and nothing after stop()', async () => {
    const { clock, budgets, compactor } = open(100);
    compactor.onCommit(1000, false);
    expect([budgets, clock.pending]).toEqual([[], 0]);
    compactor.start();
    compactor.stop();
    while (await clock.advanceToNext());
    expect(budgets).toEqual([]);
  });
});
