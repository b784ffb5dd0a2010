import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { BackendError, ClosedError, CompactedError, NotCachedError, NotReadyError } from '../../../src/types/errors.ts';
import { Consumer, fillTo, openRig, probe } from '../../support/replica-rig.ts';

const PERMANENT = new BackendError('list', 'the certificate is not valid', { permanent: true });

function setUp() {
  const clock = createVirtualClock();
  const history = createCommitHistory();
  const backend = createFaultyBackend(history, { clock });
  const options = { backend, clock, random: () => 0, codec: textCodec() };
  return { clock, history, backend, options };
}

describe('openStore with a backend', () => {
  it('resolves when ready', async () => {
    const { clock, history, backend, options } = setUp();
    fillTo(history, 4);
    const release = backend.hang('watch');
    const opened = probe(openStore(options));
    await clock.advance(1_000);
    expect(opened.state).toBe('pending');
    release();
    await clock.settle();
    expect(opened.value?.revision).toBe(4);
    await opened.value?.close();
  });

  it('rejects with a permanent error, after closing everything', async () => {
    const { clock, backend, options } = setUp();
    backend.fail('range', { error: PERMANENT });
    const opened = probe(openStore(options));
    await clock.settle();
    expect(opened.error).toBe(PERMANENT);
    await clock.advance(60_000);
    expect([backend.calls.range, backend.openStreams, clock.pending]).toEqual([1, 0, 0]);
  });

  it('rejects with the reason of its signal', async () => {
    const { clock, backend, options } = setUp();
    backend.hang('range');
    const abort = new AbortController();
    const opened = probe(openStore({ ...options, signal: abort.signal }));
    await clock.settle();
    abort.abort('later');
    await clock.settle();
    expect([opened.error, clock.pending]).toEqual(['later', 0]);
  });

  it('a permanent error before ready: reads, watches and writes say so from then on', async () => {
    const broken = await openRig({ before: (rig) => rig.backend.fail('range', { error: PERMANENT }) });
    expect(() => broken.store.get('k')).toThrow(PERMANENT);
    expect(() => broken.store.watch({ prefix: '' })).toThrow(PERMANENT);
    await expect(broken.store.ready()).rejects.toBe(PERMANENT);
    await expect(broken.store.put('k', '1')).rejects.toBe(PERMANENT);
    await expect(broken.store.compact(1)).rejects.toBe(PERMANENT);
    expect(broken.backend.calls.txn).toBe(0);
    await broken.store.close();
    expect(() => broken.store.get('k')).toThrow(ClosedError);
  });

  it('a permanent error breaks what already waits', async () => {
    const { store, backend, clock } = await openRig({ before: ({ backend }) => backend.fail('range') });
    const ready = probe(store.ready());
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    const put = probe(store.put('k', '1'));
    await watch.drain();
    backend.fail('range', { error: PERMANENT });
    await clock.advance(50);
    await watch.drain();
    expect([ready.error, watch.error]).toEqual([PERMANENT, PERMANENT]);
    expect(put.error).toMatchObject({ code: 'NOT_APPLIED', revision: 2, cause: PERMANENT });
    expect(clock.pending).toBe(0);
  });

  it('a permanent error leaves open what became of a write under way', async () => {
    const { store, backend, clock } = await openRig({ before: ({ backend }) => backend.fail('range') });
    backend.hang('txn');
    const put = probe(store.put('k', '1'));
    backend.fail('range', { error: PERMANENT });
    await clock.advance(50);
    expect(put.error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
  });

  it('a closed backend is no store: it is opened in vain, and told', async () => {
    const { clock, backend, options } = setUp();
    const closed = new ClosedError('use the backend');
    for (const method of ['status', 'range', 'watch', 'txn'] as const)
      backend.fail(method, { times: 9, error: closed });
    const opened = probe(openStore(options));
    await clock.settle();
    expect([opened.error, clock.pending]).toEqual([closed, 0]);
  });

  it('a backend that is closed under an open store closes the store: nothing is tried again', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 3);
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    const closed = new ClosedError('use the backend');
    for (const method of ['status', 'range', 'watch', 'txn'] as const)
      backend.fail(method, { times: 9, error: closed });
    backend.disconnect(closed);
    await watch.drain();
    expect(watch.error).toBeInstanceOf(ClosedError);
    expect(() => store.get('k')).toThrow(closed);
    await expect(store.put('k', '1')).rejects.toBe(closed);
    await expect(store.sync()).rejects.toBe(closed);
    const { range, watch: watches } = backend.calls;
    await clock.advance(60_000);
    expect([backend.calls.range, backend.calls.watch, backend.calls.txn, clock.pending]).toEqual([
      range,
      watches,
      0,
      0,
    ]);
  });

  it('a permanent error after ready is tried again with backoff, and reads go on', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 3);
    await clock.settle();
    backend.fail('watch', { times: 4, error: PERMANENT });
    backend.disconnect();
    await clock.advance(300);
    expect(store.revision).toBe(3);
    fillTo(history, 6);
    await clock.advance(20_000);
    expect(store.revision).toBe(6);
  });
});

describe('what is not ready or not cached', () => {
  it('reads before the first snapshot are NotReadyError, retryable, never empty', async () => {
    const { store } = await openRig({ before: ({ backend }) => void backend.hang('range') });
    const reads = [
      () => store.get('k'),
      () => store.range({ prefix: '' }),
      () => store.revision,
      () => store.compactRevision,
    ];
    for (const read of reads) expect(read).toThrow(NotReadyError);
    await expect(store.createSnapshot()).rejects.toBeInstanceOf(NotReadyError);
    expect(store.stats()).toMatchObject({ keys: 0, replica: { connections: 0 } });
    await store.close();
  });

  it('ready() hears its signal', async () => {
    const { store } = await openRig({ before: ({ backend }) => void backend.hang('range') });
    const abort = new AbortController();
    const ready = store.ready({ signal: abort.signal });
    abort.abort('no time');
    await expect(ready).rejects.toBe('no time');
    await expect(store.ready({ signal: AbortSignal.abort('too late') })).rejects.toBe('too late');
    await store.close();
  });

  it('a range is cached only as a whole', async () => {
    const { store, history, clock } = await openRig({ prefixes: ['a/', 'c/', 'a/b/'] });
    history.commit([
      { key: 'a/x', value: '1' },
      { key: 'b/x', value: '1' },
      { key: 'c/x', value: '1' },
    ]);
    await clock.settle();
    const cached = [
      { prefix: 'a/' },
      { prefix: 'a/x' },
      { key: 'a/x' },
      { start: 'a/', end: 'a0' },
      { start: 'a/m', end: 'a/z' },
    ];
    for (const range of cached) expect(store.range(range).count).toBeLessThanOrEqual(1);
    const foreign = [
      { prefix: '' },
      { prefix: 'a' },
      { prefix: 'b/' },
      { key: 'b/x' },
      { start: 'a/' },
      { start: 'a/', end: 'a1' },
      { start: 'a/', end: 'c/z' },
      { start: 'A', end: 'a/z' },
    ];
    for (const range of foreign) {
      const facts = { code: 'NOT_CACHED', range, prefixes: ['a/', 'c/'] };
      expect(() => store.range(range), JSON.stringify(range)).toThrow(expect.objectContaining(facts));
      expect(() => store.watch(range), JSON.stringify(range)).toThrow(NotCachedError);
    }
    expect(() => store.get('b/x')).toThrow(NotCachedError);
    expect(store.range({ start: 'z', end: 'b' }).count).toBe(0);
  });

  it('an empty list of prefixes is refused', async () => {
    const { options } = setUp();
    await expect(openStore({ ...options, prefixes: [] })).rejects.toBeInstanceOf(RangeError);
  });
});

describe('retries', () => {
  it('grow to the maximum and are never a hot loop', async () => {
    const { backend, clock } = await openRig({
      backoff: { baseMs: 100, factor: 2, maxMs: 1_000, jitter: 0 },
      before: ({ backend }) => backend.offline(),
    });
    const at: number[] = [];
    let before = backend.calls.range;
    for (let ms = 0; ms < 6_000; ms += 50) {
      await clock.advance(50);
      if (backend.calls.range > before) at.push(clock.now());
      before = backend.calls.range;
    }
    expect(at).toEqual([100, 300, 700, 1_500, 2_500, 3_500, 4_500, 5_500]);
  });

  it('of a stream that opens and ends at once grow too', async () => {
    const { backend, clock, store } = await openRig({ backoff: { baseMs: 100, factor: 2, maxMs: 10_000, jitter: 0 } });
    for (let turn = 0; turn < 600; turn++) {
      backend.endStreams();
      await clock.advance(100);
    }
    expect(store.stats().replica?.connections).toBeLessThan(400);
    const { connections = 0 } = store.stats().replica ?? {};
    for (let turn = 0; turn < 6_000; turn++) {
      backend.endStreams();
      await clock.advance(10);
    }
    expect((store.stats().replica?.connections ?? 0) - connections).toBeLessThan(20);
  });

  it('of a backend that compacts faster than it is listed grow too', async () => {
    const compacted = new CompactedError('watch', { minRevision: 99, compactRevision: 99 });
    const { history, backend, clock } = await openRig();
    fillTo(history, 5);
    await clock.settle();
    backend.fail('watch', { times: 1_000, error: compacted });
    backend.disconnect();
    await clock.advance(60_000);
    expect(backend.calls.range).toBeLessThan(20);
  });

  it('begin anew after success', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.offline();
    await clock.advance(60_000);
    backend.online();
    await clock.advance(10_000);
    fillTo(history, 3);
    await clock.settle();
    expect(store.revision).toBe(3);
    backend.disconnect();
    fillTo(history, 4);
    await clock.advance(50);
    expect(store.revision).toBe(4);
  });
});

describe('close()', () => {
  it('ends everything while all calls hang', async () => {
    const { store, backend, clock } = await openRig({
      before: ({ backend }) => {
        for (const method of ['range', 'status', 'watch', 'txn', 'compact'] as const) backend.hang(method);
      },
    });
    const ready = probe(store.ready());
    const put = probe(store.put('k', '1'));
    const compacted = probe(store.compact(1));
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    const closed = probe(store.close());
    await watch.drain();
    expect([closed.state, ready.error, compacted.error, watch.error]).toEqual([
      'resolved',
      expect.any(ClosedError),
      expect.any(ClosedError),
      expect.any(ClosedError),
    ]);
    expect(put.error).toMatchObject({ maybeCommitted: true });
    backend.heal();
    await clock.advance(60_000);
    expect([clock.pending, backend.openStreams]).toEqual([0, 0]);
  });

  it.each(['range', 'watch'] as const)('while only %s hangs', async (method) => {
    const { store, backend, clock } = await openRig({ before: ({ backend }) => void backend.hang(method) });
    await store.close();
    backend.heal();
    await clock.advance(60_000);
    expect([clock.pending, backend.openStreams]).toEqual([0, 0]);
  });

  it('in the middle of a backoff, of a relist, and twice', async () => {
    const first = await openRig({ before: ({ backend }) => backend.offline() });
    await Promise.all([first.store.close(), first.store.close()]);
    expect(first.clock.pending).toBe(0);
    const second = await openRig();
    second.backend.hang('range');
    second.backend.disconnect(new CompactedError('watch', { minRevision: 9, compactRevision: 9 }));
    await second.clock.settle();
    await second.store.close();
    await second.store[Symbol.asyncDispose]();
    expect(second.clock.pending).toBe(0);
  });

  it('from inside the logger', async () => {
    const rigs: { close: () => Promise<void> }[] = [];
    const log = () => void rigs[0]?.close();
    const logger = { debug: log, info: log, warn: log, error: log };
    const { store, backend, clock } = await openRig({ logger });
    rigs.push(store);
    backend.disconnect();
    await clock.settle();
    await store.close();
    expect(clock.pending).toBe(0);
    expect(() => store.get('k')).toThrow(ClosedError);
  });

  it('everything after it is ClosedError', async () => {
    const { store, backend } = await openRig();
    await store.close();
    const calls = { ...backend.calls };
    expect(() => store.get('k')).toThrow(ClosedError);
    expect(() => store.range({ prefix: '' })).toThrow(ClosedError);
    expect(() => store.revision).toThrow(ClosedError);
    expect(() => store.watch({ prefix: '' })).toThrow(ClosedError);
    await expect(store.put('k', '1')).rejects.toBeInstanceOf(ClosedError);
    await expect(store.delete('k')).rejects.toBeInstanceOf(ClosedError);
    await expect(store.txn({})).rejects.toBeInstanceOf(ClosedError);
    await expect(store.compact(1)).rejects.toBeInstanceOf(ClosedError);
    await expect(store.ready()).rejects.toBeInstanceOf(ClosedError);
    expect(backend.calls).toEqual(calls);
  });

  it.each([
    ['throws', () => fail()],
    ['rejects', async () => fail()],
  ])('a logger that %s changes nothing', async (_, log) => {
    const { store, history, backend, clock } = await openRig({
      logger: { debug: log, info: log, warn: log, error: log },
    });
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    for (const break_ of [
      () => backend.disconnect(),
      () => backend.inject({ type: 'open', identity: 'history', revision: 2 }),
      () => backend.fail('status'),
      () => backend.replace(createCommitHistory({ identity: 'other' })),
    ]) {
      break_();
      await clock.advance(60_000);
      history.commit([{ key: 'k', value: 'v' }]);
      await clock.advance(60_000);
    }
    expect([store.epoch, store.revision]).toEqual([2, 1]);
    await store.close();
  });
});

function fail(): never {
  throw new Error('disk full');
}
