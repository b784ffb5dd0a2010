import { describe, expect, it } from 'vitest';
import { backoffDelayMs, resolveBackoff } from '../../../src/queue/backoff.ts';
import { KeyedQueue, type KeyedQueueOptions, type RunResult } from '../../../src/queue/keyed-queue.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

function createQueue(run: (key: string) => Promise<RunResult>, options: Partial<KeyedQueueOptions> = {}) {
  const clock = createVirtualClock();
  const runs: string[] = [];
  const queue = new KeyedQueue({
    clock,
    random: () => 0,
    backoff: { baseMs: 100, jitter: 0, maxMs: 1000 },
    ...options,
    run: (key) => {
      runs.push(`${key}@${clock.now()}`);
      return run(key);
    },
  });
  const work = (delayMs: number): Promise<void> => new Promise((resolve) => clock.after(delayMs, resolve));
  return { clock, queue, runs, work };
}

describe('keyed queue', () => {
  it('is not run inside notify; many notifications are one run', async () => {
    const { clock, queue, runs } = createQueue(async () => 'idle');
    for (let n = 0; n < 5; n++) queue.notify('a');
    expect(runs).toEqual([]);
    expect(queue.counts).toEqual({ queued: 1, running: 0, waiting: 0, keys: 1 });
    await clock.settle();
    expect(runs).toEqual(['a@0']);
    expect(queue.counts).toEqual({ queued: 0, running: 0, waiting: 0, keys: 0 });
  });

  it('a notification during a run makes one more run after it, never beside it', async () => {
    const { clock, queue, runs, work } = createQueue(() => work(10).then(() => 'idle'));
    queue.notify('a');
    await clock.advance(5);
    queue.notify('a');
    queue.notify('a');
    expect(queue.counts).toEqual({ queued: 0, running: 1, waiting: 0, keys: 1 });
    await clock.advance(100);
    expect(runs).toEqual(['a@0', 'a@10']);
  });

  it('runs at most `concurrency` keys at a time, first come first served; "again" goes to the end', async () => {
    let agains = 1;
    const { clock, queue, runs, work } = createQueue(
      (key) => work(10).then(() => (key === 'a' && agains-- > 0 ? 'again' : 'idle')),
      {
        concurrency: 2,
      },
    );
    for (const key of ['a', 'b', 'c', 'd', 'e']) queue.notify(key);
    await clock.advance(100);
    expect(runs).toEqual(['a@0', 'b@0', 'c@10', 'd@10', 'e@20', 'a@20']);
  });

  it('waits as long as asked; a notification cuts a wait short, but not a backoff', async () => {
    for (const backoff of [false, true]) {
      let isFirst = true;
      const { clock, queue, runs } = createQueue(async () => {
        const result = isFirst ? { afterMs: 50, backoff } : 'idle';
        isFirst = false;
        return result;
      });
      queue.notify('a');
      await clock.advance(20);
      expect(queue.counts).toEqual({ queued: 0, running: 0, waiting: 1, keys: 1 });
      queue.notify('a');
      await clock.advance(100);
      expect(runs).toEqual(backoff ? ['a@0', 'a@50'] : ['a@0', 'a@20']);
      expect(clock.pending).toBe(0);
    }
  });

  it('backs off per key after rejections, and begins anew after a success', async () => {
    const errors: string[] = [];
    const { clock, queue, runs } = createQueue(
      async (key) => {
        if (key === 'bad' && runs.length !== 4) throw new Error('no');
        return key === 'bad' ? 'again' : 'idle';
      },
      { onError: (key, error, delayMs) => errors.push(`${key} ${String(error)} ${delayMs}`) },
    );
    queue.notify('bad');
    await clock.advance(850);
    queue.notify('good');
    await clock.settle();
    expect(runs).toEqual(['bad@0', 'bad@100', 'bad@300', 'bad@700', 'bad@700', 'bad@800', 'good@850']);
    expect(errors.map((error) => error.split(' ').at(-1))).toEqual(['100', '200', '400', '100', '200']);
    queue.close();
    expect(clock.pending).toBe(0);
  });

  it('says when the last key is idle', async () => {
    let idle = 0;
    const { clock, queue, work } = createQueue((key) => work(key === 'a' ? 10 : 20).then(() => 'idle'), {
      onIdle: () => idle++,
    });
    for (const key of ['a', 'b']) queue.notify(key);
    await clock.advance(15);
    expect(idle).toBe(0);
    await clock.advance(15);
    expect(idle).toBe(1);
  });

  it('after close starts nothing; drained resolves with the last run', async () => {
    const { clock, queue, runs, work } = createQueue(() => work(10).then(() => 'again'), { concurrency: 1 });
    await queue.drained();
    for (const key of ['a', 'b']) queue.notify(key);
    await clock.advance(5);
    queue.close();
    queue.notify('c');
    let isDrained = false;
    const drained = queue.drained().then(() => {
      isDrained = true;
    });
    await clock.advance(4);
    expect(isDrained).toBe(false);
    await clock.advance(1);
    expect(isDrained).toBe(true);
    await drained;
    expect(runs).toEqual(['a@0']);
    // Both were left behind; what came after the close was not taken in.
    expect(queue.counts).toEqual({ queued: 0, running: 0, waiting: 0, keys: 2 });
  });

  it('lets timers have their turn in a long burst', async () => {
    const { clock, queue, runs } = createQueue(async () => 'idle');
    for (let n = 0; n < 1000; n++) queue.notify(`k${n}`);
    await Promise.resolve();
    for (let turn = 0; turn < 2000; turn++) await Promise.resolve();
    expect(runs.length).toBe(256);
    await clock.advance(0);
    expect(runs.length).toBe(1000);
  });

  it('after close counts the keys that it has left behind, and none that came to their end', async () => {
    const { clock, queue, work } = createQueue(
      async (key) => {
        if (key === 'waits') return { afterMs: 50 };
        await work(10);
        if (key === 'fails') throw new Error('no');
        return 'idle';
      },
      { concurrency: 3 },
    );
    for (const key of ['waits', 'ends', 'fails', 'dirty', 'queued']) queue.notify(key);
    await clock.advance(5);
    queue.notify('dirty');
    queue.close();
    expect(queue.counts).toEqual({ queued: 0, running: 3, waiting: 0, keys: 5 });
    await clock.advance(100);
    expect(queue.counts).toEqual({ queued: 0, running: 0, waiting: 0, keys: 4 });
    expect(clock.pending).toBe(0);
  });

  it('goes on although everything that belongs to somebody else throws', async () => {
    let failures = 3;
    const thrown = (): never => {
      throw new Error('not mine');
    };
    const { clock, queue, runs } = createQueue(
      // No rejection but a throw: a function that is not async.
      () => (failures-- > 0 ? thrown() : Promise.resolve('idle')),
      { onError: thrown, onIdle: thrown, random: thrown, backoff: { baseMs: 100, factor: 1, jitter: 1 } },
    );
    queue.notify('a');
    await clock.advance(1000);
    expect(runs).toEqual(['a@0', 'a@100', 'a@200', 'a@300']);
    queue.notify('b');
    await clock.advance(0);
    expect(runs.at(-1)).toBe('b@1000');
    expect(queue.counts.keys).toBe(0);
  });

  it.each([0, 1.5, Number.NaN])('refuses a concurrency of %j', (concurrency) => {
    expect(() => new KeyedQueue({ run: async () => 'idle', concurrency })).toThrow(RangeError);
  });

  it('refuses a concurrency that is no number', () => {
    expect(() => new KeyedQueue({ run: async () => 'idle', concurrency: '2' as never })).toThrow(TypeError);
  });
});

describe('backoff', () => {
  it('grows from base to max and takes a random share away', () => {
    const backoff = resolveBackoff({ baseMs: 100, factor: 3, maxMs: 1000, jitter: 0.5 });
    expect([0, 1, 2, 3, 2000].map((failures) => backoffDelayMs(failures, backoff, () => 0))).toEqual([
      100, 300, 900, 1000, 1000,
    ]);
    expect(backoffDelayMs(0, backoff, () => 0.5)).toBe(75);
    expect(backoffDelayMs(0, resolveBackoff({ baseMs: 1, jitter: 1 }), () => 0.999)).toBe(1);
  });

  it('is a full one where there is no chance to be had', () => {
    const backoff = resolveBackoff({ baseMs: 100, jitter: 1 });
    const thrown = (): never => {
      throw new Error('no entropy');
    };
    for (const random of [thrown, () => Number.NaN, () => -1, () => 7]) {
      expect(backoffDelayMs(0, backoff, random)).toBe(100);
    }
  });

  it.each([
    { baseMs: 0 },
    { baseMs: Number.NaN },
    { factor: 0.5 },
    { maxMs: 1 },
    { maxMs: Number.POSITIVE_INFINITY },
    { jitter: 2 },
    { jitter: -1 },
  ])('refuses %j', (options) => {
    expect(() => resolveBackoff(options)).toThrow(RangeError);
  });
});
