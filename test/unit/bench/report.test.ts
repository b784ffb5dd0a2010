import { describe, expect, it } from 'vitest';
import { report, table } from '../../../bench/harness/report.mjs';

type Rates = Readonly<Record<string, readonly number[]>>;

/** What a process measured: the subject, peers by name, and what the names in `lacking` lack. */
function measured(subject: readonly number[], peers: Rates, lacking: Readonly<Record<string, string>> = {}) {
  return {
    name: 'list 20 ids',
    n: 100,
    subject: { name: 'plimsoll', rates: [...subject] },
    peers: Object.entries(peers).map(([name, rates]) => {
      const lacks = lacking[name];
      return { name, rates: [...rates], ...(lacks === undefined ? {} : { lacks }) };
    }),
  };
}

const facts = { suite: 'index', runtime: 'Node.js 20' };

describe('report', () => {
  it('takes medians over rounds, then over processes, and divides those', () => {
    const processes = [
      [measured([100, 300, 200], { slow: [10, 30, 20], fast: [50, 100, 70] })],
      [measured([400, 400, 400], { slow: [40, 40, 40], fast: [100, 100, 100] })],
      [measured([300, 300, 900], { slow: [30, 30, 30], fast: [60, 60, 60] })],
    ];
    expect(report(facts, processes)).toEqual({
      suite: 'index',
      runtime: 'Node.js 20',
      cases: [
        {
          name: 'list 20 ids',
          n: 100,
          subject: { opsPerSec: 300 },
          peers: { slow: { opsPerSec: 30, ratio: 10 }, fast: { opsPerSec: 70, ratio: 4.28571 } },
          best: 'fast',
          ratio: 4.28571,
          ratioRange: [2.85714, 5],
        },
      ],
    });
  });

  it('gives the range over rounds when there is one process', () => {
    const [only] = report(facts, [[measured([100, 300], { peer: [50, 100] })]]).cases;
    expect(only?.ratioRange).toEqual([2, 3]);
    expect(only?.ratio).toBe(2.66667);
  });

  it('compares with the best peer that does the whole job, though one that does less is faster', () => {
    const lacking = { floor: 'only parses' };
    const [only] = report(facts, [[measured([100], { floor: [500], whole: [50], slow: [10] }, lacking)]]).cases;
    expect([only?.best, only?.ratio]).toEqual(['whole', 2]);
    expect(only?.peers.floor).toEqual({ opsPerSec: 500, ratio: 0.2, lacks: 'only parses' });
  });

  it('compares with the best of those that do less when there is no other', () => {
    const [only] = report(facts, [[measured([100], { a: [500], b: [50] }, { a: 'x', b: 'y' })]]).cases;
    expect([only?.best, only?.ratio]).toEqual(['a', 0.2]);
  });

  it('refuses processes that did not measure the same', () => {
    const first = measured([1], { a: [1] });
    expect(() => report(facts, [[first], []])).toThrow('Cannot report "list 20 ids"');
    expect(() => report(facts, [[first], [measured([1], { b: [1] })]])).toThrow('a process has not measured a');
    expect(() => report(facts, [[measured([1], {})]])).toThrow('Cannot compare: there is no peer');
  });
});

describe('table', () => {
  it('says who is faster, sorted, and what a peer lacks', () => {
    const lacking = { floor: 'only parses' };
    const text = table(report(facts, [[measured([100], { floor: [500], whole: [400] }, lacking)]]));
    const lines = text.split('\n').map((line) => line.replace(/ +/g, ' ').trim());
    expect(lines.slice(2)).toEqual([
      'list 20 ids (n = 100)',
      'floor 500 ops/s 0.20x (only parses)',
      'whole 400 ops/s 0.25x',
      'plimsoll 100 ops/s',
      '= 0.25x (0.25 to 0.25) of whole: plimsoll is slower',
      '',
    ]);
  });

  it('names who could not take part, with the reason', () => {
    const inputs = { absent: { lmdb: 'No native build was found' } };
    const text = table(report({ ...facts, inputs }, [[measured([100], { peer: [50] })]]));
    expect(text).toContain('not measured: lmdb, which does not load: No native build was found\n');
    expect(table(report(facts, [[measured([100], { peer: [50] })]]))).not.toContain('not measured');
  });
});
