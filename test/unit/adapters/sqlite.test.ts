import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteBackend, type SqliteBackendOptions, type SqliteDriver } from '../../../src/adapters/sqlite/mod.ts';
import { openDriver } from '../../../src/adapters/sqlite/open-driver.ts';
import { openStore } from '../../../src/open-store.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendOperation, BackendWatchItem } from '../../../src/types/backend.ts';
import {
  BackendError,
  ClosedError,
  CompactedError,
  KeyNotFoundError,
  LimitExceededError,
} from '../../../src/types/errors.ts';
import {
  ALL,
  bytes,
  close,
  commit,
  errorOf,
  historyOf,
  keysOf,
  leasesOf,
  nested,
  openOther,
  ownDriver,
  put,
  remove,
  runSql,
} from './sqlite-support.ts';

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-sqlite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newFile = () => join(folder, `${++files}.db`);

describe('a file of SQLite', () => {
  it('that is closed closes the store on it, and is told to who opens another', async () => {
    const backend = await openSqliteBackend({ file: newFile() });
    const clock = createVirtualClock();
    const store = await openStore({ backend, keys: 'bytes', clock });
    await close(backend);
    await clock.settle();
    expect(() => store.get(bytes('a'))).toThrow(ClosedError);
    expect(await errorOf(store.put(bytes('a'), '1'))).toBeInstanceOf(ClosedError);
    expect(await errorOf(openStore({ backend, keys: 'bytes', clock }))).toBeInstanceOf(ClosedError);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it('keeps history, compaction and identity from one process to the next', async () => {
    const file = newFile();
    const before = await openSqliteBackend({ file });
    await commit(before, put('a', '1'));
    await commit(before, put('a', '2'), put('b', '1'));
    await commit(before, { type: 'delete', range: { start: bytes('b') } });
    await before.compact({ revision: 3 });
    const { identity } = await before.status({});
    await close(before);

    const after = await openSqliteBackend({ file });
    expect(await after.status({})).toEqual({ identity, revision: 4 });
    expect(await keysOf(after, 3)).toEqual(['a', 'b']);
    expect(await keysOf(after)).toEqual(['a']);
    expect(await errorOf(keysOf(after, 2))).toBeInstanceOf(CompactedError);
    expect((await commit(after, put('c', '1'))).revision).toBe(5);
    await close(after);
  });

  it('names new data anew', async () => {
    const names = new Set<string>();
    for (let count = 0; count < 3; count++) {
      const backend = await openSqliteBackend({ file: newFile() });
      names.add((await backend.status({})).identity);
      await close(backend);
    }
    expect(names.size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  });

  it('store:R45, U25: a lease ends when it was to end, however often the process begins anew', async () => {
    const file = newFile();
    const clock = createVirtualClock();
    let backend = await openSqliteBackend({ file, clock });
    const { id } = await leasesOf(backend).grant({ ttlMs: 30_000 });
    await commit(backend, put('a', '1', { lease: id }));
    for (const passed of [10_000, 10_000, 9_000]) {
      await close(backend);
      await clock.advance(passed);
      backend = await openSqliteBackend({ file, clock });
      expect(await keysOf(backend)).toEqual(['a']);
    }
    const { status } = await leasesOf(backend).timeToLive({ id });
    expect(status?.remainingMs).toBe(1000);
    await clock.advance(1000);
    expect(await keysOf(backend)).toEqual([]);
    await close(backend);
  });

  it('store:R41: what fell due while nobody had it open expires before the first answer, each as a revision', async () => {
    const file = newFile();
    const clock = createVirtualClock();
    const before = await openSqliteBackend({ file, clock });
    for (const [id, ttlMs] of [
      ['2', 1000],
      ['1', 2000],
    ] as const) {
      await leasesOf(before).grant({ id, ttlMs });
      await commit(before, put(`${id}/a`, '', { lease: id }), put(`${id}/b`, '', { lease: id }));
    }
    await close(before);
    await clock.advance(60_000);
    const after = await openSqliteBackend({ file, clock });
    expect((await after.status({})).revision).toBe(5);
    expect(await keysOf(after, 4)).toEqual(['1/a', '1/b']);
    expect(await keysOf(after)).toEqual([]);
    await close(after);
  });

  it('store:R22-R24, U23: compaction takes what nobody can see, step by step, and brings nothing back', async () => {
    const clock = createVirtualClock();
    let driver: SqliteDriver | undefined;
    const backend = await openSqliteBackend({
      driver: await ownDriver((one) => {
        driver = one;
        return {};
      }),
      clock,
    });
    for (let round = 0; round < 40; round++) {
      for (let key = 0; key < 50; key++) await commit(backend, put(`k${key}`, String(round)));
    }
    for (let key = 0; key < 25; key++) await commit(backend, { type: 'delete', range: { start: bytes(`k${key}`) } });
    const { revision } = await backend.status({});
    for (const at of [500, 1200, revision - 3, revision]) {
      const before = await backend.range({ ranges: [ALL], revision: at });
      await backend.compact({ revision: at });
      await clock.advance(1000);
      expect((await backend.range({ ranges: [ALL], revision: at })).kvs).toEqual(before.kvs);
    }
    const [row] = driver?.all('SELECT count(*) AS n FROM plimsoll_event') ?? [];
    expect(row?.n, '25 live keys, and the delete at the compacted revision').toBe(26);
    await close(backend);
  });

  it('goes on with a compaction that an earlier process began', async () => {
    const file = newFile();
    const clock = createVirtualClock();
    const before = await openSqliteBackend({ file, clock });
    for (let count = 0; count < 20; count++) await commit(before, put('a', String(count)));
    await before.compact({ revision: 21 });
    await close(before);
    const after = await openSqliteBackend({ file, clock });
    await clock.advance(1000);
    await close(after);
    const driver = await openDriver({ file, library: undefined, synchronous: 'full', fileBytesMax: undefined });
    expect(driver.all('SELECT count(*) AS n FROM plimsoll_event')).toEqual([{ n: 1 }]);
    driver.close();
  });
});

describe('what is not a file of a store is refused, and left as it is', () => {
  it.each([
    ['text', (file: string) => writeFile(file, 'no database '.repeat(1000)), 'is no SQLite file'],
    [
      'the tables of another program',
      async (file: string) => runSql(file, 'CREATE TABLE users (id)'),
      'another program',
    ],
    [
      'a newer format',
      async (file: string) => {
        await close(await openSqliteBackend({ file }));
        runSql(file, 'UPDATE plimsoll_state SET format = 3');
      },
      'has format 3',
    ],
  ] as const)('%s', async (_, make, reason) => {
    const file = newFile();
    await make(file);
    const before = await readFile(file);
    const error = await errorOf(openSqliteBackend({ file }));
    expect(error).toBeInstanceOf(BackendError);
    expect(error).toMatchObject({ permanent: true, maybeCommitted: false });
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).toContain(file);
    expect(await readFile(file)).toEqual(before);
  });

  it('a folder that is not there', async () => {
    const error = await errorOf(openSqliteBackend({ file: join(folder, 'no/such/folder.db') }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
  });

  it('a library that is not there, which says what to install', async () => {
    const error = await errorOf(openSqliteBackend({ file: newFile(), library: 'bun:sqlite' }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect((error as Error).message).toContain('npm install');
  });

  it('another file that has taken its name while it was open', async () => {
    const file = newFile();
    const backend = await openSqliteBackend({ file });
    await rename(file, `${file}.old`);
    expect(await errorOf(backend.status({}))).toMatchObject({ code: 'BACKEND', permanent: true });
    await writeFile(file, '');
    expect(await errorOf(commit(backend, put('a', '1')))).toMatchObject({ permanent: true, maybeCommitted: false });
    await close(backend);
  });
});

describe('a key that nested transactions put and delete in one revision', () => {
  it('is not there in it, and its stream has both', async () => {
    const backend = await openSqliteBackend({ file: ':memory:' });
    await commit(backend, nested(put('a', '1')), nested(remove('a')));
    await commit(backend, put('b', '1'));
    expect([await keysOf(backend, 2), await keysOf(backend, 3), await keysOf(backend)]).toEqual([[], ['b'], ['b']]);
    expect(await historyOf(backend, 2)).toEqual(['2 put a', '2 delete a', '3 put b']);
    await close(backend);
  });

  it('store:R23: both stay while that is the compacted revision, and go with the next compaction', async () => {
    const clock = createVirtualClock();
    let count = () => 0;
    const driver = await ownDriver(({ all }) => {
      count = () => all('SELECT count(*) AS n FROM plimsoll_event')[0]?.n as number;
      return {};
    });
    const backend = await openSqliteBackend({ driver, clock });
    await commit(backend, put('a', '1'), put('k', '1'));
    await commit(backend, nested(put('k', '2')), nested(remove('k')), put('a', '2'));
    await commit(backend, put('b', '1'));
    await backend.compact({ revision: 3 });
    await clock.advance(1000);
    const whole = ['3 put k', '3 delete k', '3 put a'];
    expect(await historyOf(backend, 3)).toEqual([...whole, '4 put b']);
    expect(await keysOf(backend, 3)).toEqual(['a']);
    await backend.compact({ revision: 4 });
    await clock.advance(1000);
    expect(await historyOf(backend, 4)).toEqual(['4 put b']);
    expect(count()).toBe(2);
    await close(backend);
  });
});

describe('the bound of a file', () => {
  it('refuses what does not fit, and nothing is damaged; compaction makes room', async () => {
    const file = newFile();
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ file, fileBytesMax: 1_048_576, clock });
    const large = 'x'.repeat(100_000);
    let written = 0;
    let error: unknown;
    while (error === undefined) {
      error = await errorOf(commit(backend, put('a', large)));
      if (error === undefined) written++;
    }
    expect(error).toMatchObject({ code: 'BACKEND', permanent: false, maybeCommitted: false });
    expect((error as Error).message).toContain('cannot grow');
    expect(written).toBeGreaterThan(5);
    expect((await backend.status({})).revision).toBe(1 + written);
    await backend.compact({ revision: 1 + written });
    await clock.advance(1000);
    expect((await commit(backend, put('a', large))).revision).toBe(2 + written);
    await close(backend);
  });
});

/** Counts the transactions that write. */
async function countingDriver() {
  const counted = { commits: 0 };
  const driver = await ownDriver(({ write }) => ({
    write: (work) => {
      counted.commits++;
      return write(work);
    },
  }));
  return Object.assign(counted, { driver });
}

describe('writes made together', () => {
  it('share one commit, each with a revision of its own; what is refused among them leaves nothing', async () => {
    const counted = await countingDriver();
    const { driver } = counted;
    const backend = await openSqliteBackend({ driver });
    counted.commits = 0;
    const refused = { ...put('none', ''), value: new Uint8Array(0), ignoreValue: true } as BackendOperation;
    const writes = Array.from({ length: 50 }, (_, index) =>
      index === 20 ? errorOf(commit(backend, put('lost', ''), refused)) : commit(backend, put(`k${index}`, '')),
    );
    const answers = await Promise.all(writes);
    expect(counted.commits).toBe(1);
    expect(answers[20]).toBeInstanceOf(KeyNotFoundError);
    const revisions = answers.filter((_, index) => index !== 20).map((one) => (one as { revision: number }).revision);
    expect(revisions).toEqual(Array.from({ length: 49 }, (_, index) => index + 2));
    expect(await keysOf(backend)).not.toContain('lost');
    await close(backend);
  });

  it('share commits also when each waits until what it wrote is visible in its store', async () => {
    const counted = await countingDriver();
    const { driver } = counted;
    const backend = await openSqliteBackend({ driver });
    const store = await openStore<number>({ backend });
    const writer = async (name: number) => {
      for (let turn = 0; turn < 10; turn++) await store.put(`w${name}/${turn}`, turn);
    };
    await writer(32);
    counted.commits = 0;
    await writer(33);
    expect(counted.commits).toBe(10);
    counted.commits = 0;
    await Promise.all(Array.from({ length: 32 }, (_, name) => writer(name)));
    // 10, were it not for those that come back last.
    expect(counted.commits).toBeLessThan(20);
    expect(store.range({ prefix: 'w' }).kvs).toHaveLength(340);
    await store.close();
    await close(backend);
  });

  it('are one that was aborted while it waited less', async () => {
    const backend = await openSqliteBackend({ file: ':memory:' });
    const controller = new AbortController();
    const { signal } = controller;
    const lost = errorOf(backend.txn({ compare: [], then: [put('a', '')], else: [], signal }));
    const kept = commit(backend, put('b', ''));
    controller.abort(new Error('enough'));
    expect(await lost).toMatchObject({ message: 'enough' });
    expect((await kept).revision).toBe(2);
    expect(await keysOf(backend)).toEqual(['b']);
    await close(backend);
  });

  it('are bounded in number, and refused when the backend is closed', async () => {
    const backend = await openSqliteBackend({ file: ':memory:' });
    const outcomes = Array.from({ length: 100_001 }, () => errorOf(commit(backend, put('a', ''))));
    await close(backend);
    const errors = await Promise.all(outcomes);
    expect(errors.at(-1)).toBeInstanceOf(LimitExceededError);
    expect(errors.at(-1)).toMatchObject({ limit: 'writes', max: 100_000, actual: 100_001 });
    expect(errors.slice(0, -1).every((one) => one instanceof ClosedError)).toBe(true);
  });
});

describe('a page of a long list', () => {
  it('makes the rows that are asked for, and counts the others', async () => {
    let made = 0;
    const driver = await ownDriver(({ all }) => ({
      all: (sql, ...parameters) => {
        const rows = all(sql, ...parameters);
        made += rows.length;
        return rows;
      },
    }));
    const backend = await openSqliteBackend({ driver });
    for (let index = 0; index < 300; index++) await commit(backend, put(`k${1000 + index}`, ''));
    const twoRanges = [{ start: bytes('k1000') }, { start: bytes('k1001'), end: bytes('') }];
    for (const revision of [0, 200]) {
      made = 0;
      const page = await backend.range({ ranges: twoRanges, revision, limit: 5 });
      expect([page.count, page.kvs.length]).toEqual([revision === 0 ? 300 : 199, 5]);
      expect(made).toBeLessThan(12);
      made = 0;
      const changed = await backend.range({ ranges: [ALL], revision, minModRevision: 150, limit: 3, keysOnly: true });
      expect(changed.kvs.map(({ modRevision }) => modRevision)).toEqual([150, 151, 152]);
      expect(made).toBeLessThan(12);
    }
    await close(backend);
  });
});

describe('the lock of another process', () => {
  const locked = () => Object.assign(new Error('database is locked'), { errcode: 5 });

  it('is waited for, while the event loop goes on', async () => {
    let refusals = 5;
    const driver = await ownDriver(({ write }) => ({
      write: (work) => {
        if (refusals-- > 0) throw locked();
        return write(work);
      },
    }));
    const clock = createVirtualClock();
    refusals = 0;
    const backend = await openSqliteBackend({ driver, clock });
    refusals = 5;
    const writing = commit(backend, put('a', ''));
    await clock.advance(1000);
    expect((await writing).revision).toBe(2);
    await close(backend);
  });

  it('is waited for by reads as well, and what it refused can be read again', async () => {
    const file = newFile();
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ file, library: 'node-sqlite3-wasm', clock });
    await commit(backend, put('a', '1'));
    const other = openOther(file);
    other.exec('BEGIN EXCLUSIVE');
    const late = errorOf(backend.range({ ranges: [ALL] }));
    await clock.advance(6_000);
    expect(await late).toMatchObject({ code: 'BACKEND', permanent: false });
    expect(((await late) as Error).message).toContain('is locked by another process');
    const reading = keysOf(backend);
    await clock.advance(1_000);
    other.exec('ROLLBACK');
    other.close();
    await clock.advance(1_000);
    expect(await reading).toEqual(['a']);
    await close(backend);
  });

  it('is an error after busyTimeoutMs, which can be tried again', async () => {
    let isLocked = false;
    const driver = await ownDriver(({ write }) => ({
      write: (work) => {
        if (isLocked) throw locked();
        return write(work);
      },
    }));
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ driver, clock, busyTimeoutMs: 700 });
    isLocked = true;
    const outcome = errorOf(commit(backend, put('a', '')));
    await clock.advance(800);
    expect(await outcome).toMatchObject({ code: 'BACKEND', permanent: false, maybeCommitted: false });
    isLocked = false;
    expect((await commit(backend, put('a', ''))).revision).toBe(2);
    await close(backend);
  });
});

describe('the lock of another process, with many writes that wait', () => {
  /** Three groups; the first is refused by the lock, and those behind it have waited as long. */
  it('is told to all of them after busyTimeoutMs, not group by group', async () => {
    let isLocked = false;
    const driver = await ownDriver(({ write }) => ({
      write: (work) => {
        if (isLocked) throw Object.assign(new Error('database is locked'), { errcode: 5 });
        return write(work);
      },
    }));
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ driver, clock, busyTimeoutMs: 700 });
    isLocked = true;
    const told: number[] = [];
    const start = clock.now();
    const write = () => errorOf(commit(backend, put('a', ''))).then(() => told.push(clock.now() - start));
    const writes = Array.from({ length: 3000 }, write);
    await clock.advance(500);
    writes.push(write());
    await clock.advance(300);
    expect(told.length).toBe(3000);
    await clock.advance(200);
    expect(told.length, 'that one was queued later, and waits for as long').toBe(3000);
    await clock.advance(300);
    expect(told.length).toBe(3001);
    await Promise.all(writes);
    for (const passed of told.slice(0, 3000)) expect(passed).toBeLessThan(800);
    isLocked = false;
    expect((await commit(backend, put('a', ''))).revision).toBe(2);
    await close(backend);
  });

  it('does not count the time that they wait for one another', async () => {
    let refusals = 0;
    const clock = createVirtualClock();
    const driver = await ownDriver(({ write }) => ({
      write: (work) => {
        if (refusals-- > 0) throw Object.assign(new Error('database is locked'), { errcode: 5 });
        // Free for one, then taken again for at least 7.5 ms.
        refusals = 4;
        return write(work);
      },
    }));
    const backend = await openSqliteBackend({ driver, clock, busyTimeoutMs: 30 });
    const writes = Array.from({ length: 6000 }, () => errorOf(commit(backend, put('a', ''))));
    await clock.advance(1000);
    expect((await Promise.all(writes)).filter((error) => error !== undefined)).toEqual([]);
    await close(backend);
  });
});

describe('a commit that fails', () => {
  it.each([
    ['before it happened', false],
    ['after it happened', true],
  ] as const)('%s', async (_, happened) => {
    let isBroken = false;
    const driver = await ownDriver(({ write }) => ({
      write: (work) => {
        if (!isBroken) return write(work);
        isBroken = false;
        const broken = new Error('disk I/O error');
        if (happened) write(work);
        else {
          // Rolls back, and throws it.
          return write(() => {
            work();
            throw broken;
          });
        }
        throw broken;
      },
    }));
    const backend = await openSqliteBackend({ driver });
    isBroken = true;
    const [first, second] = await Promise.all([
      errorOf(commit(backend, put('a', ''))),
      errorOf(commit(backend, put('b', ''))),
    ]);
    for (const error of [first, second]) expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: happened });
    expect((await keysOf(backend)).length).toBe(happened ? 2 : 0);
    await close(backend);
  });
});

describe('a commit that fails and would have changed no revision', () => {
  const noKeys = '7';
  const calls: readonly (readonly [string, (backend: Backend) => Promise<unknown>])[] = [
    ['grant', (backend) => leasesOf(backend).grant({ ttlMs: 1000 })],
    ['keepAlive', (backend) => leasesOf(backend).keepAlive({ id: noKeys })],
    ['revoke', (backend) => leasesOf(backend).revoke({ id: noKeys })],
    ['compact', (backend) => backend.compact({ revision: 1 })],
  ];
  const failures = [
    ['an error of the disk', 'disk I/O error', true],
    ['a lock', 'database is locked', false],
    ['a full disk', 'database or disk is full', false],
  ] as const;

  it.each(calls.flatMap(([name, call]) => failures.map((failure) => [name, ...failure, call] as const)))(
    '%s, with %s',
    async (_, __, message, maybeCommitted, call) => {
      let isBroken = false;
      const driver = await ownDriver(({ write }) => ({
        write: (work) => {
          const result = write(work);
          if (isBroken) throw new Error(message);
          return result;
        },
      }));
      const backend = await openSqliteBackend({ driver, busyTimeoutMs: 0 });
      await leasesOf(backend).grant({ ttlMs: 100_000, id: noKeys });
      isBroken = true;
      expect(await errorOf(call(backend))).toMatchObject({ code: 'BACKEND', maybeCommitted });
      await close(backend);
    },
  );

  it('and that was refused or failed before the commit is certain', async () => {
    let isBroken = false;
    const driver = await ownDriver(({ run }) => ({
      run: (sql, ...parameters) => {
        if (isBroken && sql.includes('plimsoll_lease')) throw new Error('disk I/O error');
        run(sql, ...parameters);
      },
    }));
    const backend = await openSqliteBackend({ driver });
    isBroken = true;
    expect(await errorOf(leasesOf(backend).grant({ ttlMs: 1000 }))).toMatchObject({ maybeCommitted: false });
    await close(backend);
  });
});

describe('a stream', () => {
  it('B5, B10: reads a long history in parts, and tells progress behind all of it', async () => {
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ file: ':memory:', clock });
    for (let count = 0; count < 10; count++) {
      await commit(backend, ...Array.from({ length: 99 }, (_, key) => put(`k${key}`, String(count))));
    }
    const stream = backend.watch({ ranges: [ALL], fromRevision: 1 });
    stream.requestProgress?.();
    const told: string[] = [];
    for await (const item of stream) {
      told.push(`${item.type} ${item.revision}`);
      if (item.type === 'change') expect(item.events.length).toBe(99);
      if (item.type === 'progress') break;
    }
    const changes = Array.from({ length: 10 }, (_, index) => `change ${index + 2}`);
    expect(told).toEqual(['open 11', ...changes, 'progress 11']);
    await close(backend);
  });

  it('sees what another one has written to the file, within pollMs', async () => {
    const file = newFile();
    const clock = createVirtualClock();
    const [one, other] = [
      await openSqliteBackend({ file, clock }),
      await openSqliteBackend({ file, clock, pollMs: 50 }),
    ];
    const revisions: number[] = [];
    const ending = new AbortController();
    const ended = errorOf(
      (async () => {
        const { signal } = ending;
        for await (const { revision } of other.watch({ ranges: [ALL], fromRevision: 2, signal }))
          revisions.push(revision);
      })(),
    );
    await clock.settle();
    await commit(one, put('a', '1'));
    await clock.settle();
    expect(revisions).toEqual([1]);
    await clock.advance(50);
    expect(revisions).toEqual([1, 2]);
    ending.abort(new Error('enough'));
    expect(await ended).toMatchObject({ message: 'enough' });
    await close(one);
    await close(other);
  });
});

describe('after it was closed', () => {
  it('every call is a ClosedError, and streams end', async () => {
    const clock = createVirtualClock();
    const backend = await openSqliteBackend({ file: ':memory:', clock });
    const items: BackendWatchItem[] = [];
    const ended = errorOf(
      (async () => {
        for await (const item of backend.watch({ ranges: [ALL], fromRevision: 1 })) items.push(item);
      })(),
    );
    await clock.settle();
    await close(backend);
    await close(backend);
    expect(await ended).toBeInstanceOf(ClosedError);
    expect(items.map(({ type }) => type)).toEqual(['open']);
    for (const call of [
      backend.status({}),
      backend.range({ ranges: [ALL] }),
      commit(backend, put('a', '')),
      backend.compact({ revision: 1 }),
      leasesOf(backend).grant({ ttlMs: 1000 }),
      leasesOf(backend).list({}),
    ]) {
      expect(await errorOf(call)).toBeInstanceOf(ClosedError);
    }
  });
});

describe('options', () => {
  it.each([
    [{}, 'exactly one of file and driver'],
    [{ file: 'a', driver: {} }, 'exactly one of file and driver'],
    [{ file: '' }, 'file is not a path'],
    [{ file: 7 }, 'file is not a path'],
    [{ file: ':memory:', synchronous: 'off' }, 'synchronous'],
    [{ file: ':memory:', library: 'sqlite3' }, 'library'],
    [{ file: ':memory:', fileBytesMax: 4096 }, 'fileBytesMax'],
    [{ file: ':memory:', pollMs: 0 }, 'pollMs'],
    [{ file: ':memory:', busyTimeoutMs: -1 }, 'busyTimeoutMs'],
    [{ file: ':memory:', cache: true }, 'unknown option cache'],
    [{ file: ':memory:', clock: {} }, 'clock has no method now'],
    [{ file: ':memory:', random: 4 }, 'random is not a function'],
    [{ driver: {} }, 'driver has no method all'],
    [{ driver: null }, 'driver is not an object'],
  ])('%j is refused', async (options, reason) => {
    const error = await errorOf(openSqliteBackend(options as SqliteBackendOptions));
    expect((error as Error).message).toContain('Cannot open an SQLite backend');
    expect((error as Error).message).toContain(reason);
  });
});
