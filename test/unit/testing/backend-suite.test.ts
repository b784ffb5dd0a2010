import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { BackendAssertionError } from '../../../src/testing/backend-assertion.ts';
import { type BackendSuiteOptions, runBackendCases, testBackend } from '../../../src/testing/backend-suite.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend } from '../../../src/types/backend.ts';
import { type BrokenBackend, type ByteStore, withStreams, wrap } from './broken-backend.ts';
import { BROKEN_CALLS } from './broken-calls.ts';
import { BROKEN_LEASES } from './broken-leases.ts';
import { BROKEN_PROGRESS } from './broken-progress.ts';
import { BROKEN_STREAMS } from './broken-streams.ts';
import { BROKEN_TXNS } from './broken-txns.ts';

const random = createSeededRandom(1);
const CAPABILITIES = { progress: true, writable: true, leases: true } as const;

/** The suite for backends in memory, each behind what `make` puts in front of it. */
function suiteOptions(make: BrokenBackend['make'] = (backend) => backend): BackendSuiteOptions {
  const clock = createVirtualClock();
  const stores = new WeakMap<Backend, ByteStore>();
  return {
    capabilities: CAPABILITIES,
    open: async () => {
      const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
      const backend = make(createMemoryBackend(data), data);
      stores.set(backend, data);
      return backend;
    },
    settle: () => clock.settle(),
    advance: (delayMs) => clock.advance(delayMs),
    destroyData: async (backend) => stores.get(backend)?.close(),
  };
}

describe('a faulty backend without a fault keeps every promise', () => {
  const cases = testBackend(suiteOptions((backend) => createFaultyBackend(backend)));
  for (const { name, rule, run } of cases) it(`${rule}: ${name}`, run);
});

describe('the suite finds', () => {
  const all = [...BROKEN_CALLS, ...BROKEN_TXNS, ...BROKEN_STREAMS, ...BROKEN_PROGRESS, ...BROKEN_LEASES];
  it.each(all)('$fault ($rule)', async ({ rule, caughtBy, make }) => {
    const cases = testBackend(suiteOptions(make)).filter((one) => one.rule === rule);
    const { failed } = await runBackendCases(cases);
    const found = failed.find(({ name }) => name.startsWith(caughtBy));
    expect(failed.map(({ name }) => name)).toContainEqual(expect.stringContaining(caughtBy));
    expect(found?.error).toBeInstanceOf(BackendAssertionError);
    expect(found?.error).toMatchObject({ rule });
  });

  it('something with each of its cases', () => {
    const idle = testBackend(suiteOptions()).filter(
      (one) => !all.some(({ rule, caughtBy }) => rule === one.rule && one.name.startsWith(caughtBy)),
    );
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});

describe('testBackend', () => {
  it('leaves out what the backend cannot do, and what it is told to', () => {
    const options = suiteOptions();
    const names = (changed: Partial<BackendSuiteOptions>) =>
      testBackend({ ...options, ...changed }).map(({ name }) => name);
    const all = names({});
    expect(new Set(all).size).toBe(all.length);
    const noLeases = names({ capabilities: { ...CAPABILITIES, leases: false } });
    expect(all.filter((name) => !noLeases.includes(name)).every((name) => /lease|attaches/.test(name))).toBe(true);
    expect(all.length - names({ capabilities: { ...CAPABILITIES, progress: false } }).length).toBe(3);
    const { advance: _, destroyData: __, ...rest } = options;
    expect(all.length - testBackend(rest).length).toBe(4);
    expect(names({ skip: ['B7', 'the start is inclusive'] }).length).toBe(all.length - 2);
  });

  it('takes a backend that can only be read, with a way to write to its data', async () => {
    const data = new WeakMap<Backend, ByteStore>();
    const clock = createVirtualClock();
    const cases = testBackend({
      capabilities: { progress: true, writable: false },
      open: async () => {
        const store = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
        const readOnly = { progress: true, writable: false } as const;
        const txn = () => Promise.reject(new TypeError('never called'));
        const backend = wrap(createMemoryBackend(store), { capabilities: readOnly, leases: undefined, txn });
        data.set(backend, store);
        return backend;
      },
      settle: () => clock.settle(),
      commit: async (backend, changes) => {
        const then = changes.map(({ key, value }) =>
          value === undefined ? ({ type: 'delete', key } as const) : ({ type: 'put', key, value } as const),
        );
        return (await (data.get(backend) as ByteStore).txn({ then })).revision;
      },
    });
    expect(cases.length).toBeGreaterThan(20);
    expect(await runBackendCases(cases)).toEqual({ passed: cases.length, failed: [] });
  });

  it('fails every case of a backend that says another thing than the suite was told', async () => {
    const options = suiteOptions((backend) => wrap(backend, { capabilities: { progress: false, writable: true } }));
    const { passed, failed } = await runBackendCases(testBackend(options));
    expect([passed, failed[0]?.error]).toEqual([0, expect.any(BackendAssertionError)]);
  });

  it('gives up waiting for a backend that does not answer', async () => {
    const hanging = suiteOptions((backend) => wrap(backend, { status: () => new Promise(() => {}) }));
    const cases = testBackend(hanging).filter(({ rule }) => rule === 'B2');
    const { failed } = await runBackendCases(cases);
    expect(failed[0]?.error).toMatchObject({ rule: 'B2', expected: 'an answer', actual: 'none in time' });
  });

  it('tells what a backend threw instead of an answer, and disposes of it all the same', async () => {
    const broken = new Error('broken');
    let disposed = 0;
    const options = suiteOptions((backend) => wrap(backend, { range: () => Promise.reject(broken) }));
    const cases = testBackend({ ...options, dispose: () => void disposed++ }).filter(({ rule }) => rule === 'B2');
    const { failed } = await runBackendCases(cases);
    expect(failed.map(({ error }) => (error as Error).cause)).toEqual([broken, broken]);
    expect(disposed).toBe(cases.length);
  });

  it('names rule, expected and actual in the error', async () => {
    const options = suiteOptions((backend) =>
      withStreams(backend, async function* (items) {
        for await (const item of items) if (item.type !== 'open') yield item;
      }),
    );
    const [one] = testBackend(options).filter(({ name }) => name.startsWith('a stream opens'));
    const error = await one?.run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'BackendAssertionError', code: 'ASSERTION', rule: 'B4', expected: 'open' });
    expect((error as Error).message).toMatch(/^Cannot rely on B4: the first item of a stream: expected "open", got/);
  });

  it('waits in real time if nothing else is said', async () => {
    const { settle: _, ...options } = suiteOptions();
    const cases = testBackend(options).filter(({ rule }) => rule === 'B6' || rule === 'B1');
    expect((await runBackendCases(cases)).failed).toEqual([]);
  });

  it('refuses options that are missing, unknown or contradict', () => {
    const options = suiteOptions();
    const refused = (changed: object) => () => testBackend(changed as BackendSuiteOptions);
    expect(refused({})).toThrow(/open is not a function/);
    expect(refused({ open: options.open })).toThrow(/capabilities is not an object/);
    expect(refused({ ...options, seetle: 1 })).toThrow(/unknown option seetle/);
    expect(refused({ ...options, skip: ['B99'] })).toThrow(/skip names B99/);
    expect(refused({ ...options, capabilities: { progress: true, writable: false } })).toThrow(
      /needs the option commit/,
    );
  });
});
