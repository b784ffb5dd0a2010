import { describe, expect, it } from 'vitest';
import { KeepAlive, type KeepAliveOptions } from '../../../src/lease/keep-alive.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

/** A lease of 300 ms whose renewals do what `answers` say, one after the other; notes when each began. */
function renewing(
  answers: readonly ('renewed' | 'failed' | 'silent' | number)[],
  options: Partial<KeepAliveOptions> = {},
) {
  const clock = createVirtualClock();
  const start = clock.now();
  const begun: number[] = [];
  const given: AbortSignal[] = [];
  const renew = (signal: AbortSignal) => {
    const answer = answers[begun.length] ?? 'renewed';
    begun.push(clock.now() - start);
    given.push(signal);
    if (answer === 'failed') return Promise.reject(new Error('no'));
    if (answer === 'renewed') return Promise.resolve({ ttlMs: 300 });
    if (typeof answer === 'number') return Promise.resolve({ ttlMs: answer });
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const keepAlive = new KeepAlive({ clock, random: () => 0, ttlMs: 300, renew, signal: undefined, ...options });
  return { clock, begun, given, keepAlive };
}

describe('the renewals of a lease', () => {
  const F = 'failed' as const;
  const R = 'renewed' as const;
  it.each([
    ['come each third of the TTL', [R, R, R], 399, [100, 200, 300]],
    ['take the TTL of the last answer', [R, 600, 60], 480, [100, 200, 400, 420]],
    [
      'are tried again after a twentieth, then twice as long, at most a sixth',
      [F, F, F, F, F],
      320,
      [100, 115, 145, 195, 245, 295],
    ],
    ['begin with a twentieth again after a success', [F, F, R, F, R], 360, [100, 115, 145, 245, 260, 360]],
    ['are given up after a third without an answer', ['silent', R], 320, [100, 215, 315]],
  ] as const)('%s', async (_, answers, ms, expected) => {
    const { clock, begun } = renewing(answers);
    await clock.advance(ms);
    expect(begun).toEqual(expected);
  });

  it('wait less by chance, at most a fifth', async () => {
    const { clock, begun } = renewing(['renewed', 'failed'], { random: () => 0.5 });
    await clock.advance(200);
    expect(begun).toEqual([90, 180, 193.5]);
  });

  it('do not slow down without end, however many fail', async () => {
    const { clock, begun } = renewing(Array.from({ length: 2000 }, () => 'failed' as const));
    await clock.advance(60_000);
    const last = begun.slice(-2);
    expect((last[1] ?? 0) - (last[0] ?? 0)).toBe(50);
  });

  it.each(['before the first one', 'during one'])(
    'end when stopped %s: no timer, no renewal, no listener',
    async (when) => {
      const stop = new AbortController();
      const listeners = countListeners(stop.signal);
      const { clock, begun, given, keepAlive } = renewing(['silent'], { signal: stop.signal });
      if (when === 'during one') await clock.advance(150);
      expect(listeners.count).toBe(1);
      keepAlive.stop();
      keepAlive.stop();
      await clock.settle();
      expect(clock.pending).toBe(0);
      expect(given.map(({ aborted }) => aborted)).toEqual(when === 'during one' ? [true] : []);
      await clock.advance(1000);
      expect([clock.pending, begun.length, listeners.count]).toEqual([0, when === 'during one' ? 1 : 0, 0]);
      expect(keepAlive.isStopped).toBe(true);
    },
  );

  it('end with a signal, also one that had aborted before', async () => {
    const { clock, begun, keepAlive } = renewing([], { signal: AbortSignal.abort() });
    await clock.advance(1000);
    expect([clock.pending, begun.length, keepAlive.isStopped]).toEqual([0, 0, true]);
  });
});

function countListeners(signal: AbortSignal): { count: number } {
  const listeners = { count: 0 };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.count++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.count--;
    remove(...args);
  };
  return listeners;
}
