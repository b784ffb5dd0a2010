import { beforeAll, describe, expect, it } from 'vitest';
import { openSqliteBackend } from '../../../src/adapters/sqlite/mod.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { testBackend } from '../../../src/testing/backend-suite.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

const clock = createVirtualClock();
const random = createSeededRandom(1);

describe('SQLite keeps the contract of backends, with node-sqlite3-wasm', () => {
  const cases = testBackend({
    capabilities: { progress: true, writable: true, leases: true },
    open: () => openSqliteBackend({ file: ':memory:', library: 'node-sqlite3-wasm', clock, random }),
    settle: () => clock.settle(),
    advance: (delayMs) => clock.advance(delayMs),
  });

  // Loads the library, which takes real time; the cases give none.
  beforeAll(async () => {
    const backend = await openSqliteBackend({ file: ':memory:', library: 'node-sqlite3-wasm' });
    await backend[Symbol.asyncDispose]();
  });

  it.each(cases.map((one) => [`${one.rule} ${one.name}`, one] as const))('%s', async (_, one) => {
    await one.run();
  });

  it('has cases', () => {
    expect(cases.length).toBeGreaterThan(60);
  });
});
