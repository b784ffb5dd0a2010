// @ts-check
// The rules and public reports of docs/spec/informers.md and docs/spec/resource-cache.md: which of them are told by the titles of the tests
// that ran.
import { readFile } from 'node:fs/promises';

/** @typedef {import('../support/proof.mjs').Told} Told */

/**
 * @typedef {object} Page
 * @property {string} about
 * @property {string} spec
 * @property {readonly string[]} prefixes of its rules
 * @property {RegExp} files whose titles count
 */

/** @type {readonly Page[]} */
export const PAGES = [
  { about: 'informers', spec: 'informers', prefixes: ['IN'], files: /\/unit\/kubernetes\/|\/property\/informer/ },
  {
    about: 'the resource cache',
    spec: 'resource-cache',
    prefixes: ['RC', 'RH'],
    files: /\/unit\/resource-cache\/|\/property\/resource-cache/,
  },
];

/**
 * The rules and reports that a page has.
 *
 * @param {string} text
 * @param {readonly string[]} prefixes
 * @returns {{ rules: readonly string[], reports: readonly string[] }}
 */
export function numbersOf(text, prefixes) {
  return {
    rules: [...text.matchAll(/^- \*\*([A-Z]+\d+)\*\*/gm)].flatMap(([, rule = '']) =>
      prefixes.some((prefix) => rule.startsWith(prefix)) ? [rule] : [],
    ),
    reports: [...text.matchAll(/^\| (\d+(?:\.\d+)?) \|/gm)].map(([, number]) => `report ${number}`),
  };
}

/**
 * `IN3`, `IN6 to IN11`, `report 9`, `report 55.1`.
 *
 * @param {readonly Told[]} told
 * @param {Pick<Page, 'files' | 'prefixes'>} page
 * @returns {Set<string>}
 */
export function numbersIn(told, { files, prefixes }) {
  const found = new Set();
  for (const { file, title } of told) {
    if (!files.test(file)) continue;
    for (const prefix of prefixes) {
      for (const [, from, to = from] of title.matchAll(
        new RegExp(`\\b${prefix}(\\d+)(?: to ${prefix}(\\d+))?\\b`, 'g'),
      )) {
        for (let number = Number(from); number <= Number(to); number++) found.add(`${prefix}${number}`);
      }
    }
    for (const [report] of title.matchAll(/\breport \d+(?:\.\d+)?\b/g)) found.add(report);
  }
  return found;
}

/**
 * What ran, and what is missing.
 *
 * @param {readonly Told[]} told
 * @returns {Promise<{ lines: string[], missing: string[] }>}
 */
export async function reportNumbers(told) {
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const missing = [];
  for (const page of PAGES) {
    const ran = numbersIn(told, page);
    const text = await readFile(new URL(`../../docs/spec/${page.spec}.md`, import.meta.url), 'utf8');
    const { rules, reports } = numbersOf(text, page.prefixes);
    for (const [what, all] of /** @type {const} */ ([
      [`rules of ${page.about}`, rules],
      [`reports about ${page.about}`, reports],
    ])) {
      const left = all.filter((one) => !ran.has(one));
      const done = all.filter((one) => ran.has(one));
      lines.push(`${what} (${done.length} of ${all.length}): ${done.join(' ').replaceAll('report ', '')}`);
      if (all.length === 0) missing.push(what);
      if (left.length > 0) lines.push(`${what} NOT run: ${left.join(' ')}`);
      missing.push(...left);
    }
  }
  return { lines, missing };
}
