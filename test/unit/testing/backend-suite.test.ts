import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { BackendAssertionError } from '../../../src/testing/backend-assertion.ts';
import { type BackendSuiteOptions, runBackendCases, testBackend } from '../../../src/testing/backend-suite.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendLeases, BackendWatchItem } from '../../../src/types/backend.ts';
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

/** The calls of leases as members of a plain object. */
function bound(leases: BackendLeases): BackendLeases {
  return {
    grant: (request) => leases.grant(request),
    keepAlive: (request) => leases.keepAlive(request),
    revoke: (request) => leases.revoke(request),
    timeToLive: (request) => leases.timeToLive(request),
    list: (request) => leases.list(request),
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

  describe('ends a case, and disposes of its backend, when there is never an answer from', () => {
    const never = () => new Promise<never>(() => {});
    type Broken = { readonly rule: string; readonly caughtBy: string; readonly what: string } & {
      readonly change: (options: BackendSuiteOptions) => Partial<BackendSuiteOptions>;
    };
    const wrapped = (members: (backend: Backend) => Partial<Backend>) => (options: BackendSuiteOptions) => ({
      open: async () => {
        const backend = await options.open();
        return wrap(backend, members(backend));
      },
    });
    const lease = (members: (leases: BackendLeases) => Partial<BackendLeases>) =>
      wrapped(({ leases }) => ({ leases: { ...bound(leases as BackendLeases), ...members(leases as BackendLeases) } }));
    const stream = (change: Partial<AsyncIterator<BackendWatchItem>>, members: Partial<Backend> = {}) =>
      wrapped((backend) => ({
        watch: (request) => {
          const items = backend.watch(request)[Symbol.asyncIterator]();
          return { [Symbol.asyncIterator]: () => ({ next: () => items.next(), ...change }) };
        },
        ...members,
      }));
    // A lease of a few ms: `advance` is given as much real time before it counts as hanging.
    const short: (options: BackendSuiteOptions) => Partial<BackendSuiteOptions> = lease((leases) => ({
      grant: async (request) => ({ ...(await leases.grant(request)), ttlMs: 4 }),
    }));
    const broken: readonly Broken[] = [
      { rule: 'B2', caughtBy: 'status', what: 'open', change: () => ({ open: never }) },
      { rule: 'B2', caughtBy: 'status', what: 'status', change: wrapped(() => ({ status: never })) },
      { rule: 'B2', caughtBy: 'several ranges', what: 'range', change: wrapped(() => ({ range: never })) },
      { rule: 'B2', caughtBy: 'status', what: 'a transaction', change: wrapped(() => ({ txn: never })) },
      { rule: 'store:R22', caughtBy: 'compaction', what: 'compact', change: wrapped(() => ({ compact: never })) },
      { rule: 'B4', caughtBy: 'a stream opens', what: 'stream', change: stream({ next: never }) },
      { rule: 'B11', caughtBy: 'a stream', what: 'leaving a stream', change: stream({ return: never }) },
      // The case is over while the stream is not read, and it does not let itself be left: it is disposed of all the same.
      {
        rule: 'B10',
        caughtBy: '',
        what: 'a transaction: expected "an answer"',
        change: stream({ return: never }, { txn: never }),
      },
      { rule: 'store:R43', caughtBy: '', what: 'grant', change: lease(() => ({ grant: never })) },
      { rule: 'store:R43', caughtBy: '', what: 'advance', change: (all) => ({ ...short(all), advance: never }) },
      { rule: 'B7', caughtBy: '', what: 'destroyData', change: () => ({ destroyData: never }) },
      { rule: 'B2', caughtBy: 'status', what: 'commit', change: () => ({ commit: never }) },
      { rule: 'B2', caughtBy: 'status', what: 'dispose', change: () => ({ dispose: never }) },
    ];

    it.each(broken)('$what', async ({ rule, caughtBy, what, change }) => {
      const options = suiteOptions();
      let opened = 0;
      let disposed = 0;
      const changed = { ...options, dispose: async () => void disposed++, ...change(options) };
      const open = async () => {
        const backend = await changed.open();
        opened++;
        return backend;
      };
      const cases = testBackend({ ...changed, open }).filter(
        (one) => one.rule === rule && one.name.startsWith(caughtBy),
      );
      expect(cases.length).toBeGreaterThan(0);
      const { failed } = await runBackendCases(cases);
      const told = failed.map(({ error }) => error);
      expect(told[0]).toBeInstanceOf(BackendAssertionError);
      expect(told.map((error) => (error as Error).message)).toContainEqual(expect.stringContaining(what));
      if (what !== 'dispose') expect(disposed).toBe(opened);
    });
  });

  it('disposes of a backend that is there too late', async () => {
    const options = suiteOptions();
    let arrive = (_: Backend): void => {};
    const disposed: Backend[] = [];
    const late = new Promise<Backend>((resolve) => {
      arrive = resolve;
    });
    const dispose = (backend: Backend) => {
      disposed.push(backend);
      throw new Error('nobody hears this');
    };
    const [one] = testBackend({ ...options, open: () => late, dispose });
    await expect(one?.run()).rejects.toMatchObject({ expected: 'an answer', actual: 'none in time' });
    const backend = await options.open();
    arrive(backend);
    await options.settle?.();
    expect(disposed).toEqual([backend]);
  });

  it('gives `advance` the real time that it takes, however short `settle` is', async () => {
    const options = suiteOptions();
    const { advance } = options;
    // Not before a real timer that is set when all of 500 calls of `settle` are long over.
    const slow = async (delayMs: number): Promise<void> => {
      for (let turn = 0; turn < 600; turn++) await options.settle?.();
      await advance?.(delayMs);
    };
    const cases = testBackend({ ...options, advance: slow }).filter(({ rule }) => rule === 'store:R43');
    expect(cases.length).toBeGreaterThan(1);
    expect((await runBackendCases(cases)).failed).toEqual([]);
  });

  it('rejects with what `onStart` throws, and with nothing else', async () => {
    const stop = new Error('stop');
    const cases = testBackend(suiteOptions());
    const onStart = () => {
      throw stop;
    };
    await expect(runBackendCases(cases, onStart)).rejects.toBe(stop);
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
