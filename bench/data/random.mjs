// @ts-check

/**
 * Repeatable chance: the same seed gives the same inputs on every machine, so that two runs compare like with like.
 *
 * @param {number} seed
 * @returns {() => number} in [0, 1)
 */
export function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    // A Weyl sequence, each value mixed until neighbours have nothing in common.
    state = (state + 0x9e3779b9) >>> 0;
    let word = Math.imul(state ^ (state >>> 16), 0x7feb352d);
    word = Math.imul(word ^ (word >>> 15), 0x846ca68b);
    return ((word ^ (word >>> 16)) >>> 0) / 2 ** 32;
  };
}

/**
 * @template T
 * @param {() => number} random
 * @param {readonly T[]} items not empty
 * @returns {T}
 */
export function pick(random, items) {
  return /** @type {T} */ (items[Math.floor(random() * items.length)]);
}

/**
 * A copy in random order (Fisher and Yates).
 *
 * @template T
 * @param {() => number} random
 * @param {readonly T[]} items
 * @returns {T[]}
 */
export function shuffled(random, items) {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const item = /** @type {T} */ (copy[last]);
    copy[last] = /** @type {T} */ (copy[other]);
    copy[other] = item;
  }
  return copy;
}

/**
 * Lower case letters and digits, as in the random part of a Pod's name.
 *
 * @param {() => number} random
 * @param {number} length
 * @returns {string}
 */
export function token(random, length) {
  let text = '';
  for (let index = 0; index < length; index++) text += LETTERS[Math.floor(random() * LETTERS.length)];
  return text;
}

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
