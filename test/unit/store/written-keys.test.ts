import { describe, expect, it } from 'vitest';
import { rangeHas } from '../../../src/core/key-order.ts';
import { checkDuplicates } from '../../../src/store/duplicates.ts';
import { KeySpace } from '../../../src/store/keyspace.ts';
import type { PreparedOperation } from '../../../src/store/prepared.ts';
import { WrittenKeys } from '../../../src/store/written-keys.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import type { ResolvedRange } from '../../../src/types/resolved-range.ts';

const LETTERS = ['a', 'b', '\ud7ff', '\ue000', '\u{10000}', '\u{10ffff}'];

describe('the keys that a branch writes', () => {
  it('has exactly the keys that some range has, whatever was added or taken in between', () => {
    const random = createSeededRandom(7);
    const keys = new KeySpace<string>('utf8');
    const below = (count: number) => Math.floor(random() * count);
    const text = (least: number) =>
      Array.from({ length: least + below(3) }, () => LETTERS[below(LETTERS.length)]).join('');
    const anyRange = (): ResolvedRange => {
      const kind = below(4);
      if (kind === 0) return keys.resolve({ key: text(1) }, 'test');
      if (kind === 1) return keys.resolve({ prefix: text(1) }, 'test');
      if (kind === 2 && below(10) === 0) return keys.resolve({ start: text(1) }, 'test');
      return keys.resolve({ start: text(1), end: text(1) }, 'test');
    };
    const fill = (ranges: ResolvedRange[], depth: number): WrittenKeys => {
      const written = new WrittenKeys('utf8');
      for (let left = below(6); left > 0; left--) {
        const range = anyRange();
        if (depth > 0 && below(3) === 0) written.take(fill(ranges, depth - 1));
        if (range.empty) continue;
        written.add(range);
        ranges.push(range);
      }
      return written;
    };
    let hits = 0;
    for (let round = 0; round < 300; round++) {
      const ranges: ResolvedRange[] = [];
      const written = fill(ranges, 3);
      for (let probe = 0; probe < 20; probe++) {
        const key = text(1);
        const expected = ranges.some((range) => rangeHas(range, key));
        if (expected) hits++;
        expect([key, written.has(key)]).toEqual([key, expected]);
      }
    }
    expect(hits).toBeGreaterThan(500);
    expect(hits).toBeLessThan(5500);
  });

  it('an empty prefix has every key, and ranges that touch are one', () => {
    const keys = new KeySpace<string>('utf8');
    const all = new WrittenKeys('utf8');
    all.add(keys.resolve({ prefix: '' }, 'test'));
    expect([all.has('a'), all.has('\u{10ffff}')]).toEqual([true, true]);
    const two = new WrittenKeys('utf8');
    two.add(keys.resolve({ start: 'b', end: 'c' }, 'test'));
    two.add(keys.resolve({ start: 'a', end: 'b' }, 'test'));
    expect(['a', 'b', 'c'].map((key) => two.has(key))).toEqual([true, true, false]);
    expect(two.held).toBe(1);
    two.add(keys.resolve({ start: 'a', end: 'bb' }, 'test'));
    two.add(keys.resolve({ start: 'x' }, 'test'));
    expect([two.held, two.has('ba'), two.has('w'), two.has('y')]).toEqual([2, true, false, true]);
  });

  it('R20: 64,000 puts and deletes are not checked one by one against each other: what is looked at grows by n log n', () => {
    const keys = new KeySpace<string>('utf8');
    const lease = { type: 'id', id: '0' } as const;
    for (const rangeAt of [
      (index: number) => keys.resolve({ key: `d${index}` }, 'test'),
      (index: number) => keys.resolve({ start: `d${index}`, end: `d${index}!` }, 'test'),
      (index: number) => keys.resolve({ prefix: `d${index}!` }, 'test'),
    ]) {
      const then: PreparedOperation[] = [];
      let looks = 0;
      for (let index = 0; index < 32_000; index++) {
        const range = rangeAt(index);
        const { text } = range;
        const get = () => {
          looks++;
          return text;
        };
        then.push({ type: 'delete', range: Object.defineProperty(range, 'text', { get }), prevKv: false });
        then.push({ type: 'put', text: `p${index}`, cell: 1, ignoreValue: false, lease, prevKv: false });
      }
      checkDuplicates({ compare: [], then, else: [] }, keys, 'test');
      expect(looks).toBeGreaterThan(0);
      expect(looks).toBeLessThan(64_000 * 40);
    }
  });
});
