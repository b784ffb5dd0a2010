import { describe, expect, it } from 'vitest';
import {
  BackendError,
  ClosedError,
  ConflictError,
  isRetryable,
  NotAppliedError,
  UnsupportedError,
} from '../../../src/types/errors.ts';
import { Consumer, fillTo, openRig, probe } from '../../support/replica-rig.ts';

describe('own writes', () => {
  it('never change the state by their answer, also when it is the next revision (M2)', async () => {
    const { store, backend, clock } = await openRig();
    backend.holdItems();
    const put = probe(store.put('k', '1'));
    await clock.settle();
    expect([put.state, store.revision, store.get('k')]).toEqual(['pending', 1, undefined]);
    backend.releaseItems();
    await clock.settle();
    expect([put.value, store.get('k')?.version]).toEqual([{ revision: 2 }, 1]);
  });

  it('resolve when the stream was faster than the answer', async () => {
    const { store, backend, clock } = await openRig();
    const release = backend.hang('txn');
    const put = probe(store.put('k', '1'));
    release();
    await clock.settle();
    expect(put.value).toEqual({ revision: 2 });
  });

  it('resolve at once outside of what is replicated, and when nothing is touched (M3)', async () => {
    const { store, backend, clock } = await openRig({ prefixes: ['a/'] });
    backend.holdItems();
    const put = probe(store.put('z', '1'));
    const none = probe(store.delete({ start: 'b', end: 'a' }));
    const empty = probe(store.txn({}));
    await clock.settle();
    expect([put.value, none.value, empty.state]).toEqual([{ revision: 2 }, { revision: 2, deleted: 0 }, 'resolved']);
    const compared = probe(
      store.txn({ compare: [{ key: 'a/k', target: 'version', result: '=', value: 0 }], then: [] }),
    );
    await clock.settle();
    expect(compared.state).toBe('pending');
    backend.releaseItems();
    await clock.advance(100);
    expect(compared.value).toEqual({ revision: 2, succeeded: true, responses: [] });
  });

  it('answer with what was before, and count', async () => {
    const { store, clock } = await openRig();
    const run = async <T>(promise: Promise<T>) => {
      const found = probe(promise);
      await clock.advance(100);
      expect(found.error).toBeUndefined();
      return found.value;
    };
    await run(store.put('a', '1'));
    expect(await run(store.put('a', '2', { prevKv: true }))).toMatchObject({
      revision: 3,
      prevKv: { key: 'a', value: '1', modRevision: 2, version: 1 },
    });
    await run(store.put('b', '1', { expect: { modRevision: 0 } }));
    const ranged = await run(
      store.txn({
        then: [
          { type: 'range', prefix: '', limit: 1 },
          { type: 'range', prefix: '', countOnly: true },
          { type: 'put', key: 'c', value: '1' },
          { type: 'range', start: 'z', end: '' },
        ],
      }),
    );
    expect(ranged?.responses).toMatchObject([
      { type: 'range', count: 2, more: true, kvs: [{ key: 'a', value: '2' }] },
      { type: 'range', count: 2, more: false, kvs: [] },
      { type: 'put' },
      { type: 'range', count: 0, more: false, kvs: [] },
    ]);
    expect(await run(store.delete({ prefix: '' }, { prevKv: true }))).toMatchObject({
      deleted: 3,
      prevKvs: [{ key: 'a' }, { key: 'b' }, { key: 'c' }],
    });
    expect(store.range({ prefix: '' }).count).toBe(0);
  });

  it('a range that selects nothing deletes nothing, whatever its bytes look like to a backend', async () => {
    const { store, history, clock } = await openRig();
    history.commit([
      { key: 'b', value: '1' },
      { key: 'c', value: '1' },
    ]);
    await clock.settle();
    for (const range of [
      { start: 'b', end: '' },
      { start: '', end: '' },
      { start: 'c', end: 'b' },
    ]) {
      expect(await store.delete(range)).toEqual({ revision: 2, deleted: 0 });
    }
    expect(history.revision).toBe(2);
  });

  it('a signal aborted before means no effect; bad arguments are found before the backend is', async () => {
    const { store, backend } = await openRig();
    await expect(store.put('k', '1', { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    await expect(store.put('', '1')).rejects.toMatchObject({ code: 'INVALID_KEY' });
    await expect(store.put('k', '1', { expect: { modRevision: -1 } })).rejects.toBeInstanceOf(RangeError);
    await expect(store.delete({ prefix: 'k' }, { expect: { modRevision: 1 } })).rejects.toBeInstanceOf(TypeError);
    await expect(store.put('k', 7 as unknown as string)).rejects.toMatchObject({ code: 'VALUE' });
    await expect(store.compact(-1)).rejects.toBeInstanceOf(RangeError);
    expect([backend.calls.txn, backend.calls.compact]).toEqual([0, 0]);
  });
});

describe('a write that is committed and not seen (M4)', () => {
  it('is NotAppliedError with its answer when the signal aborts the wait', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.holdItems();
    const abort = new AbortController();
    const reason = new Error('enough');
    const put = probe(store.put('k', '1', { signal: abort.signal, prevKv: true }));
    await clock.settle();
    abort.abort(reason);
    await clock.settle();
    expect(put.error).toBeInstanceOf(NotAppliedError);
    expect(put.error).toMatchObject({ revision: 2, result: { revision: 2 }, cause: reason });
    expect([isRetryable(put.error), history.revision]).toEqual([false, 2]);
  });

  it('is NotAppliedError when the store closes', async () => {
    const { store, backend, clock } = await openRig();
    backend.holdItems();
    const put = probe(store.put('k', '1'));
    const deleted = probe(store.delete('k'));
    await clock.settle();
    await store.close();
    expect(put.error).toMatchObject({ code: 'NOT_APPLIED', revision: 2, result: { revision: 2 } });
    expect(deleted.error).toMatchObject({ code: 'NOT_APPLIED', revision: 3, result: { revision: 3, deleted: 1 } });
    expect((put.error as Error).cause).toBeInstanceOf(ClosedError);
  });

  it('at whatever turn the store closes: it was not sent, maybe committed, or committed', async () => {
    const codes = new Set<string>();
    for (let turns = 0; turns < 40; turns++) {
      const { store, history } = await openRig();
      const put = probe(store.put('k', '1'));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await store.close();
      for (let turn = 0; turn < 40; turn++) await Promise.resolve();
      const error = put.error as { code: string; maybeCommitted?: boolean; revision?: number } | undefined;
      codes.add(error?.code ?? put.state);
      if (error?.code === 'NOT_APPLIED' || error === undefined) expect(history.revision).toBe(2);
      else expect(error.maybeCommitted).toBe(true);
    }
    expect([...codes].sort()).toEqual(['BACKEND', 'NOT_APPLIED', 'resolved']);
  });

  it('but a guarded write that did not happen stays a conflict', async () => {
    const { store, backend, clock } = await openRig();
    backend.holdItems();
    const put = probe(store.put('k', '1', { expect: { modRevision: 7 } }));
    const none = probe(store.delete('k', { expect: { modRevision: 7 } }));
    await clock.settle();
    await store.close();
    expect([put.state, none.state]).toEqual(['rejected', 'rejected']);
    expect(put.error).toBeInstanceOf(ConflictError);
  });
});

describe('a write whose answer is lost', () => {
  it('may be committed, and is not to be repeated blindly', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.fail('txn', { when: 'after', error: new Error('socket hang up') });
    const put = probe(store.put('k', '1'));
    await clock.settle();
    expect(put.error).toBeInstanceOf(BackendError);
    expect(put.error).toMatchObject({ maybeCommitted: true, cause: { message: 'socket hang up' } });
    expect([isRetryable(put.error), history.revision, store.get('k')?.value]).toEqual([false, 2, '1']);
  });

  it('an error that the backend names itself passes as it is', async () => {
    const { store, backend } = await openRig();
    const refused = new BackendError('call txn', 'overloaded');
    backend.fail('txn', { error: refused });
    await expect(store.put('k', '1')).rejects.toBe(refused);
    backend.fail('txn', { error: new UnsupportedError('write', 'txn') });
    await expect(store.put('k', '1')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('because the store closed under it: maybe committed as well', async () => {
    const { store, backend, clock } = await openRig();
    backend.hang('txn');
    const put = probe(store.put('k', '1'));
    await clock.settle();
    await store.close();
    await clock.settle();
    expect(put.error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
  });

  it('because its signal aborted while the backend was deaf: the reason, at once', async () => {
    const { store, backend, clock } = await openRig();
    backend.hang('txn');
    const abort = new AbortController();
    const put = probe(store.put('k', '1', { signal: abort.signal }));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    expect([put.state, put.error]).toEqual(['rejected', 'enough']);
  });

  it('because it cannot be read: maybe committed as well', async () => {
    const decode = () => {
      throw new SyntaxError('not of this format');
    };
    const encode = (value: string) => new TextEncoder().encode(value);
    const { store, history, clock } = await openRig({ codec: { encode, decode } });
    history.commit([{ key: 'k', value: '1' }]);
    await clock.settle();
    const put = probe(store.put('k', '2', { prevKv: true }));
    await clock.settle();
    expect(put.error).toMatchObject({
      maybeCommitted: true,
      cause: { code: 'VALUE', key: 'k', cause: { message: 'not of this format' } },
    });
    expect(history.revision).toBe(3);
  });
});

describe('a write whose wait is cut short (M4)', () => {
  it('says what each kind of it would have resolved with', async () => {
    const { store, history, backend, clock } = await openRig();
    history.commit([{ key: 'seen', value: '1' }]);
    await clock.settle();
    backend.holdItems();
    const { signal, abort } = controller();
    const writes = [
      store.put('p', '1', { signal, prevKv: true }),
      store.delete('seen', { signal }),
      store.putAll(
        [
          { key: 'a', value: '1' },
          { key: 'b', value: '2' },
        ],
        { signal },
      ),
      store.update(
        (txn) => {
          txn.put('u', '1');
          return 7;
        },
        { signal },
      ),
      store.txn({ then: [{ type: 'put', key: 't', value: '1' }] }, { signal }),
    ].map((write) => probe<unknown>(write));
    await clock.settle();
    abort(new Error('enough'));
    await clock.settle();
    expect(writes.map(({ error }) => (error as NotAppliedError).result)).toEqual([
      { revision: 3 },
      { revision: 4, deleted: 1 },
      { revision: 5 },
      { revision: 6, value: 7, attempts: 1 },
      { revision: 7, succeeded: true, responses: [{ type: 'put' }] },
    ]);
    for (const { error } of writes) expect(error).toMatchObject({ code: 'NOT_APPLIED', cause: new Error('enough') });
  });

  it('an update that did not hold has written nothing: its error is what cut the wait short', async () => {
    const { store, history, backend, clock } = await openRig();
    history.commit([{ key: 'k', value: '1' }]);
    await clock.settle();
    backend.holdItems();
    history.commit([{ key: 'k', value: '2' }]);
    const { signal, abort } = controller();
    const update = probe(store.update((txn) => txn.put('k', `${txn.get('k')} and`), { signal }));
    await clock.settle();
    abort(new Error('enough'));
    await clock.settle();
    expect([update.error, history.revision]).toEqual([new Error('enough'), 3]);
  });
});

function controller(): { readonly signal: AbortSignal; abort(reason: unknown): void } {
  const controlled = new AbortController();
  return { signal: controlled.signal, abort: (reason) => controlled.abort(reason) };
}

describe('while a write waits', () => {
  it('progress is asked for every 100 ms, the status every second, one at a time', async () => {
    const { store, backend, clock } = await openRig();
    backend.holdItems();
    const put = probe(store.put('k', '1'));
    await clock.advance(3_050);
    expect([put.state, backend.calls.status]).toEqual(['pending', 3]);
    const release = backend.hang('status');
    await clock.advance(30_000);
    // Each is given up after five seconds, and then there is the next.
    expect(backend.calls.status).toBe(9);
    release();
    backend.releaseItems();
    await clock.advance(100);
    expect(put.state).toBe('resolved');
    await clock.advance(100);
    expect(clock.pending).toBe(0);
  });

  it('a failing status is no harm', async () => {
    const { store, backend, clock, logged } = await openRig();
    backend.holdItems();
    const put = probe(store.put('k', '1'));
    backend.fail('status', { times: 2 });
    await clock.advance(2_500);
    backend.releaseItems();
    await clock.advance(100);
    expect([put.state, logged]).toEqual([
      'resolved',
      Array(2).fill('A question about the position of the backend has no answer'),
    ]);
  });

  it('before the store is ready it is sent, and waits for the first snapshot', async () => {
    const releases: (() => void)[] = [];
    const { store, history, clock } = await openRig({
      before: ({ backend }) => {
        releases.push(backend.hang('range'));
      },
    });
    const put = probe(store.put('k', '1'));
    await clock.settle();
    expect([put.state, history.revision]).toEqual(['pending', 2]);
    releases[0]?.();
    await clock.settle();
    expect([put.value, store.get('k')?.value]).toEqual([{ revision: 2 }, '1']);
  });
});

describe('writes on a replica of a backend that can only be read', () => {
  it('are refused before anything is sent; history can still be compacted', async () => {
    const { store, history, backend, clock } = await openRig({ capabilities: { progress: true, writable: false } });
    fillTo(history, 5);
    await clock.settle();
    for (const write of [store.put('k', '1'), store.delete('k'), store.txn({ then: [] })]) {
      await expect(write).rejects.toBeInstanceOf(UnsupportedError);
    }
    expect(backend.calls.txn).toBe(0);
    expect(await store.compact(3)).toEqual({ requested: 3, compactRevision: 3 });
  });
});

describe('store.compact on a replica (M17)', () => {
  it('waits for the revision, compacts the backend, then trims the local window', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 5);
    await clock.settle();
    backend.holdItems();
    fillTo(history, 9);
    const compacted = probe(store.compact(6));
    await clock.settle();
    expect([history.compactRevision, compacted.state, store.compactRevision]).toEqual([0, 'pending', 1]);
    backend.releaseItems();
    await clock.settle();
    expect([history.compactRevision, store.stats().replica?.relists]).toEqual([6, 0]);
    expect(compacted.value).toEqual({ requested: 6, compactRevision: 6 });
    expect(() => store.get('b/fill', { revision: 5 })).toThrow('smallest legal revision is 6');
    const watch = new Consumer(store.watch({ prefix: '' }, { fromRevision: 6 }), clock);
    expect((await watch.drain()).length).toBe(4);
  });

  it('does not make a replica list again that was away when it was called', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 5);
    await clock.settle();
    backend.disconnect();
    fillTo(history, 9);
    const compacted = probe(store.compact(8));
    await clock.advance(60_000);
    expect([compacted.value, history.compactRevision]).toEqual([{ requested: 8, compactRevision: 8 }, 8]);
    expect([store.revision, store.stats().replica?.relists]).toEqual([9, 0]);
  });

  it('refuses a revision that nobody has made yet, at once', async () => {
    const { store, backend, clock } = await openRig();
    const compacted = probe(store.compact(7));
    await clock.settle();
    expect(compacted.error).toMatchObject({ code: 'FUTURE_REVISION', revision: 7, currentRevision: 1 });
    expect(backend.calls.compact).toBe(0);
  });

  it('a backend without progress says that nothing has changed here (M20), so that the wait ends', async () => {
    const { store, history, clock } = await openRig({
      prefixes: ['a/'],
      capabilities: { progress: false, writable: true },
    });
    fillTo(history, 9);
    const compacted = probe(store.compact(8));
    await clock.settle();
    expect([history.compactRevision, store.stats().replica?.relists]).toEqual([8, 0]);
    // In the hole that was skipped, so at its end (M16).
    expect(compacted.value).toEqual({ requested: 8, compactRevision: 9 });
  });

  it('compaction by others leaves the local window as it is', async () => {
    const { store, history, clock } = await openRig();
    fillTo(history, 9);
    await clock.settle();
    await history.compact({ revision: 9 });
    await clock.settle();
    expect(store.get('b/fill', { revision: 3 })?.modRevision).toBe(3);
  });

  it('ends with the store while the backend hangs', async () => {
    const { store, backend, clock } = await openRig();
    backend.hang('compact');
    const compacted = probe(store.compact(1));
    await clock.settle();
    await store.close();
    await clock.settle();
    expect(compacted.error).toBeInstanceOf(ClosedError);
  });
});
