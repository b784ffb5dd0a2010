import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteBackend } from '../../../src/adapters/sqlite/mod.ts';
import { SqliteTables } from '../../../src/backends/sqlite/tables.ts';
import { BackendError } from '../../../src/types/errors.ts';
import type { SqliteDriver } from '../../../src/types/sqlite-driver.ts';
import { close, commit, errorOf, keysOf, put, runSql } from './sqlite-support.ts';

/** An id has the revision in its upper bits and the number within it in 22 bits: what does not fit is refused. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-sqlite-bounds-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the revisions of a file', () => {
  it('end at 2^40: the write behind it is refused and leaves nothing, and everything can be read', async () => {
    const file = join(folder, 'revisions.db');
    const before = await openSqliteBackend({ file });
    await commit(before, put('a', 'x'));
    await close(before);
    const id = `${2 ** 40 - 2} << 22`;
    runSql(file, `UPDATE plimsoll_event SET id = ${id}`, `UPDATE plimsoll_key SET event = ${id}`);
    const backend = await openSqliteBackend({ file });
    expect((await commit(backend, put('b', 'y'))).revision).toBe(2 ** 40 - 1);
    const error = await errorOf(commit(backend, put('c', 'z')));
    expect(error).toBeInstanceOf(BackendError);
    expect(error).toMatchObject({ maybeCommitted: false });
    expect((error as Error).message).toContain(`revision ${2 ** 40} `);
    expect(await keysOf(backend)).toEqual(['a', 'b']);
    expect((await backend.status({})).revision).toBe(2 ** 40 - 1);
    await close(backend);
  });

  it.each([2 ** 40 - 1, 2 ** 40, Number.MAX_SAFE_INTEGER])(
    'that were never made have no events, also from %d on: nothing wraps around',
    async (revision) => {
      const backend = await openSqliteBackend({ file: join(folder, `far-${revision}.db`) });
      await commit(backend, put('a', 'x'));
      const all = { start: new Uint8Array(0), end: new Uint8Array(0) };
      const { count, kvs } = await backend.range({ ranges: [all], minModRevision: revision });
      expect([count, kvs.length]).toEqual([1, 0]);
      const stop = new AbortController();
      const stream = backend.watch({ ranges: [all], fromRevision: revision, signal: stop.signal });
      const items = stream[Symbol.asyncIterator]();
      expect((await items.next()).value).toMatchObject({ type: 'open', revision: 2 });
      stream.requestProgress?.();
      expect((await items.next()).value).toEqual({ type: 'progress', revision: 2 });
      stop.abort();
      await close(backend);
    },
  );
});

it('4,194,304 events fit into one revision, and one more is refused', () => {
  let written = 0;
  const driver = {
    all: () => [{ identity: 'i', revision: 1, compacted: -1, cleaned: 0 }],
    run: () => {
      written++;
    },
  } as unknown as SqliteDriver;
  const tables = new SqliteTables(driver);
  tables.begin();
  const key = new Uint8Array([1]);
  for (let count = 0; count < 2 ** 22; count++) tables.delete(key, 2);
  expect(written).toBe(2 * 2 ** 22);
  expect(() => tables.delete(key, 2)).toThrow('revision 2 would have more than 4194304 events');
  tables.delete(key, 3);
});

it.each(['plimsoll_event', 'plimsoll_lease', 'plimsoll_key'])(
  'a file without its table %s is damaged, which trying again does not change',
  async (table) => {
    const file = join(folder, `${table}.db`);
    const before = await openSqliteBackend({ file });
    await commit(before, put('a', 'x'));
    await close(before);
    runSql(file, `DROP TABLE ${table}`);
    const error = await errorOf(openSqliteBackend({ file }).then((backend) => keysOf(backend)));
    expect(error).toBeInstanceOf(BackendError);
    expect(error).toMatchObject({ permanent: true });
    expect(String(error)).toContain(`is damaged (no such table: ${table})`);
  },
);
