// @ts-check
// Libraries for SQLite, each behind the two calls that a bare insert takes.
import * as nodeModule from 'node:module';

/**
 * @typedef {'better-sqlite3' | 'node:sqlite' | 'node-sqlite3-wasm'} LibraryName
 *
 * @typedef {object} BareDatabase
 * @property {(sql: string) => unknown} exec
 * @property {(sql: string) => { run(...values: (string | Uint8Array)[]): unknown, all(): Record<string, unknown>[] }} prepare
 * @property {() => unknown} close
 *
 * @typedef {{ name: LibraryName, open: (file: string) => BareDatabase }} Library
 */

/** The quickest first, which is what the store is measured with. */
export const LIBRARY_NAMES = /** @type {const} */ (['better-sqlite3', 'node:sqlite', 'node-sqlite3-wasm']);

/** Of Node: what version 13 of better-sqlite3 is built for. An older one it ends, with a segmentation fault. */
const BETTER_NODE_MIN = 22;

/**
 * @param {readonly LibraryName[]} [names]
 * @param {(name: LibraryName) => Promise<Library>} [load]
 * @returns {Promise<{ libraries: Library[], absent: Record<string, string> }>}
 */
export async function loadLibraries(names = LIBRARY_NAMES, load = loadLibrary) {
  /** @type {Library[]} */
  const libraries = [];
  /** @type {Record<string, string>} */
  const absent = {};
  for (const name of names) {
    try {
      libraries.push(await load(name));
    } catch (error) {
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      absent[`${name} bare insert`] = reason;
    }
  }
  return { libraries, absent };
}

/** @param {LibraryName} name @returns {Promise<Library>} */
async function loadLibrary(name) {
  if (name === 'better-sqlite3') {
    const major = Number.parseInt(process.versions.node, 10);
    if (major < BETTER_NODE_MIN) {
      throw new Error(
        `its version here needs Node ${BETTER_NODE_MIN}, this is ${process.versions.node}: --runtime node24`,
      );
    }
    const { default: Database } = await import(name);
    const open = (/** @type {string} */ file) => new Database(file);
    open(':memory:').close();
    return { name, open };
  }
  if (name === 'node:sqlite') {
    const { DatabaseSync } = await import(name);
    return { name, open: (file) => new DatabaseSync(file) };
  }
  const { default: names } = await import(name);
  return { name, open: (file) => spreading(new names.Database(file)) };
}

/** node-sqlite3-wasm takes its values as an array. @param {any} database @returns {BareDatabase} */
function spreading(database) {
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return { run: (...values) => statement.run(values), all: () => statement.all([]) };
    },
    close: () => database.close(),
  };
}

/**
 * The package looks for its library where it is itself, and those to compare with are here. Where Node cannot be told so, it
 * is no loss: what has no such call has no better-sqlite3 either.
 */
export function showToPackage() {
  const { registerHooks } = /** @type {{ registerHooks?: (hooks: object) => unknown }} */ (
    /** @type {unknown} */ (nodeModule)
  );
  registerHooks?.({
    /** @type {(name: string, context: object, next: (name: string, context: object) => unknown) => unknown} */
    resolve: (name, context, next) =>
      next(name, name === 'better-sqlite3' ? { ...context, parentURL: import.meta.url } : context),
  });
}
