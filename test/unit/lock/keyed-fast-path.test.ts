import { createHook } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { outcomes, take } from './keyed-support.ts';

/** How many promises came to be while `run` ran. */
function promisesOf(run: () => void): number {
  let count = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') count++;
    },
  });
  hook.enable();
  run();
  hook.disable();
  return count;
}

function readings() {
  const clock = createVirtualClock();
  let count = 0;
  const now = (): number => {
    count++;
    return clock.now();
  };
  return { clock: { now, after: clock.after }, count: () => count };
}

describe('a request that does not wait', () => {
  it('L8: makes no promise and is answered in the call', () => {
    const locks = createKeyedLock({ clock: createVirtualClock() });
    expect(promisesOf(() => void Promise.resolve())).toBe(1);
    const count = promisesOf(() => {
      for (const key of ['a', 'a/b', 'c']) {
        take(locks, key, 'write').release();
        const held = take(locks, key, 'read', { owner: 1 });
        expect(locks.tryAcquire(key, 'write')).toBeUndefined();
        held.release();
        take(locks, key, 'write', { prefix: true }).release();
      }
    });
    expect(count).toBe(0);
  });

  it('L8: reads no clock, and with `holdTimes` once on each side', () => {
    const plain = readings();
    const locks = createKeyedLock({ clock: plain.clock });
    take(locks, 'k', 'write').release();
    expect(plain.count()).toBe(0);
    const timed = readings();
    const held = take(createKeyedLock({ clock: timed.clock, holdTimes: true }), 'k', 'write');
    expect(timed.count()).toBe(1);
    held.release();
    expect(timed.count()).toBe(2);
  });

  it('L1 L8: is only one that nobody in conflict waits for, else it would barge', () => {
    const locks = createKeyedLock({ clock: createVirtualClock() });
    const reader = take(locks, 'k', 'read');
    void locks.acquire('k', 'write');
    expect(locks.tryAcquire('k', 'read')).toBeUndefined();
    reader.release();
    expect(locks.tryAcquire('k', 'read')).toBeUndefined();
  });

  it('acquire of a free lock always answers by a promise, with a lock that is held already', async () => {
    const locks = createKeyedLock({ clock: createVirtualClock() });
    const acquired = locks.acquire('k', 'write');
    expect(acquired).toBeInstanceOf(Promise);
    expect(locks.tryAcquire('k', 'read')).toBeUndefined();
    (await acquired).release();
    await outcomes();
    expect(locks.tryAcquire('k', 'read')).toBeDefined();
  });
});
