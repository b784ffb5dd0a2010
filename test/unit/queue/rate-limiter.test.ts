import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../src/queue/rate-limiter.ts';
import { TokenBucket } from '../../../src/queue/token-bucket.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { reproduce, testSeed } from '../../support/size.ts';

describe('a token bucket', () => {
  it("never gives more than burst + rate * t in a time of t, and all of it to who takes it (I27')", async () => {
    const random = createSeededRandom(testSeed());
    for (let round = 0; round < 30; round++) {
      const clock = createVirtualClock();
      const rate = { perSecond: 0.1 + random() * 100, burst: 1 + Math.floor(random() * 5) };
      const bucket = new TokenBucket(rate, clock);
      const taken: number[] = [];
      for (let step = 0; step < 100; step++) {
        while (random() < 0.7 && bucket.take()) taken.push(clock.now());
        const waitMs = bucket.waitMs(1);
        await clock.advance(random() < 0.5 ? waitMs : random() * 50);
      }
      const tooMany = taken.filter((fromMs, from) =>
        taken
          .slice(from)
          .some((toMs, more) => more + 1 > rate.burst + (rate.perSecond * (toMs - fromMs)) / 1000 + 1e-6),
      );
      expect(tooMany, reproduce('unit')).toEqual([]);
    }
  });

  it('says how long to wait, and for ever where so many cannot be saved up', () => {
    const clock = createVirtualClock();
    const bucket = new TokenBucket({ perSecond: 4, burst: 2 }, clock);
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false]);
    expect([bucket.waitMs(1), bucket.waitMs(2), bucket.waitMs(3)]).toEqual([250, 500, Number.POSITIVE_INFINITY]);
  });
});

describe('a rate limiter', () => {
  it('has one timer for all who rest in line, and none once they have left or it is closed', async () => {
    const clock = createVirtualClock();
    const woken: string[] = [];
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, clock, (key) => woken.push(key));
    expect(limiter.line.ask('a') && limiter.use('a')).toBe(true);
    const keys = ['b', 'c', 'd'];
    for (const key of keys) {
      limiter.line.ask(key);
      limiter.line.rest(key);
      limiter.arm();
    }
    expect(clock.pending).toBe(1);
    await clock.advance(1000);
    expect(woken).toEqual(['b']);
    // All that can be saved up is kept for b, so there is nothing to wait for but its use.
    expect(clock.pending).toBe(0);
    limiter.use('b');
    limiter.arm();
    expect(clock.pending).toBe(1);
    limiter.line.leave('c');
    limiter.arm();
    expect(clock.pending).toBe(1);
    limiter.line.leave('d');
    limiter.arm();
    expect(clock.pending).toBe(0);
    limiter.line.ask('e');
    limiter.line.rest('e');
    limiter.arm();
    limiter.close();
    expect(clock.pending).toBe(0);
  });

  it('waits for a rate as low as one likes, with timers that a platform can set', async () => {
    const clock = createVirtualClock();
    const woken: number[] = [];
    const limiter = new RateLimiter({ perSecond: 1 / 86_400, burst: 1 }, clock, () => woken.push(clock.now()));
    limiter.line.ask('a');
    limiter.use('a');
    limiter.line.ask('b');
    limiter.line.rest('b');
    limiter.arm();
    await clock.advance(90_000_000);
    expect(woken).toHaveLength(1);
    expect(woken[0]).toBeGreaterThanOrEqual(86_400_000);
    expect(woken[0]).toBeLessThan(86_400_010);
  });
});
