// @ts-check
// What goes wrong between a reader and the test API server: every fault of docs/test-api-server.md that a reader can meet, and a compaction of
// the store. Which, when and for whom is by the seed.

/**
 * @typedef {import('../../../src/testing/api-faults.ts').ApiFault} ApiFault
 * @typedef {import('../../../src/testing/api-faults.ts').CountedScope} Scope
 *
 * One that is set, until it is taken back some rounds later.
 * @typedef {{ name: string, fault: ApiFault, rounds: number }} Set
 */

/** Most of a stream goes by watches that are open; so most faults are about these. */
const FAULTS = /** @type {const} */ ([
  ...['endWatches', 'resetWatches', 'expireWatches', 'truncateWatches', 'truncateWatchesBroken'],
  ...['stallWatches', 'duplicateEvents', 'failLists', 'failWatches', 'expire', 'reset', 'delay', 'compact', 'stale'],
]);
const CODES = [429, 500, 503];
const WHEN = /** @type {const} */ (['before', 'after', 'body']);
/** Rounds that a fault stays at most, where it is taken back. */
const ROUNDS_MAX = 3;

export class ServerFaults {
  /** How often each was met. @type {Map<string, number>} */
  hits = new Map(FAULTS.map((name) => [name, 0]));
  /** @type {Set[]} */
  #set = [];
  #rounds = 0;
  #server;
  #store;
  #resources;
  #random;

  /**
   * @param {import('../../../src/testing/test-api-server.ts').TestApiServer} server
   * @param {import('../../../src/types/store.ts').Store<any>} store
   * @param {readonly string[]} resources
   * @param {() => number} random
   */
  constructor(server, store, resources, random) {
    this.#server = server;
    this.#store = store;
    this.#resources = resources;
    this.#random = random;
  }

  /** One more fault; those of rounds before are taken back in their time. Each comes once before any comes by chance. */
  async round() {
    for (const one of [...this.#set]) if (--one.rounds <= 0) this.#takeBack(one);
    const name = FAULTS[this.#rounds++] ?? FAULTS[this.#below(FAULTS.length)] ?? 'endWatches';
    // The first rounds are for every kind, so that each fault is met.
    const isForAll = this.#rounds <= FAULTS.length || this.#random() < 0.3;
    const resource = this.#resources[this.#below(this.#resources.length)] ?? '';
    await this.#begin(name, isForAll ? {} : { resource });
  }

  /** Nothing is wrong any more. */
  heal() {
    for (const one of [...this.#set]) this.#takeBack(one);
    this.#server.faults.heal();
  }

  /**
   * @param {(typeof FAULTS)[number]} name
   * @param {{ resource?: string }} scope
   */
  async #begin(name, scope) {
    const { faults } = this.#server;
    // Each of them costs the reader of one kind a pause.
    const times = 1 + this.#below(scope.resource === undefined ? 40 : 4);
    switch (name) {
      case 'endWatches':
      case 'resetWatches':
      case 'expireWatches':
        return this.#met(name, faults[name](scope));
      case 'truncateWatches':
      case 'truncateWatchesBroken':
        return this.#met(name, faults.truncateWatches({ ...scope, isBroken: name === 'truncateWatchesBroken' }));
      case 'stallWatches':
        return this.#keep(name, faults.stallWatches(scope), () => this.#openIn(scope));
      case 'duplicateEvents':
        return this.#keep(name, faults.duplicateEvents({ ...scope, times }));
      case 'failLists':
      case 'failWatches':
        return this.#refuse(name, { ...scope, times });
      case 'expire':
        return this.#keep(name, faults.expire({ ...scope, verb: ['list', 'watch'], times }), undefined, scope);
      case 'reset':
        return this.#resets(scope, times);
      case 'delay':
        return this.#delays(scope, times);
      case 'stale':
        // For one kind of request as it is for a reader that was sent to a server that is behind.
        return this.#keep(name, faults.stale({ ...scope, verb: 'list' }), undefined, scope);
      case 'compact':
        return this.#compact(scope);
    }
  }

  /**
   * @param {'failLists' | 'failWatches'} name
   * @param {Scope} scope
   */
  #refuse(name, scope) {
    const code = CODES[this.#below(CODES.length)] ?? 500;
    const verb = name === 'failLists' ? 'list' : 'watch';
    return this.#keep(name, this.#server.faults.fail({ ...scope, verb, code }), undefined, scope);
  }

  /**
   * @param {{ resource?: string }} scope
   * @param {number} times
   */
  #resets(scope, times) {
    const when = WHEN[this.#below(WHEN.length)] ?? 'before';
    this.#keep(
      'reset',
      this.#server.faults.reset({ ...scope, verb: ['list', 'watch'], when, times }),
      undefined,
      scope,
    );
  }

  /**
   * @param {{ resource?: string }} scope
   * @param {number} times
   */
  #delays(scope, times) {
    const delayMs = 1 + this.#below(40);
    const rule = this.#server.faults.delay({ ...scope, verb: ['list', 'watch'], times, delayMs });
    this.#keep('delay', rule, undefined, scope);
  }

  /** What is older than some events ago is 410; who watches is sent away to notice. @param {{ resource?: string }} scope */
  async #compact(scope) {
    // Of a state that is compacted there is no list: a server that is so far behind answers nobody for as long as it is.
    for (const one of [...this.#set]) if (one.name === 'stale') this.#takeBack(one);
    const revision = this.#store.revision - this.#below(20);
    if (revision > this.#store.compactRevision) await this.#store.compact(revision);
    this.#met('compact', this.#server.faults.resetWatches(scope));
  }

  /**
   * A fault that stays for some rounds. Those that are about requests end the watches in their scope: nobody else asks for anything.
   *
   * @param {string} name
   * @param {ApiFault} fault
   * @param {() => number} [count] how often it is met, where it does not count by itself
   * @param {{ resource?: string }} [scope] whose watches end
   */
  #keep(name, fault, count, scope) {
    // The first one of each stays long enough to be met.
    const rounds = this.#rounds <= FAULTS.length ? ROUNDS_MAX : 1 + this.#below(ROUNDS_MAX);
    this.#set.push({ name, fault, rounds });
    if (count !== undefined) this.#met(name, count());
    if (scope === undefined) return;
    // A list is asked for by who has been told that its version is too old.
    if (name === 'failLists' || name === 'stale') this.#server.faults.expireWatches(scopeOf(scope));
    else this.#server.faults.endWatches(scopeOf(scope));
  }

  /** @param {Set} one */
  #takeBack(one) {
    this.#set.splice(this.#set.indexOf(one), 1);
    one.fault.remove();
    this.#met(one.name, one.fault.hits);
  }

  /** @param {{ resource?: string }} scope */
  #openIn({ resource }) {
    const { openWatches } = this.#server;
    if (resource !== undefined) return openWatches[resource] ?? 0;
    return Object.values(openWatches).reduce((sum, count) => sum + count, 0);
  }

  /**
   * @param {string} name
   * @param {number} count
   */
  #met(name, count) {
    this.hits.set(name, (this.hits.get(name) ?? 0) + count);
  }

  /** @param {number} max */
  #below(max) {
    return Math.floor(this.#random() * max);
  }
}

/** @param {{ resource?: string }} scope */
function scopeOf({ resource }) {
  return resource === undefined ? {} : { resource };
}
