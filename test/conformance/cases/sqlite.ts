import { BackendError, openStore } from 'plimsoll';
import { createDurableObjectDriver, openSqliteBackend, type SqliteBackendOptions } from 'plimsoll/sqlite';
import { createVirtualClock, testBackend } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';

/** Runtimes that bring SQLite along; nothing else is found there by itself. */
const HAS_SQLITE = 'Bun' in globalThis || 'Deno' in globalThis || nodeMajor() >= 22;

/** 0 where there is no Node; a machine of the edge runs in one, and is none. */
function nodeMajor(): number {
  const { process, EdgeRuntime } = globalThis as {
    readonly process?: { readonly versions?: { readonly node?: string } };
    readonly EdgeRuntime?: unknown;
  };
  return EdgeRuntime === undefined ? Number.parseInt(process?.versions?.node ?? '0', 10) : 0;
}

if (HAS_SQLITE) testLibrary('sqlite', {});
// Put beside the package by the runner, where it loads.
if (hasBetterSqlite()) testLibrary('better-sqlite3', { library: 'better-sqlite3' });

function hasBetterSqlite(): boolean {
  const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string>> } };
  // Deno has a `process`, too, and asks before anybody may look at its `env`.
  return nodeMajor() > 0 && !('Deno' in globalThis) && process?.env?.PLIMSOLL_BETTER_SQLITE3 !== undefined;
}

function testLibrary(title: string, options: Pick<SqliteBackendOptions, 'library'>): void {
  const clock = createVirtualClock();
  const suite = testBackend({
    capabilities: { progress: true, writable: true, leases: true },
    open: () => openSqliteBackend({ ...options, file: ':memory:', clock }),
    settle: () => clock.settle(),
    advance: (delayMs) => clock.advance(delayMs),
  });
  // The library is loaded before time is virtual.
  test(`${title}: opens and closes`, async () => {
    const backend = await openSqliteBackend({ ...options, file: ':memory:' });
    equal((await backend.status({})).revision, 1);
    await backend[Symbol.asyncDispose]();
  });
  for (const { name, rule, run } of suite) test(`${title}: ${rule} ${name}`, run);

  test(`${title}: a store in front of it`, async () => {
    const backend = await openSqliteBackend({ ...options, file: ':memory:' });
    const store = await openStore<string>({ backend });
    await store.put('a', '1');
    equal(store.get('a')?.value, '1');
    equal(store.revision, 2);
    await store.close();
    await backend[Symbol.asyncDispose]();
  });
}

if (!HAS_SQLITE) {
  test('sqlite: without a library the error says what to install', async () => {
    const error = await rejects(openSqliteBackend({ file: ':memory:' }), { class: BackendError, code: 'BACKEND' });
    equal(error.permanent, true);
    equal(error.message.includes('npm install better-sqlite3'), true);
  });
}

test('sqlite: what is no storage of a Durable Object is refused', () => {
  throws(() => createDurableObjectDriver({} as never), { class: TypeError });
});
