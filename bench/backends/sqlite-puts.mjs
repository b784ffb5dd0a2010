// @ts-check
// Durable puts to a file: through the list manager and its backend, and as bare inserts with the same library, the same
// pragmas and the same folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keyOf, objectOf, textOf } from './rows.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('./libraries.mjs').Library} Library
 * @typedef {import('./lists.mjs').Store} Store
 * @typedef {import('../../src/types/backend.ts').Backend} Backend
 *
 * @typedef {object} SqliteTools
 * @property {(options: { file: string, library: string }) => Promise<{ store: Store, backend: Backend }>} openStore
 * @property {readonly Library[]} libraries The first is what the store is on.
 * @property {string} folder
 * @property {{ puts: number, together: number, writers: number }} [size]
 */

/** What the backend sets; of node-sqlite3-wasm the first one changes nothing, which has a rollback journal. */
export const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL'];
/** Puts of a turn, alone and by many writers. A bare insert waits for the disk by itself, so there are no more of those than alone. */
const SIZE = { puts: 48, together: 640, writers: 32 };
const PREFIX = 'apps/';

/**
 * @param {string} name
 * @param {boolean} isGrouped
 * @param {SqliteTools} tools
 * @returns {Promise<Case>}
 */
export async function putSqliteCase(name, isGrouped, { openStore, libraries, folder: parent, size = SIZE }) {
  const [own] = libraries;
  if (own === undefined) throw new Error('Cannot measure puts: no library for SQLite loads here');
  const folder = await mkdtemp(join(parent, 'put-'));
  const { store, backend } = await openStore({ file: join(folder, 'plimsoll.db'), library: own.name });
  const count = isGrouped ? size.together : size.puts;
  const bare = libraries.map((library, place) => new BareTable(library, join(folder, `bare-${place}.db`)));
  /** @type {Contestant[]} */
  const peers = bare.map((table, place) => ({
    name: `${table.name} bare insert`,
    lacks: `no revision, no history, no watch, no lease, no bound${place === 0 ? '' : '; another library'}`,
    check: () => table.findings(),
    sweep: () => {
      for (let index = 0; index < size.puts; index++) table.insert();
      return size.puts;
    },
  }));
  if (isGrouped) peers.push(groupOf(own, join(folder, 'groups.db'), size, bare));
  return {
    name,
    n: count,
    subject: subjectOf(store, backend, isGrouped ? size.writers : 1, count),
    peers,
    close: async () => {
      await store.close();
      await backend[Symbol.asyncDispose]();
      for (const table of bare) table.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * What one would write for many writers: all of a group or nothing.
 *
 * @param {Library} library
 * @param {string} file
 * @param {{ together: number, writers: number }} size
 * @param {BareTable[]} tables to be closed
 * @returns {Contestant}
 */
function groupOf(library, file, { together, writers }, tables) {
  const table = new BareTable(library, file);
  tables.push(table);
  return {
    name: `${library.name} ${writers} bare inserts a transaction`,
    lacks: 'the same; the inserts of a transaction are there or refused together',
    check: () => table.findings(),
    sweep: () => {
      for (let index = 0; index < together; index += writers) {
        table.exec('BEGIN IMMEDIATE');
        for (let turn = 0; turn < writers; turn++) table.insert();
        table.exec('COMMIT');
      }
      return together;
    },
  };
}

/**
 * @param {Store} store
 * @param {Backend} backend
 * @param {number} writers
 * @param {number} count of a turn
 * @returns {Contestant}
 */
function subjectOf(store, backend, writers, count) {
  let index = 0;
  const put = () => {
    const own = index++;
    return store.put(keyOf(PREFIX, own), objectOf(own));
  };
  const all = { start: new Uint8Array(0), end: new Uint8Array(0) };
  return {
    name: 'plimsoll',
    check: async () => {
      const own = index;
      const { revision } = await put();
      const key = keyOf(PREFIX, own);
      const { count: rows } = await backend.range({ ranges: [all], countOnly: true });
      const { kvs } = await backend.range({ ranges: [{ start: new TextEncoder().encode(key) }] });
      const found = kvs.map(({ value, modRevision }) => [new TextDecoder().decode(value), modRevision]);
      return [
        { what: 'rows of the file', actual: rows, expected: index },
        { what: 'newest row of the file', actual: found, expected: [[textOf(own), revision]] },
        { what: 'newest row of the store', actual: store.get(key)?.value, expected: objectOf(own) },
      ];
    },
    sweep: async () => {
      const writer = async () => {
        for (let turn = 0; turn < count / writers; turn++) await put();
      };
      await Promise.all(Array.from({ length: writers }, writer));
      return count;
    },
  };
}

/** A table of keys and values, and nothing else. */
class BareTable {
  name;
  #database;
  #insert;
  #index = 0;

  /** @param {Library} library @param {string} file */
  constructor(library, file) {
    this.name = library.name;
    this.#database = library.open(file);
    for (const pragma of PRAGMAS) this.#database.exec(`PRAGMA ${pragma}`);
    this.#database.exec('CREATE TABLE bare (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID');
    this.#insert = this.#database.prepare('INSERT INTO bare (key, value) VALUES (?, ?)');
  }

  /** As bytes, which the store has to make of its values, too. */
  insert() {
    const own = this.#index++;
    this.#insert.run(keyOf(PREFIX, own), new TextEncoder().encode(JSON.stringify(objectOf(own))));
  }

  /** @param {string} sql */
  exec(sql) {
    this.#database.exec(sql);
  }

  findings() {
    const own = this.#index;
    this.insert();
    const [row] = this.#database.prepare(`SELECT value FROM bare WHERE key = '${keyOf(PREFIX, own)}'`).all();
    const [counted] = this.#database.prepare('SELECT count(*) AS n FROM bare').all();
    return [
      { what: 'rows', actual: counted?.n, expected: this.#index },
      {
        what: 'newest row',
        actual: new TextDecoder().decode(/** @type {Uint8Array} */ (row?.value)),
        expected: textOf(own),
      },
    ];
  }

  close() {
    this.#database.close();
  }
}
