// @ts-check

/**
 * @typedef {import('../data/history.mjs').History} History
 * @typedef {{ key: string, revision: number, event: number, isDelete: boolean }} Rev
 */

/**
 * What one would write first: an array of revisions for each key, and all of them in one array for watchers.
 */
export class MapHistory {
  /** @type {Map<string, Rev[]>} */
  #revs = new Map();
  /** @type {Rev[]} */
  #log = [];

  /** @param {History} history */
  constructor({ keys, keyOf, isDelete }) {
    for (let event = 0; event < keyOf.length; event++) {
      const key = /** @type {string} */ (keys[/** @type {number} */ (keyOf[event])]);
      const rev = { key, revision: event + 1, event, isDelete: isDelete[event] === 1 };
      const revs = this.#revs.get(key);
      if (revs === undefined) this.#revs.set(key, [rev]);
      else revs.push(rev);
      this.#log.push(rev);
    }
  }

  /**
   * In one go. The events whose values can be dropped.
   *
   * @param {number} revision
   * @returns {number[]}
   */
  compact(revision) {
    /** @type {number[]} */
    const freed = [];
    for (const [key, revs] of this.#revs) {
      let base = 0;
      while (base + 1 < revs.length && /** @type {Rev} */ (revs[base + 1]).revision <= revision) base++;
      const rev = /** @type {Rev} */ (revs[base]);
      // A tombstone below the revision goes too; one at it a watch may still want.
      const first = rev.isDelete && rev.revision < revision ? base + 1 : base;
      for (let place = 0; place < first; place++) freed.push(/** @type {Rev} */ (revs[place]).event);
      if (first === revs.length) this.#revs.delete(key);
      else if (first > 0) revs.splice(0, first);
    }
    this.#log = this.#log.filter((rev) => rev.revision >= revision);
    return freed;
  }

  /**
   * @param {string} key
   * @param {number} revision
   */
  at(key, revision) {
    const revs = this.#revs.get(key) ?? [];
    let last = revs.length - 1;
    while (last >= 0 && /** @type {Rev} */ (revs[last]).revision > revision) last--;
    const rev = revs[last];
    return rev === undefined || rev.isDelete ? -1 : rev.event;
  }

  /** @param {string} prefix */
  replay(prefix) {
    return this.#log.filter(({ key }) => key.startsWith(prefix));
  }
}
