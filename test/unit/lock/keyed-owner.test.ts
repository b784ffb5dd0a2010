import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { LockOwners } from '../../../src/lock/lock-owners.ts';
import { LockTree } from '../../../src/lock/lock-tree.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { LockOrderError, LockReentryError } from '../../../src/types/errors.ts';
import { outcomes, Requests, take } from './keyed-support.ts';

function make(debug = false) {
  const clock = createVirtualClock();
  const locks = createKeyedLock({ clock, debug });
  return { clock, locks, requests: new Requests(locks) };
}

describe('an owner that asks for what it has', () => {
  it.each([
    ['the same key to write', 'a/b', 'write', false],
    ['the same key to read', 'a/b', 'read', false],
    ['a prefix above', 'a', 'read', true],
    ['everything', '', 'write', true],
  ] as const)('L3: gets an error instead of waiting: %s', async (_, key, mode, prefix) => {
    const { locks } = make();
    const owner = { name: 'task' };
    take(locks, 'a/b', 'write', { owner });
    await expect(locks.acquire(key, mode, { owner, prefix })).rejects.toThrow(LockReentryError);
    expect(() => locks.tryAcquire(key, mode, { owner, prefix })).toThrow(LockReentryError);
    expect(locks.stats()).toMatchObject({ held: 1, waiting: 0, keys: 1 });
  });

  it.each(['a/b', 'a/b/c'])('L3: what is below a prefix it has: %s', (key) => {
    const { locks } = make();
    take(locks, 'a/b', 'read', { owner: 'task', prefix: true });
    expect(() => locks.tryAcquire(key, 'read', { owner: 'task' })).toThrow(
      'Cannot lock a key: the owner "task" has "a/b", or waits for it, already',
    );
  });

  it('L3: read in read, also while a writer waits, where it would hang', async () => {
    const { locks, requests } = make();
    const owner = Symbol('task');
    const held = take(locks, 'k', 'read', { owner });
    expect(() => locks.tryAcquire('k', 'read', { owner })).toThrow(LockReentryError);
    requests.ask('W', 'k', 'write');
    await expect(locks.acquire('k', 'read', { owner })).rejects.toMatchObject({ code: 'LOCK_REENTRY', lock: 'k' });
    held.release();
    expect(await requests.next()).toEqual(['W']);
  });

  it('L3: what it waits for counts, until it gives up', async () => {
    const { locks, requests } = make();
    const other = take(locks, 'k', 'write');
    const stop = new AbortController();
    requests.ask('W', 'k', 'write', { owner: 1, signal: stop.signal });
    await expect(locks.acquire('k', 'write', { owner: 1 })).rejects.toThrow(LockReentryError);
    stop.abort();
    other.release();
    expect(locks.tryAcquire('k', 'write', { owner: 1 })).toBeDefined();
  });

  it('L3: it may have other keys, and the same again after the release; others are not its business', async () => {
    const { locks } = make();
    const held = take(locks, 'a', 'write', { owner: 1 });
    take(locks, 'b', 'write', { owner: 1 });
    take(locks, 'c/d', 'write', { owner: 1 });
    expect(locks.tryAcquire('a', 'write', { owner: 2 })).toBeUndefined();
    held.release();
    expect(locks.tryAcquire('a', 'write', { owner: 1 })).toBeDefined();
    // A key above a key is another key, as long as it is no prefix.
    expect(locks.tryAcquire('c', 'write', { owner: 1 })).toBeDefined();
  });

  it('L3: without an owner nobody knows: it waits', async () => {
    const { locks, requests } = make();
    take(locks, 'k', 'write');
    requests.ask('W', 'k', 'write');
    expect(await requests.next()).toEqual([]);
    expect(locks.stats('k')).toMatchObject({ waiting: 1 });
  });

  it('is forgotten with its last lock', () => {
    const owners = new LockOwners();
    const node = new LockTree(0).node('k');
    const claim = { owner: {}, node, isPrefix: false, rank: undefined };
    owners.add(claim);
    expect(owners.size).toBe(1);
    owners.delete(claim);
    expect(owners.size).toBe(0);
  });
});

describe('ranks, with debug', () => {
  it('L6: a lower rank after a higher one is refused, and both locks are named', async () => {
    const { locks } = make(true);
    take(locks, 'index', 'write', { owner: 1, rank: 20 });
    const refused = locks.acquire('store', 'read', { owner: 1, rank: 10 });
    await expect(refused).rejects.toThrow(LockOrderError);
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_ORDER',
      lock: 'store',
      rank: 10,
      heldLock: 'index',
      heldRank: 20,
      message: 'Cannot lock a key: "store" of rank 10 comes before "index" of rank 20, which its owner has already',
    });
    expect(() => locks.tryAcquire('store', 'read', { owner: 1, rank: 10 })).toThrow(LockOrderError);
    expect(locks.tryAcquire('log', 'read', { owner: 1, rank: 30 })).toBeDefined();
    expect(locks.stats()).toMatchObject({ held: 2, keys: 2 });
  });

  it.each([
    ['a', 'b', true],
    ['b', 'a', false],
    ['a/b', 'a/c', true],
    ['a', 'a/b', true],
    ['a/b', 'a', false],
    // Segment by segment: as texts, "a-b" comes before "a/b".
    ['a-b', 'a/b', false],
    ['a/b', 'a-b', true],
  ])('L6: of one rank, %s and then %s: allowed %s', (first, second, isAllowed) => {
    const { locks } = make(true);
    take(locks, first, 'write', { owner: 1, rank: 1 });
    const again = (): unknown => locks.tryAcquire(second, 'write', { owner: 1, rank: 1 });
    if (isAllowed) expect(again()).toBeDefined();
    else expect(again).toThrow(LockOrderError);
  });

  it('L6: what was released does not count, nor what has no rank, nor what others have', () => {
    const { locks } = make(true);
    const held = take(locks, 'b', 'write', { owner: 1, rank: 2 });
    take(locks, 'z', 'write', { owner: 1 });
    take(locks, 'y', 'write', { owner: 2, rank: 9 });
    held.release();
    expect(locks.tryAcquire('a', 'write', { owner: 1, rank: 1 })).toBeDefined();
    expect(locks.tryAcquire('0', 'write', { owner: 1 })).toBeDefined();
  });

  it('L6: a cycle that would hang is an error for one of the two', async () => {
    const { locks, requests } = make(true);
    take(locks, 'a', 'write', { owner: 1, rank: 1 });
    take(locks, 'b', 'write', { owner: 2, rank: 2 });
    requests.ask('1', 'b', 'write', { owner: 1, rank: 2 });
    const second = requests.ask('2', 'a', 'write', { owner: 2, rank: 1 });
    await outcomes();
    expect(second.error).toBeInstanceOf(LockOrderError);
  });

  it('L6: without debug ranks are not looked at', () => {
    const { locks } = make();
    take(locks, 'b', 'write', { owner: 1, rank: 2 });
    expect(locks.tryAcquire('a', 'write', { owner: 1, rank: 1 })).toBeDefined();
  });
});
