// @ts-check
// What a user does with the update handler of a resource cache: adds up what it is told, and relies on the contract (RC1 to RC4).
import { setImmediate } from 'node:timers';
import { keyText } from './objects.mjs';
import { labelOf } from './state.mjs';

/** One call of so many takes its time, so that others have to wait. */
const SLOW_EVERY = 97;
const BROKEN_MAX = 50;

export class Consumer {
  calls = 0;
  /** Rules that calls have broken, the first of them. @type {string[]} */
  broken = [];
  /** Values of the index that an object has ever had: ghosts would be under these. @type {Set<string>} */
  labels = new Set();
  /** @type {Map<string, any>} */
  #known = new Map();
  /** By key: also of those that have gone. @type {Map<string, number>} */
  #seqs = new Map();
  /** By key, the uid that is waited for. @type {Map<string, string>} */
  #awaited = new Map();
  #seen = () => {};
  #isBusy = false;
  #store;

  /** @param {import('../../../src/resource-cache/resource-store.ts').ResourceStore<any, any>} store */
  constructor(store) {
    this.#store = store;
    store.onResourceUpdated((update) => this.#take(update), { name: 'consumer' });
  }

  /** What the calls add up to. @returns {import('./state.mjs').Report['told']} */
  told() {
    return [...this.#known].map(([key, { object }]) => [key, object]);
  }

  /**
   * Resolves when every one of these was told with its uid.
   *
   * @param {Map<string, string>} wanted
   * @returns {Promise<void>}
   */
  seen(wanted) {
    return new Promise((resolve) => {
      this.#awaited = new Map([...wanted].filter(([key, uid]) => this.#known.get(key)?.uid !== uid));
      this.#seen = resolve;
      if (this.#awaited.size === 0) resolve();
    });
  }

  /** Of those, the ones that were not. */
  missing() {
    return [...this.#awaited.keys()];
  }

  /** @param {import('../../../src/resource-cache/subscription.ts').ResourceUpdate<any, any>} update */
  #take({ seq, key, old, new: now, view }) {
    const text = keyText(key);
    this.calls++;
    const known = this.#known.get(text);
    this.#check(!this.#isBusy, `${text}: a call began within another one`);
    this.#check(old === known, `${text}: old is not the new of the call before`);
    this.#check(seq > (this.#seqs.get(text) ?? 0), `${text}: seq ${seq} comes after ${this.#seqs.get(text)}`);
    this.#check(now !== undefined || old !== undefined, `${text}: the end of what was not there`);
    this.#check(now === undefined || old === undefined || now.uid === old.uid, `${text}: another life is an update`);
    this.#check(view.seq >= seq, `${text}: the view is of ${view.seq}, the call of ${seq}`);
    this.#check(now === undefined || Object.isFrozen(now.object), `${text}: not frozen`);
    this.#check(now === undefined || this.#store.view(key.namespace).seq >= now.seq, `${text}: the store is behind`);
    this.#seqs.set(text, seq);
    if (now === undefined) this.#known.delete(text);
    else {
      this.#known.set(text, now);
      this.labels.add(labelOf(now.object));
    }
    if (now !== undefined && this.#awaited.get(text) === now.uid) this.#arrived(text);
    return this.calls % SLOW_EVERY === 0 ? this.#dawdle() : undefined;
  }

  /** @param {string} text */
  #arrived(text) {
    this.#awaited.delete(text);
    if (this.#awaited.size === 0) this.#seen();
  }

  async #dawdle() {
    this.#isBusy = true;
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    this.#isBusy = false;
  }

  /**
   * @param {boolean} isKept
   * @param {string} message
   */
  #check(isKept, message) {
    if (!isKept && this.broken.length < BROKEN_MAX) this.broken.push(message);
  }
}
