import { describe, expect, it } from 'vitest';
import { ShortMap, versionedMap } from '../../../src/handlers/short-map.ts';
import { TableMap } from '../../../src/handlers/table-map.ts';
import type { VersionedMap } from '../../../src/handlers/versioned-map.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

const sorted = (entries: Iterable<readonly [string, number]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

const KINDS: readonly (readonly [string, (table: Map<string, number>) => VersionedMap<number>])[] = [
  ['that hand a table on', (table) => new TableMap(table)],
  ['short, or handing a table on where they are long', versionedMap],
];

describe.each(KINDS)('a map of versions %s', (_, make) => {
  it('is as drawn: the older ones are read as they were', () => {
    const first = make(
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
      const versions = [{ map: make(new Map()), model: new Map<string, number>() }];
      for (let step = 0; step < 60; step++) {
        const from = versions[Math.floor(random() * versions.length)];
        if (from === undefined) continue;
        const keys = new Set(Array.from({ length: Math.floor(random() * 4) }, () => `k${Math.floor(random() * 12)}`));
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

describe('the kind of a map of versions', () => {
  const table = (size: number) => new Map(Array.from({ length: size }, (_, n) => [`k${n}`, n]));

  it('is a copied one up to 8 entries, whether it was made so or came to that', () => {
    expect([0, 8, 9].map((size) => versionedMap(table(size)).constructor)).toEqual([ShortMap, ShortMap, TableMap]);
    const full = versionedMap(table(8));
    expect([full.set('k7', 1), full.set('k8', 1), full.set('k7', undefined)].map((map) => map.constructor)).toEqual([
      ShortMap,
      TableMap,
      ShortMap,
    ]);
    expect(full.set('absent', undefined)).toBe(full);
  });
});
