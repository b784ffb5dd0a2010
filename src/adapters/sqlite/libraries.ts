import type { SqliteValue } from '../../types/sqlite-driver.ts';
import type { FileSystem } from './file-system.ts';
import type { StatementDatabase } from './statement-driver.ts';
import { WasmDatabase, type WasmLibraryDatabase } from './wasm-database.ts';

/** The libraries for SQLite that are known here, each in the shape that a driver takes. */
export type SqliteLibrary = 'node:sqlite' | 'bun:sqlite' | 'better-sqlite3' | 'node-sqlite3-wasm';

/** @param files `undefined` for a database that is in no file */
type Opener = (library: unknown, file: string, files: FileSystem | undefined) => StatementDatabase;

/** Structural: none of them is a dependency, and their own types differ from one version to the next. */
interface PreparedByParameters {
  all(...parameters: readonly SqliteValue[]): unknown[];
  run(...parameters: readonly SqliteValue[]): unknown;
}

interface DatabaseByParameters {
  exec(sql: string): unknown;
  prepare(sql: string): PreparedByParameters;
  close(): unknown;
}

type DatabaseClass<T> = new (file: string, options: Readonly<Record<string, unknown>>) => T;

export const OPENERS: Readonly<Record<SqliteLibrary, Opener>> = {
  'node:sqlite': (library, file) => {
    const { DatabaseSync } = library as { DatabaseSync: DatabaseClass<DatabaseByParameters> };
    return byParameters(new DatabaseSync(file, {}));
  },
  'bun:sqlite': (library, file) => {
    const { Database } = library as { Database: DatabaseClass<DatabaseByParameters> };
    return byParameters(new Database(file, { create: true, readwrite: true }));
  },
  'better-sqlite3': (library, file) => {
    const { default: Database } = library as { default: DatabaseClass<DatabaseByParameters> };
    // Its own wait for locks would stop the event loop.
    return byParameters(new Database(file, { timeout: 0 }));
  },
  'node-sqlite3-wasm': (library, file, files) => {
    const { default: names } = library as { default: { Database: DatabaseClass<WasmLibraryDatabase> } };
    return new WasmDatabase(new names.Database(file, {}), file, files);
  },
};

/** Statements that take their parameters one by one. */
function byParameters(database: DatabaseByParameters): StatementDatabase {
  return {
    exec: (sql) => void database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => void statement.run(...parameters),
      };
    },
    close: () => void database.close(),
  };
}
