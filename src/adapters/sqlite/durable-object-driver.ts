import type { SqliteDriver, SqliteRow, SqliteValue } from '../../types/sqlite-driver.ts';

/** What this needs of `ctx.storage` of a Durable Object that is backed by SQLite. */
export interface DurableObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: readonly unknown[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<T>(work: () => T): T;
}

/**
 * A driver over the storage of a Durable Object. The platform answers nobody before its writes are durable, so a write that
 * has returned is one. The tables stand beside those of the object's own, under names that begin with `plimsoll_`.
 *
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { createDurableObjectDriver, type DurableObjectStorage, openSqliteBackend } from 'plimsoll/sqlite';
 *
 * async function openIn(storage: DurableObjectStorage) {
 *   const backend = await openSqliteBackend({ driver: createDurableObjectDriver(storage) });
 *   return openStore<string>({ backend });
 * }
 * ```
 *
 * @throws TypeError for a storage that has no SQLite
 */
export function createDurableObjectDriver(storage: DurableObjectStorage): SqliteDriver {
  if (typeof storage?.sql?.exec !== 'function' || typeof storage.transactionSync !== 'function') {
    throw new TypeError('Cannot create a driver: the storage is not that of a Durable Object with SQLite');
  }
  return new DurableObjectDriver(storage);
}

class DurableObjectDriver implements SqliteDriver {
  readonly name = 'durable object';
  readonly location = 'the storage of the Durable Object';
  /** One object is one thread, and nobody else has its storage. */
  readonly isShared = false;
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  all(sql: string, ...parameters: readonly SqliteValue[]): SqliteRow[] {
    return this.#storage.sql
      .exec(sql, ...parameters.map(bound))
      .toArray()
      .map(plainRow);
  }

  run(sql: string, ...parameters: readonly SqliteValue[]): void {
    this.#storage.sql.exec(sql, ...parameters.map(bound));
  }

  write<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  /** Nobody writes in between. */
  read<T>(work: () => T): T {
    return work();
  }

  /** It stays with the object. */
  close(): void {}
}

/** The platform takes and gives whole buffers. */
function bound(value: SqliteValue): unknown {
  return value instanceof Uint8Array ? new Uint8Array(value).buffer : value;
}

function plainRow(row: Record<string, unknown>): SqliteRow {
  for (const [name, value] of Object.entries(row)) if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value);
  return row as SqliteRow;
}
