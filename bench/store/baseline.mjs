// @ts-check
import { lowerBound } from '../index/sorted-array.mjs';

/**
 * @typedef {{ key: string, value: unknown, createRevision: number, modRevision: number, version: number }} Entry
 */

/**
 * A Map with revision numbers behind the same calls, and a list of its keys that is sorted again when a read finds it
 * out of date. It keeps no history, has no watchers, checks nothing and copies nothing: a floor, not a competitor.
 */
export class MapStore {
  /** @type {Map<string, Entry>} */
  #entries = new Map();
  /** @type {string[] | undefined} */
  #sorted;
  #revision = 1;

  /**
   * @param {string} key
   * @param {unknown} value
   */
  async put(key, value) {
    const previous = this.#entries.get(key);
    const modRevision = ++this.#revision;
    if (previous === undefined) this.#sorted = undefined;
    const createRevision = previous?.createRevision ?? modRevision;
    const version = (previous?.version ?? 0) + 1;
    this.#entries.set(key, { key, value, createRevision, modRevision, version });
    return { revision: modRevision };
  }

  /** @param {string} key */
  get(key) {
    return this.#entries.get(key);
  }

  /** @param {{ prefix: string, limit: number }} request */
  range({ prefix, limit }) {
    this.#sorted ??= [...this.#entries.keys()].sort();
    const sorted = this.#sorted;
    /** @type {Entry[]} */
    const kvs = [];
    for (let place = lowerBound(sorted, prefix); place < sorted.length && kvs.length < limit; place++) {
      const key = /** @type {string} */ (sorted[place]);
      if (!key.startsWith(prefix)) break;
      kvs.push(/** @type {Entry} */ (this.#entries.get(key)));
    }
    return { kvs };
  }

  async close() {
    this.#entries.clear();
  }
}
