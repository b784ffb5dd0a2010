import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../conformance/cases/', import.meta.url);

/** The numbers that have a case each; of the rest some do not exist, and some are about what the store does not have yet. */
const NUMBERS: readonly (readonly [first: number, last: number])[] = [
  [1, 21],
  [23, 44],
  [46, 49],
  [51, 52],
  [55, 56],
  [58, 64],
  [68, 68],
];
const SCENARIOS = [20, 21, 22];

function range([first, last]: readonly [number, number]): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe('the numbered cases of the specification', () => {
  const files = readdirSync(folder).filter((name) => name.startsWith('spec-'));
  const texts = files.map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/^test\('([^']+)'/gm)].map(([, name]) => String(name)));

  it('are one test a number, and every test has one', () => {
    const cases = NUMBERS.flatMap(range).map((number) => `C${String(number).padStart(2, '0')}`);
    const expected = [...cases, ...SCENARIOS.map((number) => `scenario ${number}`)];
    const found = names.map((name) => /^(?:C\d\d|scenario \d+) /.exec(name)?.[0].trim() ?? name);
    expect(found.sort()).toEqual(expected.sort());
  });
});
