import { describe, expect, it } from 'vitest';
import type { CoreChange } from '../../../src/core/core.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { InvariantError, StoreFullError } from '../../../src/types/errors.ts';
import { testSeed } from '../../support/size.ts';
import { CoreRig, EVERYTHING } from './core-rig.ts';

function changesOf(rig: CoreRig, count: number, random: () => number): readonly CoreChange[] {
  return Array.from({ length: count }, (_, index) => {
    const keyId = rig.core.internKey(`key-${Math.floor(random() * count)}`);
    const tombstone = rig.core.headSlot(keyId) >= 0 && random() < 0.3;
    return { keyId, mod: 2 ** 40 - index, create: tombstone ? 0 : 7, version: tombstone ? 0 : 1 + index, tombstone };
  });
}

describe('appendAll', () => {
  it.each([0, 1, 17, 4096, 4097, 9000])('does with %i changes what as many appends do', (count) => {
    const [one, all] = [new CoreRig(), new CoreRig()];
    for (const rig of [one, all]) for (let index = 0; index < 50; index++) rig.put(`key-${index}`, 5);
    const commit = 2 ** 40;
    const changes = changesOf(all, count, createSeededRandom(testSeed()));
    changesOf(one, count, createSeededRandom(testSeed()));
    const slots = all.core.appendAll(commit, changes);
    const expected = changes.map(({ keyId, mod, create, version, tombstone }) =>
      one.core.append(keyId, commit, mod, create, version, 0, tombstone),
    );
    expect([...slots]).toEqual(expected);
    for (const slot of slots) {
      const facts = [one, all].map(({ core }) => [
        ...[core.keyOf(slot), core.commitRevision(slot), core.modRevision(slot), core.createRevision(slot)],
        ...[core.version(slot), core.isTombstone(slot), core.leaseTag(slot)],
      ]);
      expect(facts[1]).toEqual(facts[0]);
    }
    expect(all.list(EVERYTHING)).toBe(one.list(EVERYTHING));
    expect(all.events(0)).toBe(one.events(0));
    all.core.verify();
  });

  it('changes nothing when a key id names no key, or the commit goes backwards', () => {
    const rig = new CoreRig();
    rig.put('a', 5);
    const change = { keyId: 0, mod: 6, create: 5, version: 2, tombstone: false };
    const before = rig.core.stats();
    expect(() => rig.core.appendAll(6, [change, { ...change, keyId: 1 }])).toThrow(InvariantError);
    expect(() => rig.core.appendAll(4, [change])).toThrow(InvariantError);
    const { versions, logEntries } = rig.core.stats();
    expect([versions, logEntries]).toEqual([before.versions, before.logEntries]);
    rig.core.verify();
  });

  it('changes nothing when there is no room for all', () => {
    const rig = new CoreRig({ memoryBytesMax: 300_000 });
    rig.put('a', 5);
    const change = { keyId: 0, mod: 6, create: 5, version: 2, tombstone: false };
    expect(() =>
      rig.core.appendAll(
        6,
        Array.from({ length: 20_000 }, () => change),
      ),
    ).toThrow(StoreFullError);
    expect(rig.core.stats().versions).toBe(1);
    rig.core.verify();
  });
});

describe('stats', () => {
  it('accounts for every byte that is claimed, and for what compaction made free', () => {
    const rig = new CoreRig();
    for (let commit = 1; commit <= 20_000; commit++) rig.put(`key-${commit % 3000}`, commit);
    rig.core.findKey('long'.repeat(10_000));
    const sum = (): number => Object.values(rig.core.stats().memory).reduce((total, part) => total + part, 0);
    expect(sum()).toBe(rig.core.stats().claimedBytes);
    const { memory: before, claimedBytes } = rig.core.stats();
    for (const part of Object.values(before)) expect(part).toBeGreaterThanOrEqual(0);
    expect([before.log > 200_000, before.index > 40_000, before.scratch > 40_000]).toEqual([true, true, true]);
    rig.compact(20_001);
    const { memory: after } = rig.core.stats();
    expect([after.log < before.log / 5, after.freePages > before.log / 2]).toEqual([true, true]);
    expect([sum(), rig.core.stats().claimedBytes]).toEqual([claimedBytes, claimedBytes]);
  });
});
