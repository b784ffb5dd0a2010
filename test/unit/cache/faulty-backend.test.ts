import { describe, expect, it } from 'vitest';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { BackendWatchItem } from '../../../src/types/backend.ts';
import { probe } from '../../support/replica-rig.ts';

const ALL = [{ start: new Uint8Array(0), end: new Uint8Array(0) }];

function setUp(options: { unordered?: boolean } = {}) {
  const clock = createVirtualClock();
  const history = createCommitHistory(options);
  const backend = createFaultyBackend(history, { clock });
  const open = () => {
    const found: { items: string[]; error: unknown; isDone: boolean } = { items: [], error: undefined, isDone: false };
    const stream = backend.watch({ ranges: ALL, fromRevision: 2 });
    const run = async () => {
      for await (const item of stream) found.items.push(brief(item));
      found.isDone = true;
    };
    run().catch((error: unknown) => {
      found.error = error;
    });
    return { found, stream };
  };
  const commit = (key: string) => history.commit([{ key, value: '1' }]);
  return { clock, history, backend, open, commit };
}

function brief(item: BackendWatchItem): string {
  return `${item.type} ${item.revision}`;
}

describe('the verbs of the faulty backend', () => {
  it('hold and release, repeat and replay, drop, inject', async () => {
    const { clock, backend, open, commit } = setUp();
    const { found } = open();
    await clock.settle();
    backend.holdItems();
    commit('a');
    commit('b');
    await clock.settle();
    expect(found.items).toEqual(['open 1']);
    backend.releaseItems();
    await clock.settle();
    expect(found.items.splice(0)).toEqual(['open 1', 'change 2', 'change 3']);
    backend.repeatItems();
    backend.replayItems(2);
    await clock.settle();
    expect(found.items.splice(0)).toEqual(['change 3', 'change 2', 'change 3']);
    backend.dropItems();
    commit('c');
    commit('d');
    await clock.settle();
    backend.injectProgress(99);
    await clock.settle();
    expect(found.items).toEqual(['change 5', 'progress 99']);
  });

  it('delay takes the time of the clock', async () => {
    const { clock, backend, open, commit } = setUp();
    const { found } = open();
    await clock.settle();
    backend.delayItems(100);
    commit('a');
    await clock.advance(99);
    expect(found.items).toEqual(['open 1']);
    await clock.advance(2);
    expect(found.items).toEqual(['open 1', 'change 2']);
    expect(() => createFaultyBackend(createCommitHistory()).delayItems(1)).toThrow(TypeError);
  });

  it('disconnect ends with an error, endStreams without', async () => {
    const { clock, backend, open } = setUp();
    const [one, two] = [open(), open()];
    await clock.settle();
    expect(backend.openStreams).toBe(2);
    backend.disconnect();
    await clock.settle();
    expect([one.found.error, two.found.error]).toMatchObject([{ code: 'BACKEND' }, { code: 'BACKEND' }]);
    const three = open();
    await clock.settle();
    backend.endStreams();
    await clock.settle();
    expect([three.found.isDone, three.found.error, backend.openStreams]).toEqual([true, undefined, 0]);
  });

  it('fail: before the call, or after it with the answer lost', async () => {
    const { history, backend } = setUp();
    const put = { type: 'put', key: Uint8Array.of(1), value: new Uint8Array(0) } as const;
    const request = { compare: [], then: [put], else: [] };
    backend.fail('txn');
    await expect(backend.txn(request)).rejects.toMatchObject({ maybeCommitted: false });
    expect(history.revision).toBe(1);
    backend.fail('txn', { when: 'after' });
    await expect(backend.txn(request)).rejects.toMatchObject({ maybeCommitted: true });
    expect([history.revision, backend.calls.txn]).toEqual([2, 2]);
    backend.fail('status', { times: 2, error: 'no' });
    await expect(backend.status({})).rejects.toBe('no');
    await expect(backend.status({})).rejects.toBe('no');
    expect(await backend.status({})).toEqual({ identity: 'history', revision: 2 });
  });

  it('hang, offline, heal; a call under way is lost when the connection is', async () => {
    const { clock, backend, open } = setUp();
    backend.hang('range');
    const [range, stream] = [probe(backend.range({ ranges: ALL })), open()];
    await clock.settle();
    expect([range.state, stream.found.items]).toEqual(['pending', ['open 1']]);
    backend.offline();
    await clock.settle();
    expect([range.state, stream.found.error]).toMatchObject(['rejected', { code: 'BACKEND' }]);
    await expect(backend.status({})).rejects.toMatchObject({ code: 'BACKEND' });
    backend.heal();
    expect((await backend.range({ ranges: ALL })).revision).toBe(1);
  });

  it('remember and answerStale: old answers, in full', async () => {
    const { backend, commit } = setUp();
    commit('a');
    await backend.remember();
    commit('b');
    backend.answerStale(2);
    expect(await backend.range({ ranges: ALL })).toMatchObject({ revision: 2, count: 1 });
    expect(await backend.status({})).toMatchObject({ revision: 2 });
    expect(await backend.status({})).toMatchObject({ revision: 3 });
    expect(() => createFaultyBackend(createCommitHistory()).answerStale()).toThrow(TypeError);
  });

  it('replace: other data answer', async () => {
    const { clock, backend, open } = setUp();
    const { found } = open();
    await clock.settle();
    backend.replace(createCommitHistory({ identity: 'other', revision: 7 }), { keepStreams: true });
    expect([await backend.status({}), found.error]).toEqual([{ identity: 'other', revision: 7 }, undefined]);
    backend.replace(createCommitHistory({ identity: 'third' }));
    await clock.settle();
    expect(found.error).toMatchObject({ code: 'BACKEND' });
  });
});

describe('a history fed by hand', () => {
  it('shows nothing above what is held back (B3)', async () => {
    const { clock, history, open, commit, backend } = setUp();
    const { found } = open();
    const held = history.hold([{ key: 'h', value: '1' }]);
    commit('a');
    const put = { type: 'put', key: Uint8Array.of(1), value: new Uint8Array(0) } as const;
    const txn = probe(backend.txn({ compare: [], then: [put], else: [] }));
    await clock.settle();
    expect([found.items, history.revision, txn.state]).toEqual([['open 1'], 1, 'pending']);
    expect((await backend.range({ ranges: ALL })).count).toBe(0);
    held.release();
    await clock.settle();
    expect([found.items, txn.value?.revision]).toEqual([['open 1', 'change 2', 'change 3', 'change 4'], 4]);
  });

  it('and breaks that promise on request', async () => {
    const { clock, history, open, commit } = setUp({ unordered: true });
    const { found } = open();
    const held = history.hold([{ key: 'h', value: '1' }]);
    commit('a');
    await clock.settle();
    expect([found.items, history.revision]).toEqual([['open 3', 'change 3'], 3]);
    held.release();
    await clock.settle();
    expect(found.items).toEqual(['open 3', 'change 3', 'change 2']);
  });

  it('knows every state, compacted or not', async () => {
    const { history, commit } = setUp();
    commit('a');
    history.skip(3);
    history.commit([{ key: 'a' }, { key: 'b', value: '1' }]);
    await history.compact({ revision: 6 });
    expect([2, 5, 6].map((revision) => history.stateAt(revision).length)).toEqual([1, 1, 1]);
    expect(history.eventsOf(2, 6).map(({ revision, events }) => [revision, events.length])).toEqual([
      [2, 1],
      [6, 2],
    ]);
    await expect(history.range({ ranges: ALL, revision: 5 })).rejects.toMatchObject({ code: 'COMPACTED' });
    await expect(history.range({ ranges: ALL, revision: 7 })).rejects.toMatchObject({ code: 'FUTURE_REVISION' });
  });
});
