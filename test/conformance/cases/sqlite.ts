import { BackendError, openStore } from 'plimsoll';
import { createDurableObjectDriver, openSqliteBackend } from 'plimsoll/sqlite';
import { createVirtualClock, testBackend } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';

/** Runtimes that bring SQLite along; in the project that the suite runs in nothing else is installed. */
const HAS_SQLITE = 'Bun' in globalThis || 'Deno' in globalThis || nodeMajor() >= 22;

/** 0 where there is no Node; a machine of the edge runs in one, and is none. */
function nodeMajor(): number {
  const { process, EdgeRuntime } = globalThis as {
    readonly process?: { readonly versions?: { readonly node?: string } };
    readonly EdgeRuntime?: unknown;
  };
  return EdgeRuntime === undefined ? Number.parseInt(process?.versions?.node ?? '0', 10) : 0;
}

if (HAS_SQLITE) {
  const clock = createVirtualClock();
  const suite = testBackend({
    capabilities: { progress: true, writable: true, leases: true },
    open: () => openSqliteBackend({ file: ':memory:', clock }),
    settle: () => clock.settle(),
    advance: (delayMs) => clock.advance(delayMs),
  });
  // The library is loaded before time is virtual.
  test('sqlite: opens and closes', async () => {
    const backend = await openSqliteBackend({ file: ':memory:' });
    equal((await backend.status({})).revision, 1);
    await backend[Symbol.asyncDispose]();
  });
  for (const { name, rule, run } of suite) test(`sqlite: ${rule} ${name}`, run);

  test('sqlite: a store in front of it', async () => {
    const backend = await openSqliteBackend({ file: ':memory:' });
    const store = await openStore<string>({ backend });
    await store.put('a', '1');
    equal(store.get('a')?.value, '1');
    equal(store.revision, 2);
    await store.close();
    await backend[Symbol.asyncDispose]();
  });
} else {
  test('sqlite: without a library the error says what to install', async () => {
    const error = await rejects(openSqliteBackend({ file: ':memory:' }), { class: BackendError, code: 'BACKEND' });
    equal(error.permanent, true);
    equal(error.message.includes('npm install better-sqlite3'), true);
  });
}

test('sqlite: what is no storage of a Durable Object is refused', () => {
  throws(() => createDurableObjectDriver({} as never), { class: TypeError });
});
