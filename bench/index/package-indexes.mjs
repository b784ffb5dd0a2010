// @ts-check
// The packages behind one face. Each is used the quickest way its documentation offers: ids go into one reused array,
// counts use what the package counts by itself.

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 * @typedef {import('./sorted-array.mjs').KeyIndex} KeyIndex
 *
 * @typedef {object} BTree The part of sorted-btree that is used.
 * @property {(key: string, value: number) => boolean} set
 * @property {(key: string) => boolean} delete
 * @property {(key: string) => number | undefined} get
 * @property {(low: string, high: string, includeHigh: boolean, onFound?: (key: string, value: number) => unknown) => number} forRange
 *
 * @typedef {{ index: number, value: number, valid: boolean, hasNext: boolean, key: string, next(): void }} RedBlackIterator
 * @typedef {object} RedBlackTree The part of functional-red-black-tree that is used.
 * @property {number} length
 * @property {(key: string, value: number) => RedBlackTree} insert
 * @property {(key: string) => RedBlackTree} remove
 * @property {(key: string) => number | undefined} get
 * @property {(key: string) => RedBlackIterator} ge
 *
 * @typedef {object} Packages
 * @property {new (entries: undefined, compare: (left: string, right: string) => number) => BTree} BTree
 * @property {(compare: (left: string, right: string) => number) => RedBlackTree} createRedBlackTree
 */

/** @returns {Promise<Packages>} */
export async function loadPackages() {
  const [btree, redBlack] = await Promise.all(
    ['sorted-btree', 'functional-red-black-tree'].map((name) => import(name)),
  );
  return { BTree: btree.default.default ?? btree.default, createRedBlackTree: redBlack.default };
}

/**
 * Quicker than the default comparator of either package, which also takes numbers and dates.
 *
 * @param {string} left
 * @param {string} right
 */
function compare(left, right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

const STOP = Object.freeze({ break: true });

/**
 * @param {Packages} packages
 * @param {readonly string[]} keys by id
 * @returns {KeyIndex}
 */
export function createBTreeIndex({ BTree }, keys) {
  const tree = new BTree(undefined, compare);
  let found = new Uint32Array(16);
  return {
    insert: (key, id) => void tree.set(key, id),
    remove: (key) => void tree.delete(key),
    get: (key) => tree.get(key),
    list({ start, end, limit }) {
      const most = limit === 0 ? keys.length : limit;
      if (found.length < most) found = new Uint32Array(most);
      const ids = found;
      let length = 0;
      tree.forRange(start, end, false, (_, id) => {
        ids[length++] = id;
        return length === most ? STOP : undefined;
      });
      return ids.subarray(0, length);
    },
    // Without a callback it adds up the sizes of leaves.
    count: ({ start, end }) => tree.forRange(start, end, false),
    keyOf: (id) => keys[id] ?? '',
  };
}

/**
 * @param {Packages} packages
 * @param {readonly string[]} keys by id
 * @returns {KeyIndex}
 */
export function createRedBlackIndex({ createRedBlackTree }, keys) {
  let tree = createRedBlackTree(compare);
  let found = new Uint32Array(16);
  const rank = (/** @type {string} */ key) => {
    const iterator = tree.ge(key);
    return iterator.valid ? iterator.index : tree.length;
  };
  return {
    insert(key, id) {
      tree = tree.insert(key, id);
    },
    remove(key) {
      tree = tree.remove(key);
    },
    get: (key) => tree.get(key),
    list({ start, end, limit }) {
      const most = limit === 0 ? keys.length : limit;
      if (found.length < most) found = new Uint32Array(most);
      let length = 0;
      for (const iterator = tree.ge(start); iterator.valid && length < most && iterator.key < end; iterator.next()) {
        found[length++] = iterator.value;
      }
      return found.subarray(0, length);
    },
    count: ({ start, end }) => rank(end) - rank(start),
    keyOf: (id) => keys[id] ?? '',
  };
}

/**
 * A hash table: exact reads and writes only.
 *
 * @param {readonly string[]} keys by id
 * @returns {Pick<KeyIndex, 'insert' | 'remove' | 'get' | 'keyOf'>}
 */
export function createMapIndex(keys) {
  /** @type {Map<string, number>} */
  const ids = new Map();
  return {
    insert: (key, id) => void ids.set(key, id),
    remove: (key) => void ids.delete(key),
    get: (key) => ids.get(key),
    keyOf: (id) => keys[id] ?? '',
  };
}
