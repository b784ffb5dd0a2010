import { describe, expect, it } from 'vitest';
import { AbortableItems, untilAborted } from '../../../src/cache/abortable.ts';
import { RetryPace } from '../../../src/cache/retry-pace.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { probe } from '../../support/replica-rig.ts';

const forever = () => new Promise<never>(() => {});

describe('untilAborted', () => {
  it('is the outcome of the call, also of one that throws at once', async () => {
    expect(await untilAborted(async () => 7, [undefined])).toBe(7);
    const failure = new Error('no');
    const throwing = () => {
      throw failure;
    };
    await expect(untilAborted(throwing, [])).rejects.toBe(failure);
  });

  it('does not wait for a deaf callee, tells it, and drops what it says later', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const told: unknown[] = [];
    let reject: (error: unknown) => void = () => {};
    const call = untilAborted(
      (signal) => {
        signal.addEventListener('abort', () => told.push(signal.reason));
        return new Promise<never>((_, rejectLate) => {
          reject = rejectLate;
        });
      },
      [one.signal, two.signal],
    );
    two.abort('second');
    one.abort('first');
    await expect(call).rejects.toBe('second');
    expect(told).toEqual(['second']);
    reject(new Error('too late'));
    await Promise.resolve();
  });

  it('starts nothing once aborted', async () => {
    let isStarted = false;
    const start = async () => {
      isStarted = true;
    };
    await expect(untilAborted(start, [undefined, AbortSignal.abort('gone')])).rejects.toBe('gone');
    expect(isStarted).toBe(false);
  });
});

describe('AbortableItems', () => {
  it('ends with the reason of its signal, for good', async () => {
    const abort = new AbortController();
    const items = new AbortableItems({ next: async () => ({ value: 1, done: false }) }, abort.signal);
    expect((await items.next()).value).toBe(1);
    const next = items.next();
    abort.abort('over');
    await expect(next).rejects.toBe('over');
    const settled = items.next();
    await expect(settled).rejects.toBe('over');
  });

  it('does not hang with its source', async () => {
    const abort = new AbortController();
    const items = new AbortableItems({ next: forever }, abort.signal);
    const next = items.next();
    abort.abort('over');
    await expect(next).rejects.toBe('over');
    await items.return();
  });
});

describe('RetryPace', () => {
  const backoff = { baseMs: 100, factor: 2, maxMs: 1_000, jitter: 0 };

  it('forgets failures after news, or after a connection that lived', async () => {
    const clock = createVirtualClock();
    const pace = new RetryPace({ clock, random: () => 0, backoff });
    const { signal } = new AbortController();
    const wait = async () => {
      const before = clock.now();
      const slept = probe(pace.sleep(signal));
      while (slept.state === 'pending') await clock.advanceToNext();
      return clock.now() - before;
    };
    expect([await wait(), await wait(), await wait()]).toEqual([100, 200, 400]);
    pace.opened();
    await clock.advance(399);
    pace.ended();
    expect(await wait()).toBe(800);
    pace.opened();
    await clock.advance(800);
    pace.ended();
    expect(await wait()).toBe(100);
    pace.succeeded();
    expect(await wait()).toBe(100);
  });

  it('lets the first restart go at once, and ends a wait with the signal', async () => {
    const clock = createVirtualClock();
    const pace = new RetryPace({ clock, random: () => 0, backoff });
    const abort = new AbortController();
    await pace.beforeRestart(abort.signal);
    const second = probe(pace.beforeRestart(abort.signal));
    await clock.advance(99);
    expect(second.state).toBe('pending');
    abort.abort();
    await clock.settle();
    expect([second.state, clock.pending]).toEqual(['resolved', 0]);
    await pace.sleep(abort.signal);
  });
});
