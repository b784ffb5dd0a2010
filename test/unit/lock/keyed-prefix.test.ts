import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { InvalidKeyError, LimitExceededError } from '../../../src/types/errors.ts';
import type { LockMode } from '../../../src/types/lock.ts';
import { Requests, take } from './keyed-support.ts';

function make() {
  const locks = createKeyedLock({ clock: createVirtualClock() });
  return { locks, requests: new Requests(locks) };
}

const PREFIX = { prefix: true };

describe('a prefix', () => {
  it.each<[prefix: string, key: string, covered: boolean]>([
    ['apps', 'apps', true],
    ['apps', 'apps/web', true],
    ['apps', 'apps/web/0', true],
    ['apps/', 'apps/web', true],
    ['apps/', 'apps', true],
    ['apps', 'apps2', false],
    ['apps', 'app', false],
    ['apps/web', 'apps', false],
    ['apps/web', 'apps/db', false],
    ['', 'apps', true],
    ['', '/registry/pods', true],
    ['/', '/registry/pods', true],
    ['/', 'apps', false],
    ['/registry', '/registry/pods', true],
    ['apps', 'apps/', true],
    ['apps/web/', 'apps/web//x', true],
  ])('%j and the key %j: covered %s, whoever comes first', (prefix, key, covered) => {
    const { locks } = make();
    const above = take(locks, prefix, 'write', PREFIX);
    expect(locks.tryAcquire(key, 'read') === undefined).toBe(covered);
    above.release();
    take(locks, key, 'read');
    expect(locks.tryAcquire(prefix, 'write', PREFIX) === undefined).toBe(covered);
  });

  it('names the same node with and without a slash at the end', () => {
    const { locks } = make();
    const held = take(locks, 'apps/', 'write', PREFIX);
    expect([held.key, held.prefix, held.mode]).toEqual(['apps', true, 'write']);
    expect(locks.tryAcquire('apps', 'write', PREFIX)).toBeUndefined();
    held.release();
    expect(take(locks, '/', 'read', PREFIX).key).toBe('/');
    expect(take(locks, '', 'read', PREFIX).key).toBe('');
  });

  it.each<[LockMode, LockMode, boolean]>([
    ['read', 'read', true],
    ['read', 'write', false],
    ['write', 'read', false],
    ['write', 'write', false],
  ])('held for %s, a key or a prefix below it for %s: free %s', (above, below, isFree) => {
    const { locks } = make();
    const held = take(locks, 'a', above, PREFIX);
    expect(locks.tryAcquire('a/b', below) !== undefined).toBe(isFree);
    expect(locks.tryAcquire('a/c', below, PREFIX) !== undefined).toBe(isFree);
    held.release();
    expect(locks.tryAcquire('a/d', below)).toBeDefined();
  });

  it('is not an empty key: that is refused also when a key below the slash is there', () => {
    const { locks } = make();
    expect(() => locks.tryAcquire('', 'read')).toThrow(InvalidKeyError);
    take(locks, '/a', 'read');
    expect(() => locks.tryAcquire('', 'read')).toThrow(InvalidKeyError);
  });

  it('has 64 segments at most', () => {
    const { locks } = make();
    expect(locks.tryAcquire(Array.from({ length: 64 }, () => 'x').join('/'), 'read')).toBeDefined();
    const long = Array.from({ length: 65 }, () => 'y').join('/');
    expect(() => locks.tryAcquire(long, 'read')).toThrow(LimitExceededError);
    expect(() => locks.tryAcquire(long, 'read', PREFIX)).toThrow('segments is at most 64, got 65');
  });
});

describe('the order of requests across the tree', () => {
  it('L1: a stream of keys below does not starve the writer of a prefix', async () => {
    const { locks, requests } = make();
    const below = take(locks, 'a/b', 'write');
    requests.ask('prefix', 'a', 'write', PREFIX);
    requests.ask('later', 'a/c', 'read');
    expect(locks.tryAcquire('a/d', 'read')).toBeUndefined();
    below.release();
    expect(await requests.next()).toEqual(['prefix']);
  });

  it('the writer of a prefix that waits holds up later requests below it only', async () => {
    const { locks, requests } = make();
    take(locks, 'a/b', 'read');
    requests.ask('prefix', 'a', 'write', PREFIX);
    expect(locks.tryAcquire('z', 'write')).toBeDefined();
    expect(locks.tryAcquire('ab', 'write')).toBeDefined();
    expect(await requests.next()).toEqual([]);
  });

  it('a reader of a prefix lets readers below pass, but no writer', async () => {
    const { locks, requests } = make();
    const writer = take(locks, 'a/b', 'write');
    const prefix = requests.ask('prefix', 'a', 'read', PREFIX);
    expect(locks.tryAcquire('a/c', 'read')).toBeDefined();
    requests.ask('writer', 'a/d', 'write');
    writer.release();
    expect(await requests.next()).toEqual(['prefix']);
    prefix.held?.release();
    expect(await requests.next()).toEqual(['writer']);
  });

  it('who waited below before a prefix came goes first, and behind it who came later', async () => {
    const { locks, requests } = make();
    const first = take(locks, 'a/b', 'write');
    const earlier = requests.ask('earlier', 'a/b', 'write');
    const prefix = requests.ask('prefix', 'a', 'write', PREFIX);
    const later = requests.ask('later', 'a/b', 'write');
    first.release();
    expect(await requests.next()).toEqual(['earlier']);
    earlier.held?.release();
    expect(await requests.next()).toEqual(['prefix']);
    prefix.held?.release();
    expect(await requests.next()).toEqual(['later']);
    later.held?.release();
    expect(locks.stats()).toMatchObject({ held: 0, waiting: 0, keys: 0 });
  });

  it('prefixes of prefixes: the outer one waits for the inner one, and the other way round', async () => {
    const { locks, requests } = make();
    const inner = take(locks, 'a/b', 'write', PREFIX);
    const outer = requests.ask('outer', 'a', 'write', PREFIX);
    const again = requests.ask('inner', 'a/b', 'write', PREFIX);
    inner.release();
    expect(await requests.next()).toEqual(['outer']);
    outer.held?.release();
    expect(await requests.next()).toEqual(['inner']);
    again.held?.release();
  });

  it('L5: a prefix that gives up lets everybody below in', async () => {
    const { locks, requests } = make();
    take(locks, 'a/b', 'read');
    const stop = new AbortController();
    requests.ask('prefix', 'a', 'write', { prefix: true, signal: stop.signal });
    requests.ask('R', 'a/c', 'read');
    requests.ask('W', 'a/d', 'write');
    expect(await requests.next()).toEqual([]);
    stop.abort();
    expect(await requests.next()).toEqual(['R', 'W']);
  });
});
