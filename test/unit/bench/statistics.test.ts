import { describe, expect, it } from 'vitest';
import { median, rotate } from '../../../bench/harness/statistics.mjs';

describe('median', () => {
  it.each([
    [[7], 7],
    [[1, 9], 5],
    [[9, 1, 5], 5],
    [[10, 2, 100, 4], 7],
    // By number, not by text, and one wild value moves nothing.
    [[10, 9, 1_000_000], 10],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('does not sort what it was given', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it('of nothing, or of what is no number, is refused', () => {
    expect(() => median([])).toThrow('Cannot take a median: there are no values');
    expect(() => median([1, Number.NaN])).toThrow(RangeError);
    expect(() => median([1, Number.POSITIVE_INFINITY])).toThrow(RangeError);
  });
});

describe('rotate', () => {
  it('gives everyone every place once', () => {
    const rounds = [0, 1, 2, 3].map((round) => rotate(['a', 'b', 'c'], round).join(''));
    expect(rounds).toEqual(['abc', 'bca', 'cab', 'abc']);
  });

  it('takes an empty list', () => {
    expect(rotate([], 3)).toEqual([]);
  });
});
