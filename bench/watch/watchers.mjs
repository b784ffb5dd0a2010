// @ts-check
// Watchers by place, behind one face: plimsoll's, and what one would install or write instead. Puts are awaited. The peers
// keep the newest values and nothing else; those that are no streams call the watcher back inside the put.
/**
 * @typedef {{ key: string } | { prefix: string }} Range Prefixes end with a slash.
 * @typedef {{ type: string, key: string, value: unknown }} Event
 * @typedef {{ revision: number, events: Event[] }} Delivery What a watcher got, in words that all share.
 *
 * @typedef {object} Watchers
 * @property {(key: string, value: string) => Promise<number>} put Resolves with the revision.
 * @property {(range: Range, place: number) => unknown} open From now on; it may be awaited.
 * @property {(place: number) => unknown} close May be awaited.
 * @property {(place: number) => unknown} arrival What watcher `place` got, or will get: to be awaited.
 * @property {(place: number) => void} rearm It was taken: wait for the next one.
 * @property {(arrival: unknown) => Delivery | undefined} read
 * @property {() => Promise<number[]>} waiting Places of watchers with something that was not taken.
 * @property {() => Promise<void>} end
 *
 * @typedef {{ revision: number, events: readonly { type: string, kv: { key: string, value?: unknown } }[] }} Batch
 * @typedef {object} Watch
 * @property {() => Promise<IteratorResult<Batch, undefined>>} next
 * @property {() => Promise<unknown>} return
 * @typedef {object} Store The part of the public store that is used.
 * @property {(key: string, value: unknown) => Promise<{ revision: number }>} put
 * @property {(range: Range) => Watch} watch
 * @property {() => Promise<void>} close
 */

/** @param {Range} range */
export function textOf(range) {
  return 'key' in range ? range.key : range.prefix;
}

/**
 * @param {Batch | undefined} batch
 * @returns {Delivery | undefined}
 */
function deliveryOf(batch) {
  if (batch === undefined) return undefined;
  const events = batch.events.map(({ type, kv: { key, value } }) => ({ type, key, value }));
  return { revision: batch.revision, events };
}

/**
 * Watches with a consumer in `next()`, each: of the public store, and of the Maps below.
 *
 * @implements {Watchers}
 */
export class StreamWatchers {
  /** @type {Watch[]} */
  #watches = [];
  /** @type {Promise<IteratorResult<Batch, undefined>>[]} */
  #results = [];
  /** @type {Store} */
  #store;

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
  }

  /**
   * @param {string} key
   * @param {string} value
   */
  async put(key, value) {
    const { revision } = await this.#store.put(key, value);
    return revision;
  }

  /**
   * @param {Range} range
   * @param {number} place
   */
  open(range, place) {
    const watch = this.#store.watch(range);
    this.#watches[place] = watch;
    this.#results[place] = watch.next();
  }

  /** @param {number} place */
  close(place) {
    return /** @type {Watch} */ (this.#watches[place]).return();
  }

  /** @param {number} place */
  arrival(place) {
    return this.#results[place];
  }

  /** @param {number} place */
  rearm(place) {
    this.#results[place] = /** @type {Watch} */ (this.#watches[place]).next();
  }

  /** @param {unknown} arrival */
  read(arrival) {
    return deliveryOf(/** @type {IteratorResult<Batch, undefined>} */ (arrival).value);
  }

  async waiting() {
    const nothing = Promise.resolve(undefined);
    const places = [];
    for (const [place, result] of this.#results.entries()) {
      // One that has come wins: it stands first. One that says "closed" is no batch.
      const first = await Promise.race([result, nothing]);
      if (first !== undefined && first.done !== true) places.push(place);
    }
    return places;
  }

  async end() {
    // First, since a store that closes fails the watches that are open.
    for (const watch of this.#watches) await watch.return();
    await this.#store.close();
  }
}

/** What the callbacks of a peer have brought, by place. */
export class CallbackWatchers {
  /** @type {(Batch | undefined)[]} */
  arrived = [];

  /** @param {number} place */
  arrival(place) {
    return this.arrived[place];
  }

  /** @param {number} place */
  rearm(place) {
    this.arrived[place] = undefined;
  }

  /** @param {unknown} arrival @returns {Delivery | undefined} */
  read(arrival) {
    return deliveryOf(/** @type {Batch | undefined} */ (arrival));
  }

  async waiting() {
    return [...this.arrived.keys()].filter((place) => this.arrived[place] !== undefined);
  }

  async end() {
    this.arrived = [];
  }

  /**
   * A second batch before the first was taken must not hide behind it, so it is added to it.
   *
   * @protected
   * @param {number} place
   * @param {Batch} batch
   */
  receive(place, batch) {
    const before = this.arrived[place];
    this.arrived[place] = before === undefined ? batch : { ...batch, events: [...before.events, ...batch.events] };
  }
}
