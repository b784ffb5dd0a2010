import { describe, expect, it } from 'vitest';
import { type CommitHistory, createCommitHistory } from '../../../src/testing/commit-history.ts';
import { FutureRevisionError, NotReadyError } from '../../../src/types/errors.ts';
import { brief, Consumer, fillTo, openRig, probe, type ReplicaRig } from '../../support/replica-rig.ts';

/** Data without a name: only what they hold tells them apart (M25). */
const UNNAMED = { identity: '' };

type Row = readonly [key: string, value: string];

function unnamed(...commits: readonly (readonly Row[])[]): CommitHistory {
  const history = createCommitHistory(UNNAMED);
  for (const rows of commits) history.commit(rows.map(([key, value]) => ({ key, value })));
  return history;
}

/** LIVE on data without a name: `a` at 2, `k` at 3. */
function liveRig(): Promise<ReplicaRig> {
  return openRig({ history: unnamed([['a', '1']], [['k', 'x']]) });
}

function rows({ store }: ReplicaRig): string[] {
  return store.range({ prefix: '' }).kvs.map(({ key, value }) => `${key}=${value}`);
}

describe('verification after open (M23)', () => {
  it.each([
    ['the newest key has another value', unnamed([['a', '1']], [['k', 'y']], [['n', '1']])],
    ['the newest key was written twice', unnamed([['k', 'x']], [['k', 'x']], [['n', '1']])],
    ['it is another key', unnamed([['a', '1']], [['q', 'x']], [['n', '1']])],
    [
      'there is one more key',
      unnamed(
        [
          ['a', '1'],
          ['b', '1'],
        ],
        [['k', 'x']],
        [['n', '1']],
      ),
    ],
    ['there is one key less', unnamed([['k', '0']], [['k', 'x']], [['n', '1']])],
    [
      'the newest commit wrote one more key',
      unnamed(
        [],
        [
          ['j', 'x'],
          ['k', 'x'],
        ],
        [['n', '1']],
      ),
    ],
  ])('data that went on above what is here are found out: %s', async (_, other) => {
    const rig = await liveRig();
    const { store, backend, clock } = rig;
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    backend.replace(other);
    await clock.advance(50);
    expect(store.epoch).toBe(2);
    expect(rows(rig)).toEqual(other.stateAt(other.revision).map((kv) => `${text(kv.key)}=${text(kv.value)}`));
    await watch.drain();
    expect([watch.batches, watch.error]).toEqual([[], expect.objectContaining({ code: 'IDENTITY_CHANGED' })]);
  });

  it('the same data are gone on with, and a connection costs one question', async () => {
    const rig = await liveRig();
    const { store, history, backend, clock } = rig;
    const before = backend.calls.range;
    backend.disconnect();
    history.commit([{ key: 'n', value: '1' }]);
    await clock.advance(50);
    expect([store.epoch, store.revision, backend.calls.range - before]).toEqual([1, 4, 1]);
    expect(store.stats().replica).toMatchObject({ relists: 0, connections: 2 });
  });

  it('nothing of the stream is applied before the answer, and all of it after', async () => {
    const { store, history, backend, clock } = await liveRig();
    backend.disconnect();
    const release = backend.hang('range');
    history.commit([{ key: 'n', value: '1' }]);
    history.commit([{ key: 'n', value: '2' }]);
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await clock.advance(1_000);
    expect([store.revision, backend.openStreams]).toEqual([3, 1]);
    release();
    expect((await watch.drain()).map(brief)).toEqual(['4 put n=1', '5 put n=2']);
    expect(store.revision).toBe(5);
  });

  it('the first connection is verified as well: not ready before', async () => {
    // The list is answered, and then there are other data.
    const { store, backend, clock } = await openRig({
      history: unnamed([['k', 'x']]),
      before: ({ backend }) => void backend.hang('watch'),
    });
    backend.replace(unnamed([['k', 'y']], [['n', '1']]), { keepStreams: true });
    const release = backend.hang('range');
    backend.heal();
    backend.hang('range');
    await clock.advance(50);
    expect(() => store.revision).toThrow(NotReadyError);
    release();
    backend.heal();
    await clock.advance(50);
    expect([store.epoch, store.get('k')?.value]).toEqual([2, 'y']);
  });

  it('a read above what the backend has: other data', async () => {
    const { store, backend, clock } = await liveRig();
    const error = new FutureRevisionError('range', { revision: 3, currentRevision: 2 });
    backend.disconnect();
    backend.fail('range', { error });
    await clock.advance(50);
    expect([store.epoch, store.revision]).toEqual([2, 3]);
  });

  it('scenario 13: a state that is compacted there is listed again, and the list tells', async () => {
    const { store, history, backend, clock } = await openRig({
      history: unnamed([['a', '1']], [['a', '2']], [['a', '3']], [['a', '4']], [['k', 'x']]),
    });
    expect(store.revision).toBe(history.revision);
    const other = unnamed([['a', '1']], [['a', '2']], [['a', '3']], [['a', '4']], [['k', 'y']]);
    fillTo(other, 18, 'other');
    await other.compact({ revision: 10 });
    backend.replace(other);
    await clock.advance(1_000);
    expect([store.epoch, store.revision, store.get('k')?.value]).toEqual([2, 18, 'y']);
  });

  it('a state that is compacted there, of the same data: a list, and no reset', async () => {
    const { store, history, backend, clock } = await liveRig();
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    backend.disconnect();
    fillTo(history, 9, 'k');
    await history.compact({ revision: 8 });
    await clock.advance(50);
    expect([store.epoch, store.revision, store.stats().replica?.relists]).toEqual([1, 9, 1]);
    expect((await watch.drain()).map(brief)).toEqual(['(3,9] put k=v9']);
  });

  it('history that is shorter than a list takes: the state that was just listed is gone on with, after one list', async () => {
    const { store, history, backend, clock } = await liveRig();
    const { range } = backend;
    // Compacted up to the newest revision right after every list.
    backend.range = async (request) => {
      const list = await range.call(backend, request);
      fillTo(history, history.revision + 1, 'k');
      if (request.revision === undefined) await history.compact({ revision: history.revision });
      return list;
    };
    backend.disconnect();
    fillTo(history, 9, 'k');
    await history.compact({ revision: 9 });
    await clock.advance(1_000);
    expect([store.epoch, store.revision, store.stats().replica?.relists]).toEqual([1, history.revision, 1]);
  });

  it('scenario 15: an answer to a connection that is gone verifies nothing', async () => {
    const { store, backend, clock } = await liveRig();
    backend.disconnect();
    const release = backend.hang('range');
    await clock.advance(50);
    // The question to the old data is under way; they are gone before its answer is here.
    const questions = backend.calls.range;
    backend.replace(unnamed([['a', '1']], [['k', 'y']], [['n', '1']]), { keepStreams: true });
    backend.disconnect();
    await clock.advance(200);
    release();
    await clock.advance(1_000);
    expect(backend.calls.range).toBeGreaterThan(questions);
    expect([store.epoch, store.get('k')?.value]).toEqual([2, 'y']);
  });

  it('a question that fails is asked again with the next connection, after the backoff', async () => {
    const { store, history, backend, clock, logged } = await liveRig();
    backend.disconnect();
    backend.fail('range', { times: 3 });
    history.commit([{ key: 'n', value: '1' }]);
    await clock.advance(49 + 100 + 200);
    expect(store.revision).toBe(3);
    await clock.advance(5_000);
    expect([store.revision, store.epoch]).toEqual([4, 1]);
    expect(logged).toContain('The backend failed, trying again');
  });

  it('an answer at another revision than asked for is a failure, not a proof', async () => {
    const { store, history, clock, backend } = await liveRig();
    const { range } = backend;
    backend.range = async (request) => ({ ...(await range.call(backend, request)), revision: history.revision });
    backend.disconnect();
    history.commit([{ key: 'n', value: '1' }]);
    await clock.advance(60_000);
    expect([store.epoch, store.revision]).toEqual([1, 3]);
    backend.range = range;
    await clock.advance(60_000);
    expect([store.epoch, store.revision]).toEqual([1, 4]);
  });

  it('an empty state is compared by its count', async () => {
    const { store, backend, clock } = await openRig({ history: unnamed([]) });
    backend.replace(unnamed([['a', '1']], [['b', '1']]));
    await clock.advance(50);
    expect([store.epoch, store.range({ prefix: '' }).count]).toEqual([2, 2]);
  });

  it('a commit of thousands of keys is compared by a bounded number of its rows', async () => {
    const many = Array.from({ length: 3_000 }, (_, index): Row => [`k${String(index).padStart(4, '0')}`, 'x']);
    const { store, backend, clock } = await openRig({ history: unnamed(many) });
    const asked: (number | undefined)[] = [];
    const { range } = backend;
    backend.range = (request) => {
      asked.push(request.limit);
      return range.call(backend, request);
    };
    backend.disconnect();
    await clock.advance(50);
    expect([store.epoch, store.range({ prefix: '' }).count, asked]).toEqual([1, 3_000, [128]]);
  });

  it('close while the question is under way ends everything', async () => {
    const { store, backend, clock } = await openRig({
      history: unnamed([['k', 'x']]),
      before: ({ backend }) => void backend.hang('watch'),
    });
    backend.hang('range');
    const ready = probe(store.ready());
    await clock.settle();
    expect(() => store.get('k')).toThrow(NotReadyError);
    await store.close();
    await clock.settle();
    expect([ready.state, clock.pending, backend.openStreams]).toEqual(['rejected', 0, 0]);
  });
});

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
