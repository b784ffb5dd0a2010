import { describe, expect, it } from 'vitest';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { CompactedError, StoreFullError } from '../../../src/types/errors.ts';
import { Consumer, openRig, probe, type ReplicaRig } from '../../support/replica-rig.ts';

/** A replica at its memory limit: it stays at its last true state, and comes back when the data fit again (M35). */

const LIMIT = { memoryBytesMax: 1_114_112 };
const key = (index: number) => `k${index}/`.padEnd(1_000, 'x');

/** Puts `from` to `to` in commits of a hundred. */
function fill(rig: ReplicaRig, from: number, to: number): void {
  for (let index = from; index < to; index += 100) {
    rig.history.commit(Array.from({ length: 100 }, (_, offset) => ({ key: key(index + offset), value: 'v' })));
  }
}

function empty(rig: ReplicaRig, from: number, to: number): void {
  const changes = Array.from({ length: to - from }, (_, offset) => ({ key: key(from + offset) }));
  rig.history.commit(changes);
}

const isSame = (rig: ReplicaRig) => {
  const mine = rig.store.range({ prefix: '' }).kvs.map(({ key: name, modRevision }) => `${name}@${modRevision}`);
  const theirs = rig.history.stateAt(rig.history.revision);
  return mine.join() === theirs.map((kv) => `${new TextDecoder().decode(kv.key)}@${kv.modRevision}`).join();
};

describe('a full replica', () => {
  it('serves its last state, then follows again when the backend shrinks, in the same epoch', async () => {
    const rig = await openRig(LIMIT);
    const { store, clock, history, logged } = rig;
    fill(rig, 0, 2_000);
    await clock.advance(1_000);
    const { revision } = store;
    expect(revision).toBeLessThan(history.revision);
    expect(store.range({ prefix: '' }).count).toBe((revision - 1) * 100);
    expect(logged).toContain('The replica is full, its history was dropped');
    const idle = new Consumer(store.watch({ prefix: '' }), clock);
    const initial = new Consumer(store.watch({ prefix: '' }, { initial: true }), clock);
    const future = new Consumer(store.watch({ prefix: '' }, { fromRevision: history.revision + 3 }), clock);
    await idle.drain();
    await future.drain();
    const put = probe(store.put('own', '1'));
    await clock.advance(5_000);
    expect([put.state, store.revision]).toEqual(['pending', revision]);
    // One commit of nearly 2,000 deletes: neither they nor the difference to the list fit.
    empty(rig, 0, 1_990);
    const shrunk = history.revision;
    await clock.advance(30_000);
    expect([store.revision, store.epoch, store.compactRevision]).toEqual([shrunk, 1, shrunk]);
    expect(isSame(rig)).toBe(true);
    expect([put.state, store.get('own')?.value]).toEqual(['resolved', '1']);
    await idle.drain();
    expect(idle.error).toBeInstanceOf(CompactedError);
    expect(idle.error).toMatchObject({ minRevision: shrunk + 1, compactRevision: shrunk });
    // A watch that has delivered nothing yet goes on.
    expect((await initial.drain())[0]).toMatchObject({ revision: shrunk, initial: true });
    fill(rig, 5_000, 5_100);
    await clock.advance(100);
    expect(isSame(rig)).toBe(true);
    expect((await initial.drain()).map(({ revision: at }) => at)).toEqual([shrunk, shrunk + 1]);
    expect([future.error, (await future.drain()).length]).toEqual([undefined, 1]);
    await store.close();
  });

  it('keeps on trying while the data do not fit, by backoff, and reads go on', async () => {
    const rig = await openRig(LIMIT);
    fill(rig, 0, 2_000);
    await rig.clock.advance(1_000);
    const { revision } = rig.store;
    const before = rig.backend.calls.range;
    await rig.clock.advance(200_000);
    expect(rig.store.revision).toBe(revision);
    expect(rig.store.range({ prefix: '' }).count).toBe((revision - 1) * 100);
    const lists = rig.backend.calls.range - before;
    expect([lists > 15, lists < 40]).toEqual([true, true]);
    empty(rig, 100, 2_000);
    await rig.clock.advance(30_000);
    expect([rig.store.epoch, isSame(rig)]).toEqual([1, true]);
    await rig.store.close();
  });

  it('gives up history before it gives up the difference: caught-up watches get the span', async () => {
    const rig = await openRig({ ...LIMIT, retention: { events: Number.POSITIVE_INFINITY } });
    const { store, clock, backend, history } = rig;
    fill(rig, 0, 200);
    // History: keys that are gone.
    fill(rig, 1_000, 1_600);
    empty(rig, 1_000, 1_600);
    history.commit([{ key: 'last', value: '1' }]);
    await clock.settle();
    expect(store.revision).toBe(history.revision);
    const lagging = store.watch({ prefix: 'k1' }, { fromRevision: 4 });
    const idle = new Consumer(store.watch({ prefix: 'k' }), clock);
    await idle.drain();
    backend.offline();
    fill(rig, 200, 300);
    history.commit([{ key: 'last', value: '2' }]);
    await history.compact({ revision: history.revision });
    backend.online();
    await clock.advance(20_000);
    expect([store.revision, isSame(rig)]).toEqual([history.revision, true]);
    const batches = await idle.drain();
    expect(batches.map(({ span, events }) => [span, events.length])).toEqual([[true, 100]]);
    await expect(lagging.next()).rejects.toBeInstanceOf(CompactedError);
    await store.close();
  });
});

/** The same with a bound on values, which are not in the core: `limits.storeBytes` is the rest of a replica's budget (M35). */
describe('a replica whose values are bounded', () => {
  const value = (length: number) => 'v'.repeat(length);
  const put = (key: string, length: number) => ({ key, value: value(length) });

  it('says what they take, and gives up history for the newest state', async () => {
    const { store, clock, history } = await openRig({ limits: { storeBytes: 100 } });
    expect(store.stats().valueBytes).toBe(0);
    history.commit([put('a', 30)]);
    history.commit([put('a', 40)]);
    await clock.settle();
    expect([store.stats().valueBytes, store.compactRevision]).toEqual([70, 1]);
    history.commit([put('b', 50)]);
    await clock.settle();
    expect([store.revision, store.stats().valueBytes]).toEqual([history.revision, 90]);
    expect(store.compactRevision).toBe(history.revision - 1);
    expect(store.stats().replica).toMatchObject({ relists: 0, violations: 0 });
    await store.close();
  });

  it('takes the list itself where the difference does not fit: watches end, the epoch stays', async () => {
    const { store, clock, history, logged } = await openRig({ limits: { storeBytes: 100 } });
    history.commit([put('a', 60)]);
    await clock.settle();
    const idle = new Consumer(store.watch({ prefix: '' }, { fromRevision: 2 }), clock);
    await idle.drain();
    // 60 and 70 at a time are too much; 70 alone is not.
    history.commit([put('a', 70)]);
    await clock.advance(1_000);
    expect([store.revision, store.epoch, store.stats().valueBytes]).toEqual([history.revision, 1, 70]);
    expect(store.get('a')?.value).toBe(value(70));
    expect(logged).toContain('The difference to the list did not fit, starting anew with the list');
    await idle.drain();
    expect(idle.error).toMatchObject({ name: 'CompactedError', minRevision: history.revision + 1 });
    await store.close();
  });

  it('stays at its last true state while the data do not fit, its writes wait, and it comes back', async () => {
    const { store, clock, history, backend } = await openRig({ limits: { storeBytes: 100 } });
    history.commit([put('a', 60)]);
    await clock.settle();
    const { revision } = store;
    history.commit([put('b', 60)]);
    const own = probe(store.put('own', '1'));
    await clock.advance(60_000);
    expect([store.revision, own.state, store.get('a')?.value]).toEqual([revision, 'pending', value(60)]);
    expect(store.get('b')).toBeUndefined();
    const { range } = backend.calls;
    await clock.advance(100_000);
    expect(backend.calls.range - range).toBeLessThan(25);
    history.commit([{ key: 'a' }]);
    await clock.advance(30_000);
    expect([store.revision, own.state, store.get('own')?.value]).toEqual([history.revision, 'resolved', '1']);
    expect([store.get('a'), store.stats().valueBytes, store.epoch]).toEqual([undefined, 61, 1]);
    await store.close();
  });

  it('deletes fit whatever is there', async () => {
    const history = createCommitHistory();
    for (const key of ['a', 'b']) history.commit([put(key, 50)]);
    const { store, clock } = await openRig({ history, limits: { storeBytes: 100 } });
    history.commit([{ key: 'b' }]);
    await clock.settle();
    expect([store.revision, store.range({ prefix: '' }).count]).toEqual([history.revision, 1]);
    expect(store.stats().replica).toMatchObject({ relists: 0 });
    await store.close();
  });

  it('a first list that does not fit ends the store: it is never shown as less, and never as not there yet', async () => {
    const history = createCommitHistory();
    for (const key of ['a', 'b', 'c']) history.commit([put(key, 50)]);
    const { store, clock } = await openRig({ history, limits: { storeBytes: 149 } });
    await clock.advance(30_000);
    expect(() => store.get('a')).toThrow(StoreFullError);
    await expect(store.ready()).rejects.toMatchObject({ limit: 'storeBytes', max: 149 });
    await store.close();
  });
});
