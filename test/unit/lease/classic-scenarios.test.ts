import { describe, expect, it } from 'vitest';
import { type ClassicAnswer, ClassicLease, limitRetries } from '../../../src/lease/classic-lease.ts';
import { type ClassicResult, ClassicState } from '../../../src/lease/classic-state.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

const DEFAULTS = { leaseMs: 60_000, retryMs: 3000, baseMs: 20, factor: 4, steps: 5, jitter: 0.5, keysMax: 100 };

function rig(options: Partial<typeof DEFAULTS> = {}) {
  const clock = createVirtualClock();
  const lease = new ClassicLease({ ...DEFAULTS, ...options, clock, random: createSeededRandom(1) });
  const calls: string[] = [];
  /** Work that answers so, call by call, and the last of it from then on. */
  const work = (...answers: readonly (readonly [ClassicResult, boolean])[]) => {
    let call = 0;
    return async (key: string): Promise<ClassicAnswer> => {
      calls.push(key);
      const [result, retry] = answers[Math.min(call++, answers.length - 1)] ?? ['none', false];
      return { result, retry };
    };
  };
  const decided = new Promise<boolean | undefined>((resolve) => void lease.whenDecided(resolve));
  return { clock, lease, calls, work, decided };
}

describe('the state machine of the classic lease', () => {
  it('W1: it begins in the election, at tick 0, with nothing queued', () => {
    const { lease } = rig();
    expect([lease.role, lease.tick, lease.size]).toEqual(['election', 0, 0]);
  });

  it('S1, W2, W3: one success makes a leader, is called once, and leaves nothing queued', async () => {
    const { clock, lease, calls, work, decided } = rig();
    lease.try('k', work(['extend', false]));
    await clock.settle();
    expect(await decided).toBe(true);
    expect([calls, lease.role, lease.size]).toEqual([['k'], 'leader', 0]);
  });

  it('S2, W6: an extend that is to be retried makes a leader at once, and is called five times', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('k', work(['extend', true], ['extend', true], ['extend', true], ['extend', true], ['extend', false]));
    await clock.settle();
    expect([lease.role, calls.length]).toEqual(['leader', 1]);
    await clock.advance(20_000);
    expect([calls.length, lease.size]).toEqual([5, 0]);
  });

  it('S3, W4, W10: four refusals with a retry and one without are five calls of a follower', async () => {
    const { clock, lease, calls, work, decided } = rig({ baseMs: 0 });
    const refused = ['release', true] as const;
    lease.try('k', work(refused, refused, refused, refused, ['release', false]));
    await clock.advance(60_000);
    expect(await decided).toBe(false);
    expect([calls.length, lease.role, lease.size, lease.tick]).toEqual([5, 'follower', 0, 4]);
  });

  it('S4, Q1-Q4: what is tried while the key runs, runs once after it, never beside it', async () => {
    const { clock, lease } = rig();
    const log: string[] = [];
    let finish: (answer: ClassicAnswer) => void = () => {};
    lease.try('k', () => {
      log.push('f1 begins');
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    await clock.settle();
    lease.try('k', async () => {
      log.push('f2');
      return { result: 'extend', retry: false };
    });
    await clock.settle();
    log.push('f1 ends');
    finish({ result: 'extend', retry: false });
    await clock.settle();
    expect(log).toEqual(['f1 begins', 'f1 ends', 'f2']);
    expect(lease.size).toBe(0);
  });

  it('S5, W12, W16: foreign work drops what is queued and lengthens the wait of a follower', async () => {
    const { clock, lease, calls, work } = rig({ leaseMs: 10, baseMs: 2, steps: 0 });
    lease.try('a', work(['release', false]));
    await clock.settle();
    expect(lease.role).toBe('follower');
    lease.try('b', work(['extend', false]));
    lease.extend('b');
    expect([lease.role, lease.expires, lease.size]).toEqual(['follower', 10, 0]);
    await clock.advance(1000);
    expect(calls).toEqual(['a']);
  });

  it('W5, W9: work that says nothing leaves the election open', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('k', work(['none', false]));
    await clock.advance(1000);
    expect([calls, lease.role]).toEqual([['k'], 'election']);
    lease.close();
  });

  it('W7: a leader that was quiet for a day writes at once', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('a', work(['extend', false]));
    await clock.advance(86_400_000);
    lease.try('b', work(['extend', false]));
    await clock.settle();
    expect([lease.role, calls]).toEqual(['leader', ['a', 'b']]);
  });

  it('W8, W14, W15: a follower tries again after its wait, at least twice the base; expire forgets the wait alone', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('a', work(['release', false]));
    await clock.settle();
    lease.try('a', work(['release', false]));
    await clock.advance(10_000);
    expect(lease.tick).toBe(1);
    lease.try('b', work(['extend', false]));
    await clock.advance(39);
    expect(calls).toEqual(['a', 'a']);
    await clock.advance(1);
    expect([calls, lease.role, lease.tick]).toEqual([['a', 'a', 'b'], 'leader', 0]);
    const other = rig({ baseMs: 5000 });
    other.lease.try('a', other.work(['release', false]));
    await other.clock.settle();
    other.lease.expire();
    expect([other.lease.role, other.lease.tick, other.lease.expires]).toEqual([
      'follower',
      0,
      Number.NEGATIVE_INFINITY,
    ]);
  });

  it('W10: work that throws is a release with a retry, and the worker lives', async () => {
    const { clock, lease, calls, work } = rig();
    let fails = 2;
    const flaky = work(['extend', false]);
    lease.try('k', async (key) => {
      if (fails-- > 0) throw new Error('no route');
      return flaky(key);
    });
    await clock.settle();
    expect([lease.role, lease.size]).toEqual(['follower', 1]);
    await clock.advance(10_000);
    expect([calls, lease.role, lease.size]).toEqual([['k'], 'leader', 0]);
  });

  it('W16: the waits of the ticks are 20, 80-120, 320-720, 1280-4320, 5120-25920, 20480-60000 and 60000 ms', () => {
    const bounds = [
      [20, 20],
      [80, 120],
      [320, 720],
      [1280, 4320],
      [5120, 25_920],
      [20_480, 60_000],
      [60_000, 60_000],
    ] as const;
    for (let seed = 0; seed < 200; seed++) {
      const state = new ClassicState(DEFAULTS, createSeededRandom(seed));
      state.apply('release', 0);
      bounds.forEach(([min, max], tick) => {
        expect([tick, state.tick, state.expires >= min && state.expires <= max]).toEqual([tick, tick, true]);
        if (tick % 2 === 0) state.foreign(0);
        else state.apply('release', 0);
      });
    }
  });
});

describe('the queue of the classic lease', () => {
  it('Q5, Q6: a retry comes after the interval, and limitRetries(n) makes n + 1 calls', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('k', limitRetries(2, work(['extend', true])));
    await clock.advance(2999);
    expect(calls.length).toBe(1);
    await clock.advance(1);
    expect(calls.length).toBe(2);
    await clock.advance(60_000);
    expect([calls.length, lease.size]).toEqual([3, 0]);
  });

  it('Q5: the work that is current when the retry comes is what runs', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('k', work(['extend', true]));
    await clock.settle();
    lease.try('k', async (key) => {
      calls.push(`new ${key}`);
      return { result: 'extend', retry: false };
    });
    await clock.advance(10_000);
    expect(calls).toEqual(['k', 'new k']);
  });

  it('Q7: remove drops what is queued and does not interrupt what runs', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('a', work(['release', false]));
    await clock.settle();
    lease.try('b', work(['extend', false]));
    lease.remove('b');
    await clock.advance(60_000);
    expect([calls, lease.size]).toEqual([['a'], 0]);
  });

  it('Q8: a follower sleeps at the head of its queue, and goes on with the next key', async () => {
    const { clock, lease, calls, work } = rig();
    lease.try('a', work(['release', false]));
    await clock.settle();
    lease.try('b', work(['extend', false]));
    lease.try('c', work(['extend', false]));
    await clock.advance(39);
    for (const key of ['d', 'e', 'f', 'g']) {
      lease.try(key, work(['extend', false]));
      lease.extend(key);
    }
    const wait = lease.expires - clock.now();
    expect(wait).toBeGreaterThan(5000);
    await clock.advance(wait - 1);
    expect(calls).toEqual(['a']);
    await clock.advance(2);
    expect(calls).toEqual(['a', 'c', 'b']);
  });

  it('Q9: close drops all work, decides the wait, and leaves no timer', async () => {
    const { clock, lease, calls, work, decided } = rig();
    lease.try('a', async () => new Promise<ClassicAnswer>(() => {}));
    lease.try('b', work(['extend', false]));
    await clock.settle();
    lease.close();
    lease.close();
    expect(await decided).toBe(undefined);
    expect([calls, lease.size, clock.pending, lease.try('c', work(['extend', false]))]).toEqual([[], 0, 0, false]);
  });

  it('at the bound of its keys it refuses further ones and takes new work of those it has', () => {
    const { lease, work } = rig({ keysMax: 1 });
    expect(lease.try('a', work(['extend', false]))).toBe(true);
    expect(lease.try('b', work(['extend', false]))).toBe(false);
    expect(lease.try('a', work(['extend', false]))).toBe(true);
  });
});
