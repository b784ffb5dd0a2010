import { describe, expect, it } from 'vitest';
import { RetryPace } from '../../../src/cache/retry-pace.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { probe } from '../../support/replica-rig.ts';

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
