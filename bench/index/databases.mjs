// @ts-check
// Databases as an ordered index of keys, which is the least of what they are. Each is used in the quickest way that its
// documentation offers: all inserts in one transaction or in large batches, prepared statements, synchronous reads.
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @typedef {import('../data/keys.mjs').Query} Query
 *
 * @typedef {object} Database What the cases ask of one. Ids are places in the keys that it was filled with.
 * @property {(keys: readonly string[]) => void | Promise<void>} insertAll into an empty one
 * @property {(key: string) => number | undefined} get
 * @property {(query: Query) => number[] | Promise<number[]>} list
 * @property {() => void | Promise<void>} close
 *
 * @typedef {object} DatabaseEntry
 * @property {string} name
 * @property {string} does What it does more than an index, or otherwise.
 * @property {() => Promise<() => Promise<Database>>} load Resolves with how to open one. Rejects where it does not load.
 *
 * @typedef {{ name: string, open: () => Promise<Database> }} Loaded
 *
 * @typedef {object} Lmdb The part of lmdb that is used.
 * @property {(work: () => void) => void} transactionSync
 * @property {(key: string, value: number) => unknown} put
 * @property {(key: string) => number | undefined} get
 * @property {(range: { start: string, end: string, limit?: number }) => Iterable<{ value: number }>} getRange
 * @property {() => Promise<void>} close
 *
 * @typedef {object} MemoryLevel The part of memory-level that is used.
 * @property {() => Promise<void>} open
 * @property {(operations: { type: 'put', key: string, value: number }[]) => Promise<void>} batch
 * @property {(key: string) => number | undefined} getSync
 * @property {(range: { gte: string, lt: string, limit: number }) => { all(): Promise<number[]> }} values
 * @property {() => Promise<void>} close
 *
 * @typedef {string | number} SqlValue
 * @typedef {object} Statement
 * @property {(values: SqlValue[]) => unknown} run
 * @property {(values: SqlValue[]) => { id: number } | null | undefined} get
 * @property {(values: SqlValue[]) => { id: number }[]} all
 * @property {() => void} finalize
 * @typedef {object} Sqlite Either driver, behind the calls of the one that takes values as an array.
 * @property {(sql: string) => void} exec
 * @property {(sql: string) => Statement} prepare
 * @property {() => void} close
 */

/** Keys of one batch of memory-level, which has no transactions. */
const BATCH = 1000;

/** @type {readonly DatabaseEntry[]} */
export const DATABASES = [
  {
    name: 'lmdb',
    does: 'a file in the folder for temporary ones, mapped into memory, never flushed; transactions, several processes',
    load: async () => {
      const packageName = 'lmdb';
      const { open } = await import(packageName);
      const openOne = async () => {
        // Without a path it makes a file by itself, and leaves the lock of it behind.
        const folder = await mkdtemp(join(tmpdir(), 'plimsoll-bench-'));
        const remove = () => rm(folder, { recursive: true, force: true });
        try {
          return lmdbDatabase(open({ path: join(folder, 'keys.mdb'), noSync: true }), remove);
        } catch (error) {
          await remove();
          throw error;
        }
      };
      // Its native part is another package, of this platform; whether it is there may only show when it is used.
      await (await openOne()).close();
      return openOne;
    },
  },
  {
    name: 'memory-level',
    does: 'a red-black tree behind an asynchronous interface for databases; snapshots',
    load: async () => {
      const packageName = 'memory-level';
      const { MemoryLevel } = await import(packageName);
      return async () => {
        /** @type {MemoryLevel} */
        const level = new MemoryLevel({ storeEncoding: 'utf8', valueEncoding: 'json' });
        await level.open();
        return memoryLevelDatabase(level);
      };
    },
  },
  {
    name: 'SQLite in memory (node:sqlite)',
    does: 'a table of its own order (WITHOUT ROWID); SQL, transactions',
    load: async () => {
      const moduleName = 'node:sqlite';
      const { DatabaseSync } = await import(moduleName);
      return async () => sqliteDatabase(spreading(new DatabaseSync(':memory:')));
    },
  },
  {
    name: 'SQLite in memory (node-sqlite3-wasm)',
    does: 'the same, compiled to WebAssembly',
    load: async () => {
      const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm');
      return async () => sqliteDatabase(new Database(':memory:'));
    },
  },
];

/**
 * Those that load here. What does not, for want of a native part for this platform or of a newer runtime, is no failure of
 * the run: it is named in the document with the reason.
 *
 * @param {readonly DatabaseEntry[]} [entries]
 * @returns {Promise<{ loaded: Loaded[], does: Record<string, string>, absent: Record<string, string> }>}
 */
export async function loadDatabases(entries = DATABASES) {
  /** @type {Loaded[]} */
  const loaded = [];
  /** @type {Record<string, string>} */
  const does = {};
  /** @type {Record<string, string>} */
  const absent = {};
  for (const { name, does: what, load } of entries) {
    try {
      loaded.push({ name, open: await load() });
      does[name] = what;
    } catch (error) {
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      absent[name] = reason;
    }
  }
  return { loaded, does, absent };
}

/**
 * @param {Lmdb} db
 * @param {() => Promise<void>} remove its file
 * @returns {Database}
 */
function lmdbDatabase(db, remove) {
  return {
    insertAll: (keys) => db.transactionSync(() => keys.forEach((key, id) => void db.put(key, id))),
    get: (key) => db.get(key),
    list({ start, end, limit }) {
      const ids = [];
      for (const { value } of db.getRange(limit === 0 ? { start, end } : { start, end, limit })) ids.push(value);
      return ids;
    },
    async close() {
      await db.close();
      await remove();
    },
  };
}

/** @param {MemoryLevel} level @returns {Database} */
function memoryLevelDatabase(level) {
  return {
    async insertAll(keys) {
      for (let first = 0; first < keys.length; first += BATCH) {
        const part = keys.slice(first, first + BATCH);
        await level.batch(part.map((key, place) => ({ type: 'put', key, value: first + place })));
      }
    },
    get: (key) => level.getSync(key),
    list: ({ start, end, limit }) => level.values({ gte: start, lt: end, limit: limit === 0 ? -1 : limit }).all(),
    close: () => level.close(),
  };
}

/** @param {Sqlite} db @returns {Database} */
function sqliteDatabase(db) {
  db.exec('CREATE TABLE keys (key TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID');
  const insert = db.prepare('INSERT INTO keys (key, id) VALUES (?, ?)');
  const get = db.prepare('SELECT id FROM keys WHERE key = ?');
  const list = db.prepare('SELECT id FROM keys WHERE key >= ? AND key < ? ORDER BY key LIMIT ?');
  return {
    insertAll(keys) {
      db.exec('BEGIN');
      for (const [id, key] of keys.entries()) insert.run([key, id]);
      db.exec('COMMIT');
    },
    get: (key) => get.get([key])?.id,
    list: ({ start, end, limit }) => list.all([start, end, limit === 0 ? -1 : limit]).map(({ id }) => id),
    close() {
      for (const statement of [insert, get, list]) statement.finalize();
      db.close();
    },
  };
}

/**
 * @typedef {object} SpreadStatement
 * @property {(...values: SqlValue[]) => unknown} run
 * @property {(...values: SqlValue[]) => { id: number } | undefined} get
 * @property {(...values: SqlValue[]) => { id: number }[]} all
 *
 * @param {{ exec(sql: string): void, prepare(sql: string): SpreadStatement, close(): void }} db whose statements go with it
 * @returns {Sqlite}
 */
function spreading(db) {
  return {
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      const statement = db.prepare(sql);
      return {
        run: (values) => statement.run(...values),
        get: (values) => statement.get(...values),
        all: (values) => statement.all(...values),
        finalize: () => {},
      };
    },
    close: () => db.close(),
  };
}
