// @ts-check
import { createChunkedArray } from '../index/sorted-array.mjs';

/** @typedef {import('../data/history.mjs').History} History */

const NONE = 0xffffffff;
const TOMBSTONE = 0x80000000;
const LOW = 0x7fffffff;
/** Slashes of the directory that gives a key its bucket, as in the core. */
const SLASHES = 4;

/**
 * The core's design in plain JavaScript: columns in typed arrays, a log of slots and what they replace, bits for what is
 * free and what is replaced, keys in order in a chunked array, a number for each event's directory. It has no limits and
 * no page that could be given back; what came before a version is found by walking a chain.
 */
export class TypedHistory {
  /** @type {Map<string, number>} */
  #ids = new Map();
  /** @type {string[]} */
  #texts = [];
  #index;
  /** Newest slot of each key. */
  #heads;
  #keyOfSlot;
  #revisionOfSlot;
  /** The slot before, of the same key. */
  #before;
  #isFree;
  #isReplaced;
  #logSlots;
  #logReplaces;
  #logBuckets;
  #logKeys;
  /** @type {Map<string, number>} */
  #buckets = new Map();
  /** 1 for each key that a replay wants; all 0 between replays. */
  #wanted;
  #first = 0;
  #end = 0;
  /** Entries at the last revision of a compaction that have freed what they replace. */
  #swept = 0;

  /** @param {History} history */
  constructor({ keys, keyOf, isDelete }) {
    const events = keyOf.length;
    this.#index = createChunkedArray(this.#texts);
    this.#heads = new Uint32Array(keys.length).fill(NONE);
    this.#keyOfSlot = new Uint32Array(events);
    this.#revisionOfSlot = new Float64Array(events);
    this.#before = new Uint32Array(events);
    this.#isFree = new Uint32Array((events + 31) >>> 5).fill(NONE);
    this.#isReplaced = new Uint32Array((events + 31) >>> 5);
    this.#logSlots = new Uint32Array(events);
    this.#logReplaces = new Uint32Array(events);
    this.#logBuckets = new Uint32Array(events);
    this.#logKeys = new Uint32Array(events);
    this.#wanted = new Uint8Array(keys.length);
    for (let event = 0; event < events; event++) {
      this.#append(/** @type {string} */ (keys[/** @type {number} */ (keyOf[event])]), event, isDelete[event] === 1);
    }
  }

  /**
   * @param {string} key
   * @param {number} event also the slot: nothing is used twice here
   * @param {boolean} deletes
   */
  #append(key, event, deletes) {
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#texts.length;
      this.#ids.set(key, id);
      this.#texts.push(key);
      this.#index.insert(key, id);
    }
    const slot = event;
    const before = /** @type {number} */ (this.#heads[id]);
    this.#keyOfSlot[slot] = id;
    this.#revisionOfSlot[slot] = event + 1;
    this.#before[slot] = before;
    this.#isFree[slot >>> 5] = /** @type {number} */ (this.#isFree[slot >>> 5]) & ~(1 << (slot & 31));
    if (before !== NONE) {
      const old = before & LOW;
      this.#isReplaced[old >>> 5] = /** @type {number} */ (this.#isReplaced[old >>> 5]) | (1 << (old & 31));
    }
    this.#heads[id] = deletes ? (slot | TOMBSTONE) >>> 0 : slot;
    this.#logSlots[this.#end] = deletes ? (slot | TOMBSTONE) >>> 0 : slot;
    this.#logReplaces[this.#end] = before >= TOMBSTONE ? NONE : before;
    this.#logBuckets[this.#end] = this.#bucketOf(key);
    this.#logKeys[this.#end] = id;
    this.#end++;
  }

  /** @param {string} key */
  #bucketOf(key) {
    const directory = key.slice(0, directoryLength(key) || key.lastIndexOf('/') + 1);
    const known = this.#buckets.get(directory);
    if (known !== undefined) return known;
    const bucket = this.#buckets.size;
    this.#buckets.set(directory, bucket);
    return bucket;
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
    // One revision an event: entries below the revision leave, the one at it stays.
    const stop = this.#lowerBound(revision);
    while (this.#first < stop) {
      const start = performance.now();
      count = this.#leave(Math.min(stop, this.#first + stepEntries), freed, count);
      longestMs = Math.max(longestMs, performance.now() - start);
    }
    for (let entry = stop + this.#swept; entry < this.#end; entry++) {
      const slot = /** @type {number} */ (this.#logSlots[entry]) & LOW;
      if (/** @type {number} */ (this.#revisionOfSlot[slot]) > revision) break;
      const replaced = /** @type {number} */ (this.#logReplaces[entry]);
      if (replaced !== NONE) {
        this.#free(replaced);
        freed[count++] = replaced;
        this.#logReplaces[entry] = NONE;
      }
      this.#swept++;
    }
    return { count, longestMs };
  }

  /**
   * @param {number} stop
   * @param {Uint32Array} freed
   * @param {number} count
   */
  #leave(stop, freed, count) {
    const slots = this.#logSlots;
    const replaces = this.#logReplaces;
    const isFree = this.#isFree;
    const isReplaced = this.#isReplaced;
    let next = count;
    for (let entry = this.#first; entry < stop; entry++) {
      const word = /** @type {number} */ (slots[entry]);
      const replaced = /** @type {number} */ (replaces[entry]);
      if (replaced !== NONE) {
        isFree[replaced >>> 5] = /** @type {number} */ (isFree[replaced >>> 5]) | (1 << (replaced & 31));
        freed[next++] = replaced;
      }
      if (word < TOMBSTONE) continue;
      const slot = word & LOW;
      if (!hasBit(isReplaced, slot)) this.#dropKey(slot);
      isFree[slot >>> 5] = /** @type {number} */ (isFree[slot >>> 5]) | (1 << (slot & 31));
      freed[next++] = slot;
    }
    this.#swept = Math.max(0, this.#swept - (stop - this.#first));
    this.#first = stop;
    return next;
  }

  /** @param {number} slot */
  #dropKey(slot) {
    const id = /** @type {number} */ (this.#keyOfSlot[slot]);
    this.#heads[id] = NONE;
    const key = /** @type {string} */ (this.#texts[id]);
    this.#ids.delete(key);
    this.#index.remove(key);
    this.#texts[id] = '';
  }

  /** @param {number} slot */
  #free(slot) {
    this.#isFree[slot >>> 5] = /** @type {number} */ (this.#isFree[slot >>> 5]) | (1 << (slot & 31));
  }

  /** First log entry of a revision at or above this one. @param {number} revision */
  #lowerBound(revision) {
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const slot = /** @type {number} */ (this.#logSlots[middle]) & LOW;
      if (/** @type {number} */ (this.#revisionOfSlot[slot]) < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * @param {string} key
   * @param {number} revision
   */
  at(key, revision) {
    const id = this.#ids.get(key);
    let word = id === undefined ? NONE : /** @type {number} */ (this.#heads[id]);
    while (word !== NONE) {
      const slot = word & LOW;
      if (hasBit(this.#isFree, slot)) return -1;
      if (/** @type {number} */ (this.#revisionOfSlot[slot]) <= revision) return word >= TOMBSTONE ? -1 : slot;
      word = /** @type {number} */ (this.#before[slot]);
    }
    return -1;
  }

  /**
   * Slots of the events of a prefix. Where it has a whole directory, numbers of directories are compared, exact ones where
   * the core's are hashes that it has to check; the keys of any other prefix are marked first, by the index.
   *
   * @param {string} prefix
   * @param {string} end the first text behind everything with the prefix
   * @param {Uint32Array} found room for every event
   * @returns {Uint32Array}
   */
  replay(prefix, end, found) {
    const length = directoryLength(prefix);
    const bucket = this.#buckets.get(prefix.slice(0, length)) ?? NONE;
    if (length > 0 && length === prefix.length) return found.subarray(0, this.#findInBucket(bucket, found));
    const ids = this.#index.list({ start: prefix, end, limit: 0 });
    this.#want(ids, 1);
    const count = length > 0 ? this.#findWantedInBucket(bucket, found) : this.#findWanted(found);
    this.#want(ids, 0);
    return found.subarray(0, count);
  }

  /**
   * `indexOf` from match to match was tried: a tenth faster where matches are rare, slower where they are not.
   *
   * @param {number} bucket
   * @param {Uint32Array} found
   */
  #findInBucket(bucket, found) {
    const buckets = this.#logBuckets;
    const slots = this.#logSlots;
    let count = 0;
    for (let entry = this.#first, stop = this.#end; entry < stop; entry++) {
      if (buckets[entry] === bucket) found[count++] = /** @type {number} */ (slots[entry]) & LOW;
    }
    return count;
  }

  /**
   * @param {number} bucket
   * @param {Uint32Array} found
   */
  #findWantedInBucket(bucket, found) {
    const buckets = this.#logBuckets;
    const keys = this.#logKeys;
    const slots = this.#logSlots;
    const wanted = this.#wanted;
    let count = 0;
    for (let entry = this.#first, stop = this.#end; entry < stop; entry++) {
      if (buckets[entry] !== bucket || wanted[/** @type {number} */ (keys[entry])] === 0) continue;
      found[count++] = /** @type {number} */ (slots[entry]) & LOW;
    }
    return count;
  }

  /**
   * Without a branch, which takes half the time where matches are rare and a tenth where four in ten match: no processor
   * guesses which.
   *
   * @param {Uint32Array} found
   */
  #findWanted(found) {
    const keys = this.#logKeys;
    const slots = this.#logSlots;
    const wanted = this.#wanted;
    let count = 0;
    for (let entry = this.#first, stop = this.#end; entry < stop; entry++) {
      found[count] = /** @type {number} */ (slots[entry]) & LOW;
      count += /** @type {number} */ (wanted[/** @type {number} */ (keys[entry])]);
    }
    return count;
  }

  /**
   * @param {ArrayLike<number>} ids
   * @param {0 | 1} mark
   */
  #want(ids, mark) {
    const wanted = this.#wanted;
    for (let place = 0, { length } = ids; place < length; place++) wanted[/** @type {number} */ (ids[place])] = mark;
  }
}

/** Length up to the fourth slash, 0 when there are fewer. @param {string} text */
function directoryLength(text) {
  let length = 0;
  for (let slashes = 0; slashes < SLASHES; slashes++) {
    length = text.indexOf('/', length) + 1;
    if (length === 0) return 0;
  }
  return length;
}

/**
 * @param {Uint32Array} bits
 * @param {number} index
 */
function hasBit(bits, index) {
  const word = /** @type {number} */ (bits[index >>> 5]);
  return ((word >>> (index & 31)) & 1) === 1;
}
