// @ts-check

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 * @typedef {{ start: Uint8Array, end: Uint8Array }} ByteRange
 *
 * @typedef {object} Core The part of src/core/core.ts that the store uses for this.
 * @property {(action: string, need: { events: number, newKeys: number, newKeyBytes: number }) => void} reserve
 * @property {(key: string) => number} internKey
 * @property {(id: number, commit: number, mod: number, create: number, version: number, lease: number, tombstone: boolean) => number} append
 * @property {(id: number) => number} headSlot
 * @property {(slot: number) => boolean} isTombstone
 * @property {(slot: number) => number} keyOf
 * @property {(range: ByteRange, revision: number, limit: number) => Uint32Array} range
 * @property {(range: ByteRange, revision: number) => number} count
 * @property {(revision: number, budget: number) => { freedSlots: Uint32Array, droppedKeys: Uint32Array, done: boolean }} compactStep
 */

const NEWEST = Number.POSITIVE_INFINITY;
/** Deletes between two compactions, and log entries a step of one looks at. */
const COMPACT_EVERY = 4096;

/**
 * The core the way the store uses it (src/store/mvcc.ts): a Map of key texts in front for exact reads, every insert and
 * delete an entry of the revision log, deleted keys leaving the index by compaction. So a write here does more than one
 * to a bare index; that more is part of the figures.
 */
export class CoreIndex {
  #core;
  /** @type {Map<string, number>} */
  #ids = new Map();
  /** @type {string[]} */
  #texts = [];
  #encoder = new TextEncoder();
  #revision = 1;
  #deletes = 0;

  /** @param {Core} core */
  constructor(core) {
    this.#core = core;
  }

  /** @param {string} key */
  insert(key) {
    const core = this.#core;
    core.reserve('insert', { events: 1, newKeys: 1, newKeyBytes: key.length * 3 });
    const id = core.internKey(key);
    this.#ids.set(key, id);
    this.#texts[id] = key;
    const revision = ++this.#revision;
    core.append(id, revision, revision, revision, 1, 0, false);
  }

  /** @param {string} key */
  remove(key) {
    const id = this.#ids.get(key);
    if (id === undefined) return;
    const core = this.#core;
    core.reserve('remove', { events: 1, newKeys: 0, newKeyBytes: 0 });
    const revision = ++this.#revision;
    core.append(id, revision, revision, 0, 0, 0, true);
    if (++this.#deletes % COMPACT_EVERY === 0) this.compact();
  }

  /** The slot of the newest version. @param {string} key */
  get(key) {
    const id = this.#ids.get(key);
    if (id === undefined) return undefined;
    const slot = this.#core.headSlot(id);
    return slot < 0 || this.#core.isTombstone(slot) ? undefined : slot;
  }

  /** @param {Query} query */
  list(query) {
    return this.#core.range(this.#bytes(query), NEWEST, query.limit);
  }

  /** @param {Query} query */
  count(query) {
    return this.#core.count(this.#bytes(query), NEWEST);
  }

  /** @param {number} slot */
  keyOf(slot) {
    return this.#texts[this.#core.keyOf(slot)] ?? '';
  }

  /** What the store's compactor does in the background, here in one go and on the clock. */
  compact() {
    for (;;) {
      const { droppedKeys, done } = this.#core.compactStep(this.#revision, COMPACT_EVERY);
      for (const id of droppedKeys) {
        this.#ids.delete(this.#texts[id] ?? '');
        this.#texts[id] = '';
      }
      if (done) return;
    }
  }

  /**
   * @param {Query} query
   * @returns {ByteRange}
   */
  #bytes({ start, end }) {
    return { start: this.#encoder.encode(start), end: this.#encoder.encode(end) };
  }
}
