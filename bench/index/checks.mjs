// @ts-check
import { prefixQuery } from '../data/keys.mjs';
import { createStaticArray } from './sorted-array.mjs';

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('./sorted-array.mjs').KeyIndex} KeyIndex
 * @typedef {Partial<KeyIndex> & Pick<KeyIndex, 'keyOf' | 'get'>} SomeIndex
 *
 * @typedef {object} Answers What can be asked of an index, or of a database that answers lists later.
 * @property {KeyIndex['get']} get
 * @property {KeyIndex['keyOf']} keyOf
 * @property {(query: Query) => ArrayLike<number> | Promise<ArrayLike<number>>} [list]
 * @property {KeyIndex['count']} [count]
 */

/** Exact reads compared; lists are compared as a whole. */
const GETS = 1000;

/**
 * What an index answers beside what a sorted array of the same keys does: everything in order, exact reads of keys that
 * are there and of some that are not, and the case's own queries.
 *
 * @param {Answers} index
 * @param {{ present: readonly string[], absent: readonly string[], queries?: readonly Query[] }} expected
 * @returns {Promise<Finding[]>}
 */
export async function indexFindings(index, { present, absent, queries = [] }) {
  const reference = referenceOf(present);
  const step = Math.max(1, Math.floor(present.length / GETS));
  const sample = present.filter((_, place) => place % step === 0);
  /** @type {Finding[]} */
  const findings = [
    { what: 'keys that are there', actual: sample.map((key) => keyAt(index, key)), expected: sample },
    {
      what: 'keys that are not there',
      actual: absent.slice(0, GETS).filter((key) => index.get(key) !== undefined),
      expected: [],
    },
  ];
  const everything = prefixQuery('/registry/', 0);
  for (const query of [everything, ...queries]) {
    const name = `${query.start} limit ${query.limit}`;
    if (index.list !== undefined) {
      const expected = Array.from(reference.list(query)).map((id) => reference.keyOf(id));
      // Copied first: the core's answer is a view that ends with the next call.
      const actual = Array.from(await index.list(query)).map((id) => index.keyOf(id));
      findings.push({ what: `list ${name}`, actual, expected });
    }
    if (index.count !== undefined) {
      findings.push({ what: `count ${name}`, actual: index.count(query), expected: reference.count(query) });
    }
  }
  return findings;
}

/**
 * Sorting a million keys takes seconds, and all contestants are held to the same ones.
 *
 * @type {WeakMap<readonly string[], ReturnType<typeof createStaticArray>>}
 */
const references = new WeakMap();

/** @param {readonly string[]} present */
function referenceOf(present) {
  const known = references.get(present);
  if (known !== undefined) return known;
  const reference = createStaticArray(present);
  references.set(present, reference);
  return reference;
}

/**
 * @param {Answers} index
 * @param {string} key
 */
function keyAt(index, key) {
  const id = index.get(key);
  return id === undefined ? undefined : index.keyOf(id);
}
