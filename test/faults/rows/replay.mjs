// @ts-check
// What is true, from the commits that the backend has: held against what a process saw.

/** @typedef {import('./context.mjs').Commit} Commit */

/**
 * The state at a revision, as `key=value` in the order of bytes.
 *
 * @param {readonly Commit[]} history from the beginning
 * @param {number} revision
 */
export function stateAt(history, revision) {
  /** @type {Map<string, string>} */
  const state = new Map();
  for (const commit of history) {
    if (commit.revision > revision) break;
    for (const { type, key, value } of commit.events) {
      if (type === 'put') state.set(key, value);
      else state.delete(key);
    }
  }
  return byBytes([...state.keys()]).map((key) => `${key}=${state.get(key)}`);
}

/** @param {readonly string[]} keys */
export function byBytes(keys) {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/**
 * @param {unknown} found
 * @param {unknown} expected
 * @param {string} what
 */
export function same(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: ${cut(a)} in the place of ${cut(b)}`);
}

/**
 * @param {unknown} isSo
 * @param {string} what
 */
export function claim(isSo, what) {
  if (!isSo) throw new Error(what);
}

/** @param {string | undefined} text */
function cut(text = 'nothing') {
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
