import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { LockMode } from '../../../src/types/lock.ts';
import { outcomes, Requests, take } from './keyed-support.ts';

function make() {
  const locks = createKeyedLock({ clock: createVirtualClock() });
  return { locks, requests: new Requests(locks) };
}

describe('the order of requests of one key', () => {
  // The drawing of src/lock/lock-node.ts: W1 holds, then R2 R3 W4 R5 W6 come.
  it('L1 L2: first come first served, readers up to the next writer together', async () => {
    const { locks, requests } = make();
    const first = take(locks, 'k', 'write');
    const r2 = requests.ask('R2', 'k', 'read');
    const r3 = requests.ask('R3', 'k', 'read');
    const w4 = requests.ask('W4', 'k', 'write');
    const r5 = requests.ask('R5', 'k', 'read');
    const w6 = requests.ask('W6', 'k', 'write');
    expect(await requests.next()).toEqual([]);
    first.release();
    expect(await requests.next()).toEqual(['R2', 'R3']);
    r2.held?.release();
    expect(await requests.next()).toEqual([]);
    r3.held?.release();
    expect(await requests.next()).toEqual(['W4']);
    w4.held?.release();
    expect(await requests.next()).toEqual(['R5']);
    r5.held?.release();
    expect(await requests.next()).toEqual(['W6']);
    w6.held?.release();
    expect(locks.stats()).toMatchObject({ held: 0, waiting: 0, keys: 0 });
  });

  it('L1: a reader that comes after a waiting writer waits, and does not barge by tryAcquire', async () => {
    const { locks, requests } = make();
    const reader = take(locks, 'k', 'read');
    requests.ask('W', 'k', 'write');
    requests.ask('R', 'k', 'read');
    expect(locks.tryAcquire('k', 'read')).toBeUndefined();
    expect(await requests.next()).toEqual([]);
    reader.release();
    expect(await requests.next()).toEqual(['W']);
  });

  it('L1: a stream of readers does not starve a writer', async () => {
    const { locks, requests } = make();
    let reading = take(locks, 'k', 'read');
    const writer = requests.ask('W', 'k', 'write');
    for (let turn = 0; turn < 20; turn++) {
      const next = locks.acquire('k', 'read');
      reading.release();
      await outcomes();
      writer.held?.release();
      reading = await next;
    }
    expect(requests.granted).toEqual(['W']);
  });

  it('L2: a stream of writers does not starve readers, who enter between two of them', async () => {
    const { locks, requests } = make();
    const first = take(locks, 'k', 'write');
    const readers = [requests.ask('R1', 'k', 'read'), requests.ask('R2', 'k', 'read')];
    for (let turn = 0; turn < 5; turn++) requests.ask(`W${turn}`, 'k', 'write');
    first.release();
    expect(await requests.next()).toEqual(['R1', 'R2']);
    for (const { held } of readers) held?.release();
    expect(await requests.next()).toEqual(['W0']);
  });

  it('keys do not know each other', async () => {
    const { locks } = make();
    take(locks, 'a', 'write');
    expect(locks.tryAcquire('b', 'write')).toBeDefined();
    expect(locks.tryAcquire('ab', 'write')).toBeDefined();
    expect(locks.tryAcquire('a', 'read')).toBeUndefined();
  });

  it.each<[LockMode, LockMode, boolean]>([
    ['read', 'read', true],
    ['read', 'write', false],
    ['write', 'read', false],
    ['write', 'write', false],
  ])('%s beside %s: %s', (one, other, isFree) => {
    const { locks } = make();
    take(locks, 'k', one);
    expect(locks.tryAcquire('k', other) !== undefined).toBe(isFree);
  });
});

describe('a lock that is released while others wait', () => {
  it('goes to a waiter at once: nobody can come in between', async () => {
    const { locks, requests } = make();
    const first = take(locks, 'k', 'write');
    requests.ask('W', 'k', 'write');
    first.release();
    // The promise of W has not even been looked at.
    expect(locks.tryAcquire('k', 'write')).toBeUndefined();
    expect(locks.stats('k')).toMatchObject({ held: 1, waiting: 0 });
    expect(await requests.next()).toEqual(['W']);
  });

  it('is released by `using` as well', () => {
    const { locks } = make();
    const held = take(locks, 'k', 'write');
    held[Symbol.dispose]();
    expect(locks.tryAcquire('k', 'write')).toBeDefined();
  });
});
