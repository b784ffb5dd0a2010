import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendTxnResponse } from '../../../src/types/backend.ts';
import { BackendError, CompactedError, IdentityChangedError, NotReadyError } from '../../../src/types/errors.ts';
import { brief, Consumer, fillTo, openRig, probe, type ReplicaRig } from '../../support/replica-rig.ts';

const COMPACTED = new CompactedError('watch', { minRevision: 99, compactRevision: 99 });

/** LIVE at 5, with one key. */
async function liveRig(): Promise<ReplicaRig> {
  const rig = await openRig();
  rig.history.commit([{ key: 'k', value: '2' }]);
  fillTo(rig.history, 5);
  await rig.clock.settle();
  expect(rig.store.revision).toBe(5);
  return rig;
}

describe('the state machine, row by row', () => {
  it('PRIMING + snapshot S: published, C = S, W = S + 1; ready only with the stream', async () => {
    const releases: (() => void)[] = [];
    const { store, clock } = await openRig({
      before: ({ history, backend }) => {
        fillTo(history, 7);
        releases.push(backend.hang('watch'));
      },
    });
    expect(() => store.revision).toThrow(NotReadyError);
    const watch = new Consumer(store.watch({ prefix: '' }, { fromRevision: 7 }), clock);
    await watch.drain();
    expect(watch.error).toMatchObject({ code: 'COMPACTED', minRevision: 8, compactRevision: 7 });
    releases[0]?.();
    await clock.settle();
    expect([store.revision, store.compactRevision]).toEqual([7, 7]);
  });

  it('PRIMING + error: tried again after the backoff', async () => {
    const { store, backend, clock } = await openRig({ before: ({ backend }) => backend.fail('range', { times: 2 }) });
    expect(backend.calls.range).toBe(1);
    await clock.advance(49);
    expect(backend.calls.range).toBe(1);
    await clock.advance(1);
    expect(backend.calls.range).toBe(2);
    await clock.advance(100);
    // The third one lists, the fourth verifies.
    expect([backend.calls.range, store.revision]).toEqual([4, 1]);
  });

  it('OPENING + CompactedError: RELISTING, at once', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.holdItems();
    fillTo(history, 8);
    backend.fail('watch', { error: COMPACTED });
    backend.disconnect();
    backend.releaseItems();
    await clock.advance(50);
    // Two lists, and two connections that were verified.
    expect([store.revision, store.stats().replica?.relists, backend.calls.range]).toEqual([8, 1, 4]);
  });

  it('LIVE + CompactedError: RELISTING', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.holdItems();
    fillTo(history, 8);
    backend.disconnect(COMPACTED);
    backend.releaseItems();
    await clock.settle();
    expect([store.revision, store.stats().replica?.relists]).toEqual([8, 1]);
  });

  it('LIVE + change: published in one step with its revision', async () => {
    const { store, history, clock } = await liveRig();
    const consumer = new Consumer(store.watch({ prefix: '' }), clock);
    history.skip(3);
    history.commit([{ key: 'a', value: '1' }, { key: 'b', value: '1' }, { key: 'k' }]);
    expect((await consumer.drain()).map(brief)).toEqual(['9 put a=1, put b=1, del k']);
    expect([store.revision, store.get('k'), store.get('a')?.createRevision]).toEqual([9, undefined, 9]);
  });

  it('LIVE + progress: A rises without a log entry; a smaller one is ignored', async () => {
    const { store, history, backend, clock } = await openRig({ prefixes: ['a/'] });
    fillTo(history, 30);
    backend.injectProgress(20);
    await clock.settle();
    backend.injectProgress(10);
    await clock.settle();
    expect([store.revision, store.stats().logEntries]).toEqual([20, 0]);
    expect(store.range({ prefix: 'a/', revision: 15 }).count).toBe(0);
  });

  it('LIVE + known item: dropped; unknown item: violation and repair', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.repeatItems(2);
    await clock.settle();
    expect(store.stats().replica).toMatchObject({ violations: 0, relists: 0 });
    fillTo(history, 8);
    await clock.settle();
    const kv = { key: new TextEncoder().encode('ghost'), value: new Uint8Array(1), lease: '0' };
    const event = { type: 'put', kv: { ...kv, createRevision: 7, modRevision: 7, version: 1 } } as const;
    backend.inject({ type: 'change', revision: 7, events: [event] });
    await clock.settle();
    expect(store.stats().replica).toMatchObject({ violations: 1, relists: 1 });
    // The list at the same revision was equal: the state stays, the history below is not to be trusted.
    expect([store.revision, store.compactRevision, store.get('ghost')]).toEqual([8, 8, undefined]);
  });

  it('any + disconnect: from A + 1 on, reads go on', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.disconnect();
    fillTo(history, 7);
    // The smallest revision that is needed, to be verified.
    await history.compact({ revision: 5 });
    await clock.settle();
    expect([store.revision, store.get('k')?.value, backend.openStreams]).toEqual([5, '2', 0]);
    await clock.advance(50);
    expect([store.revision, store.stats().replica]).toMatchObject([7, { violations: 0, relists: 0, connections: 2 }]);
    expect(store.get('b/fill', { revision: 6 })?.modRevision).toBe(6);
  });

  it('any + stream that ends without a word: the same', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.endStreams();
    fillTo(history, 7);
    await clock.advance(50);
    expect([store.revision, backend.openStreams]).toEqual([7, 1]);
  });

  it('RELISTING + S = A equal: nothing is published', async () => {
    const { store, backend, clock } = await liveRig();
    const consumer = new Consumer(store.watch({ prefix: '' }), clock);
    await consumer.drain();
    backend.disconnect(COMPACTED);
    await clock.advance(1_000);
    expect([store.revision, store.compactRevision, await consumer.drain()]).toEqual([5, 1, []]);
    expect(store.stats().replica).toMatchObject({ relists: 1, violations: 0 });
  });

  it('RELISTING + S < A: RESET', async () => {
    const { store, backend, clock } = await liveRig();
    backend.fail('watch', { error: COMPACTED });
    backend.replace(createCommitHistory({ revision: 3 }));
    await clock.advance(10_000);
    expect([store.epoch, store.revision]).toEqual([2, 3]);
  });

  it('RELISTING + error, lost answer: the same state, with backoff', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.fail('range', { times: 3 });
    backend.disconnect(COMPACTED);
    fillTo(history, 6);
    await clock.advance(49);
    expect([backend.calls.range, store.revision]).toEqual([3, 5]);
    await clock.advance(10_000);
    expect([backend.calls.range, store.revision]).toEqual([7, 6]);
  });

  it('any + a name that is not the old one: RESET, every watch and wait ends, then primed anew', async () => {
    const { store, history, backend, clock } = await liveRig();
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    backend.holdItems();
    fillTo(history, 8);
    const put = probe(store.put('k', 'old data'));
    await clock.settle();
    const other = createCommitHistory({ identity: 'other', revision: 100 });
    other.commit([{ key: 'new', value: '1' }]);
    backend.replace(other);
    backend.releaseItems();
    await clock.advance(50);
    expect([store.epoch, store.identity, store.revision]).toEqual([2, 'other', 101]);
    expect([store.get('k'), store.get('new')?.value]).toEqual([undefined, '1']);
    expect(put.error).toBeInstanceOf(IdentityChangedError);
    await watch.drain();
    expect(watch.error).toMatchObject({ code: 'IDENTITY_CHANGED', epoch: 2 });
  });

  it('a position of the old data is refused with the epoch of the new ones', async () => {
    const { store, backend, clock } = await liveRig();
    const { identity, revision } = store;
    backend.replace(createCommitHistory({ identity: 'other' }));
    await clock.advance(60_000);
    const watch = new Consumer(store.watch({ prefix: '' }, { fromRevision: revision, identity }), clock);
    await watch.drain();
    expect(watch.error).toMatchObject({ code: 'IDENTITY_CHANGED', epoch: 2 });
  });

  it('reads between a reset and the new list are NotReadyError, never empty', async () => {
    const { store, backend, clock } = await liveRig();
    const release = backend.hang('range');
    backend.replace(createCommitHistory({ identity: 'other' }));
    await clock.advance(50);
    expect(store.epoch).toBe(2);
    expect(() => store.get('k')).toThrow(NotReadyError);
    expect(() => store.get('k')).toThrow(expect.objectContaining({ epoch: 2 }));
    expect(() => store.range({ prefix: '' })).toThrow(NotReadyError);
    const ready = probe(store.ready());
    const watch = new Consumer(store.watch({ prefix: '' }, { initial: true }), clock);
    await watch.drain();
    expect([ready.state, watch.batches.length]).toEqual(['pending', 0]);
    release();
    await watch.drain();
    expect([ready.state, watch.batches.map(brief)]).toEqual(['resolved', ['1 initial']]);
  });

  it('a stream that does not begin with open, or is opened twice, breaks a promise', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.inject({ type: 'open', identity: 'history', revision: 5 });
    await clock.advance(1_000);
    expect(store.stats().replica).toMatchObject({ violations: 1 });
    fillTo(history, 6);
    await clock.settle();
    expect(store.revision).toBe(6);
  });

  it('numbers that cannot be are a failure of the backend, not of the store', async () => {
    const { store, backend, history, clock, logged } = await liveRig();
    backend.inject({ type: 'progress', revision: Number.NaN });
    await clock.advance(1_000);
    fillTo(history, 6);
    await clock.advance(1_000);
    expect([store.revision, logged.includes('The backend failed, trying again')]).toEqual([6, true]);
  });
});

describe('data that were replaced', () => {
  it('are known by a list whose old key has another value, version, create revision or lease (M11)', async () => {
    for (const [index, twist] of (['value', 'version', 'create', 'lease', 'absent'] as const).entries()) {
      const { store, history, backend, clock } = await openRig({ history: { identity: '' } });
      history.commit([{ key: 'k', value: 'x' }]);
      history.commit([{ key: 'k', value: 'y' }]);
      history.commit([{ key: 'm', value: '1' }]);
      await clock.settle();
      const other = createCommitHistory({ identity: '' });
      if (twist === 'version') other.skip(1);
      else other.commit([{ key: twist === 'create' ? 'q' : 'k', value: 'x' }]);
      if (twist === 'absent') other.skip(1);
      else other.commit([{ key: 'k', value: twist === 'value' ? 'z' : 'y', lease: twist === 'lease' ? '7' : '0' }]);
      other.commit([{ key: 'm', value: '1' }]);
      if (twist !== 'absent') other.commit([{ key: 'n', value: '1' }]);
      other.skip(4);
      await other.compact({ revision: other.revision });
      backend.replace(other);
      if (twist === 'absent') backend.fail('watch', { error: COMPACTED });
      await clock.advance(10_000);
      expect([index, store.epoch, store.range({ prefix: '' }).kvs.map(({ key, value }) => `${key}=${value}`)]).toEqual([
        index,
        2,
        other
          .stateAt(other.revision)
          .map((kv) => `${new TextDecoder().decode(kv.key)}=${new TextDecoder().decode(kv.value)}`),
      ]);
    }
  });

  it('an answer about the old data counts for nothing in the new epoch', async () => {
    const { store, history, backend, clock } = await liveRig();
    const release = backend.hang('txn');
    const put = probe(store.put('k', 'late'));
    await clock.settle();
    const other = createCommitHistory({ identity: 'other' });
    fillTo(other, 40);
    backend.replace(other, { keepStreams: true });
    backend.disconnect();
    await clock.advance(100);
    expect(store.epoch).toBe(2);
    backend.replace(history, { keepStreams: true });
    release();
    await clock.settle();
    expect(history.revision).toBe(6);
    backend.replace(other, { keepStreams: true });
    await clock.advance(5_000);
    expect(put.error).toBeInstanceOf(IdentityChangedError);
    expect([store.epoch, store.revision]).toEqual([2, 40]);
  });

  it('a write whose answer comes while a reset is on its way does not wait in the new epoch', async () => {
    for (let distance = 0; distance < 8; distance++) {
      const clock = createVirtualClock();
      const history = createCommitHistory();
      fillTo(history, 5);
      const answers: ((answer: BackendTxnResponse) => void)[] = [];
      const backend: Backend = {
        capabilities: history.capabilities,
        range: (request) => history.range(request),
        status: (request) => history.status(request),
        watch: (request) => history.watch(request),
        compact: (request) => history.compact(request),
        txn: () => new Promise((resolve) => answers.push(resolve)),
        [Symbol.asyncDispose]: async () => {},
      };
      const store = await openStore<string>({ backend, clock, codec: textCodec(), random: () => 0 });
      const foreign = probe(store.delete('none'));
      const put = probe(store.put('k', 'old data'));
      await clock.settle();
      answers[0]?.({ identity: 'other', revision: 9, succeeded: true, responses: [] });
      for (let turn = 0; turn < distance; turn++) await Promise.resolve();
      answers[1]?.({ identity: 'history', revision: 50, succeeded: true, responses: [] });
      await clock.advance(60_000);
      expect([distance, foreign.state, put.state, store.epoch]).toEqual([distance, 'rejected', 'rejected', 2]);
    }
  });

  it('a write is never left waiting, at whatever turn the data are replaced', async () => {
    for (let turns = 0; turns < 60; turns++) {
      const { store, backend, clock } = await liveRig();
      const put = probe(store.put('k', 'old data'));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      // Found by a question, not by the end of the stream: the reset can come between the answer and the wait.
      backend.replace(createCommitHistory({ identity: 'other' }), { keepStreams: true });
      const asked = probe(store.delete('none'));
      await clock.advance(60_000);
      expect([turns, put.state === 'pending', asked.state === 'pending']).toEqual([turns, false, false]);
    }
  });

  it('two data sets that answer in turns are not asked in a hot loop', async () => {
    const { store, history, backend, clock } = await liveRig();
    const other = createCommitHistory({ identity: 'other' });
    const identities = { count: 0 };
    for (let turn = 0; turn < 60; turn++) {
      backend.replace(turn % 2 === 0 ? other : history);
      await clock.advance(1_000);
      identities.count = store.epoch;
    }
    // One reset a turn at most, each with one list and one stream.
    expect(identities.count).toBeLessThanOrEqual(61);
    expect(backend.calls.range).toBeLessThan(130);
    expect(backend.calls.watch).toBeLessThan(300);
  });

  it('a backend that says IdentityChangedError itself is a reset with backoff', async () => {
    const { store, backend, clock } = await liveRig();
    backend.fail('range', { times: 5, error: new IdentityChangedError('list', 9) });
    backend.disconnect(new IdentityChangedError('watch', 9));
    await clock.settle();
    const before = backend.calls.range;
    expect(before).toBe(3);
    await clock.advance(60_000);
    expect([backend.calls.range, store.revision]).toEqual([before + 6, 5]);
    expect(store.epoch).toBeGreaterThan(1);
  });

  it('a watch with the identity of other data ends at once', async () => {
    const { store, clock } = await liveRig();
    const right = new Consumer(store.watch({ prefix: '' }, { fromRevision: 3, identity: 'history' }), clock);
    const wrong = new Consumer(store.watch({ prefix: '' }, { fromRevision: 3, identity: 'gone' }), clock);
    expect((await right.drain()).length).toBe(3);
    await wrong.drain();
    expect(wrong.error).toBeInstanceOf(IdentityChangedError);
  });
});

describe('after a violation', () => {
  it('a progress mark counts only as the answer to a question (M13)', async () => {
    const { store, history, backend, clock } = await openRig({ prefixes: ['a/'] });
    history.commit([{ key: 'a/x', value: '1' }]);
    await clock.settle();
    const kv = { key: new TextEncoder().encode('a/ghost'), value: new Uint8Array(1), lease: '0' };
    const event = { type: 'put', kv: { ...kv, createRevision: 2, modRevision: 2, version: 1 } } as const;
    backend.inject({ type: 'change', revision: 2, events: [event] });
    await clock.settle();
    expect(store.stats().replica).toMatchObject({ violations: 1, relists: 1 });
    fillTo(history, 9);
    backend.injectProgress(9);
    await clock.settle();
    expect(store.revision).toBe(2);
    const none = probe(store.delete('a/none'));
    await clock.settle();
    expect([none.state, store.revision]).toEqual(['resolved', 9]);
  });

  it('lagging watchers end, caught-up ones get the span', async () => {
    const { store, history, backend, clock } = await liveRig();
    const lagging = new Consumer(store.watch({ prefix: '' }, { fromRevision: 3 }), clock);
    const current = new Consumer(store.watch({ prefix: '' }, { prevKv: true }), clock);
    await current.drain();
    backend.holdItems();
    history.commit([{ key: 'late', value: '1' }]);
    fillTo(history, 8);
    backend.injectProgress(7);
    await clock.settle();
    backend.releaseItems();
    await clock.settle();
    expect((await current.drain()).map(brief)).toEqual(['(7,8] put b/fill=v8, put late=1']);
    await lagging.drain();
    expect(lagging.error).toMatchObject({ code: 'COMPACTED', minRevision: 9 });
  });

  it('an own write that history lacks is one (M5)', async () => {
    const { store, backend, clock } = await liveRig();
    backend.dropItems(1);
    const put = probe(store.put('mine', '1'));
    // Dropped, then passed by a progress mark: only the evidence tells. A list at the same revision differs: reset, and
    // whoever waits for a revision of before is told so.
    await clock.advance(10_000);
    expect(put.error).toBeInstanceOf(IdentityChangedError);
    expect(store.stats().replica?.violations).toBe(1);
    expect([store.get('mine')?.value, store.epoch]).toEqual(['1', 2]);
  });

  it('the same for a delete', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.dropItems(1);
    const read = store.delete('k').then(() => store.get('k'));
    // The list that repairs it is of a later revision.
    const release = backend.hang('range');
    await clock.advance(200);
    fillTo(history, 9);
    release();
    await clock.advance(10_000);
    expect([await read, store.stats().replica?.violations, store.epoch]).toEqual([undefined, 1, 1]);
  });

  it('a write that is found missing resolves when it is there: its caller reads what it wrote', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.holdItems();
    const read = store.put('k', 'mine').then(({ revision }) => [revision, store.get('k')?.value]);
    const release = backend.hang('range');
    backend.injectProgress(6);
    await clock.settle();
    fillTo(history, 9);
    release();
    backend.releaseItems();
    await clock.advance(1_000);
    expect(await read).toEqual([6, 'mine']);
    expect(store.stats().replica).toMatchObject({ violations: 1 });
  });

  it('a repaired replica goes on', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.disconnect(new BackendError('watch', 'gone'));
    fillTo(history, 20);
    await clock.advance(10_000);
    expect(store.revision).toBe(20);
  });

  it.each(['named', ''])('M24: a continue token is void after a reset (identity "%s")', async (identity) => {
    const { store, history, backend, clock } = await openRig({ history: { identity } });
    for (const key of ['a', 'b', 'c']) history.commit([{ key, value: 'old' }]);
    await clock.settle();
    const token = store.range({ prefix: '', limit: 1 }).continue ?? '';
    const other = createCommitHistory({ identity: identity === '' ? '' : 'other' });
    for (const key of ['b', 'c']) other.commit([{ key, value: 'new' }]);
    backend.replace(other);
    await clock.advance(1_000);
    for (let count = 0; count < 5; count++) other.commit([{ key: 'c', value: 'new' }]);
    await clock.settle();
    expect([store.epoch, store.revision]).toEqual([2, 8]);
    expect(() => store.range({ prefix: '', continue: token })).toThrow(IdentityChangedError);
  });
});
