import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { LockReleasedError } from '../../../src/types/errors.ts';
import { Requests, take } from './keyed-support.ts';

function make() {
  const locks = createKeyedLock({ clock: createVirtualClock() });
  return { locks, requests: new Requests(locks) };
}

describe('downgrade', () => {
  it('L4: the readers that are next enter with the holder, no writer comes in between', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'k', 'write');
    const r1 = requests.ask('R1', 'k', 'read');
    const r2 = requests.ask('R2', 'k', 'read');
    requests.ask('W', 'k', 'write');
    requests.ask('R3', 'k', 'read');
    held.downgrade();
    expect(held.mode).toBe('read');
    expect(await requests.next()).toEqual(['R1', 'R2']);
    r1.held?.release();
    r2.held?.release();
    expect(await requests.next()).toEqual([]);
    held.release();
    expect(await requests.next()).toEqual(['W']);
  });

  it('L4: a writer that is next goes on waiting, and so does who came after it', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'k', 'write');
    requests.ask('W', 'k', 'write');
    requests.ask('R', 'k', 'read');
    held.downgrade();
    expect(await requests.next()).toEqual([]);
    expect(locks.tryAcquire('k', 'read')).toBeUndefined();
    held.release();
    expect(await requests.next()).toEqual(['W']);
  });

  it('L4: of a prefix it lets readers below and above in', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'a/b', 'write', { prefix: true });
    requests.ask('below', 'a/b/c', 'read');
    requests.ask('above', 'a', 'read', { prefix: true });
    requests.ask('writer', 'a/b/d', 'write');
    held.downgrade();
    // Together: in which order they hear of it is not said.
    expect([...(await requests.next())].sort()).toEqual(['above', 'below']);
  });

  it('L4: with nobody waiting it lets later readers in', () => {
    const { locks } = make();
    const held = take(locks, 'k', 'write');
    held.downgrade();
    expect(locks.tryAcquire('k', 'read')).toBeDefined();
    expect(locks.tryAcquire('k', 'write')).toBeUndefined();
  });

  it('L4: again, and of a reader, it does nothing; after the release it throws', () => {
    const { locks } = make();
    const held = take(locks, 'k', 'write');
    held.downgrade();
    held.downgrade();
    const reader = take(locks, 'k', 'read');
    reader.downgrade();
    reader.release();
    expect(locks.stats('k')).toMatchObject({ held: 1 });
    expect(() => reader.downgrade()).toThrow(LockReleasedError);
    expect(() => reader.downgrade()).toThrow('Cannot downgrade a lock: "k" was released');
    held.release();
    expect(locks.tryAcquire('k', 'write')).toBeDefined();
  });

  it('L4: there is no way up: a reader that asks for the write lock waits for itself, without an owner', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'k', 'read');
    requests.ask('W', 'k', 'write');
    expect(await requests.next()).toEqual([]);
    held.release();
    expect(await requests.next()).toEqual(['W']);
  });
});
