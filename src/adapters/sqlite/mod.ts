/**
 * Plimsoll on SQLite: a backend that keeps its data in a file, for one machine.
 *
 * @module
 */
export { createDurableObjectDriver, type DurableObjectStorage } from './durable-object-driver.ts';
export type { SqliteLibrary } from './libraries.ts';
export { openSqliteBackend, type SqliteBackendOptions } from './open-sqlite-backend.ts';
export type { SqliteDriver, SqliteRow, SqliteValue } from '../../types/sqlite-driver.ts';
