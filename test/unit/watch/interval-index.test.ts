import { describe, expect, it } from 'vitest';
import { compareKeyText } from '../../../src/core/key-order.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { IntervalIndex } from '../../../src/watch/interval-index.ts';

/** Against a list that is looked through; and what a visit, an interval that comes and one that leaves cost, in compares. */
interface Interval {
  readonly start: string;
  readonly end: string | undefined;
  readonly name: string;
}

function openCounted() {
  const counts = { compares: 0 };
  const index = new IntervalIndex<string>((a, b) => {
    counts.compares++;
    return compareKeyText(a, b);
  });
  const costOf = (act: () => void): number => {
    const before = counts.compares;
    act();
    return counts.compares - before;
  };
  const visited = (text: string): string[] => {
    const names: string[] = [];
    index.visit(text, (name) => names.push(name));
    return names.sort();
  };
  return { index, costOf, visited };
}

const holds = ({ start, end }: Interval, text: string) => start <= text && (end === undefined || text < end);
const digits = (number: number) => String(number).padStart(5, '0');

describe('an interval index', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'finds what a list finds, whoever comes, leaves and comes back: seed %i',
    (seed) => {
      const random = createSeededRandom(seed);
      const below = (limit: number) => Math.floor(random() * limit);
      const { index, visited } = openCounted();
      const all = Array.from({ length: 150 }, (_, number): Interval => {
        const start = below(300);
        const end = random() < 0.2 ? undefined : digits(start + below(60));
        return { start: digits(start), end, name: `${number}` };
      });
      const present = new Set<Interval>();
      for (let step = 0; step < 1500; step++) {
        const interval = all[below(all.length)] as Interval;
        // Tides: many come, then many leave.
        if (random() < (Math.floor(step / 250) % 2 === 0 ? 0.8 : 0.2)) {
          index.add(interval.start, interval.end, interval.name);
          present.add(interval);
        } else {
          index.remove(interval.name);
          present.delete(interval);
        }
        const off = index.held - present.size;
        expect(off).toBeGreaterThanOrEqual(0);
        expect(off < 32 || off * 2 < index.held).toBe(true);
        if (step % 5 !== 0) continue;
        for (const text of [interval.start, interval.end ?? 'z', digits(below(360))]) {
          const expected = [...present].filter((one) => holds(one, text)).map(({ name }) => name);
          expect(visited(text)).toEqual(expected.sort());
        }
      }
    },
  );

  it.each([
    { count: 31, most: 31, left: 31 },
    { count: 32, most: 31, left: 0 },
    { count: 100, most: 49, left: 18 },
    { count: 101, most: 50, left: 18 },
  ])('keeps those that left up to 31, and beyond that fewer than half: $count', ({ count, most, left }) => {
    const { index } = openCounted();
    for (let number = 0; number < count; number++) index.add(digits(number), undefined, `${number}`);
    let off = 0;
    for (let number = 0; number < count; number++) {
      index.remove(`${number}`);
      index.remove(`${number}`);
      index.remove('nobody');
      off = Math.max(off, index.held - (count - number - 1));
    }
    expect([off, index.held]).toEqual([most, left]);
  });

  it('of those that all left, one that comes costs no look at the others', () => {
    const { index, costOf, visited } = openCounted();
    for (let number = 0; number < 31; number++) index.add('a', 'b', `${number}`);
    for (let number = 0; number < 31; number++) index.remove(`${number}`);
    expect(costOf(() => visited('a'))).toBe(0);
    index.add('a', 'b', '7');
    index.add('a', 'b', '7');
    expect(visited('a')).toEqual(['7']);
    index.remove('7');
    expect([costOf(() => visited('a')), visited('a')]).toEqual([0, []]);
  });

  it('a visit compares a few times the square of a logarithm, however the intervals came', () => {
    // What they come in has an effect on how often a sort compares, and nothing else has.
    for (const [order, most] of [
      ['ascending', 20_000],
      ['descending', 22_500],
      ['mixed', 62_000],
    ] as const) {
      const { index, costOf, visited } = openCounted();
      const count = 4096;
      const numbers = Array.from({ length: count }, (_, number) =>
        order === 'mixed' ? (number * 1979) % count : number,
      );
      if (order === 'descending') numbers.reverse();
      const added = costOf(() => {
        for (const number of numbers) index.add(digits(number), digits(number + 1), digits(number));
      });
      expect(added).toBeLessThan(most);
      for (const text of [0, 1, 31, 32, 2047, 2048, 4000, 4095]) {
        expect(costOf(() => expect(visited(digits(text))).toEqual([digits(text)]))).toBeLessThan(60);
      }
      expect(costOf(() => expect(visited(digits(count))).toEqual([]))).toBeLessThan(10);
      expect(costOf(() => expect(visited('')).toEqual([]))).toBeLessThan(30);
    }
  });

  it('one that leaves and comes back between two visits costs no compare', () => {
    const { index, costOf, visited } = openCounted();
    for (let number = 0; number < 1000; number++) index.add(digits(number), digits(number + 1), digits(number));
    const cost = costOf(() => {
      for (let round = 0; round < 100; round++) {
        for (let number = 0; number < 31; number++) index.remove(digits(number));
        for (let number = 0; number < 31; number++) index.add(digits(number), digits(number + 1), digits(number));
      }
    });
    expect([cost, index.held]).toEqual([0, 1000]);
    expect(visited(digits(30))).toEqual([digits(30)]);
  });

  it('those that left are swept when trees are made one, too', () => {
    const { index, visited } = openCounted();
    for (let number = 0; number < 32; number++) index.add(digits(number), 'z', `first ${number}`);
    for (let number = 0; number < 31; number++) index.remove(`first ${number}`);
    expect(index.held).toBe(32);
    for (let number = 0; number < 32; number++) index.add(digits(number), 'z', `second ${number}`);
    expect(index.held).toBe(33);
    // One of those that are forgotten is a new one.
    index.add(digits(40), 'z', 'first 3');
    expect([index.held, visited(digits(40)).filter((name) => name.startsWith('first'))]).toEqual([
      34,
      ['first 3', 'first 31'],
    ]);
  });
});
