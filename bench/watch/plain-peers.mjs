// @ts-check
// What one would write. It keeps the newest values and nothing else.
import { EventEmitter } from 'node:events';
import { CallbackWatchers, textOf } from './watchers.mjs';

/**
 * @typedef {import('./watchers.mjs').Batch} Batch
 * @typedef {import('./watchers.mjs').Range} Range
 * @typedef {import('./watchers.mjs').Watchers} Watchers
 */

/** A Map of the newest values that counts its changes. */
class Values {
  /** @type {Map<string, unknown>} */
  #values = new Map();
  #revision = 1;

  /**
   * @param {string} key
   * @param {unknown} value
   * @returns {Batch}
   */
  put(key, value) {
    const revision = ++this.#revision;
    this.#values.set(key, value);
    return { revision, events: [{ type: 'put', kv: { key, value } }] };
  }
}

/**
 * A list of prefixes, all of which are compared with every key.
 *
 * @implements {Watchers}
 */
export class ListWatchers extends CallbackWatchers {
  #values = new Values();
  /** @type {Map<number, string>} */
  #prefixes = new Map();

  /**
   * @param {string} key
   * @param {string} value
   */
  async put(key, value) {
    const batch = this.#values.put(key, value);
    for (const [place, prefix] of this.#prefixes) if (key.startsWith(prefix)) this.receive(place, batch);
    return batch.revision;
  }

  /**
   * @param {Range} range
   * @param {number} place
   */
  open(range, place) {
    this.#prefixes.set(place, textOf(range));
  }

  /** @param {number} place */
  close(place) {
    this.#prefixes.delete(place);
  }
}

/**
 * One emitter: a put emits its key, and every beginning of it that ends with a slash.
 *
 * @implements {Watchers}
 */
export class EmitterWatchers extends CallbackWatchers {
  #values = new Values();
  #emitter = new EventEmitter().setMaxListeners(0);
  /** @type {{ text: string, listener: (batch: Batch) => void }[]} */
  #listeners = [];

  /**
   * @param {string} key
   * @param {string} value
   */
  async put(key, value) {
    const batch = this.#values.put(key, value);
    for (let end = key.indexOf('/'); end !== -1; end = key.indexOf('/', end + 1)) {
      this.#emitter.emit(key.slice(0, end + 1), batch);
    }
    this.#emitter.emit(key, batch);
    return batch.revision;
  }

  /**
   * @param {Range} range
   * @param {number} place
   */
  open(range, place) {
    const text = textOf(range);
    const listener = (/** @type {Batch} */ batch) => this.receive(place, batch);
    this.#listeners[place] = { text, listener };
    this.#emitter.on(text, listener);
  }

  /** @param {number} place */
  close(place) {
    const { text, listener } = /** @type {{ text: string, listener: () => void }} */ (this.#listeners[place]);
    this.#emitter.off(text, listener);
  }
}

/**
 * The design of plimsoll's index in a few lines, and nothing else of a store: sets of watches by key and by prefix, a
 * probe for each length of a prefix that is in use, a queue for each watch.
 */
export class PrefixMapStore {
  #values = new Values();
  /** @type {Map<string, Set<QueuedWatch>>} */
  #points = new Map();
  /** @type {Map<string, Set<QueuedWatch>>} */
  #prefixes = new Map();
  /** @type {Map<number, number>} */
  #lengths = new Map();

  /**
   * @param {string} key
   * @param {unknown} value
   */
  async put(key, value) {
    const batch = this.#values.put(key, value);
    deliver(this.#points.get(key), batch);
    for (const length of this.#lengths.keys()) {
      if (length <= key.length) deliver(this.#prefixes.get(key.slice(0, length)), batch);
    }
    return batch;
  }

  /** @param {Range} range */
  watch(range) {
    const text = textOf(range);
    const map = 'key' in range ? this.#points : this.#prefixes;
    const watches = map.get(text) ?? new Set();
    if (watches.size === 0) {
      map.set(text, watches);
      if (map === this.#prefixes) this.#lengths.set(text.length, (this.#lengths.get(text.length) ?? 0) + 1);
    }
    const watch = new QueuedWatch(() => {
      if (!watches.delete(watch) || watches.size > 0) return;
      map.delete(text);
      if (map === this.#prefixes) this.#forgetLength(text.length);
    });
    watches.add(watch);
    return watch;
  }

  async close() {
    this.#points.clear();
    this.#prefixes.clear();
    this.#lengths.clear();
  }

  /** @param {number} length */
  #forgetLength(length) {
    const left = (this.#lengths.get(length) ?? 0) - 1;
    if (left > 0) this.#lengths.set(length, left);
    else this.#lengths.delete(length);
  }
}

/**
 * @param {Set<QueuedWatch> | undefined} watches
 * @param {Batch} batch
 */
function deliver(watches, batch) {
  if (watches !== undefined) for (const watch of watches) watch.push(batch);
}

class QueuedWatch {
  /** @type {Batch[]} */
  #queue = [];
  /** @type {((result: IteratorResult<Batch, undefined>) => void) | undefined} */
  #resolve;
  #isClosed = false;
  #onClose;

  /** @param {() => void} onClose */
  constructor(onClose) {
    this.#onClose = onClose;
  }

  /** @param {Batch} batch */
  push(batch) {
    const resolve = this.#resolve;
    if (resolve === undefined) {
      this.#queue.push(batch);
      return;
    }
    this.#resolve = undefined;
    resolve({ value: batch, done: false });
  }

  /** @returns {Promise<IteratorResult<Batch, undefined>>} */
  next() {
    const value = this.#queue.shift();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (this.#isClosed) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  async return() {
    this.#isClosed = true;
    this.#onClose();
    this.#resolve?.({ value: undefined, done: true });
  }
}
