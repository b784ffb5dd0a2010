import { describe, expect, it } from 'vitest';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { CompactedError, ConflictError, IdentityChangedError } from '../../../src/types/errors.ts';
import { brief, Consumer, fillTo, openRig, probe, type ReplicaRig, startVerdict } from '../../support/replica-rig.ts';

/** A = 9, then away while the backend goes on to 30 and is compacted there; the relist publishes the span (9, 30]. */
async function withSpan(
  meanwhile: (rig: ReplicaRig) => void = ({ history }) => void history.commit([{ key: 'k', value: 'new' }]),
  before: (rig: ReplicaRig) => void = () => {},
): Promise<ReplicaRig> {
  const rig = await openRig();
  rig.history.commit([{ key: 'k', value: 'old' }]);
  fillTo(rig.history, 9);
  await rig.clock.settle();
  expect(rig.store.revision).toBe(9);
  before(rig);
  await relistAt(rig, 30, () => meanwhile(rig));
  expect(rig.store.revision).toBe(30);
  return rig;
}

async function relistAt(rig: ReplicaRig, revision: number, meanwhile: () => void): Promise<void> {
  const { history, backend, clock } = rig;
  backend.offline();
  meanwhile();
  history.skip(revision - history.revision);
  await history.compact({ revision });
  backend.online();
  await clock.advance(60_000);
}

function readVerdict(rig: ReplicaRig, revision: number): number | string | undefined {
  try {
    return rig.store.get('k', { revision })?.value;
  } catch (error) {
    return (error as CompactedError).minRevision;
  }
}

describe('scenarios of the list manager, by the numbers of docs/spec/list-manager.md', () => {
  it('1: an own write behind foreign ones is published by the stream alone, in one step', async () => {
    const rig = await openRig({ prefixes: ['a/'] });
    const { store, history, backend, clock } = rig;
    history.commit([{ key: 'a/x', value: 'old' }]);
    fillTo(history, 4);
    history.commit([{ key: 'a/y', value: '1' }]);
    await clock.settle();
    expect(store.revision).toBe(5);
    const consumer = new Consumer(store.watch({ prefix: 'a/' }), clock);
    backend.holdItems();
    fillTo(history, 9);
    const put = probe(store.put('a/x', 'new'));
    await clock.settle();
    expect([put.state, store.get('a/x')?.value, store.revision]).toEqual(['pending', 'old', 5]);
    backend.releaseItems();
    expect((await consumer.drain()).map(brief)).toEqual(['10 put a/x=new']);
    expect([put.value, store.get('a/x')?.value, store.revision]).toEqual([{ revision: 10 }, 'new', 10]);
  });

  it('2: a delete that hits nothing waits for its revision too', async () => {
    const { store, history, backend, clock } = await openRig({ prefixes: ['a/'] });
    history.commit([{ key: 'a/x', value: 'old' }]);
    await clock.settle();
    backend.holdItems();
    fillTo(history, 9);
    const del = probe(store.delete('a/none'));
    await clock.settle();
    expect([del.state, store.revision]).toEqual(['pending', 2]);
    backend.releaseItems();
    await clock.advance(100);
    expect([del.value, store.revision]).toEqual([{ revision: 9, deleted: 0 }, 9]);
  });

  it('3: a failed compare waits, so that an immediate read sees what it conflicted with', async () => {
    const { store, history, backend, clock } = await openRig();
    history.skip(1);
    history.commit([{ key: 'k', value: 'mine' }]);
    fillTo(history, 5);
    await clock.settle();
    backend.holdItems();
    fillTo(history, 7);
    history.commit([{ key: 'k', value: 'theirs' }]);
    const put = probe(store.put('k', 'again', { expect: { modRevision: 3 } }));
    await clock.settle();
    expect(put.state).toBe('pending');
    backend.releaseItems();
    await clock.settle();
    expect(put.error).toBeInstanceOf(ConflictError);
    expect(put.error).toMatchObject({ expectedRevision: 3, actualRevision: 8 });
    expect([store.revision, store.get('k')?.modRevision]).toEqual([8, 8]);
  });

  it('4: a write is not acknowledged while a smaller number may still commit', async () => {
    const { store, history, clock } = await openRig();
    fillTo(history, 9);
    const held = history.hold([{ key: 'h', value: '1' }]);
    const put = probe(store.put('k', '1'));
    await clock.advance(5_000);
    expect([put.state, store.revision]).toEqual(['pending', 9]);
    held.release();
    await clock.settle();
    expect([put.value, store.revision]).toEqual([{ revision: 11 }, 11]);
    expect(store.get('h')?.modRevision).toBe(10);
  });

  it('5: primed at 20, reads start at 20 and watches at 21', async () => {
    const rig = await openRig({ before: ({ history }) => fillTo(history, 20) });
    expect(await startVerdict(rig, 20)).toBe(21);
    expect(await startVerdict(rig, 21)).toBe(0);
    expect(rig.store.get('b/fill', { revision: 20 })?.modRevision).toBe(20);
    expect(() => rig.store.get('b/fill', { revision: 19 })).toThrow(CompactedError);
    expect(readVerdict(rig, 19)).toBe(20);
  });

  it('6: starts around a hole (9, 30]', async () => {
    const rig = await withSpan();
    const verdicts = await Promise.all([9, 10, 11, 30, 31].map((from) => startVerdict(rig, from)));
    expect(verdicts).toEqual([0, 0, 31, 31, 0]);
    const consumer = new Consumer(rig.store.watch({ prefix: '' }, { fromRevision: 10 }), rig.clock);
    expect((await consumer.drain()).map(brief)).toEqual(['(9,30] put k=new']);
  });

  it('7: reads around a hole (9, 30]', async () => {
    const rig = await withSpan();
    expect([9, 10, 29, 30].map((revision) => readVerdict(rig, revision))).toEqual(['old', 30, 30, 'new']);
  });

  it('8: an empty span is a hole too: a watcher that waits inside ends, idle ones see nothing', async () => {
    const consumers: Consumer[] = [];
    const rig = await withSpan(
      () => {},
      ({ store, clock }) => {
        consumers.push(new Consumer(store.watch({ prefix: 'b/' }, { fromRevision: 15 }), clock));
        consumers.push(new Consumer(store.watch({ prefix: 'b/' }), clock));
      },
    );
    const [inside, idle] = consumers as [Consumer, Consumer];
    await inside.drain();
    expect(inside.error).toBeInstanceOf(CompactedError);
    expect(inside.error).toMatchObject({ minRevision: 31 });
    expect(await idle.drain()).toEqual([]);
    expect(idle.isDone).toBe(false);
    expect([readVerdict(rig, 10), await startVerdict(rig, 11)]).toEqual([30, 31]);
  });

  it('9: deleted, made again and changed while away is one put, with its real numbers', async () => {
    const rig = await openRig();
    const { store, history, clock } = rig;
    fillTo(history, 4);
    history.commit([{ key: 'k', value: 'first' }]);
    fillTo(history, 9);
    await clock.settle();
    const consumer = new Consumer(store.watch({ key: 'k' }, { prevKv: true }), clock);
    await relistAt(rig, 30, () => {
      fillTo(history, 11);
      history.commit([{ key: 'k' }]);
      fillTo(history, 14);
      history.commit([{ key: 'k', value: 'second' }]);
      history.commit([{ key: 'k', value: 'third' }]);
    });
    const [batch] = await consumer.drain();
    expect(batch).toMatchObject({ revision: 30, after: 9, span: true });
    expect(batch?.events).toMatchObject([
      {
        type: 'put',
        kv: { key: 'k', value: 'third', createRevision: 15, modRevision: 16, version: 2 },
        prevKv: { value: 'first', createRevision: 5, modRevision: 5 },
      },
    ]);
  });

  it('9: a key deleted while away is a delete at the revision of the list', async () => {
    const consumers: Consumer[] = [];
    await withSpan(
      ({ history }) => void history.commit([{ key: 'k' }]),
      ({ store, clock }) => consumers.push(new Consumer(store.watch({ prefix: '' }), clock)),
    );
    const [batch] = (await consumers[0]?.drain()) ?? [];
    expect(batch?.events).toEqual([{ type: 'delete', kv: { key: 'k', modRevision: 30 } }]);
  });

  it('10: compaction into a hole moves to its end', async () => {
    const { store, clock } = await withSpan();
    const lagging = store.watch({ prefix: '' }, { fromRevision: 10 });
    const compacted = probe(store.compact(30));
    await clock.settle();
    // The backend was compacted at 30 by others: that is its answer (M17), the local window stays.
    expect(compacted.error).toBeInstanceOf(CompactedError);
    expect(store.compactRevision).toBe(1);
    await lagging.return();
  });

  it('10: and locally too', async () => {
    const rig = await openRig();
    const { store, history, backend, clock } = rig;
    fillTo(history, 9);
    await clock.settle();
    // Replaced by the same data without history: the stream cannot go on, the list is the same and newer.
    backend.offline();
    fillTo(history, 30);
    backend.fail('watch', { error: new CompactedError('watch', { minRevision: 30, compactRevision: 30 }) });
    backend.online();
    await clock.advance(60_000);
    expect(rig.store.stats().replica?.relists).toBe(1);
    const lagging = new Consumer(store.watch({ prefix: '' }, { fromRevision: 10 }), clock);
    expect(await store.compact(20)).toEqual({ requested: 20, compactRevision: 30 });
    await lagging.drain();
    expect(lagging.error).toMatchObject({ code: 'COMPACTED', minRevision: 31 });
    expect([await startVerdict(rig, 30), await startVerdict(rig, 31)]).toEqual([31, 0]);
  });

  it('11: a change below a progress mark is a violation, and repaired by a list', async () => {
    const rig = await openRig();
    const { store, history, backend, clock } = rig;
    fillTo(history, 37);
    await clock.settle();
    backend.holdItems();
    history.commit([{ key: 'late', value: '1' }]);
    fillTo(history, 45);
    backend.injectProgress(40);
    await clock.settle();
    expect([store.revision, store.get('late')]).toEqual([40, undefined]);
    backend.releaseItems();
    await clock.advance(1_000);
    expect(store.stats().replica).toMatchObject({ violations: 1, relists: 1 });
    expect([store.revision, store.compactRevision, store.get('late')?.modRevision]).toEqual([45, 45, 38]);
    expect(await startVerdict(rig, 45)).toBe(46);
  });

  it('12: a change that is known is dropped, however often it comes', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 37);
    history.commit([{ key: 'k', value: '1' }]);
    await clock.settle();
    backend.repeatItems();
    await clock.settle();
    const put = probe(store.put('k', 'own'));
    await clock.settle();
    expect(put.state).toBe('resolved');
    backend.repeatItems();
    backend.replayItems(0);
    await clock.settle();
    expect(store.stats().replica).toMatchObject({ violations: 0, relists: 0 });
    expect([store.revision, store.get('k')?.value]).toEqual([39, 'own']);
  });

  it('12: so is one inside a hole, which the relist has brought; one that no list and no log has is a violation', async () => {
    const rig = await withSpan();
    const { store, backend, clock } = rig;
    const { relists } = store.stats().replica ?? { relists: 0 };
    const numbers = { createRevision: 20, modRevision: 20, version: 1, lease: '0' };
    const kv = { key: new TextEncoder().encode('k'), value: new TextEncoder().encode('"between"'), ...numbers };
    backend.inject({ type: 'change', revision: 20, events: [{ type: 'put', kv }] });
    await clock.advance(60_000);
    expect(store.stats().replica).toMatchObject({ violations: 0, relists });
    expect([store.revision, store.get('k')?.value]).toEqual([30, 'new']);
    const later = { ...kv, createRevision: 9, modRevision: 9, key: new TextEncoder().encode('unknown') };
    backend.inject({ type: 'change', revision: 9, events: [{ type: 'put', kv: later }] });
    await clock.advance(60_000);
    expect(store.stats().replica).toMatchObject({ violations: 1 });
  });

  it('14: data that went back below an own write are found out by asking for the status', async () => {
    const { store, history, backend, clock } = await openRig({ history: { identity: '' } });
    fillTo(history, 5);
    await clock.settle();
    backend.holdItems();
    fillTo(history, 49);
    const put = probe(store.put('k', '1'));
    await clock.settle();
    expect(put.state).toBe('pending');
    const wiped = createCommitHistory({ identity: '' });
    fillTo(wiped, 28);
    // The old connection lives on in silence: only the question can tell.
    backend.replace(wiped, { keepStreams: true });
    await clock.advance(900);
    expect(put.state).toBe('pending');
    await clock.advance(200);
    expect(put.error).toBeInstanceOf(IdentityChangedError);
    backend.releaseItems();
    await clock.advance(10_000);
    expect([store.epoch, store.revision]).toEqual([2, 28]);
  });

  it('15: what an older connection still had to say is ignored', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 5);
    await clock.settle();
    const release = backend.hang('watch');
    backend.disconnect();
    await clock.advance(1_000);
    fillTo(history, 7);
    backend.injectProgress(100);
    backend.disconnect();
    release();
    await clock.advance(1_000);
    expect([store.revision, store.stats().replica?.violations]).toEqual([7, 0]);
  });

  it('16: a quiet watcher outlives retention', async () => {
    const { store, history, clock } = await openRig({ retention: { events: 100 } });
    const consumer = new Consumer(store.watch({ prefix: 'a/' }), clock);
    await consumer.drain();
    for (let round = 0; round < 50; round++) {
      fillTo(history, history.revision + 100);
      await clock.settle();
    }
    history.commit([{ key: 'a/x', value: '1' }]);
    expect((await consumer.drain()).map(brief)).toEqual(['5002 put a/x=1']);
    expect(store.compactRevision).toBeGreaterThan(4_800);
  });

  it('17: a watcher that sleeps longer than retention ends, once', async () => {
    const { store, history, clock } = await openRig({ retention: { events: 100 } });
    const watch = store.watch({ prefix: 'b/' });
    for (let round = 0; round < 3; round++) {
      fillTo(history, history.revision + 67);
      await clock.settle();
    }
    await expect(watch.next()).rejects.toBeInstanceOf(CompactedError);
    expect(await watch.next()).toEqual({ value: undefined, done: true });
  });

  it('23: a delete exactly at the compacted revision is delivered, without what was before', async () => {
    const { store, history, clock } = await openRig();
    fillTo(history, 3);
    history.commit([{ key: 'k', value: '1' }]);
    fillTo(history, 8);
    await clock.settle();
    const watch = store.watch({ key: 'k' }, { prevKv: true });
    history.commit([{ key: 'k' }]);
    await clock.settle();
    await store.compact(9);
    await clock.advance(1_000);
    const expected = [{ type: 'delete', kv: { key: 'k', modRevision: 9 } }];
    expect((await watch.next()).value?.events).toEqual(expected);
    const again = store.watch({ key: 'k' }, { prevKv: true, fromRevision: 9 });
    expect((await again.next()).value?.events).toEqual(expected);
  });

  it('24: a watcher whose filter nothing passes stays idle', async () => {
    const { store, history, clock } = await openRig({ retention: { events: 10 } });
    const consumer = new Consumer(store.watch({ prefix: 'k' }, { filter: 'nodelete' }), clock);
    const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
    history.commit(keys.map((key) => ({ key, value: '1' })));
    await consumer.drain();
    for (const key of keys) history.commit([{ key }]);
    await clock.advance(1_000);
    expect(store.compactRevision).toBeGreaterThan(100);
    history.commit([{ key: 'k-new', value: '1' }]);
    expect((await consumer.drain()).map(brief).slice(1)).toEqual(['203 put k-new=1']);
    expect(consumer.isDone).toBe(false);
  });

  it('25: the initial batch of an empty prefix comes, empty', async () => {
    const { store, history, clock } = await openRig();
    fillTo(history, 7);
    await clock.settle();
    const consumer = new Consumer(store.watch({ prefix: 'none/' }, { initial: true }), clock);
    expect(await consumer.drain()).toEqual([{ revision: 7, initial: true, events: [] }]);
    history.commit([{ key: 'none/x', value: '1' }]);
    expect((await consumer.drain()).slice(1).map(brief)).toEqual(['8 put none/x=1']);
  });

  it.each([
    ['by number', undefined, 10_001],
    ['by age', { ageMs: 60_000 }, 1],
  ] as const)('invariant 11: a relist larger than retention %s ends no idle watcher', async (_, retention, count) => {
    const { store, history, backend, clock } = await openRig(retention === undefined ? {} : { retention });
    fillTo(history, 9);
    const consumer = new Consumer(store.watch({ prefix: '' }), clock);
    await consumer.drain();
    backend.offline();
    await clock.advance(61_000);
    history.commit(Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 'v' })));
    fillTo(history, 20);
    await history.compact({ revision: 20 });
    backend.online();
    await clock.advance(20_000);
    const batches = await consumer.drain();
    expect(consumer.error).toBeUndefined();
    expect(batches.at(-1)).toMatchObject({ span: true, after: 9, revision: 20 });
    expect(batches.at(-1)?.events.length).toBe(count + 1);
    await store.close();
  });
});
