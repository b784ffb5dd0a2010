import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { Barrier } from '../../../src/cache/barrier.ts';
import { openStore } from '../../../src/open-store.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendRangeRequest, BackendRangeResponse } from '../../../src/types/backend.ts';
import { BackendError, StaleError } from '../../../src/types/errors.ts';
import { openRig, probe } from '../../support/replica-rig.ts';

const NO_PROGRESS = { progress: false, writable: true } as const;

describe('progress marks that were wrong once (M13)', () => {
  it('are believed no more, asked for or not: the next barriers wait for what is on its way', async () => {
    const { store, history, backend, clock } = await openRig();
    history.commit([{ key: 'k', value: 'old' }]);
    await clock.settle();
    // Answers to requests overtake events, as before etcd-io/etcd#15220 was mended.
    const { watch } = backend;
    backend.watch = (request) => {
      const stream = watch.call(backend, request);
      return Object.assign(stream, { requestProgress: () => backend.injectProgress(history.revision) });
    };
    backend.disconnect();
    await clock.advance(1_000);
    const seen: (string | undefined)[] = [];
    for (let turn = 0; turn < 6; turn++) {
      backend.holdItems();
      history.commit([{ key: 'k', value: `new${turn}` }]);
      const read = store.sync().then(() => store.get('k')?.value);
      await clock.advance(500);
      backend.releaseItems();
      await clock.advance(10_000);
      seen.push(await read);
    }
    expect(seen).toEqual(['old', 'new1', 'new2', 'new3', 'new4', 'new5']);
    expect(store.stats().replica).toMatchObject({ violations: 1 });
  });
});

describe('a stream that cannot be asked, of a backend that offers progress', () => {
  it('is asked otherwise what has changed (M20)', async () => {
    const { store, history, backend, clock } = await openRig({ prefixes: ['a/'] });
    const { watch } = backend;
    backend.watch = (request) => Object.assign(watch.call(backend, request), { requestProgress: undefined });
    backend.disconnect();
    await clock.advance(1_000);
    history.commit([{ key: 'b', value: '1' }]);
    const synced = probe(store.sync());
    await clock.advance(200);
    expect([synced.value, store.revision]).toEqual([history.revision, history.revision]);
  });
});

describe('a question whose answer is lost', () => {
  it.each(['range', 'status'] as const)('is given up and asked again: %s', async (method) => {
    const { store, history, backend, clock } = await openRig({
      prefixes: ['a/'],
      maxStaleMs: 1_000,
      ...(method === 'range' ? { capabilities: NO_PROGRESS } : {}),
    });
    const release = backend.hang(method);
    history.commit([{ key: 'b', value: '1' }]);
    const synced = probe(store.sync());
    await clock.advance(2_000);
    expect(() => store.get('a/k')).toThrow(StaleError);
    // It stays lost: what hangs now never answers. Only the next ones do.
    backend.hang(method);
    void release;
    const { range, status } = backend;
    backend.range = (request) => history.range(request);
    backend.status = (request) => history.status(request);
    await clock.advance(10_000);
    expect(store.get('a/k')).toBeUndefined();
    if (method === 'range') expect(synced.state).toBe('resolved');
    Object.assign(backend, { range, status });
    await store.close();
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('of a backend that hangs: few are under way, however long it does', async () => {
    const { store, backend, clock } = await openRig({ maxStaleMs: 300 });
    const sent: (AbortSignal | undefined)[] = [];
    const { status } = backend;
    backend.status = (request) => {
      sent.push(request.signal);
      return status.call(backend, request);
    };
    backend.hang('status');
    await clock.advance(600_000);
    expect(sent.length).toBeGreaterThan(1_000);
    expect(sent.filter((signal) => signal?.aborted !== true).length).toBeLessThanOrEqual(4);
    await store.close();
  });

  it('a barrier gives its question up with the last who waits for it, and not before', async () => {
    const asked: AbortSignal[] = [];
    const barrier = new Barrier((signal) => {
      asked.push(signal);
      return new Promise(() => {});
    });
    const callers = Array.from({ length: 3 }, () => new AbortController());
    const waits = callers.map(({ signal }) => probe(barrier.position(signal)));
    const clock = createVirtualClock();
    await clock.settle();
    callers[0]?.abort(new Error('first'));
    callers[1]?.abort(new Error('second'));
    await clock.settle();
    expect([asked.length, asked[0]?.aborted, waits.map(({ state }) => state)]).toEqual([
      1,
      false,
      ['rejected', 'rejected', 'pending'],
    ]);
    callers[2]?.abort(new Error('third'));
    await clock.settle();
    expect([asked[0]?.aborted, waits[2]?.error]).toEqual([true, new Error('third')]);
    // All gone before it was sent: who comes in the same turn has one of its own.
    const gone = new AbortController();
    const early = probe(barrier.position(gone.signal));
    gone.abort(new Error('gone'));
    await Promise.resolve();
    const late = probe(barrier.position(undefined));
    await clock.settle();
    expect([early.state, late.state, asked.at(-1)?.aborted]).toEqual(['rejected', 'pending', false]);
  });
});

describe('an answer that cannot be (M36)', () => {
  it.each([
    ['no rows', { kvs: undefined }],
    ['no count', { count: undefined }],
    ['more rows than there are', { count: 0, kvs: [{}] }],
  ])('to what has changed: refused by its name, and asked again: %s', async (_, wrong) => {
    const { store, history, backend, clock, logged } = await openRig({ prefixes: ['a/'], capabilities: NO_PROGRESS });
    history.commit([{ key: 'b', value: '1' }]);
    const { range } = backend;
    backend.range = async (request: BackendRangeRequest) => {
      return { ...(await range.call(backend, request)), ...wrong } as unknown as BackendRangeResponse;
    };
    const synced = probe(store.sync());
    await clock.advance(1_000);
    expect([synced.state, store.epoch]).toEqual(['pending', 1]);
    expect(logged).toContain('A question about the position of the backend has no answer');
    backend.range = range;
    await clock.advance(1_000);
    expect([synced.state, store.epoch]).toEqual(['resolved', 1]);
  });

  it.each([{ kvs: undefined }, { count: undefined }])('to the verification: a failure, and no reset', async (wrong) => {
    const { store, backend, clock } = await openRig();
    const { range } = backend;
    backend.range = async (request: BackendRangeRequest) => {
      return { ...(await range.call(backend, request)), ...wrong } as unknown as BackendRangeResponse;
    };
    backend.disconnect();
    await clock.advance(5_000);
    backend.range = range;
    await clock.advance(20_000);
    expect([store.epoch, store.revision]).toEqual([1, 1]);
  });
});

describe('the end', () => {
  it('a sync that is under way when the replica breaks for good is told what broke it', async () => {
    const permanent = new BackendError('list', 'the password is wrong', { permanent: true });
    const { store, backend, clock } = await openRig({ before: ({ backend }) => backend.fail('range') });
    backend.hang('status');
    const synced = probe(store.sync());
    backend.fail('range', { error: permanent });
    await clock.advance(1_000);
    expect(synced.error).toBe(permanent);
    await store.close();
  });

  it('foreign traffic takes none of the history that retention keeps, on a backend without progress', async () => {
    const { store, history, clock } = await openRig({ prefixes: ['a/'], capabilities: NO_PROGRESS, maxStaleMs: 3_000 });
    history.commit([{ key: 'a/x', value: '1' }]);
    await clock.settle();
    const { revision } = store;
    const watch = store.watch({ prefix: 'a/' }, { fromRevision: revision });
    for (let count = 0; count < 12_000; count++) {
      history.commit([{ key: 'b/other', value: 'x' }]);
      await clock.advance(1_000);
    }
    expect([store.stats().logEntries, store.compactRevision]).toEqual([1, 1]);
    expect((await watch.next()).value).toMatchObject({ revision, events: [{ type: 'put' }] });
  });

  it('who waits for a lock waits on, however old the state is; what is read is refused', async () => {
    const clock = createVirtualClock();
    const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
    const faulty = createFaultyBackend(createMemoryBackend(data), { clock });
    const others = await openStore({ backend: createMemoryBackend(data), clock });
    const backend: Backend = faulty;
    const store = await openStore({ backend, clock, maxStaleMs: 1_000 });
    const first = await others.acquireLock('L');
    const second = new AbortController();
    const between = probe(others.acquireLock('L', { signal: second.signal }));
    await clock.advance(100);
    const waits = probe(store.acquireLock('L', { ttlMs: 60_000 }));
    await clock.advance(100);
    faulty.fail('status', { times: 1_000 });
    await clock.advance(2_000);
    expect(() => store.get('k')).toThrow(StaleError);
    expect(() => store.leader('L')).toThrow(StaleError);
    second.abort(new Error('no longer'));
    await clock.advance(100);
    expect([between.state, waits.state]).toEqual(['rejected', 'pending']);
    await first.release();
    await clock.advance(100);
    expect(waits.state).toBe('resolved');
    await store.close();
    await others.close();
    await data.close();
  });
});
