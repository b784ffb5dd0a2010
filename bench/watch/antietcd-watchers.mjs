// @ts-check
import { CallbackWatchers, textOf } from './watchers.mjs';

/**
 * @typedef {import('../store/antietcd.mjs').AntiEtcd} AntiEtcd
 * @typedef {import('./watchers.mjs').Range} Range
 * @typedef {import('./watchers.mjs').Watchers} Watchers
 */

/** @implements {Watchers} */
export class AntiEtcdWatchers extends CallbackWatchers {
  /** @type {AntiEtcd} */
  #etcd;
  /** @type {number[]} */
  #ids = [];

  /** @param {AntiEtcd} etcd */
  constructor(etcd) {
    super();
    this.#etcd = etcd;
  }

  /**
   * @param {string} key
   * @param {string} value
   */
  async put(key, value) {
    const { header } = await this.#etcd.put({ key, value });
    return header.revision;
  }

  /**
   * @param {Range} range
   * @param {number} place
   */
  async open(range, place) {
    const key = textOf(range);
    // Of a directory, up to the character after '/'; it knows no other prefixes.
    const request = 'key' in range ? { key } : { key, range_end: `${key.slice(0, -1)}0` };
    this.#ids[place] = await this.#etcd.create_watch(request, ({ result }) => {
      this.receive(place, { revision: result.header.revision, events: result.events });
    });
  }

  /** @param {number} place */
  close(place) {
    return this.#etcd.cancel_watch(/** @type {number} */ (this.#ids[place]));
  }

  /** @override @param {unknown} arrival */
  read(arrival) {
    const delivery = super.read(arrival);
    if (delivery === undefined) return undefined;
    return { ...delivery, events: delivery.events.map((event) => ({ ...event, type: event.type.toLowerCase() })) };
  }

  /** @override */
  async end() {
    await this.#etcd.stop();
    await super.end();
  }
}
