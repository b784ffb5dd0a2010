// @ts-check
// What is in the keys: a small object, as text and as value.
import { createHash } from 'node:crypto';

/** @typedef {{ replicas: number, image: string, node: string, note: string }} Value */

/** @param {number} index @returns {Value} 150 bytes of JSON, more or less */
export function objectOf(index) {
  return {
    replicas: index % 7,
    image: `registry.local/app-${index % 100}:1.${index % 50}.3`,
    node: `node-${index % 400}`,
    note: 'a'.repeat(64),
  };
}

/** @param {number} index */
export function textOf(index) {
  return JSON.stringify(objectOf(index));
}

/** @param {string} prefix @param {number} index */
export function keyOf(prefix, index) {
  return `${prefix}ns-${index % 50}/app-${String(index).padStart(8, '0')}`;
}

/** Of keys and values as text, in their order. @param {Iterable<readonly [string, string]>} rows */
export function digestOf(rows) {
  const hash = createHash('sha256');
  for (const [key, value] of rows) hash.update(`${key}\n${value}\n`);
  return hash.digest('hex');
}
