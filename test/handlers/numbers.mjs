// @ts-check
// The numbered sequences and invariants of handlers (docs/spec/handlers.md): which of them are told by the titles of the
// tests that ran.
import { readFileSync } from 'node:fs';

/**
 * @typedef {import('../support/proof.mjs').Told} Told
 *
 * @typedef {object} Kind
 * @property {string} what
 * @property {readonly number[]} numbers
 * @property {RegExp} pattern Finds lists of numbers, with `to` for a range.
 * @property {(number: number) => string} nameOf
 */

/** @param {number} from @param {number} to */
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const SPEC = readFileSync(new URL('../../docs/spec/handlers.md', import.meta.url), 'utf8');

/**
 * Numbers that a table of the spec defines in its first column: `| 7 | ...`, `| I3', I8' | ...`.
 *
 * @param {RegExp} column
 */
function definedIn(column) {
  const numbers = SPEC.split('\n').flatMap((line) => column.exec(line)?.[1]?.match(/\d+/g)?.map(Number) ?? []);
  if (numbers.length === 0) throw new Error(`Cannot read docs/spec/handlers.md: no row is like ${column}`);
  return numbers.sort((a, b) => a - b);
}

/** @type {readonly Kind[]} */
export const KINDS = [
  {
    what: 'sequences that broke an earlier reading',
    numbers: definedIn(/^\| (\d+) \|/),
    pattern: /\brows? (\d+(?:(?:, | and | to )\d+)*)/g,
    nameOf: (number) => `row ${number}`,
  },
  {
    what: 'invariants',
    numbers: definedIn(/^\| (I\d+'(?:, I\d+')*) \|/),
    pattern: /\b(I\d+'(?:(?:, | and | to )I\d+')*)/g,
    nameOf: (number) => `I${number}'`,
  },
];

/**
 * @param {Kind} kind
 * @param {string} title
 * @returns {number[]}
 */
export function numbersIn({ pattern }, title) {
  return [...title.matchAll(pattern)].flatMap(([, list = '']) =>
    list
      .replaceAll(/[I']/g, '')
      .split(/, | and /)
      .flatMap((part) => {
        const [from = 0, to = from] = part.split(' to ').map(Number);
        return range(from, to);
      }),
  );
}

/**
 * What ran, and what is missing.
 *
 * @param {readonly Told[]} told
 * @returns {{ lines: string[], missing: string[] }}
 */
export function reportNumbers(told) {
  const titles = told.filter(({ file }) => /\/handlers/.test(file)).map(({ title }) => title);
  const parts = KINDS.map((kind) => {
    const ran = new Set(titles.flatMap((title) => numbersIn(kind, title)));
    const done = kind.numbers.filter((number) => ran.has(number)).map(kind.nameOf);
    const missing = kind.numbers.filter((number) => !ran.has(number)).map(kind.nameOf);
    const lines = [`${kind.what} (${done.length} of ${kind.numbers.length}): ${done.join(', ')}`];
    if (missing.length > 0) lines.push(`${kind.what} NOT run: ${missing.join(', ')}`);
    return { lines, missing };
  });
  return { lines: parts.flatMap(({ lines }) => lines), missing: parts.flatMap(({ missing }) => missing) };
}
