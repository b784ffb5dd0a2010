// @ts-check
import { lowerBound } from '../index/sorted-array.mjs';

/**
 * @typedef {{ createRevision: number, modRevision: number, version: number, value: unknown, isDelete: boolean }} Rev
 * @typedef {{ compare: readonly { key: string, value: number }[], then: readonly { key: string, value: unknown }[] }} Txn
 * @typedef {{ key: string } | { prefix: string }} Watched
 */

/**
 * The simplest store with history that one would write in plain JavaScript, behind the same calls:
 *
 * ```text
 *   Map  key -> [Rev, Rev, ...] by revision      sorted keys, sorted again when a read finds them out of date
 * ```
 *
 * Reads at old revisions, compare-and-put, compaction in one go, watches with a queue each. It keeps no log, so a watch
 * starts now; it checks nothing, copies nothing, limits nothing.
 */
export class MvccBaseline {
  /** @type {Map<string, Rev[]>} */
  #revs = new Map();
  /** @type {string[] | undefined} */
  #sorted;
  /** @type {Map<string, Set<BaselineWatch>>} */
  #watches = new Map();
  /** @type {Map<string, Set<BaselineWatch>>} */
  #prefixWatches = new Map();
  #revision = 1;

  get revision() {
    return this.#revision;
  }

  /**
   * @param {string} key
   * @param {unknown} value
   */
  async put(key, value) {
    const revision = ++this.#revision;
    this.#write(key, value, false, revision);
    return { revision };
  }

  /** @param {string} key */
  async delete(key) {
    if (this.get(key) === undefined) return { deleted: 0 };
    this.#write(key, undefined, true, ++this.#revision);
    return { deleted: 1 };
  }

  /** Compares of mod revisions with `=`, and puts. @param {Txn} request */
  async txn({ compare, then }) {
    const succeeded = compare.every(({ key, value }) => (this.get(key)?.modRevision ?? 0) === value);
    if (succeeded) {
      const revision = ++this.#revision;
      for (const { key, value } of then) this.#write(key, value, false, revision);
    }
    return { revision: this.#revision, succeeded };
  }

  /**
   * @param {string} key
   * @param {{ revision?: number }} [options]
   */
  get(key, { revision = 0 } = {}) {
    const revs = this.#revs.get(key);
    if (revs === undefined) return undefined;
    let last = revs.length - 1;
    if (revision > 0) while (last >= 0 && /** @type {Rev} */ (revs[last]).modRevision > revision) last--;
    const rev = revs[last];
    return rev === undefined || rev.isDelete ? undefined : { key, ...rev };
  }

  /** @param {{ prefix: string, limit: number }} request */
  range({ prefix, limit }) {
    this.#sorted ??= [...this.#revs.keys()].sort();
    const sorted = this.#sorted;
    const kvs = [];
    for (let place = lowerBound(sorted, prefix); place < sorted.length && kvs.length < limit; place++) {
      const key = /** @type {string} */ (sorted[place]);
      if (!key.startsWith(prefix)) break;
      const kv = this.get(key);
      if (kv !== undefined) kvs.push(kv);
    }
    return { kvs };
  }

  /** Drops what no read at or above `revision` can see, in one go. @param {number} revision */
  async compact(revision) {
    for (const [key, revs] of this.#revs) {
      let base = revs.length - 1;
      while (base > 0 && /** @type {Rev} */ (revs[base]).modRevision > revision) base--;
      const rev = /** @type {Rev} */ (revs[base]);
      const first = rev.isDelete && rev.modRevision < revision ? base + 1 : base;
      if (first === revs.length) this.#revs.delete(key);
      else if (first > 0) revs.splice(0, first);
    }
    this.#sorted = undefined;
  }

  /** @param {Watched} range */
  watch(range) {
    const [watches, text] = 'key' in range ? [this.#watches, range.key] : [this.#prefixWatches, range.prefix];
    const watch = new BaselineWatch();
    const known = watches.get(text);
    if (known === undefined) watches.set(text, new Set([watch]));
    else known.add(watch);
    return watch;
  }

  stats() {
    let storedVersions = 0;
    for (const revs of this.#revs.values()) storedVersions += revs.length;
    return { storedVersions, memoryBytes: 0 };
  }

  async close() {
    this.#revs.clear();
    this.#watches.clear();
    this.#prefixWatches.clear();
  }

  /**
   * @param {string} key
   * @param {unknown} value
   * @param {boolean} isDelete
   * @param {number} modRevision
   */
  #write(key, value, isDelete, modRevision) {
    let revs = this.#revs.get(key);
    if (revs === undefined) {
      revs = [];
      this.#revs.set(key, revs);
      this.#sorted = undefined;
    }
    const previous = revs[revs.length - 1];
    const isNew = previous === undefined || previous.isDelete;
    const createRevision = isDelete ? 0 : isNew ? modRevision : previous.createRevision;
    const version = isDelete ? 0 : isNew ? 1 : previous.version + 1;
    revs.push({ createRevision, modRevision, version, value, isDelete });
    const event = { type: isDelete ? 'delete' : 'put', kv: { key, modRevision } };
    for (const watch of this.#watches.get(key) ?? []) watch.push(modRevision, event);
    for (const [prefix, watches] of this.#prefixWatches) {
      if (key.startsWith(prefix)) for (const watch of watches) watch.push(modRevision, event);
    }
  }
}

/** A watch with a queue of its own. */
class BaselineWatch {
  /** @type {unknown[]} */
  #queue = [];
  /** @type {(() => void) | undefined} */
  #wake;

  /**
   * @param {number} revision
   * @param {{ type: string, kv: { key: string, modRevision: number } }} event
   */
  push(revision, event) {
    this.#queue.push({ revision, events: [event] });
    this.#wake?.();
  }

  async next() {
    while (this.#queue.length === 0) {
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        this.#wake = resolve;
      });
    }
    return { value: this.#queue.shift(), done: false };
  }
}
