// @ts-check
// The numbered rules and scenarios of locks and leases: which of them are told by the titles of the tests that ran.

/**
 * @typedef {import('../support/proof.mjs').Told} Told
 *
 * @typedef {object} Kind
 * @property {string} letter
 * @property {number} last
 * @property {string} what
 * @property {RegExp} files Where the letter means this: a lease of an example may be called L1 elsewhere.
 */

const LEASE_FILES = /\/unit\/lease\/|\/property\/writer-/;

/** @type {readonly Kind[]} */
export const KINDS = [
  { letter: 'L', last: 8, what: 'rules of keyed locks', files: /\/unit\/lock\/keyed-|\/property\/lock-/ },
  { letter: 'S', last: 19, what: 'scenarios of the classic strategy and tracker', files: LEASE_FILES },
  { letter: 'T', last: 10, what: 'rules of the classic tracker', files: LEASE_FILES },
  { letter: 'G', last: 25, what: 'regressions of the writer lease', files: LEASE_FILES },
];

/**
 * Numbers of one kind: `L1 L8: ...`, `G4, G5`, `S1-S4` and `S1-4`.
 *
 * @param {Kind} kind
 * @param {readonly Told[]} told
 * @returns {Set<number>}
 */
export function numbersIn({ letter, files }, told) {
  const pattern = new RegExp(`\\b${letter}(\\d\\d?)(?:-${letter}?(\\d\\d?))?\\b`, 'g');
  const found = new Set();
  for (const { file, title } of told) {
    if (!files.test(file)) continue;
    for (const [, from, to = from] of title.matchAll(pattern)) {
      for (let number = Number(from); number <= Number(to); number++) found.add(number);
    }
  }
  return found;
}

/**
 * What ran, and what is missing.
 *
 * @param {readonly Told[]} told
 * @returns {{ lines: string[], missing: string[] }}
 */
export function reportNumbers(told) {
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const missing = [];
  for (const kind of KINDS) {
    const ran = numbersIn(kind, told);
    const all = Array.from({ length: kind.last }, (_, index) => index + 1);
    const nameOf = (/** @type {number} */ number) => `${kind.letter}${number}`;
    const done = all.filter((number) => ran.has(number)).map(nameOf);
    const left = all.filter((number) => !ran.has(number)).map(nameOf);
    lines.push(`${kind.what} (${done.length} of ${kind.last}): ${done.join(' ')}`);
    if (left.length > 0) lines.push(`${kind.what} NOT run: ${left.join(' ')}`);
    missing.push(...left);
  }
  return { lines, missing };
}
