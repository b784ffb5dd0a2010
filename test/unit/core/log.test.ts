import { describe, expect, it } from 'vitest';
import { Core } from '../../../src/core/core.ts';
import { coreModule } from '../../../src/core/module.ts';
import { InvariantError } from '../../../src/types/errors.ts';
import { between, CoreRig, EVERYTHING } from './core-rig.ts';

describe('versions', () => {
  it.each([
    ['a put', 7, 7, 5, 2, 0, false],
    ['a tombstone', 9, 9, 0, 0, 0, true],
    ['a relist: mod before commit (M10)', 30, 12, 4, 3, 0xffffffff, false],
    ['far apart', 2 ** 40, 3, 3, 0xffffffff, 1, false],
    ['mod near, create far', 2 ** 53 - 1, 2 ** 53 - 1, 1, 1, 1, false],
    ['the last distance that fits', 0xfffffffd, 0, 0, 1, 1, false],
    ['the first that does not', 0xfffffffe, 0, 0xfffffffe, 1, 1, false],
    ['a create whose distance is reserved for none', 0x100000003, 0x100000003, 5, 2, 0, false],
    ['a mod whose distance is reserved for far', 0x100000004, 5, 5, 2, 0, false],
    ['mod after commit', 5, 6, 7, 1, 1, false],
  ])('%s comes back as it went in', (_name, commit, mod, create, version, lease, tombstone) => {
    const { core } = new CoreRig();
    const keyId = core.internKey('key');
    const slot = core.append(keyId, commit, mod, create, version, lease, tombstone);
    expect(core.commitRevision(slot)).toBe(commit);
    expect(core.modRevision(slot)).toBe(mod);
    expect(core.createRevision(slot)).toBe(create);
    expect([core.version(slot), core.leaseTag(slot)]).toEqual([version, lease]);
    expect([core.keyOf(slot), core.isTombstone(slot)]).toEqual([keyId, tombstone]);
    expect(core.headSlot(keyId)).toBe(slot);
  });

  it('finds the newest version at a revision, as the drawing of history.ts does', () => {
    const rig = new CoreRig();
    rig.write('foo', '4 6t 8 10');
    const keyId = rig.core.findKey('foo');
    const at = [3, 4, 5, 6, 7, 8, 9, 10, 11].map((revision) => {
      const slot = rig.core.slotAt(keyId, revision);
      return slot < 0 ? '-' : rig.words(Uint32Array.of(slot));
    });
    expect(at).toEqual(['-', '4', '4', '6t', '6t', '8', '8', '10', '10']);
  });

  it('answers at every revision of a key with 10,000 versions, before and after compactions in between', () => {
    const { core } = new CoreRig();
    const keyId = core.internKey('hot');
    const slots: number[] = [];
    for (let commit = 1; commit <= 10_000; commit++) {
      slots[commit] = core.append(keyId, commit, commit, 1, commit, 0, false);
      if (commit % 1000 === 0) while (!core.compactStep(commit - 500, 100).done);
    }
    core.verify();
    for (let commit = 9500; commit <= 10_000; commit++) expect(core.slotAt(keyId, commit)).toBe(slots[commit]);
    expect(core.stats().versions).toBe(501);
  });

  it('refuses what would corrupt: unknown keys and slots, commits that go back', () => {
    const { core } = new CoreRig();
    const keyId = core.internKey('key');
    expect(core.headSlot(keyId)).toBe(-1);
    const slot = core.append(keyId, 5, 5, 5, 1, 0, false);
    expect(() => core.append(keyId, 4, 4, 4, 1, 0, false)).toThrow(InvariantError);
    expect(() => core.append(keyId, Number.NaN, 4, 4, 1, 0, false)).toThrow(InvariantError);
    for (const unknown of [-1, 1, 255, 256, 0x7fffffff]) {
      expect(() => core.append(unknown, 6, 6, 6, 1, 0, false)).toThrow(InvariantError);
      expect(() => core.headSlot(unknown)).toThrow(InvariantError);
      expect(() => core.slotAt(unknown, 6)).toThrow(InvariantError);
      expect(() => core.keyBytes(unknown)).toThrow(InvariantError);
      for (const field of ['commitRevision', 'modRevision', 'createRevision', 'version', 'leaseTag'] as const) {
        expect(() => core[field](slot + 1 + unknown + 1)).toThrow(InvariantError);
      }
      expect(() => core.keyOf(slot + 2 + unknown)).toThrow(InvariantError);
      expect(() => core.isTombstone(slot + 2 + unknown)).toThrow(InvariantError);
    }
    expect(core.stats()).toMatchObject({ versions: 1, logEntries: 1 });
    core.verify();
  });
});

describe('the log', () => {
  it('is 0 everywhere while it is empty', () => {
    const core = new Core(coreModule());
    expect([core.logEntries, core.firstCommit, core.lastCommit, core.entriesFrom(0), core.commitFromEnd(1)]).toEqual([
      0, 0, 0, 0, 0,
    ]);
    expect([core.nextCommit(EVERYTHING, 0, 0), core.count(EVERYTHING, 0)]).toEqual([0, 0]);
    expect(core.range(EVERYTHING, 0, 0).length + core.replay(EVERYTHING, 0, 0, 1).length).toBe(0);
    expect(core.compactStep(0, 10).done).toBe(true);
    core.verify();
  });

  const rig = new CoreRig();
  rig.put('a', 2);
  for (const key of ['b', 'a', 'c']) rig.put(key, 5);
  rig.delete('a', 7);
  rig.put('a', 9);
  rig.delete('c', 9);

  it.each([
    ['all', EVERYTHING, 0, [2, 2, 2, 5, 5, 5, 7, 7, 9, 9, 0]],
    ['a point', between('a'), 0, [2, 2, 2, 5, 5, 5, 7, 7, 9, 9, 0]],
    ['b to c', between('b', 'c'), 0, [5, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0]],
    ['no puts', EVERYTHING, 1, [7, 7, 7, 7, 7, 7, 7, 7, 9, 9, 0]],
    ['no deletes', between('a'), 2, [2, 2, 2, 5, 5, 5, 9, 9, 9, 9, 0]],
    ['an absent key', between('aa'), 0, Array(11).fill(0)],
  ] as const)('nextCommit of %s', (_name, range, filter, expected) => {
    expect(Array.from({ length: 11 }, (_, from) => rig.core.nextCommit(range, from, filter))).toEqual(expected);
  });

  it('gives the events of one commit in append order, through range and filter', () => {
    const keys = (slots: Uint32Array): string[] => [...slots].map((slot) => rig.key(slot));
    expect(keys(rig.core.eventsAt(EVERYTHING, 5, 0))).toEqual(['b', 'a', 'c']);
    expect(keys(rig.core.eventsAt(between('a', 'c'), 5, 0))).toEqual(['b', 'a']);
    expect(keys(rig.core.eventsAt(EVERYTHING, 9, 1))).toEqual(['c']);
    expect(keys(rig.core.eventsAt(EVERYTHING, 9, 2))).toEqual(['a']);
    expect(keys(rig.core.eventsAt(between('a'), 9, 0))).toEqual(['a']);
    expect(keys(rig.core.eventsAt(EVERYTHING, 6, 0))).toEqual([]);
  });

  it.each([
    [0, 1, '2'],
    [0, 2, '2 5 5 5'],
    [0, 4, '2 5 5 5'],
    [0, 5, '2 5 5 5 7t'],
    [3, 1, '5 5 5'],
    [7, 2, '7t 9 9t'],
    [0, 0, '2'],
    [10, 9, ''],
  ])('replays whole commits: from %i, %i events, gives %s', (from, most, expected) => {
    expect(rig.words(rig.core.replay(EVERYTHING, from, 0, most))).toBe(expected);
  });

  it('counts from both ends', () => {
    expect([0, 2, 3, 5, 6, 9, 10].map((from) => rig.core.entriesFrom(from))).toEqual([7, 7, 6, 6, 3, 2, 0]);
    expect([0, 1, 2, 3, 4, 6, 7, 8].map((entries) => rig.core.commitFromEnd(entries))).toEqual([
      0, 9, 9, 7, 5, 5, 2, 0,
    ]);
    expect([rig.core.firstCommit, rig.core.lastCommit]).toEqual([2, 9]);
  });

  it('grows, wraps its positions and its directory, and replays across both', () => {
    const { core } = new CoreRig();
    const keyIds = Array.from({ length: 5 }, (_, index) => core.internKey(`key${index}`));
    let commit = 0;
    // 40 pages of 1024 entries, with the front always moving: the position wraps at entry 4096.
    for (let round = 0; round < 40; round++) {
      for (let entry = 0; entry < 1024; entry++) {
        commit++;
        core.append(keyIds[commit % 5] ?? 0, commit, commit, 1, 1, 0, false);
      }
      // The first half keeps two pages, the second lets the log grow to 20.
      if (round < 20) while (!core.compactStep(Math.max(0, commit - 1500), 4096).done);
      const from = Math.max(core.firstCommit, commit - 1400);
      const slots = core.replay(EVERYTHING, from, 0, 1e9);
      expect([...slots].map((slot) => core.commitRevision(slot))).toEqual(
        Array.from({ length: commit - from + 1 }, (_, index) => from + index),
      );
    }
    core.verify();
  });

  it('keeps what it has written when the output region grows in the middle of an answer', () => {
    const filled = (): { core: Core; slots: number[] } => {
      const { core } = new CoreRig();
      const slots = Array.from({ length: 3000 }, (_, index) => {
        const keyId = core.internKey(`key${10_000 + index}`);
        return core.append(keyId, 1 + Math.floor(index / 2000), 1, 1, 1, 0, false);
      });
      return { core, slots };
    };
    const answers: readonly (readonly [name: string, read: (core: Core) => Uint32Array, count: number])[] = [
      ['replay', (core) => core.replay(EVERYTHING, 0, 0, 1e9), 3000],
      ['eventsAt', (core) => core.eventsAt(EVERYTHING, 1, 0), 2000],
      ['range', (core) => core.range(EVERYTHING, 2, 0), 3000],
      ['range at an older revision', (core) => core.range(EVERYTHING, 1, 0), 2000],
    ];
    for (const [name, read, count] of answers) {
      const { core, slots } = filled();
      expect([...read(core)], name).toEqual(slots.slice(0, count));
    }
  });

  it('finds the next event of a narrow range behind a long foreign stretch, as drawn in log-scan.ts', () => {
    const { core } = new CoreRig();
    const [a, b] = [core.internKey('a'), core.internKey('b')];
    core.append(a, 5, 5, 5, 1, 0, false);
    for (let commit = 6; commit <= 400; commit++) core.append(b, commit, commit, 6, 1, 0, false);
    const late = core.append(a, 401, 401, 5, 2, 0, false);
    expect(core.nextCommit(between('a', 'b'), 6, 0)).toBe(401);
    expect(core.nextCommit(between('a'), 6, 0)).toBe(401);
    expect([...core.replay(between('a', 'b'), 6, 0, 10)]).toEqual([late]);
    expect(core.nextCommit(between('a', 'b'), 6, 1)).toBe(0);
  });

  it('does not take the base version of a key for an event of the log', () => {
    const small = new CoreRig();
    small.put('a', 2);
    small.put('b', 5);
    small.compact(4);
    expect(small.core.nextCommit(between('a'), 0, 0)).toBe(0);
    expect(small.core.nextCommit(between('a', 'c'), 0, 0)).toBe(5);
    expect(small.list(EVERYTHING)).toBe('a@2 b@5');
  });
});
