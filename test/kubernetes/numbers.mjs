// @ts-check
// The rules IN1 to IN24 and the reports of docs/spec/informers.md: which of them are told by the titles of the tests that ran.
import { readFile } from 'node:fs/promises';

/** @typedef {import('../support/proof.mjs').Told} Told */

const SPEC = new URL('../../docs/spec/informers.md', import.meta.url);
const FILES = /\/unit\/kubernetes\/|\/property\/informer/;

/**
 * The rules and reports that the page has.
 *
 * @param {string} page
 * @returns {{ rules: readonly string[], reports: readonly string[] }}
 */
export function numbersOf(page) {
  return {
    rules: [...page.matchAll(/^- \*\*(IN\d+)\*\*/gm)].map(([, rule]) => String(rule)),
    reports: [...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => `report ${number}`),
  };
}

/**
 * `IN3`, `IN6 to IN11`, `report 9`.
 *
 * @param {readonly Told[]} told
 * @returns {Set<string>}
 */
export function numbersIn(told) {
  const found = new Set();
  for (const { file, title } of told) {
    if (!FILES.test(file)) continue;
    for (const [, from, to = from] of title.matchAll(/\bIN(\d+)(?: to IN(\d+))?\b/g)) {
      for (let number = Number(from); number <= Number(to); number++) found.add(`IN${number}`);
    }
    for (const [report] of title.matchAll(/\breport \d+\b/g)) found.add(report);
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
  const ran = numbersIn(told);
  const { rules, reports } = numbersOf(await readFile(SPEC, 'utf8'));
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const missing = [];
  for (const [what, all] of /** @type {const} */ ([
    ['rules of informers', rules],
    ['reports about informers', reports],
  ])) {
    const left = all.filter((one) => !ran.has(one));
    const done = all.filter((one) => ran.has(one));
    lines.push(`${what} (${done.length} of ${all.length}): ${done.join(' ').replaceAll('report ', '')}`);
    if (all.length === 0) missing.push(what);
    if (left.length > 0) lines.push(`${what} NOT run: ${left.join(' ')}`);
    missing.push(...left);
  }
  return { lines, missing };
}
