import { describe, expect, it } from 'vitest';
import { createKeyedLock, Locks } from '../../../src/lock/keyed-lock.ts';
import { resolveLockOptions } from '../../../src/lock/keyed-options.ts';
import { LockTable } from '../../../src/lock/lock-table.ts';
import { LockTree } from '../../../src/lock/lock-tree.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { LimitExceededError } from '../../../src/types/errors.ts';
import type { KeyedLockOptions } from '../../../src/types/lock.ts';
import { outcomes, Requests, take } from './keyed-support.ts';

function make(options: KeyedLockOptions) {
  const locks = createKeyedLock({ clock: createVirtualClock(), ...options });
  return { locks, requests: new Requests(locks) };
}

/** With a look at the tree inside. */
function makeWithTree(idleKeysMax: number) {
  const tree = new LockTree(idleKeysMax);
  const options = resolveLockOptions({ clock: createVirtualClock(), idleKeysMax });
  return { tree, locks: new Locks(tree, new LockTable(tree, options)) };
}

describe('waitersMax', () => {
  it('refuses one more, who leaves nothing behind; there is room again when one has gone', async () => {
    const { locks, requests } = make({ waitersMax: 2 });
    const held = take(locks, 'k', 'write');
    requests.ask('1', 'k', 'write');
    requests.ask('2', 'k', 'write');
    const third = requests.ask('3', 'k', 'write', { owner: 3 });
    await outcomes();
    expect(third.error).toBeInstanceOf(LimitExceededError);
    expect(third.error).toMatchObject({ limit: 'waitersMax', max: 2, actual: 3 });
    expect(locks.stats('k')).toMatchObject({ held: 1, waiting: 2 });
    held.release();
    expect(await requests.next()).toEqual(['1']);
    requests.ask('4', 'k', 'write', { owner: 3 });
    await outcomes();
    expect(locks.stats('k')).toMatchObject({ held: 1, waiting: 2 });
  });

  it('0: nobody waits', async () => {
    const { locks } = make({ waitersMax: 0 });
    const held = await locks.acquire('k', 'write');
    await expect(locks.acquire('k', 'write')).rejects.toMatchObject({ limit: 'waitersMax', max: 0 });
    held.release();
    expect(await locks.acquire('k', 'write')).toBeDefined();
  });
});

describe('locksMax', () => {
  it('refuses one more, held or waiting', async () => {
    const { locks, requests } = make({ locksMax: 2 });
    const held = take(locks, 'a', 'write');
    const waiting = requests.ask('W', 'a', 'write');
    expect(() => locks.tryAcquire('b', 'read')).toThrow(LimitExceededError);
    expect(() => locks.tryAcquire('b', 'read')).toThrow('locksMax is at most 2, got 3');
    await expect(locks.acquire('a', 'read')).rejects.toMatchObject({ limit: 'locksMax' });
    expect(locks.stats()).toMatchObject({ keys: 1, idleKeys: 0 });
    held.release();
    await outcomes();
    expect(waiting.held).toBeDefined();
    expect(locks.tryAcquire('b', 'read')).toBeDefined();
  });
});

describe('idleKeysMax', () => {
  it('keeps the statistics of the keys that were used last; what others did stays in the totals', () => {
    const { locks } = make({ idleKeysMax: 3 });
    for (const key of ['a', 'b', 'c']) take(locks, key, 'write').release();
    take(locks, 'a', 'write').release();
    take(locks, 'd', 'write').release();
    expect(['a', 'b', 'c', 'd'].map((key) => locks.stats(key)?.write.acquisitions)).toEqual([2, undefined, 1, 1]);
    expect(locks.stats()).toMatchObject({ write: { acquisitions: 5 }, keys: 0, idleKeys: 3 });
  });

  it('does not count keys in use, and never forgets one', () => {
    const { locks } = make({ idleKeysMax: 2 });
    for (const key of ['a', 'b']) take(locks, key, 'write').release();
    const held = ['a', 'b', 'c', 'd'].map((key) => take(locks, key, 'write'));
    expect(locks.stats()).toMatchObject({ keys: 4, idleKeys: 0 });
    expect(locks.tryAcquire('a', 'read')).toBeUndefined();
    for (const one of held) one.release();
    expect(locks.stats()).toMatchObject({ keys: 0, idleKeys: 2 });
    expect(['a', 'b', 'c', 'd'].map((key) => locks.stats(key)?.write.acquisitions)).toEqual([
      undefined,
      undefined,
      1,
      1,
    ]);
  });

  it('a key that is in use for long keeps its statistics, whatever comes and goes meanwhile', () => {
    const { locks } = make({ idleKeysMax: 1 });
    take(locks, 'a', 'write').release();
    const held = take(locks, 'a', 'read');
    for (const key of ['b', 'c', 'd']) take(locks, key, 'write').release();
    expect(locks.stats('a')).toMatchObject({ read: { acquisitions: 1 }, write: { acquisitions: 1 }, held: 1 });
    held.release();
    expect(locks.stats('a')).toMatchObject({ read: { acquisitions: 1 }, write: { acquisitions: 1 }, held: 0 });
    expect(locks.stats()).toMatchObject({ keys: 0, idleKeys: 1 });
  });

  it('0: nothing at all is left of free keys', () => {
    const { locks, tree } = makeWithTree(0);
    const held = ['a/b/c', 'a/b', 'd', '/e/f'].map((key) => take(locks, key, 'read'));
    const prefix = take(locks, 'a', 'read', { prefix: true });
    expect(locks.tryAcquire('x/y', 'write', { prefix: true })).toBeDefined();
    expect(tree.size).toBe(9);
    for (const one of held) one.release();
    expect([...'ab'].map((key) => tree.find(key) !== undefined)).toEqual([true, false]);
    prefix.release();
    expect(tree.size).toBe(2);
  });

  it('a request that is refused leaves no node', () => {
    const { locks, tree } = makeWithTree(10);
    take(locks, 'a', 'write', { prefix: true, owner: 1 });
    expect(locks.tryAcquire('a/b/c', 'read')).toBeUndefined();
    expect(() => locks.tryAcquire('a/b/c', 'read', { owner: 1 })).toThrow();
    expect(tree.size).toBe(1);
  });

  it('20,000 keys one after the other leave a thousand in the tree, and what is above those', () => {
    const { locks, tree } = makeWithTree(1000);
    for (let index = 0; index < 20_000; index++) take(locks, `ns${index % 7}/${index}`, 'write').release();
    expect(tree.size).toBe(1007);
    expect(locks.stats()).toMatchObject({ idleKeys: 1000, write: { acquisitions: 20_000 } });
  });
});
