import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/system/system-clock.ts';
import { systemRandom } from '../../../src/system/system-random.ts';

/** The platform's limit for one timer; Node fires a longer one at once. */
const LIMIT = 2 ** 31 - 1;

describe('system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('has monotonic and wall time', () => {
    const [now, wall] = [systemClock.now(), systemClock.wallTime()];
    vi.advanceTimersByTime(5);
    expect([systemClock.now() - now, systemClock.wallTime() - wall]).toEqual([5, 5]);
  });

  it.each([1, 1500, LIMIT, LIMIT + 1, 3 * LIMIT + 7])('runs once after %i ms', (delayMs) => {
    const fn = vi.fn();
    systemClock.after(delayMs, fn);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(Math.max(0, delayMs - 1));
    expect(fn).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(2);
    expect(fn).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(2 * LIMIT);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('never asks the platform for more than it can hold', () => {
    const spy = vi.spyOn(globalThis, 'setTimeout');
    systemClock.after(5 * LIMIT, () => {});
    vi.advanceTimersByTime(5 * LIMIT);
    expect(spy.mock.calls.length).toBeGreaterThanOrEqual(5);
    for (const [, delayMs] of spy.mock.calls) expect(delayMs).toBeLessThanOrEqual(LIMIT);
  });

  it('can be cancelled at any link of the chain', () => {
    const fn = vi.fn();
    const cancel = systemClock.after(2 * LIMIT, fn);
    vi.advanceTimersByTime(LIMIT + 5);
    cancel();
    vi.advanceTimersByTime(3 * LIMIT);
    expect(fn).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('treats a delay below zero as zero', () => {
    const fn = vi.fn();
    for (const delayMs of [-5, 0]) systemClock.after(delayMs, fn);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fn).toHaveBeenCalledTimes(2);
  });
});

describe('system random', () => {
  it('is in [0, 1)', () => {
    for (let n = 0; n < 100; n++) {
      const value = systemRandom();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });
});
