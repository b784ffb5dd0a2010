// @ts-check
// What a step of a row has in its process: a store in front of a backend whose stream and answers can be held back.
import { setTimeout as delay } from 'node:timers/promises';
import { NaiveCache } from './naive-cache.mjs';

/**
 * @typedef {import('../../../src/types/store.ts').Store<string>} Store
 * @typedef {import('../../../src/types/backend.ts').Backend} Backend
 * @typedef {import('../../../src/testing/faulty-backend.ts').FaultyBackend} FaultyBackend
 * @typedef {import('../../../src/types/watch.ts').Watch<string>} Watch
 * @typedef {import('../../../src/open-store.ts').OpenStoreOptions<string>} StoreOptions
 *
 * @typedef {object} PeerOptions
 * @property {string} dist
 * @property {string} [file] of SQLite
 * @property {string} [endpoint] of etcd
 * @property {string} prefix of this row; its keys are told without it
 * @property {string} [fault] what a naive cache in the place of the store does wrong
 * @property {boolean} [isOffline] at first
 * @property {Partial<StoreOptions>} [store]
 * @property {number} deadlineMs of what is waited for
 *
 * @typedef {{ type: 'put' | 'delete', key: string, value: string }} SeenEvent
 * @typedef {{ revision: number, events: SeenEvent[] }} Commit
 */

const END = '~end';
const decoder = new TextDecoder();
/** @param {string} text */
const bytes = (text) => new TextEncoder().encode(text);

export class Context {
  /** The part of the store below the row's prefix. @type {Store} */
  store = /** @type {any} */ (undefined);
  /** @type {FaultyBackend} */
  backend = /** @type {any} */ (undefined);
  /** What a row keeps from one step to the next. @type {Record<string, any>} */
  vars = {};
  /** Failures of the backend that the store has told. */
  failures = 0;
  /** Requests that were sent to etcd. */
  requests = 0;
  /** Answers to transactions that are there and were not handed on. */
  heldAnswers = 0;
  #answers = Promise.resolve();
  #releaseAnswers = () => {};
  /** @type {PeerOptions} */
  #options = /** @type {any} */ ({});
  /** @type {Store | undefined} */
  #whole;

  /** @param {PeerOptions} options */
  async open(options) {
    this.#options = options;
    const { dist, isOffline = false } = options;
    /** @type {typeof import('../../../src/testing/mod.ts')} */
    const { createFaultyBackend } = await import(`${dist}/testing.js`);
    const backend = await this.#openBackend(options);
    this.backend = createFaultyBackend({
      capabilities: backend.capabilities,
      leases: backend.leases,
      range: (request) => backend.range(request),
      status: (request) => backend.status(request),
      watch: (request) => backend.watch(request),
      compact: (request) => backend.compact(request),
      txn: async (request) => this.#hold(await backend.txn(request)),
      [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
    });
    if (isOffline) this.backend.offline();
    await this.reopen();
  }

  /** The store anew, in front of the same backend. @param {Partial<StoreOptions>} [more] */
  async reopen(more = {}) {
    const { dist, prefix, fault, store = {}, isOffline = false } = this.#options;
    /** @type {typeof import('../../../src/mod.ts')} */
    const { openStore, textCodec } = await import(`${dist}/mod.js`);
    await this.#whole?.close();
    if (fault !== undefined) {
      const cache = new NaiveCache(this.backend, prefix, fault);
      this.#whole = this.store = /** @type {any} */ (cache);
      await cache.open({ ...store, ...more, waitReady: !isOffline });
      return;
    }
    const note = () => this.failures++;
    const logger = { debug() {}, info() {}, warn: note, error: note };
    const backoff = { maxMs: 200 };
    const options = { prefixes: [prefix], backoff, logger, waitReady: !isOffline, ...store, ...more };
    this.#whole = /** @type {Store} */ (await openStore({ ...options, backend: this.backend, codec: textCodec() }));
    this.store = this.#whole.prefix(prefix);
  }

  /** From now on answers to transactions are kept back: they are committed, and nobody here hears of it. */
  holdAnswers() {
    this.#answers = new Promise((resolve) => {
      this.#releaseAnswers = () => resolve();
    });
  }

  releaseAnswers() {
    this.#releaseAnswers();
  }

  /** Every commit of the row's keys from a revision on, as the backend has them. @param {number} from */
  async history(from) {
    /** @type {Commit[]} */
    const commits = [];
    const put = { type: /** @type {const} */ ('put'), key: bytes(this.#options.prefix + END), value: bytes('') };
    const { revision: last } = await this.backend.txn({ compare: [], then: [put], else: [] });
    for await (const item of this.backend.watch({ ranges: [this.ownRange()], fromRevision: from })) {
      if (item.type !== 'change') continue;
      if (item.revision >= last) break;
      const events = item.events.map((event) =>
        event.type === 'put'
          ? { type: event.type, key: this.short(event.kv.key), value: decoder.decode(event.kv.value) }
          : { type: event.type, key: this.short(event.key), value: '' },
      );
      commits.push({ revision: item.revision, events });
    }
    return commits;
  }

  ownRange() {
    const { prefix } = this.#options;
    return { start: bytes(prefix), end: bytes(`${prefix.slice(0, -1)}0`) };
  }

  /** @param {Uint8Array} key */
  short(key) {
    return decoder.decode(key).slice(this.#options.prefix.length);
  }

  /**
   * The next so many events of a watch, as `put key=value@revision`.
   *
   * @param {Watch} watch
   * @param {number} count
   */
  take = async (watch, count) => {
    /** @type {string[]} */
    const told = [];
    while (told.length < count) {
      const { value: batch, done } = await this.within(watch.next(), `event ${told.length + 1} of ${count}`);
      if (done || batch === undefined) break;
      for (const { type, kv } of batch.events) {
        told.push(
          type === 'put' ? `put ${kv.key}=${kv.value}@${kv.modRevision}` : `delete ${kv.key}@${kv.modRevision}`,
        );
      }
    }
    return told;
  };

  /**
   * @param {() => unknown} isSo
   * @param {string} what
   */
  until = async (isSo, what) => {
    const end = Date.now() + this.#options.deadlineMs;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`waited ${this.#options.deadlineMs} ms for ${what}`);
      await delay(2);
    }
  };

  /**
   * @template T
   * @param {Promise<T>} promise
   * @param {string} what
   * @returns {Promise<T>}
   */
  async within(promise, what) {
    const { deadlineMs } = this.#options;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`waited ${deadlineMs} ms for ${what}`)), deadlineMs);
    });
    try {
      return await /** @type {Promise<T>} */ (Promise.race([promise, late]));
    } finally {
      clearTimeout(timer);
    }
  }

  async close() {
    this.backend?.heal();
    this.releaseAnswers();
    await this.#whole?.close();
    await this.backend?.[Symbol.asyncDispose]();
  }

  /**
   * @param {PeerOptions} options
   * @returns {Promise<Backend>}
   */
  async #openBackend({ dist, file, endpoint = '' }) {
    if (file !== undefined) {
      /** @type {typeof import('../../../src/adapters/sqlite/mod.ts')} */
      const { openSqliteBackend } = await import(`${dist}/sqlite.js`);
      return openSqliteBackend({ file, pollMs: 5, busyTimeoutMs: 60_000, synchronous: 'normal' });
    }
    /** @type {typeof import('../../../src/adapters/etcd/mod.ts')} */
    const { openEtcdBackend } = await import(`${dist}/etcd.js`);
    const counted = (/** @type {any} */ address, /** @type {any} */ init) => {
      this.requests++;
      return fetch(address, init);
    };
    return openEtcdBackend({ endpoints: [endpoint], timeoutMs: 2_000, fetch: /** @type {any} */ (counted) });
  }

  /** @param {any} answer */
  async #hold(answer) {
    this.heldAnswers++;
    await this.#answers;
    this.heldAnswers--;
    return answer;
  }
}
