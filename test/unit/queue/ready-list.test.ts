import { describe, expect, it } from 'vitest';
import { KeyedQueue } from '../../../src/queue/keyed-queue.ts';
import { ReadyList } from '../../../src/queue/ready-list.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { reproduce, testSeed } from '../../support/size.ts';

/** Everything that is in line, in the order of service. */
function takeAll(list: ReadyList): string[] {
  const taken: string[] = [];
  for (let key = list.take(); key !== undefined; key = list.take()) taken.push(key);
  return taken;
}

describe('a list of ready keys', () => {
  it('without priorities is first come first served', () => {
    const list = new ReadyList(undefined);
    for (const key of ['b', 'a', 'c']) list.add(key, 0);
    list.review('a');
    expect([list.size, takeAll(list), list.size]).toEqual([3, ['b', 'a', 'c'], 0]);
  });

  it("by priority, ties first come first served, and age makes up for it (A30')", () => {
    const list = new ReadyList({ priority: (key) => Number(key[0]), ageingMs: 100 });
    for (const [key, nowMs] of [
      ['0a', 0],
      ['1a', 50],
      ['1b', 50],
      ['2a', 60],
      ['0b', 60],
      ['1c', 101],
    ] as const) {
      list.add(key, nowMs);
    }
    expect(takeAll(list)).toEqual(['2a', '1a', '1b', '0a', '1c', '0b']);
  });

  it("nobody is overtaken by who comes later than the difference of priorities times ageingMs (A30')", () => {
    const random = createSeededRandom(testSeed());
    const overtaken: string[] = [];
    for (let round = 0; round < 100; round++) {
      const ageingMs = 1 + random() * 50;
      const priorities = new Map<string, number>();
      const list = new ReadyList({ priority: (key) => priorities.get(key) ?? 0, ageingMs });
      const waiting = new Map<string, number>();
      for (let nowMs = 0; nowMs < 300; nowMs++) {
        const key = `k${nowMs}`;
        if (random() < 0.6) {
          priorities.set(key, Math.floor(random() * 7) - 3);
          waiting.set(key, nowMs);
          list.add(key, nowMs);
        } else {
          const taken = list.take();
          const takenMs = waiting.get(taken ?? '');
          if (taken === undefined || takenMs === undefined) continue;
          waiting.delete(taken);
          for (const [other, sinceMs] of waiting) {
            const stepsUp = (priorities.get(taken) ?? 0) - (priorities.get(other) ?? 0);
            if (takenMs - sinceMs > stepsUp * ageingMs + 1e-9) overtaken.push(`${other} by ${taken} in round ${round}`);
          }
        }
      }
      expect(list.size).toBe(waiting.size);
    }
    expect(overtaken, reproduce('unit')).toEqual([]);
  });

  it('moves up whose priority has risen, and holds a bounded number of stale places', () => {
    const priorities = new Map<string, number>();
    const list = new ReadyList({ priority: (key) => priorities.get(key) ?? 0, ageingMs: 100 });
    for (const key of ['a', 'b', 'c']) list.add(key, 0);
    for (let rise = 1; rise <= 1000; rise++) {
      priorities.set('c', rise);
      list.review('c');
    }
    priorities.set('b', -5);
    list.review('b');
    expect([list.size, takeAll(list)]).toEqual([3, ['c', 'a', 'b']]);
  });

  it('lets woken keys have every second turn', () => {
    const list = new ReadyList(undefined);
    for (const key of ['a', 'b', 'c', 'd']) list.add(key, 0);
    for (const key of ['w', 'd', 'x']) list.wake(key);
    expect(takeAll(list)).toEqual(['w', 'a', 'd', 'b', 'x', 'c']);
  });

  it('forgets everybody', () => {
    const list = new ReadyList({ priority: () => 1, ageingMs: 1 });
    list.add('a', 0);
    list.wake('b');
    list.clear();
    expect([list.size, list.take()]).toEqual([0, undefined]);
  });
});

describe('keyed queue: pause, waits without end, and waking', () => {
  it("starts nothing while paused, and takes notifications in (A35')", async () => {
    const clock = createVirtualClock();
    const runs: string[] = [];
    const queue = new KeyedQueue({
      clock,
      run: async (key) => {
        runs.push(`${key}@${clock.now()}`);
        return key === 'a' && runs.length === 1 ? { afterMs: 20 } : 'idle';
      },
    });
    queue.notify('a');
    await clock.settle();
    queue.pause();
    queue.notify('b');
    await clock.advance(50);
    expect([runs, clock.pending]).toEqual([['a@0'], 0]);
    expect(queue.counts).toEqual({ queued: 2, running: 0, waiting: 0, keys: 2 });
    queue.resume();
    await clock.settle();
    expect(runs).toEqual(['a@0', 'b@50', 'a@50']);
  });

  it('waits without a timer until it is woken or notified; what is idle or held is not woken', async () => {
    const clock = createVirtualClock();
    const runs: string[] = [];
    let fails = 0;
    const queue = new KeyedQueue({
      clock,
      random: () => 0,
      backoff: { baseMs: 100, jitter: 0 },
      run: async (key) => {
        runs.push(key);
        if (fails-- > 0) throw new Error('no');
        return runs.length < 3 ? { afterMs: Number.POSITIVE_INFINITY } : 'idle';
      },
    });
    queue.wake('a');
    await clock.settle();
    expect(queue.stateOf('a')).toBe('idle');
    queue.notify('a');
    await clock.settle();
    expect([queue.stateOf('a'), clock.pending, runs.length]).toEqual(['waiting', 0, 1]);
    queue.wake('a');
    await clock.settle();
    expect(runs.length).toBe(2);
    fails = 1;
    queue.notify('a');
    await clock.settle();
    queue.wake('a');
    await clock.settle();
    expect([queue.stateOf('a'), runs.length]).toEqual(['backing-off', 3]);
    await clock.advance(100);
    expect([queue.stateOf('a'), runs.length]).toEqual(['idle', 4]);
  });

  it('a key that is woken while it runs, runs once more', async () => {
    const clock = createVirtualClock();
    let runs = 0;
    const queue = new KeyedQueue({
      clock,
      run: async () => {
        runs++;
        if (runs === 1) queue.wake('a');
        return runs === 1 ? { afterMs: Number.POSITIVE_INFINITY } : 'idle';
      },
    });
    queue.notify('a');
    await clock.settle();
    expect([runs, queue.counts.keys]).toEqual([2, 0]);
  });

  it.each(['again', 'idle', { afterMs: Number.POSITIVE_INFINITY }] as const)(
    "... before those in line, whatever the run comes to: %j (A45')",
    async (result) => {
      const runs: string[] = [];
      const queue = new KeyedQueue({
        clock: createVirtualClock(),
        concurrency: 1,
        run: async (key) => {
          runs.push(key);
          if (key !== 'woken' || runs.length > 1) return 'idle';
          for (let n = 0; n < 9; n++) queue.notify(`k${n}`);
          queue.wake(key);
          return result;
        },
      });
      queue.notify('woken');
      await queue.drained();
      await createVirtualClock().settle();
      expect(runs.indexOf('woken', 1)).toBeLessThanOrEqual(2);
      // Once: what was kept is used by then.
      expect(runs.filter((key) => key === 'woken')).toHaveLength(2);
    },
  );
});
