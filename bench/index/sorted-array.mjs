// @ts-check
// Two plain arrays. The static one is also what every other index is checked against.

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 *
 * What the cases ask of an index. Ids are small integers.
 *
 * @typedef {object} KeyIndex
 * @property {(key: string, id: number) => void} insert the key is not in it
 * @property {(key: string) => void} remove the key is in it
 * @property {(key: string) => number | undefined} get
 * @property {(query: Query) => ArrayLike<number>} list ids in the order of the keys
 * @property {(query: Query) => number} count
 * @property {(id: number) => string} keyOf for checks, not timed
 */

/**
 * The place of a key in a sorted array, or where it belongs.
 *
 * @param {readonly string[]} keys
 * @param {string} key
 * @returns {number}
 */
export function lowerBound(keys, key) {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (/** @type {string} */ (keys[middle]) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Sorted once, never written to: nothing reads faster, and nothing else can be done with it.
 *
 * @param {readonly string[]} keys in any order; the id of a key is its place in them
 * @returns {Pick<KeyIndex, 'get' | 'list' | 'count' | 'keyOf'>}
 */
export function createStaticArray(keys) {
  const order = Array.from(keys, (_, id) => id);
  order.sort((left, right) => (/** @type {string} */ (keys[left]) < /** @type {string} */ (keys[right]) ? -1 : 1));
  const sorted = order.map((id) => /** @type {string} */ (keys[id]));
  const ids = Uint32Array.from(order);
  return {
    get(key) {
      const place = lowerBound(sorted, key);
      return sorted[place] === key ? ids[place] : undefined;
    },
    list({ start, end, limit }) {
      const from = lowerBound(sorted, start);
      const to = lowerBound(sorted, end);
      return ids.subarray(from, limit === 0 ? to : Math.min(to, from + limit));
    },
    count({ start, end }) {
      return lowerBound(sorted, end) - lowerBound(sorted, start);
    },
    keyOf: (id) => keys[id] ?? '',
  };
}

const CHUNK_MAX = 256;

/**
 * A sorted array cut into chunks of at most 256 keys, the plain-JavaScript way to the same end: an insert moves the rest
 * of one chunk, a read finds the chunk by binary search over first keys.
 *
 * ```text
 *   firsts   a        k        s
 *   chunks   a c f    k m      s t z
 * ```
 *
 * @param {readonly string[]} keys by id
 * @returns {KeyIndex}
 */
export function createChunkedArray(keys) {
  return new ChunkedArray(keys);
}

class ChunkedArray {
  /** @type {string[]} */
  #firsts = [];
  /** @type {{ keys: string[], ids: number[] }[]} */
  #chunks = [];
  #keys;
  #found = new Uint32Array(16);

  /** @param {readonly string[]} keys */
  constructor(keys) {
    this.#keys = keys;
  }

  /**
   * @param {string} key
   * @param {number} id
   */
  insert(key, id) {
    const at = Math.max(0, this.#chunkOf(key));
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], ids: [id] });
      this.#firsts.push(key);
      return;
    }
    const place = lowerBound(chunk.keys, key);
    chunk.keys.splice(place, 0, key);
    chunk.ids.splice(place, 0, id);
    if (place === 0) this.#firsts[at] = key;
    if (chunk.keys.length > CHUNK_MAX) this.#split(at, chunk);
  }

  /** @param {string} key */
  remove(key) {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const place = lowerBound(chunk.keys, key);
    if (chunk.keys[place] !== key) return;
    chunk.keys.splice(place, 1);
    chunk.ids.splice(place, 1);
    const [first] = chunk.keys;
    if (first === undefined) {
      this.#chunks.splice(at, 1);
      this.#firsts.splice(at, 1);
    } else {
      this.#firsts[at] = first;
    }
  }

  /** @param {string} key */
  get(key) {
    const chunk = this.#chunks[this.#chunkOf(key)];
    if (chunk === undefined) return undefined;
    const place = lowerBound(chunk.keys, key);
    return chunk.keys[place] === key ? chunk.ids[place] : undefined;
  }

  /** @param {Query} query */
  list({ start, end, limit }) {
    const most = limit === 0 ? this.count({ start, end, limit }) : limit;
    if (this.#found.length < most) this.#found = new Uint32Array(most);
    const found = this.#found;
    let length = 0;
    let at = Math.max(0, this.#chunkOf(start));
    let place = lowerBound(this.#chunks[at]?.keys ?? [], start);
    for (; length < most && at < this.#chunks.length; at++, place = 0) {
      const chunk = /** @type {{ keys: string[], ids: number[] }} */ (this.#chunks[at]);
      const last = /** @type {string} */ (chunk.keys[chunk.keys.length - 1]);
      const isLast = last >= end;
      const stop = Math.min(isLast ? lowerBound(chunk.keys, end) : chunk.keys.length, place + most - length);
      while (place < stop) found[length++] = /** @type {number} */ (chunk.ids[place++]);
      if (isLast) break;
    }
    return found.subarray(0, length);
  }

  /** @param {Query} query */
  count({ start, end }) {
    return this.#rank(end) - this.#rank(start);
  }

  /** @param {number} id */
  keyOf(id) {
    return this.#keys[id] ?? '';
  }

  /** Keys before `key`. @param {string} key */
  #rank(key) {
    const at = this.#chunkOf(key);
    if (at < 0) return 0;
    let rank = lowerBound(this.#chunks[at]?.keys ?? [], key);
    for (let before = 0; before < at; before++) rank += this.#chunks[before]?.keys.length ?? 0;
    return rank;
  }

  /** The last chunk whose first key is not greater; -1 when all are. @param {string} key */
  #chunkOf(key) {
    const at = lowerBound(this.#firsts, key);
    return this.#firsts[at] === key ? at : at - 1;
  }

  /**
   * @param {number} at
   * @param {{ keys: string[], ids: number[] }} chunk
   */
  #split(at, chunk) {
    const half = chunk.keys.length >> 1;
    const upper = { keys: chunk.keys.splice(half), ids: chunk.ids.splice(half) };
    this.#chunks.splice(at + 1, 0, upper);
    this.#firsts.splice(at + 1, 0, /** @type {string} */ (upper.keys[0]));
  }
}
