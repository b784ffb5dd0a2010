import { describe, expect, it } from 'vitest';
import { VersionedMap } from '../../../src/handlers/versioned-map.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

const sorted = (entries: Iterable<readonly [string, number]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

describe('a map of versions', () => {
  it('is as drawn: the newest has the table, the others are read through it', () => {
    const first = new VersionedMap(
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    );
    const second = first.with([['b', 9]]);
    const third = second.with([['c', 3]]);
    expect([first, second, third].map((version) => version.get('b'))).toEqual([2, 9, 9]);
    expect([third, first, second].map((version) => [version.size, version.get('c')])).toEqual([
      [3, 3],
      [2, undefined],
      [2, undefined],
    ]);
    expect(second.with([])).toBe(second);
  });

  it('keeps every version as it is, in a tree of them, in whatever order they are read', () => {
    const random = createSeededRandom(testSeed());
    for (let round = 0; round < 30; round++) {
      const versions = [{ map: new VersionedMap<number>(new Map()), model: new Map<string, number>() }];
      for (let step = 0; step < 60; step++) {
        const from = versions[Math.floor(random() * versions.length)];
        if (from === undefined) continue;
        const keys = new Set(Array.from({ length: Math.floor(random() * 4) }, () => `k${Math.floor(random() * 8)}`));
        const changes = [...keys].map((key) => [key, random() < 0.3 ? undefined : step] as const);
        const model = new Map(from.model);
        for (const [key, value] of changes) {
          if (value === undefined) model.delete(key);
          else model.set(key, value);
        }
        versions.push({ map: from.map.with(changes), model });
        const { map, model: expected } = versions[Math.floor(random() * versions.length)] ?? from;
        expect(sorted(map.entries()), reproduce('unit')).toEqual(sorted(expected));
        expect(map.size).toBe(expected.size);
      }
    }
  });
});
