import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../../src/types/errors.ts';
import { between, CoreRig, EVERYTHING } from './core-rig.ts';

/** The key of C16-C18: put2 put4 del6 put8 put10 del12 put14 put15 del16. */
const HISTORY = '2 4 6t 8 10 12t 14 15 16t';

function rigWith(history: string): CoreRig {
  const rig = new CoreRig();
  rig.write('foo', history);
  return rig;
}

describe('compaction of one key', () => {
  it('C14: each put stays readable at its revision + the next compactions', () => {
    const rig = rigWith('2 3 4t 5');
    const expected = [[2, 2, 1], [2, 3, 2], undefined, [5, 5, 1]];
    for (const [index, state] of expected.entries()) {
      rig.compact(index + 1);
      expect(rig.get('foo', index + 2), `G foo@${index + 2}`).toEqual(state);
      rig.core.verify();
    }
  });

  it.each([
    [17, undefined],
    [16, undefined],
    [15, [14, 15, 2]],
    [14, [14, 14, 1]],
    [13, undefined],
    [12, undefined],
    [11, [8, 10, 2]],
    [10, [8, 10, 2]],
    [9, [8, 8, 1]],
    [8, [8, 8, 1]],
    [7, undefined],
    [6, undefined],
    [5, [2, 4, 2]],
    [4, [2, 4, 2]],
  ])('C16: after C4, G foo@%i is %j', (revision, state) => {
    const rig = rigWith(HISTORY);
    rig.compact(4);
    expect(rig.get('foo', revision)).toEqual(state);
  });

  const C17: readonly (readonly [n: readonly number[], survivors: string])[] = [
    [[1, 2, 3], '2 4 6t 8 10 12t 14 15 16t'],
    [[4, 5], '4 6t 8 10 12t 14 15 16t'],
    [[6], '6t 8 10 12t 14 15 16t'],
    [[7, 8, 9], '8 10 12t 14 15 16t'],
    [[10, 11], '10 12t 14 15 16t'],
    [[12], '12t 14 15 16t'],
    [[13, 14], '14 15 16t'],
    [[15], '15 16t'],
    [[16], '16t'],
    [[17], ''],
  ];
  const rows = C17.flatMap(([revisions, survivors]) => revisions.map((n) => [n, survivors] as const));

  it.each(rows)('C17: C%i leaves %s', (n, survivors) => {
    for (const budget of [1, 2, 1000]) {
      const rig = rigWith(HISTORY);
      const { freed, dropped } = rig.compact(n, budget);
      expect(rig.stored('foo', 20)).toBe(survivors);
      expect(freed.length).toBe(9 - survivors.split(' ').filter(Boolean).length);
      expect(new Set(freed).size).toBe(freed.length);
      expect(dropped.length).toBe(n === 17 ? 1 : 0);
      expect(rig.core.findKey('foo')).toBe(n === 17 ? -1 : 0);
      rig.core.verify();
    }
  });

  it.each(rows)('C17: reached through every compaction below it, C%i leaves %s too', (n, survivors) => {
    const rig = rigWith(HISTORY);
    const freed: number[] = [];
    for (let revision = 1; revision <= n; revision++) freed.push(...rig.compact(revision, 1).freed);
    expect(rig.stored('foo', 20)).toBe(survivors);
    expect(new Set(freed).size).toBe(9 - survivors.split(' ').filter(Boolean).length);
    expect(freed.length).toBe(new Set(freed).size);
  });

  it.each([
    [1, ''],
    [2, '2'],
    [3, '2'],
    [4, '4'],
    [5, '4'],
    [6, '6t'],
    [7, ''],
    [8, '8'],
    [9, '8'],
    [10, '10'],
    [11, '10'],
    [12, '12t'],
    [13, ''],
    [14, '14'],
    [15, '15'],
    [17, ''],
  ])('C18: what stays for reads at %i is "%s"', (n, reachable) => {
    const rig = rigWith(HISTORY);
    rig.compact(n);
    const keyId = rig.core.findKey('foo');
    const slot = keyId < 0 ? -1 : rig.core.slotAt(keyId, n);
    expect(slot < 0 ? '' : rig.words(Uint32Array.of(slot))).toBe(reachable);
  });

  it('repeats the drawing of compaction.ts', () => {
    const rig = rigWith('2 4 6t 8');
    const table = [4, 5, 6, 7].map((revision) => {
      rig.compact(revision);
      return [revision, rig.events(0), rig.stored('foo', 9)];
    });
    expect(table).toEqual([
      [4, '4 6t 8', '4 6t 8'],
      [5, '6t 8', '4 6t 8'],
      [6, '6t 8', '6t 8'],
      [7, '8', '8'],
    ]);
  });
});

describe('compaction of several keys', () => {
  it('C19: ranges at and above C are unchanged, a deleted key is gone and can be written again', () => {
    const rig = new CoreRig();
    for (let index = 1; index <= 5; index++) rig.put(`foo${index}`, index + 1);
    rig.delete('foo1', 7);
    const before = [7, 8, 9].map((revision) => rig.list(between('foo', 'fop'), revision));
    rig.compact(7);
    expect([7, 8, 9].map((revision) => rig.list(between('foo', 'fop'), revision))).toEqual(before);
    expect(rig.core.count(EVERYTHING, 9)).toBe(4);
    expect(rig.get('foo1', 9)).toBeUndefined();
    expect(rig.put('foo1', 8)).toBeGreaterThanOrEqual(0);
    expect(rig.get('foo1', 8)).toEqual([8, 8, 1]);
    rig.core.verify();
  });

  it('C20: a lone tombstone is not found, is an event, and goes when C passes it', () => {
    const rig = new CoreRig();
    rig.delete('foo', 16);
    expect([16, 17, 18, 19, 20].map((revision) => rig.get('foo', revision))).toEqual(Array(5).fill(undefined));
    rig.put('foo', 17);
    rig.put('foo', 18);
    expect(rig.events(16)).toBe('16t 17 18');
    rig.compact(17);
    expect(rig.events(16)).toBe('17 18');
    expect(rig.stored('foo', 18)).toBe('17 18');
  });

  it.each([
    ['a 1t, b 2, c 3', 2, 'b@2 c@3', '2 3'],
    ['a 1, b 2, c 3', 2, 'a@1 b@2 c@3', '2 3'],
    ['a 1t, b 2t, c 3t', 4, '', ''],
    ['a 1, a 2t, b 3', 3, 'b@3', '3'],
  ])('C23: %s after C%i keeps what is live and what is in the log', (writes, revision, live, log) => {
    const rig = new CoreRig();
    for (const write of writes.split(', ')) rig.write(write.slice(0, 1), write.slice(2));
    rig.compact(revision);
    expect([rig.list(EVERYTHING), rig.events(0)]).toEqual([live, log]);
  });

  it('keeps all events of the commit at C, and one version of each key when C has passed (C12)', () => {
    const rig = new CoreRig();
    rig.put('foo', 4);
    const slots = [rig.put('foo', 5), rig.delete('foo', 5), rig.put('foo', 5), rig.put('bar', 5)];
    expect(rig.compact(5).freed.length).toBe(1);
    expect([...rig.core.eventsAt(EVERYTHING, 5, 0)]).toEqual(slots);
    expect(rig.compact(6).freed.length).toBe(2);
    expect(rig.core.stats()).toMatchObject({ keys: 2, liveKeys: 2, versions: 2, logEntries: 0 });
    expect([rig.core.firstCommit, rig.core.lastCommit]).toEqual([0, 0]);
    expect(rig.get('foo', 6)).toEqual([5, 5, 1]);
  });

  it('bounds what is stored by live keys, the log from C on, and tombstones at C', () => {
    const rig = new CoreRig();
    let commit = 1;
    for (let round = 0; round < 40; round++) {
      for (let key = 0; key < 50; key++) {
        if ((key + round) % 7 === 0) rig.delete(`key${key}`, ++commit);
        else rig.put(`key${key}`, ++commit);
      }
    }
    rig.compact(1500, 7);
    const inLog = rig.core.entriesFrom(1500);
    const { versions, logEntries } = rig.core.stats();
    expect(logEntries).toBe(inLog);
    expect(versions).toBeLessThanOrEqual(50 + inLog);
    rig.core.verify();
  });

  it('stops anywhere and goes on, also when C rises in mid-work', () => {
    const rig = new CoreRig();
    for (let commit = 1; commit <= 300; commit++) rig.put(`key${commit % 3}`, commit);
    const freed: number[] = [];
    const step = (revision: number, budget: number): boolean => {
      const before = rig.list(EVERYTHING, 250);
      const result = rig.core.compactStep(revision, budget);
      freed.push(...result.freedSlots);
      expect(rig.list(EVERYTHING, 250)).toBe(before);
      return result.done;
    };
    expect(step(100, 10)).toBe(false);
    expect(step(200, 50)).toBe(false);
    expect(step(250, 1)).toBe(false);
    while (!step(250, 9)) rig.core.verify();
    expect(freed.length).toBe(new Set(freed).size);
    expect(rig.core.stats().versions).toBe(300 - freed.length);
    expect(rig.core.stats().versions).toBe(53);
    expect(() => rig.core.compactStep(249, 1)).toThrow(InvariantError);
  });

  it.each([1, 15, 16, 17, 160, 4096])(
    'counts a key that goes as 16 more entries: a step of %i lets few of them go',
    (budget) => {
      const rig = new CoreRig();
      const keys = 600;
      for (let key = 0; key < keys; key++) rig.put(`key${key}`, key + 1);
      for (let key = 0; key < keys; key++) rig.delete(`key${key}`, keys + key + 1);
      const gone: number[] = [];
      for (let isDone = false; !isDone; ) {
        const { droppedKeys, work, done } = rig.core.compactStep(2 * keys, budget);
        gone.push(...droppedKeys);
        expect(droppedKeys.length).toBeLessThanOrEqual(Math.ceil(budget / 16));
        expect(work).toBeGreaterThan(0);
        expect(work).toBeLessThanOrEqual(budget);
        isDone = done;
        rig.core.verify();
      }
      // The last delete is at the revision itself, and stays.
      expect([new Set(gone).size, gone.length]).toEqual([keys - 1, keys - 1]);
      expect(rig.core.stats()).toMatchObject({ keys: 1, liveKeys: 0, versions: 1, logEntries: 1 });
    },
  );

  it('has nothing left to say when it is repeated, and does nothing with a budget of 0', () => {
    const rig = rigWith(HISTORY);
    expect(rig.core.compactStep(10, 0)).toMatchObject({ done: false });
    rig.compact(10);
    const again = rig.core.compactStep(10, 1000);
    expect([again.freedSlots.length, again.droppedKeys.length, again.done]).toEqual([0, 0, true]);
  });

  it('reuses a slot and a key id only after it has reported them', () => {
    const rig = new CoreRig();
    const first = rig.put('gone', 1);
    const second = rig.delete('gone', 2);
    const keyId = rig.core.findKey('gone');
    const third = rig.put('stays', 3);
    expect(new Set([first, second, third]).size).toBe(3);
    const { freed, dropped } = rig.compact(3);
    expect(freed.toSorted()).toEqual([first, second].toSorted());
    expect(dropped).toEqual([keyId]);
    expect(() => rig.core.keyBytes(keyId)).toThrow(InvariantError);
    expect(() => rig.core.commitRevision(first)).toThrow(InvariantError);
    const fourth = rig.put('new', 4);
    expect(freed).toContain(fourth);
    expect(rig.core.keyOf(fourth)).toBe(keyId);
    expect(rig.list(EVERYTHING)).toBe('new@4 stays@3');
  });
});
