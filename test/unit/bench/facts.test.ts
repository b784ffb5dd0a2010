import { describe, expect, it } from 'vitest';
import { medianFacts } from '../../../bench/harness/facts.mjs';

describe('medianFacts', () => {
  it('takes the median of each number, however deep', () => {
    const processes = [9, 1, 4].map((ms) => ({ outcomes: { steady: { lag: { maxMs: ms }, steps: [ms, 2 * ms] } } }));
    expect(medianFacts(processes)).toEqual({
      outcomes: { steady: { lag: { maxMs: 4 }, steps: [4, 8] } },
    });
  });

  it('says of a yes or no what most processes say', () => {
    expect(medianFacts([{ isMet: false }, { isMet: true }, { isMet: true }])).toEqual({ isMet: true });
    expect(medianFacts([{ isMet: true }, { isMet: false }, { isMet: false }])).toEqual({ isMet: false });
  });

  it('leaves what is no number to the first process', () => {
    expect(
      medianFacts([
        { load: 'a', none: null },
        { load: 'b', none: null },
      ]),
    ).toEqual({ load: 'a', none: null });
  });

  it('leaves what not every process has, or has in another shape, to the first process', () => {
    const first: Record<string, unknown> = { flat: 1, steps: [1, 2], absent: { lmdb: 'no driver' } };
    const second: Record<string, unknown> = { flat: null, steps: [7], absent: null };
    expect(medianFacts([first, second])).toEqual(first);
  });

  it('throws where there is no process', () => {
    expect(() => medianFacts([])).toThrow(RangeError);
  });

  it('gives the facts of a single process as they are', () => {
    const only = { keys: 3, waits: { 'one key': { p99: 0.5 } }, list: ['a', { b: true }] };
    expect(medianFacts([only])).toEqual(only);
  });
});
