// @ts-check
// The numbered cases and the regression scenarios of the specification: which of them this command has to run, and which
// are told by the titles of the tests that ran.

/** Numbers that the table of cases never had. */
const NO_CASE = [45, 57, 66];

/** @type {Readonly<Record<string, readonly number[]>>} */
const CASES_ELSEWHERE = {
  'part 4 (locks and elections)': [65, 67],
  'part 7 (a crash in the middle of a compaction)': [22],
  'part 10 (watch ids, fragments, progress of a stream)': [50, 53, 54],
};

/** @type {Readonly<Record<string, readonly number[]>>} */
const SCENARIOS_ELSEWHERE = { 'part 7 (backends whose data are replaced)': [4, 13, 14, 15, 18, 19] };

/**
 * Numbers that titles begin with or name: `C05`, `C14-C18`, `scenario 20`, and `7:` below a heading of scenarios.
 *
 * @param {readonly string[]} titles with the headings they stand below
 * @returns {{ cases: Set<number>, scenarios: Set<number> }}
 */
export function numbersIn(titles) {
  const cases = new Set();
  const scenarios = new Set();
  for (const title of titles) {
    for (const [, from, to = from] of title.matchAll(/\bC(\d\d)(?:-C?(\d\d))?\b/g)) {
      for (let number = Number(from); number <= Number(to); number++) cases.add(number);
    }
    const list = /\bscenarios?(?: (\d[\d, and]*)|.*? (\d+):)/.exec(title);
    for (const [number] of (list?.[1] ?? list?.[2] ?? '').matchAll(/\d+/g)) scenarios.add(Number(number));
  }
  return { cases, scenarios };
}

/**
 * What ran, what is missing, and whose the others are.
 *
 * @param {readonly string[]} titles
 * @returns {{ lines: string[], missing: string[] }}
 */
export function reportNumbers(titles) {
  const { cases, scenarios } = numbersIn(titles);
  const numbered = report('cases', 68, (number) => `C${String(number).padStart(2, '0')}`, cases, CASES_ELSEWHERE);
  const sequences = report('scenarios', 25, (number) => `scenario ${number}`, scenarios, SCENARIOS_ELSEWHERE);
  return { lines: [...numbered.lines, ...sequences.lines], missing: [...numbered.missing, ...sequences.missing] };
}

/**
 * @param {string} what
 * @param {number} last
 * @param {(number: number) => string} nameOf
 * @param {ReadonlySet<number>} ran
 * @param {Readonly<Record<string, readonly number[]>>} elsewhere
 */
function report(what, last, nameOf, ran, elsewhere) {
  const others = new Set(Object.values(elsewhere).flat());
  const skipped = what === 'cases' ? NO_CASE : [];
  const all = Array.from({ length: last }, (_, index) => index + 1).filter((number) => !skipped.includes(number));
  const required = all.filter((number) => !others.has(number));
  const missing = required.filter((number) => !ran.has(number)).map(nameOf);
  const done = required.filter((number) => ran.has(number)).map(nameOf);
  const lines = [`${what} run (${done.length} of ${required.length}): ${done.join(' ').replaceAll('scenario ', '')}`];
  if (missing.length > 0) lines.push(`${what} NOT run: ${missing.join(' ')}`);
  for (const [part, numbers] of Object.entries(elsewhere)) {
    lines.push(`${what} of ${part}: ${numbers.map(nameOf).join(' ').replaceAll('scenario ', '')}`);
  }
  return { lines, missing };
}
