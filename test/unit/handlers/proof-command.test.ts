import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { KINDS, numbersIn, reportNumbers } from '../../handlers/numbers.mjs';
import { parseArguments } from '../../handlers/run.mjs';

describe('npm run test:handlers', () => {
  it('reads its arguments, and refuses others', () => {
    expect(parseArguments(['--smoke', '--seed=7', '--programs', '3', '--without-ablations'])).toEqual({
      help: false,
      smoke: true,
      seed: 7,
      programs: 3,
      ablations: false,
    });
    for (const args of [['--seed', '-1'], ['--seed'], ['--programs', '0'], ['--programms', '1'], ['x']]) {
      expect(() => parseArguments(args)).toThrow(/^Cannot run the tests/);
    }
  });

  it.each([
    ['rows 17, 18: no call', [17, 18], []],
    ['row 3 and row 5', [3, 5], []],
    ["keep I1' to I4', I10' and I12'", [], [1, 2, 3, 4, 10, 12]],
    ['rows of a table, throws 12 times', [], []],
  ])('finds the numbers in the title "%s"', (title, rows, invariants) => {
    expect(KINDS.map((kind) => numbersIn(kind, title))).toEqual([rows, invariants]);
  });

  it('names what did not run, and takes no number from the tests of something else', () => {
    const { missing } = reportNumbers([
      { file: '/x/test/unit/handlers/rows.test.ts', title: 'row 1: a' },
      { file: '/x/test/unit/store/rows.test.ts', title: 'row 2: b' },
    ]);
    expect(missing.slice(0, 2)).toEqual(['row 2', 'row 3']);
    expect(missing).not.toContain('row 1');
  });

  it('asks for every row and invariant that the spec defines, and for no other', async () => {
    const spec = await readFile(new URL('../../../docs/spec/handlers.md', import.meta.url), 'utf8');
    const [rows, invariants] = KINDS.map(({ numbers }) => numbers);
    for (const number of [1, 3, 8, 20, 21, 24, 28]) expect(invariants).toContain(number);
    for (const number of [15, 25]) expect(invariants).not.toContain(number);
    expect(rows).toEqual(Array.from({ length: rows?.length ?? 0 }, (_, index) => index + 1));
    expect(spec).toContain(`\n| ${rows?.length} | `);
    expect(spec).not.toContain(`\n| ${(rows?.length ?? 0) + 1} | `);
  });
});
