import { describe, expect, it } from 'vitest';
import { KINDS, numbersIn, reportNumbers } from '../../locks/numbers.mjs';
import { parseArguments } from '../../locks/run.mjs';

const LOCK = '/test/unit/lock/keyed-order.test.ts';
const LEASE = '/test/unit/lease/classic-scenarios.test.ts';

function kind(letter: string): (typeof KINDS)[number] {
  return KINDS.find((one) => one.letter === letter) ?? expect.fail(`no kind ${letter}`);
}

describe('the numbers that tests tell', () => {
  it.each([
    ['locks L1 L8: what', [1, 8]],
    ['L4, L5', [4, 5]],
    ['L2-L4 and L6-7', [2, 3, 4, 6, 7]],
    ['CL1 L12a ll3 XL4', []],
  ])('%s', (title, numbers) => {
    expect([...numbersIn(kind('L'), [{ file: LOCK, title }])].sort()).toEqual(numbers);
  });

  it('count only in files where the letter means that', () => {
    expect(numbersIn(kind('L'), [{ file: LEASE, title: 'L1' }]).size).toBe(0);
    expect([...numbersIn(kind('S'), [{ file: LEASE, title: 'S19' }])]).toEqual([19]);
  });

  it('are all missing where nothing ran, and none where everything did', () => {
    expect(reportNumbers([]).missing).toHaveLength(8 + 19 + 10 + 25);
    const all = [
      { file: LOCK, title: 'L1-L8' },
      { file: LEASE, title: 'S1-S19 T1-T10 G1-G25' },
    ];
    expect(reportNumbers(all).missing).toEqual([]);
    const { lines, missing } = reportNumbers([...all.slice(1), { file: LOCK, title: 'L1-L7' }]);
    expect(missing).toEqual(['L8']);
    expect(lines).toContain('rules of keyed locks NOT run: L8');
  });
});

describe('the arguments of test:locks', () => {
  it('are read', () => {
    expect(parseArguments(['--smoke', '--seed=7', '--runs', '50'])).toEqual({
      help: false,
      smoke: true,
      seed: 7,
      runs: 50,
    });
    expect(parseArguments(['--help']).help).toBe(true);
  });

  it.each([[['--run']], [['--runs', '0']], [['--seed', 'x']], [['--seed']]])('refuses %j', (args) => {
    expect(() => parseArguments(args)).toThrow('Cannot run the tests');
  });
});
