import { describe, expect, it } from 'vitest';
import { Histogram } from '../../../src/lock/histogram.ts';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { outcomes, Requests, take } from './keyed-support.ts';

function make(holdTimes = false) {
  const clock = createVirtualClock();
  const locks = createKeyedLock({ clock, holdTimes });
  return { clock, locks, requests: new Requests(locks) };
}

describe('statistics', () => {
  it('L7: count acquisitions by mode, those that waited, and those that gave up', async () => {
    const { clock, locks, requests } = make();
    const held = take(locks, 'k', 'write');
    requests.ask('R', 'k', 'read');
    requests.ask('late', 'k', 'write', { timeoutMs: 5 });
    requests.ask('R2', 'k', 'read', { timeoutMs: 6 });
    await clock.advance(10);
    held.release();
    await outcomes();
    take(locks, 'other', 'read');
    const { read, write, ...rest } = locks.stats('k') ?? expect.fail('k has no statistics');
    expect(read).toMatchObject({ acquisitions: 1, contended: 1, cancelled: 1 });
    expect(write).toMatchObject({ acquisitions: 1, contended: 0, cancelled: 1 });
    expect(rest).toEqual({ held: 1, waiting: 0, waitingMax: 3 });
    expect(locks.stats()).toMatchObject({
      read: { acquisitions: 2, contended: 1, cancelled: 1 },
      held: 2,
      waitingMax: 3,
      keys: 2,
      lost: 0,
    });
  });

  it('L7: measure waits of all acquisitions, zeros included, by the monotonic clock', async () => {
    const { clock, locks, requests } = make();
    for (let index = 0; index < 98; index++) take(locks, 'k', 'write').release();
    const held = take(locks, 'k', 'write');
    requests.ask('W', 'k', 'write');
    clock.jumpWallTime(3_600_000);
    await clock.advance(80);
    held.release();
    await outcomes();
    const { waits } = (locks.stats('k') ?? expect.fail()).write;
    expect(waits).toEqual({ count: 100, sumMs: 80, p50Ms: 0, p99Ms: 0, p999Ms: 80, maxMs: 80 });
  });

  it('L7: measure holds only when asked, by the mode at the end', async () => {
    const { clock, locks } = make(true);
    const held = take(locks, 'k', 'write');
    const other = take(locks, 'other', 'write');
    await clock.advance(30);
    held.release();
    other.downgrade();
    await clock.advance(10);
    other.release();
    expect(locks.stats('k')?.write.holds).toMatchObject({ count: 1, sumMs: 30, maxMs: 30 });
    expect(locks.stats('other')?.read.holds).toMatchObject({ count: 1, maxMs: 40 });
    expect(locks.stats().write.holds).toMatchObject({ count: 1 });
    expect(make().locks.stats().write).not.toHaveProperty('holds');
  });

  it('L7: are there for a prefix, under its key, and for everything', () => {
    const { locks } = make();
    take(locks, 'a/', 'write', { prefix: true }).release();
    take(locks, '', 'read', { prefix: true }).release();
    expect(locks.stats('a')?.write.acquisitions).toBe(1);
    expect(locks.stats('')?.read.acquisitions).toBe(1);
    expect(locks.stats('never')).toBeUndefined();
    expect(make().locks.stats('')).toBeUndefined();
  });

  it('L7: there are none for a key that only has others below it', () => {
    const { locks } = make();
    take(locks, 'a/b', 'write');
    expect(locks.stats('a')).toBeUndefined();
    expect(locks.tryAcquire('a/b', 'write')).toBeUndefined();
    expect(locks.tryAcquire('a/c', 'write')).toBeDefined();
  });
});

describe('the histogram', () => {
  it.each([0, 0.001, 0.007, 0.1, 1, 3, 80, 1000, 65_537, 4_294_967])('L7: %d ms alone: every quantile is it', (ms) => {
    const histogram = new Histogram();
    histogram.record(ms);
    for (const q of [0.5, 0.99, 0.999]) expect(histogram.quantileMs(q, 0)).toBe(ms);
    expect([histogram.count, histogram.sumMs, histogram.maxMs]).toEqual([1, ms, ms]);
  });

  it('L7: a quantile is never below the true one, and at most an eighth and a microsecond above', () => {
    for (let scale = 0.001; scale < 1e6; scale *= 3.7) {
      const histogram = new Histogram();
      const values = Array.from({ length: 1000 }, (_, index) => scale * (1 + index / 100)).sort((a, b) => a - b);
      for (const value of values) histogram.record(value);
      for (const q of [0.01, 0.5, 0.9, 0.99, 0.999, 1]) {
        const exact = values[Math.ceil(q * values.length) - 1] ?? 0;
        const found = histogram.quantileMs(q, 0);
        expect(found).toBeGreaterThanOrEqual(exact - 1e-9);
        expect(found).toBeLessThanOrEqual(exact * 1.125 + 0.001);
      }
    }
  });

  it('L7: zeros beside it move the quantiles', () => {
    const histogram = new Histogram();
    histogram.record(10);
    expect(histogram.quantileMs(0.5, 1)).toBe(0);
    expect(histogram.quantileMs(0.51, 1)).toBe(10);
    expect(new Histogram().quantileMs(0.99, 0)).toBe(0);
  });

  it('L7: what is longer than the last bucket counts in it, and the maximum is exact', () => {
    const histogram = new Histogram();
    histogram.record(1e9);
    histogram.record(Number.MAX_SAFE_INTEGER);
    expect(histogram.quantileMs(0.5, 0)).toBe(Number.MAX_SAFE_INTEGER);
    expect(histogram.maxMs).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('L7: a clock that went back is no time', () => {
    const histogram = new Histogram();
    histogram.record(-5);
    expect([histogram.count, histogram.sumMs, histogram.quantileMs(1, 0)]).toEqual([1, 0, 0]);
  });
});
