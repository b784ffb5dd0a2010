// @ts-check

/**
 * @typedef {import('../data/history.mjs').History} History
 * @typedef {{ start: Uint8Array, end: Uint8Array }} ByteRange
 *
 * @typedef {object} Core The part of src/core/core.ts that is used.
 * @property {(key: string) => number} internKey
 * @property {(id: number, commit: number, mod: number, create: number, version: number, lease: number, tombstone: boolean) => number} append
 * @property {(id: number, revision: number) => number} slotAt
 * @property {(slot: number) => boolean} isTombstone
 * @property {(slot: number) => number} commitRevision
 * @property {(key: string) => number} findKey
 * @property {(range: ByteRange, from: number, filter: 0, most: number) => Uint32Array} replay
 * @property {(revision: number, budget: number) => { freedSlots: Uint32Array, droppedKeys: Uint32Array, work: number, done: boolean }} compactStep
 */

/** The core, with its index, versions and log, as the store has it. */
export class CoreHistory {
  #core;
  /** The event behind each slot: where the store has the value. @type {Uint32Array} */
  #events;

  /**
   * @param {Core} core
   * @param {History} history
   */
  constructor(core, { keys, keyOf, isDelete }) {
    this.#core = core;
    this.#events = new Uint32Array(keyOf.length);
    const ids = new Int32Array(keys.length).fill(-1);
    for (let event = 0; event < keyOf.length; event++) {
      const place = /** @type {number} */ (keyOf[event]);
      let id = /** @type {number} */ (ids[place]);
      if (id < 0) {
        id = core.internKey(/** @type {string} */ (keys[place]));
        ids[place] = id;
      }
      const deletes = isDelete[event] === 1;
      const revision = event + 1;
      const slot = core.append(id, revision, revision, deletes ? 0 : revision, deletes ? 0 : 1, 0, deletes);
      this.#events[slot] = event;
    }
  }

  /**
   * Slots freed by compaction to `revision`, and the longest step in milliseconds.
   *
   * @param {number} revision
   * @param {Uint32Array} freed
   * @param {number} stepEntries log entries a step takes
   * @returns {{ count: number, longestMs: number }}
   */
  compact(revision, freed, stepEntries) {
    let count = 0;
    let longestMs = 0;
    for (;;) {
      const start = performance.now();
      const { freedSlots, done } = this.#core.compactStep(revision, stepEntries);
      freed.set(freedSlots, count);
      count += freedSlots.length;
      longestMs = Math.max(longestMs, performance.now() - start);
      if (done) return { count, longestMs };
    }
  }

  /** @param {number} slot */
  eventOf(slot) {
    return /** @type {number} */ (this.#events[slot]);
  }

  /**
   * The event that a key's state at a revision comes from, -1 if it does not exist there.
   *
   * @param {string} key
   * @param {number} revision
   */
  at(key, revision) {
    const id = this.#core.findKey(key);
    const slot = id < 0 ? -1 : this.#core.slotAt(id, revision);
    return slot < 0 || this.#core.isTombstone(slot) ? -1 : this.#core.commitRevision(slot) - 1;
  }

  /** Slots of the events of a range. @param {ByteRange} range */
  replay(range) {
    return this.#core.replay(range, 0, 0, Number.POSITIVE_INFINITY);
  }
}
