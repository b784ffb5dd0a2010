// @ts-check

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 *
 * @typedef {object} KeyIndex src/core/key-index.ts
 * @property {(key: string) => number} insert
 * @property {(key: string) => number} delete
 * @property {(key: string) => number} get
 * @property {(start: string, end: string, limit: number) => Uint32Array} list
 * @property {(start: string, end: string) => number} count
 * @property {(id: number) => string} keyOf
 */

/** The core's key index by itself: its ids are its own. @param {KeyIndex} index */
export function createKeyIndex(index) {
  return {
    insert: (/** @type {string} */ key) => void index.insert(key),
    remove: (/** @type {string} */ key) => void index.delete(key),
    get(/** @type {string} */ key) {
      const id = index.get(key);
      return id < 0 ? undefined : id;
    },
    list: (/** @type {Query} */ { start, end, limit }) => index.list(start, end, limit),
    count: (/** @type {Query} */ { start, end }) => index.count(start, end),
    keyOf: (/** @type {number} */ id) => index.keyOf(id),
  };
}
