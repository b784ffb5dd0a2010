import { createRequire } from 'node:module';
import type { SqliteDriver } from '../../../src/adapters/sqlite/mod.ts';
import { openDriver } from '../../../src/adapters/sqlite/open-driver.ts';
import type { Backend, BackendLeases, BackendOperation } from '../../../src/types/backend.ts';

/** What the tests of SQLite have in common. */
export const ALL = { start: new Uint8Array(0), end: new Uint8Array(0) };

export const bytes = (text: string) => new TextEncoder().encode(text);
export const put = (key: string, value: string, rest: { lease?: string } = {}): BackendOperation => ({
  type: 'put',
  key: bytes(key),
  value: bytes(value),
  ...rest,
});
export const remove = (key: string): BackendOperation => ({ type: 'delete', range: { start: bytes(key) } });
export const nested = (...then: BackendOperation[]): BackendOperation => ({ type: 'txn', compare: [], then, else: [] });
export const commit = (backend: Backend, ...then: BackendOperation[]) => backend.txn({ compare: [], then, else: [] });
export const keysOf = async (backend: Backend, revision = 0) =>
  (await backend.range({ ranges: [ALL], revision })).kvs.map(({ key }) => new TextDecoder().decode(key));
export const leasesOf = (backend: Backend) => backend.leases as BackendLeases;
export const close = (backend: Backend) => backend[Symbol.asyncDispose]();

/** The events of a stream up to the newest revision, as text: `2 put a`. */
export async function historyOf(backend: Backend, fromRevision: number): Promise<string[]> {
  const events: string[] = [];
  const stream = backend.watch({ ranges: [ALL], fromRevision });
  stream.requestProgress?.();
  for await (const item of stream) {
    if (item.type === 'progress') break;
    if (item.type !== 'change') continue;
    for (const event of item.events) {
      const { key } = event.type === 'put' ? event.kv : event;
      events.push(`${item.revision} ${event.type} ${new TextDecoder().decode(key)}`);
    }
  }
  return events;
}

/** What a promise was rejected with; `undefined` if it was not. */
export const errorOf = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A file as another program has it. */
export function openOther(file: string): { exec(sql: string): void; close(): void } {
  const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as {
    Database: new (path: string) => { exec(sql: string): void; close(): void };
  };
  return new Database(file);
}

export function runSql(file: string, ...statements: string[]): void {
  const database = openOther(file);
  for (const sql of statements) database.exec(sql);
  database.close();
}

/** A driver over memory, whose calls can be seen and made to fail. */
export async function ownDriver(changes: (driver: SqliteDriver) => Partial<SqliteDriver>): Promise<SqliteDriver> {
  const driver = await openDriver({
    file: ':memory:',
    library: 'node-sqlite3-wasm',
    synchronous: 'full',
    fileBytesMax: undefined,
  });
  const plain: SqliteDriver = {
    name: driver.name,
    location: 'some.db',
    isShared: false,
    all: (sql, ...parameters) => driver.all(sql, ...parameters),
    run: (sql, ...parameters) => driver.run(sql, ...parameters),
    write: (work) => driver.write(work),
    read: (work) => driver.read(work),
    close: () => driver.close(),
  };
  return { ...plain, ...changes(plain) };
}
