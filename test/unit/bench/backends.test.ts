import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deliveries } from '../../../bench/backends/deliveries.mjs';
import { fanOutCase } from '../../../bench/backends/fan-out.mjs';
import { loadLibraries } from '../../../bench/backends/libraries.mjs';
import { digestOf, keyOf, textOf } from '../../../bench/backends/rows.mjs';
import { putSqliteCase } from '../../../bench/backends/sqlite-puts.mjs';
import { caseNames, runtimes } from '../../../bench/backends/suite.mjs';
import { fileSystem, processCpuMs, syncMs } from '../../../bench/backends/usage.mjs';
import { measureCase } from '../../../bench/harness/measure.mjs';
import { openSqliteBackend } from '../../../src/adapters/sqlite/mod.ts';
import { openStore } from '../../../src/open-store.ts';

type Tools = Parameters<typeof fanOutCase>[2];
type Entry = NonNullable<NonNullable<Parameters<typeof fanOutCase>[4]>['entries']>[number];
type SqliteTools = Parameters<typeof putSqliteCase>[2];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-bench-test-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function meter(): Parameters<typeof measureCase>[1] {
  let time = 0;
  const now = () => ++time;
  return { rounds: 2, rate: () => 1, now, cpuNow: now, collectGarbage: () => {} };
}

describe('the suite', () => {
  it('has its cases and runtimes by name', () => {
    expect(caseNames()).toEqual([
      'list 1k',
      'list 100k',
      'fan-out 1000',
      'put etcd',
      'put etcd 32 writers',
      'put sqlite',
      'put sqlite 32 writers',
      'put sqlite tmpfs',
      'put sqlite tmpfs 32 writers',
    ]);
    expect(runtimes).toEqual(['node', 'node24']);
  });
});

describe('rows', () => {
  it('are ascending and of the length that the report says', () => {
    const lengths = Array.from({ length: 2000 }, (_, index) => textOf(index * 50).length);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(130);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(150);
    expect(keyOf('/bench/', 7)).toBe('/bench/ns-7/app-00000007');
  });

  it('have another digest when a row is missing, changed or out of place', () => {
    const rows = [0, 1, 2].map((index) => [keyOf('p/', index), textOf(index)] as const);
    const [first, second, third] = rows as [readonly [string, string], readonly [string, string], (typeof rows)[0]];
    const others = [
      [first, second],
      [second, first, third],
      [first, second, [third[0], textOf(9)] as const],
    ];
    expect(new Set([rows, ...others].map((one) => digestOf(one))).size).toBe(4);
  });
});

describe('Deliveries', () => {
  it('waits for so many after the change, and rejects when a watcher ends', async () => {
    const deliveries = new Deliveries();
    const change = deliveries.after(2, async () => {
      deliveries.receive(0, 'a');
      deliveries.receive(1, 'a');
      return 7;
    });
    await expect(change).resolves.toBe(7);
    expect(deliveries.last).toEqual(['a', 'a']);
    const broken = deliveries.after(2, async () => {
      deliveries.receive(0, 'b');
      deliveries.fail(new Error('ended'));
      return 8;
    });
    await expect(broken).rejects.toThrow('ended');
  });
});

/** Watchers in memory, each of which gets what is put, so many times. */
function world() {
  const all: { prefix: string; hear: (event: object) => void }[] = [];
  let revision = 0;
  const put = async (key: string, value: string) => {
    revision++;
    for (const { prefix, hear } of all) if (key.startsWith(prefix)) hear({ revision, key, value });
    return revision;
  };
  const entry = (name: string, copies = 1): Entry => ({
    name,
    open: async (prefix, count) => {
      const deliveries = new Deliveries();
      for (let place = 0; place < count; place++) {
        const hear = (event: object) => {
          for (let copy = 0; copy < copies; copy++) deliveries.receive(place, event);
        };
        all.push({ prefix, hear });
      }
      return { deliveries, read: (event) => event, close: () => {} };
    },
  });
  return { put, entry };
}

const tools: Tools = {
  address: '',
  serverPid: process.pid,
  collectGarbage: () => {},
  openReplica: async () => {
    throw new Error('none here');
  },
};

describe('fanOutCase', () => {
  it('counts what arrives by the time of the processors, and tells what else was used', async () => {
    const { put, entry } = world();
    const told = new Map<string, object>();
    const tell = (name: string, facts: object) => void told.set(name, facts);
    const entries = [entry('plimsoll'), entry('other')];
    const measured = await measureCase(await fanOutCase('fan-out 20', 20, tools, tell, { entries, put }), meter());
    expect(measured).toMatchObject({ n: 20, per: 'cpu second', subject: { rates: [2_000_000, 2_000_000] } });
    expect([...told.keys()]).toEqual(['plimsoll', 'other']);
    expect(told.get('other')).toMatchObject({ deliveriesPerSec: expect.any(Number), memoryBytes: expect.any(Number) });
  });

  it('refuses who delivers twice', async () => {
    const { put, entry } = world();
    const entries = [entry('plimsoll'), entry('twice', 2)];
    const measuring = measureCase(await fanOutCase('fan-out', 3, tools, () => {}, { entries, put }), meter());
    await expect(measuring).rejects.toThrow('twice gives a wrong answer');
  });
});

/** Of a store, whose members are private to it. */
function methodsOf(store: Awaited<ReturnType<SqliteTools['openStore']>>['store']): typeof store {
  return {
    range: (request) => store.range(request),
    get: (key) => store.get(key),
    put: (key, value) => store.put(key, value),
    watch: (range) => store.watch(range),
    close: () => store.close(),
  };
}

describe('putSqliteCase', () => {
  const openOne: SqliteTools['openStore'] = async ({ file }) => {
    const backend = await openSqliteBackend({ file, library: 'node-sqlite3-wasm', synchronous: 'normal' });
    return { backend, store: await openStore({ backend }) };
  };
  const size = { puts: 4, together: 8, writers: 4 };

  it.each([
    [false, ['plimsoll', 'node-sqlite3-wasm bare insert']],
    [true, ['plimsoll', 'node-sqlite3-wasm bare insert', 'node-sqlite3-wasm 4 bare inserts a transaction']],
  ])('grouped %s: everybody answers rightly, before and after, and nothing is left', async (isGrouped, names) => {
    const { libraries } = await loadLibraries(['node-sqlite3-wasm']);
    const given = { openStore: openOne, libraries, folder, size };
    const { subject, peers } = await measureCase(await putSqliteCase('put', isGrouped, given), meter());
    expect([subject, ...peers].map(({ name }) => name)).toEqual(names);
    expect([subject, ...peers].map(({ rates }) => rates.length)).toEqual(names.map(() => 2));
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a store that loses a put', async () => {
    const losing: SqliteTools['openStore'] = async (options) => {
      const { backend, store } = await openOne(options);
      let calls = 0;
      const put: typeof store.put = async (key, value) => (++calls === 3 ? { revision: 1 } : store.put(key, value));
      return { backend, store: { ...methodsOf(store), put } };
    };
    const { libraries } = await loadLibraries(['node-sqlite3-wasm']);
    const measuring = measureCase(
      await putSqliteCase('put', false, { openStore: losing, libraries, folder, size }),
      meter(),
    );
    await expect(measuring).rejects.toThrow('wrong answer to "rows of the file"');
  });

  it('says when no library is here', async () => {
    const case_ = putSqliteCase('put', false, { openStore: openOne, libraries: [], folder, size });
    await expect(case_).rejects.toThrow('no library for SQLite loads here');
  });
});

describe('libraries', () => {
  it('that do not load are told with the first line of the reason', async () => {
    const { libraries, absent } = await loadLibraries(['node:sqlite'], async () => {
      throw new Error('no such module\nand its stack');
    });
    expect(libraries).toEqual([]);
    expect(absent).toEqual({ 'node:sqlite bare insert': 'no such module' });
  });
});

describe('what else is used', () => {
  it('is read from the line of the process, whatever its name is', () => {
    const line = `12 (a) b (c) S ${Array.from({ length: 40 }, (_, index) => index).join(' ')}`;
    // utime and stime are the fields 14 and 15.
    expect(processCpuMs(12, () => line)).toBe(10 * (10 + 11));
    expect(processCpuMs(12, () => '')).toBeUndefined();
    const missing = processCpuMs(12, () => {
      throw new Error('none');
    });
    expect(missing).toBeUndefined();
  });

  it('of a folder is its file system and its wait for the disk', async () => {
    const own = await mkdtemp(join(folder, 'usage-'));
    expect(fileSystem(own)).not.toBe('');
    expect(syncMs(own)).toBeGreaterThanOrEqual(0);
    expect(await readdir(own)).toEqual([]);
    await rm(own, { recursive: true });
  });
});
