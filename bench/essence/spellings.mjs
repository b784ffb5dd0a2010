// @ts-check
// The questions every digest has to answer rightly before it is timed.

import { withShuffledKeys } from '../data/documents.mjs';
import { createRandom } from '../data/random.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {Record<string, unknown>} JsonObject
 */

/**
 * Findings for one document: spellings that mean the same have one digest, a changed one has another. A digest that
 * depends on the order of keys is asked about white space only.
 *
 * @template T
 * @param {(input: T) => unknown} digest
 * @param {(text: string) => T} encode
 * @param {JsonObject} value
 * @param {{ isOrderDependent: boolean }} options
 * @returns {Finding[]}
 */
export function spellingFindings(digest, encode, value, { isOrderDependent }) {
  const written = digest(encode(JSON.stringify(value)));
  const same = withOtherBookkeeping(value);
  const indented = digest(encode(JSON.stringify(same, null, 2)));
  const findings = [
    { what: 'other white space, resourceVersion and status', actual: indented === written, expected: true },
    {
      what: `a changed ${changedPath(value)}`,
      actual: digest(encode(JSON.stringify(changed(value)))) === written,
      expected: false,
    },
  ];
  if (!isOrderDependent) {
    const shuffled = withShuffledKeys(createRandom(7), same);
    findings.push({
      what: 'keys in another order',
      actual: digest(encode(JSON.stringify(shuffled))) === written,
      expected: true,
    });
  }
  return findings;
}

/**
 * Changes what must not count.
 *
 * @param {JsonObject} value
 * @returns {JsonObject}
 */
function withOtherBookkeeping(value) {
  const { metadata } = value;
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  if (!isObject) return { ...value, status: { phase: 'changed' } };
  return { ...value, metadata: { ...metadata, resourceVersion: '999999999' }, status: { phase: 'changed' } };
}

/**
 * Changes one value that counts: the last one in the document.
 *
 * @param {JsonObject} value
 * @returns {JsonObject}
 */
function changed(value) {
  const name = changedPath(value);
  return { ...value, [name]: changedLeaf(value[name]) };
}

/** @param {JsonObject} value */
function changedPath(value) {
  const names = Object.keys(value).filter((name) => !['apiVersion', 'kind', 'status', 'metadata'].includes(name));
  return names[names.length - 1] ?? 'data';
}

/**
 * @param {unknown} value
 * @returns {unknown}
 */
function changedLeaf(value) {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (Array.isArray(value))
    return value.length === 0 ? [0] : [...value.slice(0, -1), changedLeaf(value[value.length - 1])];
  if (typeof value !== 'object' || value === null) return value === true ? 'false' : 'true';
  const names = Object.keys(value);
  const last = names[names.length - 1] ?? 'a';
  return { ...value, [last]: changedLeaf(/** @type {JsonObject} */ (value)[last]) };
}
