// @ts-check
// Replicas of an etcd, writers on them and watchers over them, while somebody else hurts the servers.
import { setTimeout as delay } from 'node:timers/promises';
import { Journal } from './etcd-journal.mjs';

/**
 * @typedef {import('../../src/types/store.ts').Store<string>} Store
 * @typedef {import('../../src/types/backend.ts').Backend} Backend
 * @typedef {{ revision: number, values: string[], span: boolean, after: number }} SeenBatch
 * @typedef {object} Library
 * @property {typeof import('../../src/open-store.ts').openStore} openStore
 * @property {typeof import('../../src/store/codecs.ts').textCodec} textCodec
 * @property {typeof import('../../src/adapters/etcd/mod.ts').openEtcdBackend} openEtcdBackend
 * @property {typeof import('../../src/types/errors.ts').BackendError} BackendError
 * @property {typeof import('../../src/types/errors.ts').NotAppliedError} NotAppliedError
 */

/** Not its literal type: a store of this prefix has keys below it. */
export const PREFIX = /** @type {string} */ ('w/');
const KEYS_OF_A_WRITER = 20;
const decoder = new TextDecoder();

/**
 * @param {string} dist
 * @returns {Promise<Library>}
 */
export async function loadLibrary(dist) {
  return { ...(await import(`${dist}/mod.js`)), ...(await import(`${dist}/etcd.js`)) };
}

export class Load {
  journal = new Journal();
  /** @type {Store[]} */
  stores = [];
  /** @type {{ who: string, from: number, batches: SeenBatch[], error: unknown }[]} */
  watchers = [];
  /** The first revision whose events count. */
  from = 0;
  /** What was done to the servers last, for the recovery times. */
  lastFault = 'nothing';
  #isStopped = false;
  #library;
  /** @type {Backend[]} */
  #backends = [];
  /** @type {Promise<void>[]} */
  #work = [];

  /** @param {Library} library */
  constructor(library) {
    this.#library = library;
  }

  /**
   * A replica with a watcher of its own.
   *
   * @param {readonly string[]} endpoints
   * @param {'gateway' | 'grpc'} [transport]
   */
  async open(endpoints, transport = 'gateway') {
    const { openStore, openEtcdBackend, textCodec } = this.#library;
    const backend = await openEtcdBackend({ endpoints, timeoutMs: 2_000, transport });
    this.#backends.push(backend);
    const backoff = { maxMs: 500 };
    const store = /** @type {Store} */ (
      await openStore({ backend, prefixes: [PREFIX], codec: textCodec(), backoff, retention: { events: 1e6 } })
    );
    this.stores.push(store);
    if (this.from === 0) this.from = store.revision + 1;
    this.#watch(store, `watcher ${this.stores.length}`);
    return store;
  }

  /** @param {number} count of writers, spread over the replicas; each writes until `stop` */
  write(count) {
    for (let writer = 0; writer < count; writer++) {
      const store = /** @type {Store} */ (this.stores[writer % this.stores.length]);
      this.#work.push(this.#writer(writer, store));
    }
  }

  /** Ends the writers, brings the replicas up to date, and checks everything against the server. */
  async finish() {
    this.#isStopped = true;
    await Promise.all(this.#work);
    for (const store of this.stores) await store.sync({ signal: AbortSignal.timeout(30_000) });
    const { rows, revision, history } = await this.#truth();
    this.journal.check(history);
    for (const [index, store] of this.stores.entries()) {
      const own = store
        .range({ prefix: PREFIX })
        .kvs.map(({ key, value, modRevision }) => `${key} ${value} ${modRevision}`);
      if (own.join('\n') !== rows.join('\n')) throw new Error(`replica ${index} differs from the list at ${revision}`);
      if (store.epoch !== 1) throw new Error(`replica ${index} took its data for replaced`);
    }
    for (const { who, from, batches, error } of this.watchers) {
      if (error !== undefined) throw new Error(`${who} ended`, { cause: error });
      await until(() => (batches.at(-1)?.revision ?? 0) >= (history.at(-1)?.revision ?? 0), `${who} to have seen all`);
      this.journal.checkWatch(who, batches, history, from);
    }
    return history.length;
  }

  async close() {
    this.#isStopped = true;
    for (const store of this.stores) await store.close();
    for (const backend of this.#backends) await backend[Symbol.asyncDispose]();
  }

  /**
   * @param {number} writer
   * @param {Store} store
   */
  async #writer(writer, store) {
    const { BackendError, NotAppliedError } = this.#library;
    const { journal } = this;
    let answeredAt = Date.now();
    for (let count = 0; !this.#isStopped; count++) {
      const key = `${PREFIX}${writer}/${count % KEYS_OF_A_WRITER}`;
      const value = `${writer}:${count}`;
      try {
        const { revision } = await store.put(key, value);
        journal.acknowledged.push({ key, value, revision });
        const silentMs = Date.now() - answeredAt;
        if (silentMs > (journal.recovery.get(this.lastFault) ?? 0)) journal.recovery.set(this.lastFault, silentMs);
        answeredAt = Date.now();
      } catch (error) {
        if (error instanceof NotAppliedError) journal.acknowledged.push({ key, value, revision: error.revision });
        else if (error instanceof BackendError) journal.failed.push({ value, isOpen: error.maybeCommitted });
        else throw error;
        await delay(20);
      }
    }
  }

  /**
   * @param {Store} store
   * @param {string} who
   */
  #watch(store, who) {
    /** @type {SeenBatch[]} */
    const batches = [];
    const watcher = { who, from: store.revision + 1, batches, error: /** @type {unknown} */ (undefined) };
    this.watchers.push(watcher);
    const watch = store.watch({ prefix: PREFIX }, { fromRevision: watcher.from });
    const run = async () => {
      for await (const { revision, events, span = false, after = 0 } of watch) {
        const values = events.map((event) => (event.type === 'put' ? (event.kv.value ?? '') : 'a delete'));
        batches.push({ revision, values, span, after });
      }
    };
    run().catch((error) => {
      watcher.error = this.#isStopped ? undefined : error;
    });
  }

  /** Every put that the server has, and its list now, by a backend of its own. */
  async #truth() {
    const { openEtcdBackend } = this.#library;
    const backend = await openEtcdBackend({ endpoints: /** @type {string[]} */ (this.endpoints), timeoutMs: 10_000 });
    try {
      const start = new TextEncoder().encode(PREFIX);
      const ranges = [{ start, end: new TextEncoder().encode('w0') }];
      const { kvs, revision } = await backend.range({ ranges });
      const newest = Math.max(0, ...kvs.map(({ modRevision }) => modRevision));
      /** @type {{ key: string, value: string, revision: number }[]} */
      const history = [];
      if (newest >= this.from) {
        const done = new AbortController();
        for await (const item of backend.watch({ ranges, fromRevision: this.from, signal: done.signal })) {
          if (item.type !== 'change') continue;
          for (const event of item.events) {
            if (event.type !== 'put') continue;
            history.push({
              key: decoder.decode(event.kv.key),
              value: decoder.decode(event.kv.value),
              revision: item.revision,
            });
          }
          if (item.revision >= newest) break;
        }
        done.abort();
      }
      const rows = kvs.map(
        ({ key, value, modRevision }) => `${decoder.decode(key)} ${decoder.decode(value)} ${modRevision}`,
      );
      return { rows, revision, history };
    } finally {
      await backend[Symbol.asyncDispose]();
    }
  }

  /** Where the truth is asked for: the servers themselves. @type {readonly string[]} */
  endpoints = [];
}

/**
 * @param {() => boolean} isSo
 * @param {string} what
 * @param {number} [mostMs]
 */
export async function until(isSo, what, mostMs = 30_000) {
  const end = Date.now() + mostMs;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited ${mostMs} ms for ${what}`);
    await delay(20);
  }
}
