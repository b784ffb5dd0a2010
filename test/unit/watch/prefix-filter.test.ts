import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { PrefixFilter } from '../../../src/watch/prefix-filter.ts';

/** A map that counts how often it was gone through. */
class Counted extends Map<string, number> {
  walked = 0;

  override keys(): ReturnType<Map<string, number>['keys']> {
    this.walked += this.size;
    return super.keys();
  }
}

function open() {
  const prefixes = new Counted();
  const filter = new PrefixFilter(prefixes);
  const add = (prefix: string): void => {
    prefixes.set(prefix, 1);
    filter.add(prefix);
  };
  const remove = (prefix: string): void => {
    prefixes.delete(prefix);
    filter.remove(prefix);
  };
  const visited = (text: string): string[] => {
    const seen: string[] = [];
    filter.visit(text, (prefix) => seen.push(prefix));
    return seen;
  };
  return { prefixes, filter, add, remove, visited };
}

const LETTERS = ['a', 'b', '/', '\u{fffd}', '\u{10ffff}'];

describe('a filter of prefixes', () => {
  it.each([1, 2, 3, 4])('lets through every prefix that is there, ascending, each once: seed %i', (seed) => {
    const random = createSeededRandom(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    const text = (most: number) => Array.from({ length: below(most) }, () => LETTERS[below(LETTERS.length)]).join('');
    const { prefixes, filter, add, remove, visited } = open();
    for (let step = 0; step < 3000; step++) {
      const prefix = text(7);
      if (prefixes.has(prefix)) remove(prefix);
      else add(prefix);
      const key = text(9);
      const seen = visited(key);
      expect(seen.filter((one) => prefixes.has(one))).toEqual(
        Array.from({ length: key.length + 1 }, (_, length) => key.slice(0, length)).filter((one) => prefixes.has(one)),
      );
      expect(seen.map((one) => one.length)).toEqual([...new Set(seen.map((one) => one.length))].sort((a, b) => a - b));
      expect(seen.every((one) => key.startsWith(one))).toBe(true);
      expect(filter.held.lengths).toBe(new Set([...prefixes.keys()].map((one) => one.length)).size);
    }
  });

  it('asks for nothing when there is no prefix, and only at lengths in use', () => {
    const { add, remove, visited, filter } = open();
    expect(visited('abc')).toEqual([]);
    add('ab');
    expect([visited('ab'), visited('abc'), visited('a'), visited('')]).toEqual([['ab'], ['ab'], [], []]);
    add('xy');
    remove('ab');
    // The bit stays, and with the length in use costs a look-up.
    expect([visited('ab'), filter.held.lengths]).toEqual([['ab'], 1]);
    remove('xy');
    expect([visited('ab'), visited('xy'), filter.held.lengths]).toEqual([[], [], 0]);
    add('');
    expect(visited('ab')).toEqual(['']);
  });

  it.each([100, 1000, 20_000])('lets through few that are not there: %i prefixes of 20 lengths', (count) => {
    const { add, visited } = open();
    for (let number = 0; number < count; number++) add(`/registry/kind-${number}/`.padEnd(20 + (number % 20), 'x'));
    let asked = 0;
    let through = 0;
    for (let number = 0; number < 2000; number++) {
      asked += 20;
      through += visited(`/registry/other-${number}/`.padEnd(60, 'y')).length;
    }
    // At most one bit in sixteen is set.
    expect(through / asked).toBeLessThan(0.08);
  });

  it('has from 16 to 64 bits a prefix, or 2048 in all', () => {
    const { add, filter } = open();
    const bits: number[] = [];
    for (let number = 1; number <= 5000; number++) {
      add(`prefix ${number}`);
      const now = filter.held.bits;
      if (bits.at(-1) !== now) bits.push(now);
      expect(now === 2048 || (now >= 16 * number && now <= 64 * number)).toBe(true);
    }
    expect(bits).toEqual([2048, 8192, 32_768, 131_072]);
  });

  it('is made anew for what came and went, of those that are there: two steps for each at most', () => {
    const { prefixes, add, remove, filter, visited } = open();
    for (let number = 0; number < 50; number++) add(`stays ${number}`);
    for (let round = 0; round < 10_000; round++) {
      add(`guest ${round}`);
      remove(`guest ${round}`);
    }
    expect([filter.held.bits, prefixes.walked < 10_050, prefixes.walked > 50]).toEqual([2048, true, true]);
    for (let number = 0; number < 50; number++) expect(visited(`stays ${number}/x`)).toContain(`stays ${number}`);
    let through = 0;
    for (let round = 0; round < 10_000; round++) through += visited(`guest ${round}`).length;
    expect(through).toBeLessThan(10_000 * 0.1);
    const before = prefixes.walked;
    for (let number = 0; number < 20_000; number++) add(`many ${number}`);
    expect(prefixes.walked - before).toBeLessThan(2 * 20_000);
  });

  it('keeps on with the lengths it had when a visit began', () => {
    const { add, remove, filter } = open();
    for (const prefix of ['a', 'ab', 'abc']) add(prefix);
    const seen: string[] = [];
    filter.visit('abcd', (prefix) => {
      seen.push(prefix);
      remove(prefix);
    });
    expect([seen, filter.held.lengths]).toEqual([['a', 'ab', 'abc'], 0]);
  });
});
