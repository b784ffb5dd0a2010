import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openSqliteBackend } from '../../../src/adapters/sqlite/mod.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend } from '../../../src/types/backend.ts';
import { BackendError } from '../../../src/types/errors.ts';
import { close, commit, errorOf, keysOf, openOther, put, runSql } from './sqlite-support.ts';

const library = 'node-sqlite3-wasm';

let root: string;
let folder: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'plimsoll-sqlite-file-')));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'f-'));
});

describe('a relative path', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is resolved once: the folder of the process may be another one later', async () => {
    const elsewhere = await mkdtemp(join(root, 'e-'));
    const before = process.cwd();
    try {
      process.chdir(folder);
      const backend = await openSqliteBackend({ file: 'x.db', library });
      await commit(backend, put('a', ''));
      process.chdir(elsewhere);
      expect((await commit(backend, put('b', ''))).revision).toBe(3);
      expect(await keysOf(backend)).toEqual(['a', 'b']);
      await close(backend);
    } finally {
      process.chdir(before);
    }
    expect(await readdir(folder)).toEqual(['x.db']);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('may change its folder already while it is being opened', async () => {
    const elsewhere = await mkdtemp(join(root, 'e-'));
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    const opening = openSqliteBackend({ file: 'x.db', library });
    cwd.mockReturnValue(elsewhere);
    await close(await opening);
    expect([await readdir(folder), await readdir(elsewhere)]).toEqual([['x.db'], []]);
  });
});

describe('a file that is neither empty nor that of a store is refused, and left as it is', () => {
  const cases: readonly (readonly [string, (file: string) => unknown, string])[] = [
    ...[1, 15, 16, 99, 100, 511, 512, 4096].map(
      (size) =>
        [
          `${size} bytes`,
          (file: string) => writeFile(file, '{"port":8080}'.padEnd(size).slice(0, size)),
          'is no SQLite file',
        ] as const,
    ),
    ['zeros', (file) => writeFile(file, new Uint8Array(4096)), 'is no SQLite file'],
    [
      'the first bytes of a file of SQLite',
      async (file) => {
        runSql(`${file}.whole`, 'CREATE TABLE a (b)');
        await writeFile(file, (await readFile(`${file}.whole`)).subarray(0, 100));
        await rm(`${file}.whole`);
      },
      'is no SQLite file',
    ],
    ['only views', (file) => runSql(file, 'CREATE VIEW v AS SELECT 1'), 'it has view v'],
    ['an application id', (file) => runSql(file, 'PRAGMA application_id = 77'), 'it has application_id 77'],
    ['a user version', (file) => runSql(file, 'PRAGMA user_version = 9'), 'it has user_version 9'],
    [
      'a table that is somebody else\u2019s, by a view of a name of ours',
      (file) => runSql(file, 'CREATE VIEW plimsoll_state AS SELECT 1 AS format'),
      'it has view plimsoll_state',
    ],
  ];

  it.each(cases)('%s', async (_, make, reason) => {
    const file = join(folder, 'x.db');
    await make(file);
    const before = await readFile(file);
    const error = await errorOf(openSqliteBackend({ file, library }));
    expect(error).toBeInstanceOf(BackendError);
    expect(error).toMatchObject({ permanent: true, maybeCommitted: false });
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).toContain(file);
    expect(await readFile(file)).toEqual(before);
    expect(await readdir(folder)).toEqual(['x.db']);
  });

  it.each([
    ['no bytes', (file: string) => writeFile(file, '')],
    ['a table that was dropped', (file: string) => runSql(file, 'CREATE TABLE a (b)', 'DROP TABLE a')],
  ] as const)('but not one with %s', async (_, make) => {
    const file = join(folder, 'x.db');
    await make(file);
    const backend = await openSqliteBackend({ file, library });
    expect((await commit(backend, put('a', ''))).revision).toBe(2);
    await close(backend);
  });
});

describe('what a killed process leaves, in node-sqlite3-wasm', () => {
  async function openMade(file: string): Promise<Backend> {
    const backend = await openSqliteBackend({ file, library });
    await commit(backend, put('a', '1'));
    return backend;
  }

  it('the folder of its lock is named at open, and how to go on', async () => {
    const file = join(folder, 'x.db');
    await close(await openMade(file));
    await mkdir(`${file}.lock`);
    const error = await errorOf(openSqliteBackend({ file, library, busyTimeoutMs: 0 }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: false });
    const { message } = error as Error;
    expect(message).toContain('is locked by another process');
    expect(message).toContain(`${file}.lock`);
    expect(message).toContain('remove it when no process has the file open');
    expect((await stat(`${file}.lock`)).isDirectory(), 'it may be that of a live process').toBe(true);
    await rm(`${file}.lock`, { recursive: true });
    const backend = await openSqliteBackend({ file, library });
    expect(await keysOf(backend)).toEqual(['a']);
    await close(backend);
  });

  it('is named to those who have the file open, too', async () => {
    const file = join(folder, 'x.db');
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ file, library, clock, busyTimeoutMs: 100 });
    await mkdir(`${file}.lock`);
    for (const call of [() => backend.status({}), () => commit(backend, put('a', ''))]) {
      const outcome = errorOf(call());
      await clock.advance(200);
      expect(((await outcome) as Error).message).toContain(`${file}.lock`);
    }
    await rm(`${file}.lock`, { recursive: true });
    expect((await backend.status({})).revision).toBe(1);
    await close(backend);
  });

  it('half of a commit is refused, since that library reads on over it', async () => {
    const file = join(folder, 'x.db');
    const copy = join(folder, 'copy.db');
    const made = await openMade(file);
    await commit(made, ...Array.from({ length: 120 }, (_, index) => put(`k${index}`, 'x'.repeat(2000))));
    await close(made);
    const whole = await readFile(file);
    // What a kill in the middle leaves: pages of a transaction that was not completed, and the journal to undo them.
    const other = openOther(file);
    other.exec('PRAGMA cache_size = 5');
    other.exec('BEGIN IMMEDIATE');
    other.exec('UPDATE plimsoll_event SET value = zeroblob(2000)');
    await copyFile(file, copy);
    await copyFile(`${file}-journal`, `${copy}-journal`);
    other.exec('ROLLBACK');
    other.close();
    const torn = await readFile(copy);
    expect(torn.equals(whole)).toBe(false);

    const error = await errorOf(openSqliteBackend({ file: copy, library }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    const { message } = error as Error;
    expect(message).toContain('in the middle of a commit');
    expect(message).toContain(`${copy}-journal`);
    expect(message).toContain('another program for SQLite');
    expect(torn.equals(await readFile(copy))).toBe(true);
    expect((await readdir(folder)).sort()).toEqual(['copy.db', 'copy.db-journal', 'x.db']);
  });

  it('a journal that was ended is none', async () => {
    const file = join(folder, 'x.db');
    await close(await openMade(file));
    await writeFile(`${file}-journal`, new Uint8Array(512));
    const backend = await openSqliteBackend({ file, library });
    expect(await keysOf(backend)).toEqual(['a']);
    await close(backend);
  });
});
