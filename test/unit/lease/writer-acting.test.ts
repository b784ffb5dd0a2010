import { describe, expect, it } from 'vitest';
import { stableHash } from '../../../src/lease/writer-hash.ts';
import { ConflictError } from '../../../src/types/errors.ts';
import { COLD_MS, LOW_MS, writerRig } from './writer-rig.ts';

const CAP_MS = 15_000;

/** The keys with the smallest hash first: the order in which a follower tries them. */
function byHash(keys: readonly string[]): string[] {
  return [...keys].sort((a, b) => stableHash(a) - stableHash(b));
}

describe('a takeover', () => {
  it('WL11 tries one key, the one with the smallest hash, in whatever order they were asked for', async () => {
    const keys = Array.from({ length: 30 }, (_, index) => `k${index}`);
    for (const order of [keys, [...keys].reverse()]) {
      const rig = writerRig();
      for (const key of order) rig.ask(key);
      await rig.clock.advance(COLD_MS);
      expect(rig.keys()).toEqual([byHash(keys)[0]]);
      await rig.clock.advance(5000);
      expect(rig.attempts).toHaveLength(1);
    }
  });

  it('WL11 the hash of a key is the same everywhere and spreads neighbours', () => {
    expect(stableHash('')).toBe(stableHash(''));
    expect(stableHash('status/a')).toBe(1961897254);
    const places = Array.from({ length: 1000 }, (_, index) => stableHash(`k${index}`) >>> 29);
    for (let place = 0; place < 8; place++) expect(places.filter((at) => at === place).length).toBeGreaterThan(80);
  });

  it('WL12 a success makes it leader, which writes the rest at once and in the order of asking', async () => {
    const rig = writerRig();
    const keys = ['c', 'a', 'd', 'b'];
    for (const key of keys) rig.ask(key);
    await rig.clock.advance(COLD_MS);
    const [probe] = byHash(keys);
    expect(rig.lease.role).toBe('follower');
    await rig.answer({ revision: 10 });
    expect(rig.lease.role).toBe('leader');
    for (let revision = 11; revision < 14; revision++) await rig.answer({ revision });
    expect(rig.keys()).toEqual([probe, ...keys.filter((key) => key !== probe)]);
    expect(rig.clock.now()).toBe(COLD_MS);
    expect(rig.lease.stats()).toMatchObject({ writes: 4, takeovers: 1, pending: 0, conflicts: 0 });
  });

  it('WL12 a second try of a key that is being written runs after it, and only the newest', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 1);
    await rig.clock.settle();
    rig.ask('a', 2);
    rig.ask('a', 3);
    await rig.clock.settle();
    expect(rig.keys()).toEqual(['first', 'a']);
    await rig.answer({ revision: 20 });
    expect(rig.keys()).toEqual(['first', 'a', 'a']);
    expect(rig.attempts[2]?.context.revision).toBe(20);
    await rig.answer({ revision: 21 });
    expect(rig.attempts).toHaveLength(3);
    expect(rig.lease.stats().coalesced).toBe(1);
  });

  it('WL13 a leader that was silent for a day writes at once', async () => {
    const rig = writerRig();
    await rig.lead();
    expect(rig.clock.pending).toBe(0);
    await rig.clock.advance(86_400_000);
    rig.ask('a');
    await rig.clock.settle();
    expect(rig.keys()).toEqual(['first', 'a']);
  });
});

describe('a loss', () => {
  it.each([
    [9, 'leader'],
    [10, 'leader'],
    [11, 'follower'],
  ])('WL14 needs evidence that is newer than the last own write at 10: %i', async (revision, role) => {
    const rig = writerRig();
    await rig.lead(10);
    rig.mate('other', revision);
    expect(rig.lease.role).toBe(role);
    expect(rig.lease.stats().losses).toBe(role === 'leader' ? 0 : 1);
  });

  it('WL14 is not caused by a conflict, nor by a mate that wrote before the takeover', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 3);
    await rig.clock.settle();
    await rig.answer('conflict');
    expect(rig.lease.role).toBe('leader');
    rig.mate('a', 9);
    expect(rig.lease.role).toBe('leader');
    expect(rig.lease.stats()).toMatchObject({ pending: 0, blocked: 0, dropped: 1, losses: 0 });
  });

  it('WL15 a leader that lost keeps its wishes, and waits for a new window', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 1);
    await rig.clock.settle();
    rig.ask('b', 1);
    rig.mate('c', 50);
    expect(rig.lease.role).toBe('follower');
    await rig.answer('unchanged');
    await rig.clock.advance(LOW_MS - 1);
    expect(rig.keys()).toEqual(['first', 'a']);
    await rig.clock.advance(1);
    expect(rig.keys()).toEqual(['first', 'a', 'b']);
  });
});

describe('a conflict', () => {
  it('WL16 blocks the key until something newer is seen, and asks for a list after the cap', async () => {
    const lists: string[] = [];
    const rig = writerRig({ relist: (key) => lists.push(key) });
    await rig.lead(10);
    rig.edit('a', 12);
    rig.ask('a', 12);
    await rig.clock.settle();
    await rig.answer('conflict');
    rig.edit('a', 12);
    await rig.clock.advance(CAP_MS - 1);
    expect(lists).toEqual([]);
    expect(rig.attempts).toHaveLength(2);
    await rig.clock.advance(1);
    expect(lists).toEqual(['a']);
    expect(rig.lease.stats()).toMatchObject({ blocked: 1, relists: 1 });
    rig.edit('a', 13);
    await rig.clock.settle();
    expect(rig.keys()).toEqual(['first', 'a', 'a']);
    expect(rig.attempts[2]?.context.revision).toBe(13);
    expect(rig.lease.role).toBe('leader');
  });

  it('WL16 is retried in place after an edit, and from the second in a row on at the tail after a wait', async () => {
    const rig = writerRig();
    rig.chance(0.999999);
    await rig.lead(10);
    for (const key of ['a', 'b', 'c']) rig.ask(key, 1);
    await rig.clock.settle();
    rig.edit('a', 20);
    await rig.answer('conflict');
    expect(rig.keys()).toEqual(['first', 'a', 'a']);
    rig.edit('a', 21);
    await rig.answer('conflict');
    expect(rig.keys()).toEqual(['first', 'a', 'a', 'b']);
    expect(rig.lease.stats().parked).toBe(1);
    await rig.clock.advance(20);
    expect(rig.lease.stats()).toMatchObject({ parked: 0, pending: 2 });
    await rig.answer({ revision: 30 });
    await rig.answer({ revision: 31 });
    expect(rig.keys()).toEqual(['first', 'a', 'a', 'b', 'c', 'a']);
  });

  it('WL16 the waits of a key that others keep editing double up to five seconds', async () => {
    const rig = writerRig();
    rig.chance(0.999999);
    await rig.lead(10);
    rig.ask('a', 1);
    await rig.clock.settle();
    const waits: number[] = [];
    for (let revision = 20; revision < 32; revision++) {
      rig.edit('a', revision);
      const before = rig.clock.now();
      await rig.answer('conflict');
      for (let step = 0; step < 6000 && rig.attempts.length < revision - 17; step++) await rig.clock.advance(1);
      waits.push(rig.clock.now() - before);
    }
    expect(waits).toEqual([0, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000, 5000]);
  });

  it('WL16 a store error that says what was expected is no conflict with what is known already', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.edit('a', 30);
    rig.ask('a', 30);
    await rig.clock.settle();
    await rig.fail(new ConflictError('put', { key: 'a', expectedRevision: 7, actualRevision: 30 }));
    expect(rig.lease.stats()).toMatchObject({ conflicts: 1, errors: 0, blocked: 0 });
    expect(rig.keys()).toEqual(['first', 'a', 'a']);
  });

  it('WL16 without a hook of any kind it tries again after two caps rather than never', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 1);
    await rig.clock.settle();
    await rig.answer('conflict');
    await rig.clock.advance(2 * CAP_MS - 1);
    expect(rig.attempts).toHaveLength(2);
    await rig.clock.advance(1);
    expect(rig.attempts).toHaveLength(3);
  });

  it('WL17 a candidate with one open does nothing else, a leader goes on below doubtsMax', async () => {
    const rig = writerRig();
    for (const key of ['a', 'b']) rig.ask(key);
    await rig.clock.advance(COLD_MS);
    await rig.answer('conflict');
    await rig.clock.advance(CAP_MS);
    expect(rig.attempts).toHaveLength(1);

    const leader = writerRig({ doubtsMax: 2 });
    await leader.lead(10);
    for (const key of ['a', 'b', 'c']) leader.ask(key);
    await leader.clock.settle();
    await leader.answer('conflict');
    expect(leader.keys()).toEqual(['first', 'a', 'b']);
    await leader.answer('conflict');
    await leader.clock.advance(1000);
    expect(leader.keys()).toEqual(['first', 'a', 'b']);
    leader.mate('a', 5);
    await leader.clock.settle();
    expect(leader.keys()).toEqual(['first', 'a', 'b', 'c']);
  });
});
