// @ts-check
// The suites of `npm test`, in the order they run: the quickest to tell what is wrong comes first.

/** @type {readonly string[]} */
export const SUITES = ['tidy', 'unit', 'property', 'conformance', 'e2e'];

/**
 * The suites that look at dist/: it is made before them, from these very sources.
 *
 * @type {readonly string[]}
 */
export const USE_BUILD = ['tidy', 'conformance', 'e2e'];

/**
 * Budgets in seconds by suite, from the table of test/README.md: rows that start with the suite in backquotes.
 *
 * @param {string} readme
 * @returns {Map<string, number>}
 */
export function parseBudgets(readme) {
  const rows = [...readme.matchAll(/^\| `(\w+)` \| (\d+) s \|/gm)];
  return new Map(rows.map(([, suite, seconds]) => [String(suite), Number(seconds)]));
}
