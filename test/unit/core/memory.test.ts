import { describe, expect, it } from 'vitest';
import { Core } from '../../../src/core/core.ts';
import { KeyIndex } from '../../../src/core/key-index.ts';
import { coreModule } from '../../../src/core/module.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { StoreFullError } from '../../../src/types/errors.ts';
import { testSeed } from '../../support/size.ts';
import { between, CoreRig, EVERYTHING } from './core-rig.ts';

const LIMIT = 1 << 20;

/** Reserves and writes one key; false when the core is full. */
function tryPut(core: Core, key: string, commit: number): boolean {
  try {
    core.reserve('put', { events: 1, newKeys: 1, newKeyBytes: key.length });
  } catch (error) {
    expect(error).toBeInstanceOf(StoreFullError);
    return false;
  }
  core.append(core.internKey(key), commit, commit, commit, 1, 0, false);
  return true;
}

describe('the memory limit', () => {
  it('refuses with StoreFullError and goes on reading; deletes and compaction make room again', () => {
    const core = new Core(coreModule(), { memoryBytesMax: LIMIT });
    let commit = 0;
    let written = 0;
    while (tryPut(core, `/registry/pods/default/pod-${written}`, commit + 1)) {
      commit++;
      written++;
    }
    expect(written).toBeGreaterThan(4000);
    expect(core.stats().memoryBytes).toBeLessThanOrEqual(LIMIT);
    core.verify();
    expect(core.stats()).toMatchObject({ keys: written, liveKeys: written, versions: written });
    expect(core.count(EVERYTHING, Number.POSITIVE_INFINITY)).toBe(written);
    expect(core.findKey('/registry/pods/default/pod-0')).toBeGreaterThanOrEqual(0);
    // Deleting needs room for tombstones, so compaction comes first: it frees log pages.
    while (!core.compactStep(commit, 1000).done);
    for (let index = 0; index < 1000; index++) {
      core.reserve('delete', { events: 1, newKeys: 0, newKeyBytes: 0 });
      commit++;
      core.append(core.findKey(`/registry/pods/default/pod-${index}`), commit, commit, 0, 0, 0, true);
      while (!core.compactStep(commit, 1000).done);
    }
    while (!core.compactStep(commit + 1, 1000).done);
    core.verify();
    let again = 0;
    while (tryPut(core, `/registry/pods/default/new-${again}`, commit + 2)) again++;
    expect(again).toBeGreaterThan(900);
    core.verify();
  });

  it('survives thousands of turns at the limit', () => {
    const core = new Core(coreModule(), { memoryBytesMax: LIMIT });
    const random = createSeededRandom(testSeed());
    let commit = 0;
    let refused = 0;
    for (let turn = 0; turn < 20_000; turn++) {
      const key = `key-${Math.floor(random() * 3000)}-${'x'.repeat(Math.floor(random() * 40))}`;
      if (tryPut(core, key, commit + 1)) commit++;
      else {
        refused++;
        while (!core.compactStep(commit, 1000).done);
        // Old keys go; without that nothing but history could be freed.
        const victims = core.range(EVERYTHING, Number.POSITIVE_INFINITY, 200).slice();
        for (const slot of victims) {
          const keyId = core.keyOf(slot);
          core.reserveExact('delete', { keyIds: [keyId], newKeys: [], longestKeyBytes: 0, deletesAhead: 0 });
          core.append(keyId, ++commit, commit, 0, 0, 0, true);
          while (!core.compactStep(commit, 1000).done);
        }
      }
      if (turn % 1000 === 0) core.verify();
    }
    core.verify();
    expect(refused).toBeGreaterThan(3);
    expect(core.stats().memoryBytes).toBeLessThanOrEqual(LIMIT);
  });

  it('keeps what reserve promised, whatever is read before the appends', () => {
    const random = createSeededRandom(testSeed());
    const core = new Core(coreModule(), { memoryBytesMax: LIMIT });
    let commit = 0;
    let refused = 0;
    for (let round = 0; refused < 20; round++) {
      const keys = Array.from({ length: 1 + Math.floor(random() * 60) }, () => {
        const length = random() < 0.1 ? 2000 : Math.floor(random() * 80);
        return `${Math.floor(random() * 1e6)}/${'y'.repeat(length)}`;
      });
      const newKeyBytes = keys.reduce((sum, key) => sum + key.length, 0);
      try {
        core.reserve('put', { events: keys.length * 2, newKeys: keys.length, newKeyBytes });
      } catch (error) {
        expect(error).toBeInstanceOf(StoreFullError);
        refused++;
        continue;
      }
      core.range(EVERYTHING, Number.POSITIVE_INFINITY, 0);
      expect(core.findKey('z'.repeat(100_000))).toBe(-1);
      commit++;
      for (const key of keys) core.append(core.internKey(key), commit, commit, commit, 1, 0, false);
      for (const key of keys) core.append(core.findKey(key), commit, commit, commit, 2, 0, false);
      if (round % 20 === 0) core.verify();
    }
    core.verify();
  });

  it('does not let a read take the memory that the last possible commit was promised', () => {
    /** Commits of 300 long keys until one is refused; before the `greedy`-th, reads that want much memory. */
    const fill = (greedy: number): number => {
      const core = new Core(coreModule(), { memoryBytesMax: LIMIT });
      for (let batch = 1; ; batch++) {
        try {
          core.reserve('load', { events: 300, newKeys: 300, newKeyBytes: 60_000, longestKeyBytes: 200 });
        } catch (error) {
          expect(error).toBeInstanceOf(StoreFullError);
          return batch - 1;
        }
        for (const length of batch === greedy ? [10_000, 30_000, 60_000, 120_000] : []) {
          expect(core.findKey('q'.repeat(length))).toBe(-1);
        }
        for (let index = 0; index < 300; index++) {
          core.append(core.internKey(`${batch}/${index}/`.padEnd(200, 'k')), batch, batch, batch, 1, 0, false);
        }
      }
    };
    const batches = fill(0);
    expect(batches).toBeGreaterThan(3);
    for (let greedy = batches - 2; greedy <= batches; greedy++) expect(fill(greedy)).toBeGreaterThanOrEqual(greedy);
  });

  it('reads everything at the limit, however long, and no read takes memory', () => {
    const rig = new CoreRig({ memoryBytesMax: LIMIT + (LIMIT >> 2) });
    const { core } = rig;
    core.reserve('load', { events: 5000, newKeys: 5000, newKeyBytes: 25_000, longestKeyBytes: 5 });
    const key = (index: number): string => `${index}`.padStart(5, '0');
    for (let index = 0; index < 5000; index++) rig.put(key(index), 1);
    let written = 5000;
    while (tryPut(core, key(written), written)) written++;
    const { claimedBytes } = core.stats();
    const all = core.range(EVERYTHING, Number.POSITIVE_INFINITY, 0);
    expect(all.length).toBe(written);
    expect([...all].map((slot) => core.keyOf(slot))).toEqual(Array.from({ length: written }, (_, id) => id));
    for (const limit of [1, 4095, 4096, 4097, written]) {
      expect([...core.range(EVERYTHING, Number.POSITIVE_INFINITY, limit)]).toEqual([...all.slice(0, limit)]);
    }
    // At the first commit, and from the middle of one page into the next.
    expect(core.range(EVERYTHING, 1, 0).length).toBe(5000);
    expect([...core.range(between(key(4090), key(4100)), 1, 0)]).toEqual([...all.slice(4090, 4100)]);
    expect([...core.eventsAt(EVERYTHING, 1, 0)]).toEqual([...all.slice(0, 5000)]);
    expect([...core.eventsAt(between(key(100), key(4900)), 1, 0)]).toEqual([...all.slice(100, 4900)]);
    expect([...core.replay(EVERYTHING, 1, 0, 1e9)]).toEqual([...all]);
    expect(core.replay(EVERYTHING, 1, 0, 1).length).toBe(5000);
    expect(core.replay(EVERYTHING, 1, 0, 5001).length).toBe(5001);
    expect(core.stats().claimedBytes).toBe(claimedBytes);
  });

  it('serves ranges with ends longer than any key at the limit, and makes room for others with the key', () => {
    const rig = new CoreRig({ memoryBytesMax: LIMIT });
    const { core } = rig;
    const long = 'x'.repeat(9000);
    let commit = 0;
    while (tryPut(core, `x${commit}`, commit + 1)) commit++;
    const { claimedBytes } = core.stats();
    const end = `x1${'\xff'.repeat(60_000)}`;
    expect(rig.list(between('x10', end)).split(' ').length).toBe(core.count(between('x1', 'x2'), 1e9) - 1);
    expect([rig.list(between(`x${long}`, `x${long}y`)), rig.list(between(`x1${long}`))]).toEqual(['', '']);
    // What begins with the longest key there is, is behind it.
    const behind = `x${commit - 1}${long}`;
    expect([rig.list(between(behind)), rig.list(between(behind, `${behind}z`))]).toEqual(['', '']);
    // The first key behind them is x123.
    expect(core.nextCommit(between(`x1${'2'.repeat(9000)}`, 'x13'), 0, 0)).toBe(124);
    expect(core.stats().claimedBytes).toBe(claimedBytes);
    const other = new CoreRig({ memoryBytesMax: LIMIT });
    other.put(long, 1);
    other.put(`${long}2`, 2);
    while (tryPut(other.core, `y${commit}`, 3)) commit++;
    expect(other.list(between(long, `${long}2`))).toBe(`${long}@1`);
    expect(other.list(between(`${long}1`, `${long}3`))).toBe(`${long}2@2`);
  });

  it('changes nothing when an unreserved write is refused', () => {
    const core = new Core(coreModule(), { memoryBytesMax: 300_000 });
    let commit = 0;
    const write = (): void => {
      for (;;) {
        const keyId = core.internKey(`key-${commit}`);
        core.append(keyId, commit + 1, commit + 1, 1, 1, 0, false);
        commit++;
      }
    };
    expect(write).toThrow(StoreFullError);
    core.verify();
    expect(core.stats()).toMatchObject({ liveKeys: commit, versions: commit, logEntries: commit });
    expect(write).toThrow(StoreFullError);
    core.verify();
  });

  it('refuses a load that cannot fit before it begins', () => {
    const core = new Core(coreModule(), { memoryBytesMax: LIMIT });
    const claimed = core.stats().claimedBytes;
    for (const events of [100_000, 0xffffffff, 2 ** 40]) {
      expect(() => core.reserve('load', { events, newKeys: events, newKeyBytes: events * 40 })).toThrow(StoreFullError);
    }
    expect(core.stats().claimedBytes).toBe(claimed);
    expect(tryPut(core, 'small', 1)).toBe(true);
  });

  it('bounds a bulk load within a factor of two when it knows the longest key', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) =>
      `/registry/pods/ns-${index % 50}/a-${index}`.padEnd(47, 'z'),
    );
    const free = new Core(coreModule());
    const load = (core: Core): void => {
      for (const key of keys) core.append(core.internKey(key), 1, 1, 1, 1, 0, false);
    };
    load(free);
    const need = { events: keys.length, newKeys: keys.length, newKeyBytes: keys.length * 47, longestKeyBytes: 47 };
    const core = new Core(coreModule(), { memoryBytesMax: 2 * free.stats().claimedBytes });
    core.reserve('load', need);
    load(core);
    core.verify();
  });
});

describe('memory growth', () => {
  it('is not seen by keys written or slots read across it', () => {
    const rig = new CoreRig();
    const sizes = new Set<number>();
    let commit = 0;
    for (let index = 0; index < 30_000; index++) {
      const key = `key-${index}`;
      rig.put(key, ++commit);
      if (index % 500 !== 0) continue;
      sizes.add(rig.core.stats().memoryBytes);
      expect(rig.list(between(key))).toBe(`${key}@${commit}`);
      // Room for a long key grows the input region, and with it perhaps the memory, between two short ones.
      const bytes = 4 * index;
      rig.core.reserve('test', { events: 0, newKeys: 1, newKeyBytes: bytes });
      expect(rig.list(between(key))).toBe(`${key}@${commit}`);
    }
    expect(sizes.size).toBeGreaterThan(4);
    rig.core.verify();
  });

  it('costs at most 46 bytes a version and 134 bytes a key of 47 bytes with its first version', () => {
    const core = new Core(coreModule());
    const start = core.stats().claimedBytes;
    const keyIds = Array.from({ length: 20_000 }, (_, index) =>
      core.internKey(`/registry/pods/ns-${(index * 7919) % 400}/app-${(index * 104_729) % 20_011}-`.padEnd(47, 'z')),
    );
    let commit = 0;
    for (const keyId of keyIds) core.append(keyId, ++commit, commit, commit, 1, 0, false);
    const perKey = (core.stats().claimedBytes - start) / 20_000;
    const single = core.stats().claimedBytes;
    const random = createSeededRandom(testSeed());
    for (let index = 0; index < 200_000; index++) {
      core.append(keyIds[Math.floor(random() * 20_000)] ?? 0, ++commit, commit, 1, 2, 0, false);
    }
    const perVersion = (core.stats().claimedBytes - single + 36 * 20_000) / 220_000;
    expect(perKey).toBeLessThan(134);
    expect(perVersion).toBeLessThan(46);
  });

  it('costs at most 100 bytes a key of 47 bytes in a lean key index', () => {
    const index = new KeyIndex(coreModule(), { lean: true });
    const start = index.claimedBytes;
    for (let place = 0; place < 20_000; place++) {
      index.insert(`/registry/pods/ns-${(place * 7919) % 400}/app-${(place * 104_729) % 20_011}-`.padEnd(47, 'z'));
    }
    expect(index.size).toBe(20_000);
    expect((index.claimedBytes - start) / 20_000).toBeLessThan(100);
  });
});
