// @ts-check

/**
 * A small generator: only moments, and what is asked, are chosen with it.
 *
 * @param {number} seed
 * @returns {() => number} in [0, 1)
 */
export function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
