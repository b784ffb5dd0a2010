import { describe, expect, it } from 'vitest';
import { createObjectSource, createSeededRandom, createVirtualClock } from '../../../src/testing/mod.ts';
import { CompactedError } from '../../../src/types/errors.ts';
import type { SourceWatchItem } from '../../../src/types/source.ts';

describe('virtual clock', () => {
  it('runs due timers in order of time, then of their making, and moves time with them', async () => {
    const clock = createVirtualClock({ startMs: 1000, wallTimeMs: 5000 });
    const log: string[] = [];
    for (const [name, delayMs] of [
      ['c', 30],
      ['a', 10],
      ['b', 10],
      ['d', 31],
    ] as const) {
      clock.after(delayMs, () => log.push(`${name}@${clock.now()}/${clock.wallTime()}`));
    }
    expect(clock.pending).toBe(4);
    await clock.advance(30);
    expect(log).toEqual(['a@1010/5010', 'b@1010/5010', 'c@1030/5030']);
    expect([clock.now(), clock.wallTime(), clock.pending]).toEqual([1030, 5030, 1]);
  });

  it('runs timers that timers and promise chains of any depth have made, if they are due', async () => {
    const clock = createVirtualClock();
    const log: number[] = [];
    const chain = async (): Promise<void> => {
      for (let depth = 0; depth < 5000; depth++) await undefined;
      clock.after(5, () => log.push(clock.now()));
    };
    clock.after(10, () => void chain());
    await clock.advance(15);
    expect(log).toEqual([15]);
  });

  it('never runs a timer inside `after`, and a cancelled one not at all', async () => {
    const clock = createVirtualClock();
    let runs = 0;
    clock.after(0, () => runs++);
    const cancel = clock.after(0, () => runs++);
    expect(runs).toBe(0);
    cancel();
    cancel();
    await clock.advance(0);
    expect(runs).toBe(1);
  });

  it('advances to the next timer, settles without moving, jumps in wall time only', async () => {
    const clock = createVirtualClock({ wallTimeMs: 0 });
    expect(await clock.advanceToNext()).toBe(false);
    clock.after(2 ** 40, () => {});
    expect(await clock.advanceToNext()).toBe(true);
    expect(clock.now()).toBe(2 ** 40);
    await clock.settle();
    clock.jumpWallTime(-1000);
    expect([clock.now(), clock.wallTime()]).toEqual([2 ** 40, 2 ** 40 - 1000]);
  });
});

describe('virtual clock, given no number', () => {
  it('throws instead of standing still for ever', async () => {
    const clock = createVirtualClock();
    expect(() => clock.after(Number.NaN, () => {})).toThrow(RangeError);
    for (const delayMs of [undefined, '5', {}] as unknown[] as number[]) {
      expect(() => clock.after(delayMs, () => {})).toThrow(TypeError);
      await expect(clock.advance(delayMs)).rejects.toThrow(TypeError);
      expect(() => clock.jumpWallTime(delayMs)).toThrow(TypeError);
    }
    for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(clock.advance(delayMs)).rejects.toThrow(RangeError);
      expect(() => clock.jumpWallTime(delayMs)).toThrow(RangeError);
    }
    expect([clock.now(), clock.pending]).toEqual([0, 0]);
    let runs = 0;
    clock.after(-5, () => runs++);
    clock.after(Number.POSITIVE_INFINITY, () => runs++);
    await clock.advance(-5);
    expect([runs, clock.now()]).toEqual([1, 0]);
    expect(await clock.advanceToNext()).toBe(false);
  });
});

describe('seeded random', () => {
  it('repeats for a seed, differs between seeds, and is even', () => {
    const take = (seed: number, count: number): number[] => {
      const random = createSeededRandom(seed);
      return Array.from({ length: count }, () => random());
    };
    expect(take(7, 100)).toEqual(take(7, 100));
    expect(take(7, 10)).not.toEqual(take(8, 10));
    const values = take(1, 10_000);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    for (let bin = 0; bin < 10; bin++) {
      const count = values.filter((value) => Math.floor(value * 10) === bin).length;
      expect(Math.abs(count - 1000)).toBeLessThan(150);
    }
    // First values of neighbouring seeds have nothing in common.
    const firsts = Array.from({ length: 1000 }, (_, seed) => take(seed, 1)[0] ?? 0);
    expect(Math.abs(firsts.reduce((sum, value) => sum + value, 0) / 1000 - 0.5)).toBeLessThan(0.05);
  });
});

describe('object source', () => {
  function create(faults = {}) {
    const clock = createVirtualClock();
    const source = createObjectSource<number[]>({ clock, random: createSeededRandom(1), faults, historyMax: 5 });
    const items: string[] = [];
    const open = async (after: string, signal?: AbortSignal): Promise<unknown> => {
      try {
        for await (const item of source.watch({ after, ...(signal === undefined ? {} : { signal }) }))
          items.push(describeItem(item));
      } catch (error) {
        return error;
      }
      return undefined;
    };
    return { clock, source, items, open };
  }

  function describeItem(item: SourceWatchItem<number[]>): string {
    if (item.type === 'bookmark') return `bookmark ${item.resourceVersion}`;
    if (item.type === 'deleted') return `deleted ${item.uid} ${item.resourceVersion}`;
    return `${item.type} ${item.object.uid} ${item.object.resourceVersion} ${item.object.deleting}`;
  }

  it('lists, watches and reads; a re-created object has another uid', async () => {
    const { clock, source, items, open } = create();
    source.put('a', [1]);
    const list = await source.list({});
    const end = open(list.resourceVersion);
    source.put('a', [2]);
    source.startDeletion('a');
    source.startDeletion('a');
    source.delete('a');
    source.delete('a');
    source.put('a', [3]);
    source.bookmark();
    await clock.settle();
    expect(items).toEqual([
      'modified uid-1 2 false',
      'modified uid-1 3 true',
      'deleted uid-1 4',
      'added uid-2 5 false',
      'bookmark 5',
    ]);
    expect(await source.get('a', {})).toEqual({
      name: 'a',
      uid: 'uid-2',
      resourceVersion: '5',
      deleting: false,
      finalizers: [],
      object: [3],
    });
    expect(await source.get('b', {})).toBe(undefined);
    expect(source.watches).toBe(1);
    source.breakWatches(new RangeError('cut'));
    expect(await end).toBeInstanceOf(RangeError);
    expect(source.watches).toBe(0);
  });

  it('replays from a version, and refuses one that the history has passed', async () => {
    const { clock, source, items, open } = create();
    for (let n = 0; n < 8; n++) source.put('a', [n]);
    const stop = new AbortController();
    const end = open('5', stop.signal);
    await clock.settle();
    expect(items).toHaveLength(3);
    stop.abort('enough');
    expect(await end).toBe('enough');
    expect(await open('2')).toBeInstanceOf(CompactedError);
    source.compact();
    expect(await open('7')).toBeInstanceOf(CompactedError);
  });

  it('loses, doubles, delays, fails and answers from the past when told to, and stops when told to', async () => {
    const { clock, source, items, open } = create({ duplicateRate: 1 });
    const end = open('0');
    source.put('a', [1]);
    await clock.settle();
    expect(items).toHaveLength(2);
    source.setFaults({ dropRate: 1 });
    source.put('a', [2]);
    await clock.settle();
    expect(items).toHaveLength(2);
    source.setFaults({ delayMsMax: 100 });
    for (let n = 0; n < 5; n++) source.put('a', [n]);
    await clock.advance(100);
    const versions = items.slice(2).map((item) => Number(item.split(' ')[2]));
    expect([...versions].sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7]);
    expect(versions).not.toEqual([3, 4, 5, 6, 7]);
    source.setFaults({ readErrorRate: 1 });
    await expect(source.list({})).rejects.toThrow('fault');
    source.setFaults({ staleListRate: 1 });
    const seen = new Set<string>();
    for (let n = 0; n < 50; n++) {
      const { resourceVersion, items: listed } = await source.list({});
      seen.add(resourceVersion);
      // One consistent state: that of its version.
      expect(listed[0]?.resourceVersion).toBe(resourceVersion);
    }
    expect(seen.size).toBeGreaterThan(3);
    source.setFaults({});
    expect((await source.list({})).resourceVersion).toBe('7');
    source.replay(2);
    await clock.settle();
    expect(items.slice(-2)).toEqual(['modified uid-1 3 false', 'modified uid-1 4 false']);
    source.breakWatches();
    await end;
  });
});
