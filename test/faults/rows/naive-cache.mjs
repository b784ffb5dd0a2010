// @ts-check
// A list cache as one writes it first, with one fault of the list in it: what the check of a row has to notice. It is in front
// of a true backend, and has of a store what the rows ask for. Nothing here is quick, nothing is kept small.
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * @typedef {import('../../../src/types/backend.ts').BackendEvent} BackendEvent
 * @typedef {{ key: string, value: string, createRevision: number, modRevision: number, version: number, lease: string }} Row
 * @typedef {{ type: 'put' | 'delete', kv: Row }} Told
 * @typedef {{ revision: number, events: Told[] }} Commit
 */

const decoder = new TextDecoder();
/** @param {string} text */
const bytes = (text) => new TextEncoder().encode(text);
/** @param {string} key */
const folderOf = (key) => key.slice(0, key.lastIndexOf('/') + 1);

export class NaiveCache {
  revision = 0;
  compactRevision = 0;
  #backend;
  #prefix;
  #fault;
  /** @type {Map<string, Row>} */
  #items = new Map();
  /** @type {Commit[]} */
  #log = [];
  /** @type {Set<string>} */
  #folders = new Set();
  #abort = new AbortController();
  #isPrimed = false;
  #errors = 0;
  /** @type {import('../../../src/open-store.ts').OpenStoreOptions<string>} */
  #options = {};

  /**
   * @param {import('../../../src/types/backend.ts').Backend} backend
   * @param {string} prefix
   * @param {string} fault
   */
  constructor(backend, prefix, fault) {
    this.#backend = backend;
    this.#prefix = prefix;
    this.#fault = fault;
  }

  /** @param {import('../../../src/open-store.ts').OpenStoreOptions<string>} options */
  async open(options) {
    this.#options = options;
    const following = this.#follow();
    if (options.waitReady !== false) await this.ready();
    void following;
  }

  async ready() {
    while (!this.#isPrimed) await delay(2);
  }

  /** @param {string} key @param {{ revision?: number }} [options] */
  get(key, { revision = 0 } = {}) {
    return this.#stateAt(revision).get(this.#clean(key));
  }

  /** @param {any} request */
  async range(request) {
    if (!this.#isPrimed && this.#fault !== 'F30') throw Object.assign(new Error('not ready'), { code: 'NOT_READY' });
    const revision = this.#fault === 'F16' ? (await this.#backend.status({})).revision : this.revision;
    /** @type {Row[]} */
    const rows = [];
    const state = this.#stateAt(request.revision ?? 0);
    for (const key of [...state.keys()]) {
      // One list after the other, each at its moment.
      if (this.#fault === 'F15') await delay(1);
      const row = (this.#fault === 'F15' ? this.#items : state).get(key);
      if (row !== undefined && this.#isIn(row.key, request)) rows.push(row);
    }
    rows.sort((a, b) => Buffer.compare(bytes(a.key), bytes(b.key)));
    if (this.#fault === 'F14') rows.reverse();
    const { limit = 0 } = this.#fault === 'F17' ? {} : request;
    const kvs = limit > 0 ? rows.slice(0, limit) : rows;
    return { revision, kvs, count: rows.length, more: kvs.length < rows.length };
  }

  /** @param {string} key @param {string} value @param {any} [options] */
  async put(key, value, { expect, lease = '0' } = {}) {
    const place = bytes(this.#prefix + key);
    const compare = expect === undefined ? [] : [{ key: place, target: 'mod', result: '=', value: expect.modRevision }];
    const then = [{ type: 'put', key: place, value: bytes(value), lease }];
    const { revision, succeeded } = await this.#backend.txn(/** @type {any} */ ({ compare, then, else: [] }));
    if (!succeeded) {
      if (this.#fault === 'F3') this.#items.delete(key);
      await this.#applied(revision);
      throw Object.assign(new Error('conflict'), { code: 'CONFLICT' });
    }
    const row = { key, value, createRevision: revision, modRevision: revision, version: 1, lease };
    if (this.#fault === 'F1' && (this.#items.get(key)?.modRevision ?? 0) < revision) this.#items.set(key, row);
    else if (this.#fault === 'F2' && !this.#items.has(key)) this.#items.set(key, row);
    else await this.#applied(revision);
    return { revision };
  }

  /** @param {string} key */
  async delete(key) {
    const range = { start: bytes(this.#prefix + key) };
    const { revision } = await this.#backend.txn({ compare: [], then: [{ type: 'delete', range }], else: [] });
    await this.#applied(revision);
    return { revision };
  }

  /** @param {any} request */
  async txn({ then }) {
    const operations = then.map((/** @type {any} */ one) => {
      const key = bytes(this.#prefix + one.key);
      return one.type === 'put'
        ? { type: 'put', key, value: bytes(one.value) }
        : { type: 'delete', range: { start: key } };
    });
    const answer = await this.#backend.txn({ compare: [], then: operations, else: [] });
    await this.#applied(answer.revision);
    return answer;
  }

  /** @param {{ ttlMs: number }} options */
  async grantLease(options) {
    return this.#backend.leases?.grant(options);
  }

  async sync() {
    const { revision } = await this.#backend.status({});
    if (this.#fault === 'F38') return revision;
    const end = Date.now() + 2_000;
    // Numbers of other prefixes never come: no progress is asked for here.
    while (this.revision < revision && Date.now() < end) await delay(2);
    return revision;
  }

  /** @param {number} revision */
  async compact(revision) {
    await this.#backend.compact({ revision }).catch((error) => {
      if (error.code !== 'COMPACTED') throw error;
    });
    if (this.#fault !== 'F11') await this.#applied(revision);
    this.compactRevision = this.#fault === 'F12' ? revision : Math.max(this.compactRevision, revision);
    if (this.#fault !== 'F11' && this.#fault !== 'F25') this.#trim();
    return { requested: revision, compactRevision: this.compactRevision };
  }

  stats() {
    const entries = this.#log.reduce((sum, { events }) => sum + events.length, 0);
    const keys = this.#items.size;
    return { keys, storedVersions: keys + entries, logEntries: entries, memoryBytes: entries, replica: { relists: 0 } };
  }

  /** @param {any} range @param {{ fromRevision?: number }} [options] */
  watch(range, { fromRevision = 0 } = {}) {
    let position = fromRevision === 0 ? (this.#fault === 'F10' ? 1 : this.revision + 1) : fromRevision;
    if (this.#fault === 'F9') position++;
    let isOver = false;
    const next = async () => {
      if (position < this.compactRevision && this.#fault !== 'F7' && this.#fault !== 'F11' && fromRevision > 0) {
        throw Object.assign(new Error('compacted'), { code: 'COMPACTED', minRevision: this.compactRevision });
      }
      while (!isOver && !this.#abort.signal.aborted) {
        for (const { revision, events } of this.#from(position)) {
          const lost = ['F8', 'F11'].includes(this.#fault) && revision <= this.compactRevision;
          const wanted = events.filter(({ kv }) => this.#isIn(kv.key, range));
          position = revision + 1;
          if (wanted.length > 0 && !lost) return { done: false, value: { revision, events: wanted } };
        }
        await delay(1);
      }
      return { done: true, value: undefined };
    };
    const end = async () => {
      isOver = true;
      return { done: true, value: undefined };
    };
    return { next, return: end, [Symbol.asyncIterator]: () => ({ next, return: end }) };
  }

  async close() {
    this.#abort.abort();
  }

  /** Feeds the cache until it is closed. @returns {Promise<void>} */
  async #follow() {
    const { signal } = this.#abort;
    const range = { start: bytes(this.#prefix), end: bytes(`${this.#prefix.slice(0, -1)}0`) };
    if (this.#fault === 'F35') void this.#poll().catch(() => this.#errors++);
    if (this.#fault === 'F36') setInterval(() => {}, 50);
    while (!signal.aborted) {
      try {
        if (!this.#isPrimed) await this.#prime(range);
        /** @type {{ revision: number, events: readonly BackendEvent[] } | undefined} */
        let kept;
        const fromRevision = this.#fault === 'F31' && this.#log.length === 0 ? 2 : this.revision + 1;
        for await (const item of this.#backend.watch({ ranges: [range], fromRevision, signal })) {
          if (item.type === 'open') continue;
          if (item.type === 'progress') {
            this.revision = item.revision;
            continue;
          }
          // Of each five one is seen too late: the number of the next one is already what is asked from.
          if (this.#fault === 'F5' && kept === undefined && item.revision % 5 === 0) {
            kept = item;
            continue;
          }
          kept = undefined;
          await this.#apply(item);
        }
      } catch {
        if (signal.aborted) return;
        if (++this.#errors >= 4 && this.#fault === 'F29') process.exit(1);
        await delay(20);
      }
    }
  }

  /** @param {{ start: Uint8Array, end: Uint8Array }} range */
  async #prime(range) {
    let answer = await this.#backend.range({ ranges: [range] });
    const rows = [...answer.kvs];
    if (this.#fault === 'F32') {
      // The first page of one moment, the rest of another, and the number of the end.
      await delay(5);
      answer = await this.#backend.range({ ranges: [range] });
      rows.splice(Math.floor(rows.length / 2));
      rows.push(...answer.kvs.slice(rows.length));
    }
    for (const kv of rows) {
      const row = this.#row({ type: 'put', kv });
      this.#items.set(row.key, row);
      this.#folders.add(folderOf(row.key));
    }
    this.revision = this.compactRevision = answer.revision;
    this.#isPrimed = true;
  }

  /** @param {{ revision: number, events: readonly BackendEvent[] }} item */
  async #apply({ revision, events }) {
    if (this.#fault === 'F6') {
      this.revision = revision;
      await delay(3);
    }
    /** @type {Told[]} */
    let told = [];
    for (const event of events) {
      const row = this.#row(event);
      if (this.#fault === 'F33' && !this.#folders.has(folderOf(row.key))) continue;
      told.push({ type: event.type, kv: row });
      const held = this.#items.get(row.key)?.modRevision ?? 0;
      if (event.type === 'put' && (held < revision || this.#fault === 'F31')) this.#items.set(row.key, row);
      else if (event.type === 'delete' && (held < revision || ['F1', 'F31'].includes(this.#fault)))
        this.#items.delete(row.key);
    }
    if (this.#fault === 'F20') told = told.reverse();
    // Slow enough for others to look at each state.
    if (['F1', 'F31', 'F38'].includes(this.#fault)) await delay(4);
    const commit = { revision, events: told };
    if (this.#fault === 'F39') setTimeout(() => this.#log.push(commit), 100);
    else if (this.#fault === 'F40' && revision % 7 === 0)
      this.#log.splice(Math.max(0, this.#log.length - 3), 0, commit);
    else this.#log.push(commit);
    this.revision = Math.max(this.revision, revision);
    const { retention } = this.#options;
    if (this.#fault === 'F26' && retention?.events !== undefined) {
      this.compactRevision = this.revision - retention.events;
      this.#trim();
    }
    if (this.#fault === 'F34') this.#trimByAge(commit);
  }

  #lastTrimMs = Date.now();

  /** @param {Commit} commit */
  #trimByAge(commit) {
    if (Date.now() < this.#lastTrimMs + (this.#options.retention?.ageMs ?? 0)) return;
    this.#lastTrimMs = Date.now();
    this.compactRevision = commit.revision;
    this.#trim();
  }

  #trim() {
    this.#log = this.#log.filter(({ revision }) => revision >= this.compactRevision);
  }

  async #poll() {
    while (!this.#abort.signal.aborted) {
      await this.#backend.status({});
      await delay(50);
    }
  }

  /** @param {number} position */
  #from(position) {
    if (this.#fault !== 'F40') return this.#log.filter(({ revision }) => revision >= position);
    let first = this.#log.length;
    while (first > 0 && /** @type {Commit} */ (this.#log[first - 1]).revision >= position) first--;
    return this.#log.slice(first).sort((a, b) => a.revision - b.revision);
  }

  /** @param {number} revision */
  #stateAt(revision) {
    if (revision === 0 || this.#fault === 'F17') return new Map(this.#items);
    /** @type {Map<string, Row>} */
    const state = new Map();
    for (const { events, revision: own } of this.#log) {
      if (own > revision) break;
      for (const { type, kv } of events) {
        if (type === 'put') state.set(kv.key, kv);
        else state.delete(kv.key);
      }
    }
    return state;
  }

  /** @param {BackendEvent} event @returns {Row} */
  #row(event) {
    if (event.type === 'delete') {
      const key = this.#clean(decoder.decode(event.key).slice(this.#prefix.length));
      return { key, value: '', createRevision: 0, modRevision: event.modRevision, version: 0, lease: '0' };
    }
    const { kv } = event;
    const key = this.#clean(decoder.decode(kv.key).slice(this.#prefix.length));
    const row = { ...kv, key, value: decoder.decode(kv.value) };
    return this.#fault === 'F37' ? { ...row, version: row.modRevision, lease: '0' } : row;
  }

  /** @param {string} key */
  #clean(key) {
    return this.#fault === 'F19' ? posix.normalize(key) : key;
  }

  /** @param {string} key @param {{ key?: string, prefix?: string, start?: string, end?: string }} range */
  #isIn(key, { key: point, prefix, start, end }) {
    if (this.#fault === 'F18') return folderOf(key).startsWith(prefix ?? `${point}/`);
    if (point !== undefined) return key === point;
    if (prefix !== undefined) return key.startsWith(prefix);
    if (this.#fault === 'F17') return start === undefined || key >= start;
    return (start === undefined || key >= start) && (end === undefined || end === '' || key < end);
  }

  /** @param {number} revision */
  async #applied(revision) {
    while (this.revision < revision && !this.#abort.signal.aborted) await delay(1);
  }
}
