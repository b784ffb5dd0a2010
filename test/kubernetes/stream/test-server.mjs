// @ts-check
// The test API server behind a socket, as the proof uses one: with all kinds of a stream, and with a way to wait for its reader.
import { ServerFaults } from './server-faults.mjs';

/**
 * What a proof needs of a server, the test API server or a real one.
 *
 * @typedef {object} Subject
 * @property {string} url For the reader.
 * @property {string} [token]
 * @property {string} [authority] The certificate of who vouches for it, in PEM.
 * @property {NodeJS.ProcessEnv} [env] How a reader without an option for that learns of it.
 * @property {import('./feed.mjs').Call} call For the feed, on a way without faults.
 * @property {ReadonlyMap<string, import('./kinds.mjs').StreamKind>} kinds
 * @property {boolean} refuses Whether it may refuse an object of the stream.
 * @property {readonly string[]} [notes] What else it has refused.
 * @property {readonly string[]} [only] The kinds to read, where others have a life of their own.
 * @property {() => Promise<void>} round One more fault.
 * @property {() => void} heal
 * @property {() => Promise<void>} watched Resolves when every kind is watched.
 * @property {ReadonlyMap<string, number>} hits Faults that were met, by their name.
 * @property {() => string} requests What its reader has asked, for people.
 * @property {() => Promise<void>} close
 */

/** How long watches may take to be open again: it decides nothing but when to give up. */
const WATCHED_MS_MAX = 60_000;
/** @param {string} name @returns {Promise<any>} */
const fromDist = (name) => import(new URL(`../../../dist/${name}.js`, import.meta.url).href);

/**
 * @param {ReadonlyMap<string, import('./kinds.mjs').StreamKind>} kinds
 * @param {() => number} random
 * @returns {Promise<Subject>}
 */
export async function openTestServer(kinds, random) {
  /** @type {typeof import('../../../src/mod.ts')} */
  const { openStore } = await fromDist('mod');
  /** @type {typeof import('../../../src/testing/mod.ts')} */
  const { openTestApiServer } = await fromDist('testing');
  /** @type {typeof import('../../../src/adapters/testing-node/mod.ts')} */
  const { listen } = await fromDist('testing-node');
  const served = [...kinds.values()].flatMap(({ versions, ...kind }) =>
    versions.map((version) => ({ ...kind, version })),
  );
  const store = /** @type {import('../../../src/types/store.ts').Store<any>} */ (await openStore());
  const server = await openTestApiServer({ kinds: served, store, random });
  const watching = new Watching(server, kinds.size);
  const listener = await listen({ fetch: (input, init) => watching.fetch(input, init) });
  const resources = [...kinds.values()].map(({ group, plural }) => (group === '' ? plural : `${plural}.${group}`));
  const faults = new ServerFaults(server, store, resources, random);
  return {
    url: listener.url,
    call: (method, path, body) => server.call(method, path, body),
    kinds,
    refuses: false,
    round: () => faults.round(),
    heal: () => faults.heal(),
    watched: () => watching.all(),
    hits: faults.hits,
    requests: () => `${watching.counts.list} lists, ${watching.counts.watch} watches`,
    close: async () => {
      await listener.close();
      await server.close();
      await store.close();
    },
  };
}

/** Counts what a reader asks, and knows when all of its watches are open: at an answer, so that nobody has to look again and again. */
class Watching {
  counts = { list: 0, watch: 0 };
  #server;
  #kinds;
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /**
   * @param {import('../../../src/testing/test-api-server.ts').TestApiServer} server
   * @param {number} kinds
   */
  constructor(server, kinds) {
    this.#server = server;
    this.#kinds = kinds;
  }

  /**
   * @param {Request} input
   * @param {RequestInit} [init]
   */
  async fetch(input, init) {
    const isWatch = input.url.includes('watch=true');
    this.counts[isWatch ? 'watch' : 'list']++;
    try {
      return await this.#server.fetch(input, init);
    } finally {
      if (isWatch && this.#isComplete) for (const wake of this.#waiting) wake();
    }
  }

  /** @returns {Promise<void>} */
  all() {
    if (this.#isComplete) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const wake = () => {
        this.#waiting.delete(wake);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(wake);
        reject(new Error(`The reader watches ${this.#open} of ${this.#kinds} kinds`));
      }, WATCHED_MS_MAX);
      this.#waiting.add(wake);
    });
  }

  get #open() {
    return Object.keys(this.#server.openWatches).length;
  }

  get #isComplete() {
    return this.#open >= this.#kinds;
  }
}
