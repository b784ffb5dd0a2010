// @ts-check
// The load of kopf#641, scaled: objects whose field changes again and again, a parent with three subs for each of them.
import { setImmediate as turn } from 'node:timers/promises';
import { createRandom } from '../data/random.mjs';
import { Ledger } from './ledger.mjs';
import { PARENT } from './reconcile-loop.mjs';

/**
 * @typedef {import('./contestants.mjs').Entry} Entry
 * @typedef {import('./contestants.mjs').Kit} Kit
 * @typedef {import('./contestants.mjs').Running} Running
 * @typedef {import('./contestants.mjs').Store} Store
 */

export const SUBS = ['sub-0', 'sub-1', 'sub-2'];
export const IDS = [PARENT, ...SUBS];

const PREFIX = 'apps/';
/** Changes between two turns of the event loop, where handlers take time. */
const CHANGES_A_TURN = 10;
/** Turns that a call takes at most, where handlers take time. */
const TURNS_MAX = 3;

/** One contestant on a store of its own. */
export class World {
  /** @type {Ledger} */
  ledger = new Ledger(IDS);
  /** The number in the last state of everything. */
  state = 0;
  /** @type {Store} */
  #store;
  #names;
  /** @type {Running | undefined} */
  #running;

  /**
   * @param {Store} store
   * @param {readonly string[]} names
   */
  constructor(store, names) {
    this.#store = store;
    this.#names = names;
  }

  /**
   * @param {Kit} kit
   * @param {Entry} entry
   * @param {{ objects: number, isSlow: boolean }} load
   */
  static async open(kit, entry, { objects, isSlow }) {
    const store = await kit.openStore();
    const world = new World(
      store,
      Array.from({ length: objects }, (_, place) => `${PREFIX}ns${place % 50}/web${place}`),
    );
    const random = createRandom(1);
    const call = (/** @type {string} */ id, /** @type {string} */ name, /** @type {unknown} */ object) =>
      world.ledger.ended(id, name, fieldOf(object));
    const slowCall = async (/** @type {string} */ id, /** @type {string} */ name, /** @type {unknown} */ object) => {
      for (let turns = Math.floor(random() * (TURNS_MAX + 1)); turns > 0; turns--) await turn();
      call(id, name, object);
    };
    const source = kit.createStoreSource(store, { prefix: PREFIX });
    world.#running = entry.open(kit, source, { plan: () => SUBS, call: isSlow ? slowCall : call });
    await turn();
    return world;
  }

  /** All objects, one after the other, without a pause, so many times; then until everything is settled. */
  async changeAll(/** @type {number} */ times, { sample = () => {} } = {}) {
    let changes = 0;
    for (let time = 0; time < times; time++) {
      this.state++;
      for (const name of this.#names) {
        await this.#change(name);
        if (++changes % CHANGES_A_TURN === 0) await turn();
      }
      sample();
    }
    await this.#settle();
  }

  /**
   * So many objects at once, from rest to rest.
   *
   * @param {number} first of the objects in their order, which begins anew behind the last
   * @param {number} count
   * @returns {Promise<number[]>} the lag of each
   */
  async burst(first, count) {
    this.state++;
    const names = Array.from({ length: count }, (_, index) => this.#name(first + index));
    await Promise.all(names.map((name) => this.#change(name)));
    await this.#settle(names.at(-1));
    return names.map((name) => this.ledger.lagOf(name));
  }

  /** Forgets what the ledger has. */
  begin() {
    this.ledger = new Ledger(IDS);
  }

  /** Lets the contestant go, but not the store. */
  async closeRunning() {
    await this.#running?.close();
    this.#running = undefined;
  }

  async close() {
    await this.closeRunning();
    await this.#store.close();
  }

  /** @param {string} name */
  async #change(name) {
    this.ledger.changed(name, this.state);
    await this.#store.put(name, objectOf(name, this.state));
  }

  async #settle(name = this.#name(-1)) {
    const version = String(this.#store.get(name)?.modRevision);
    while (this.#running?.knows(name, version) === false) await turn();
    await this.#running?.idle();
  }

  /** @param {number} place */
  #name(place) {
    return /** @type {string} */ (this.#names.at(place % this.#names.length));
  }
}

/** @param {unknown} object @returns {number} */
export function fieldOf(object) {
  return /** @type {{ spec: { field: number } }} */ (object).spec.field;
}

/**
 * @param {string} name
 * @param {number} field
 */
function objectOf(name, field) {
  return {
    metadata: { name, labels: { app: name, tier: 'backend' } },
    spec: { field, image: 'registry.example/web:2.1', replicas: 3, zones: ['a', 'b', 'c'] },
  };
}
