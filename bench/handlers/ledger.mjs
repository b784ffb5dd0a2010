// @ts-check
// Who has ended which call on which state, written down by the handlers themselves.

/**
 * @typedef {object} Lag From the last change of an object to the end of the last call for it; objects on which something
 *   was missed are left out. In milliseconds.
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} maxMs
 *
 * @typedef {object} Entry Of one object.
 * @property {number} wanted Its last state.
 * @property {number} changedAt
 * @property {number} endedAt
 * @property {number} seen The state of the last call.
 * @property {Map<string, number>} last By handler.
 */

/** States of an object are numbers that only rise, so that what comes twice comes one after the other. */
export class Ledger {
  /** Calls that have ended. */
  calls = 0;
  /** Calls for a state on which the same handler has ended the call before this one. */
  repeated = 0;
  /** States that somebody was called on, over all objects. */
  states = 0;
  /** @type {readonly string[]} */
  #ids;
  /** @type {Map<string, Entry>} */
  #objects = new Map();
  #now;

  /**
   * @param {readonly string[]} ids of all handlers that have to see the last state
   * @param {() => number} [now]
   */
  constructor(ids, now = () => performance.now()) {
    this.#ids = ids;
    this.#now = now;
  }

  /**
   * An object is about to be changed.
   *
   * @param {string} name
   * @param {number} state
   */
  changed(name, state) {
    const entry = this.#entry(name);
    entry.wanted = state;
    entry.changedAt = this.#now();
  }

  /**
   * @param {string} id
   * @param {string} name
   * @param {number} state
   */
  ended(id, name, state) {
    const entry = this.#entry(name);
    this.calls++;
    if (entry.seen !== state) {
      entry.seen = state;
      this.states++;
    }
    if (entry.last.get(id) === state) this.repeated++;
    entry.last.set(id, state);
    entry.endedAt = this.#now();
  }

  /** Handlers, over all objects, whose last call was not on the last state. */
  get misses() {
    return [...this.#objects.values()].reduce((sum, entry) => sum + this.#missesOf(entry), 0);
  }

  /** Objects whose handler of this id has seen the last state. @param {string} id */
  handled(id) {
    return [...this.#objects.values()].filter(({ last, wanted }) => last.get(id) === wanted).length;
  }

  /** Handlers and the states that somebody was called on: more calls than that are calls for nothing. */
  get needed() {
    return this.states * this.#ids.length;
  }

  /** In milliseconds, of objects on which nothing was missed. @returns {number[]} */
  get lags() {
    return [...this.#objects.values()]
      .filter((entry) => this.#missesOf(entry) === 0)
      .map(({ changedAt, endedAt }) => endedAt - changedAt);
  }

  /** The same for one object. @param {string} name */
  lagOf(name) {
    const { changedAt, endedAt } = this.#entry(name);
    return endedAt - changedAt;
  }

  /** @param {Entry} entry */
  #missesOf({ last, wanted }) {
    return this.#ids.filter((id) => last.get(id) !== wanted).length;
  }

  /** @param {string} name */
  #entry(name) {
    let entry = this.#objects.get(name);
    if (entry === undefined) {
      entry = { wanted: -1, changedAt: 0, endedAt: 0, seen: -1, last: new Map() };
      this.#objects.set(name, entry);
    }
    return entry;
  }
}

/** @param {readonly number[]} lags at least one @returns {Lag} */
export function lagOf(lags) {
  const sorted = [...lags].sort((left, right) => left - right);
  const at = (/** @type {number} */ q) => rounded(sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(4));
}
