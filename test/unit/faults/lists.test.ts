import { describe, expect, it } from 'vitest';
import { ConflictError, NotReadyError } from '../../../src/types/errors.ts';
import { brief, Consumer, fillTo, openRig, probe } from '../../support/replica-rig.ts';
import { KINDS, type Opened, type StoreOptions, take, withStore } from './both.ts';

describe('faults of a list cache, by number (store:F1-F20): what is kept and shown', () => {
  it('F1: a stale delete removes no live key', async () => {
    const { store, history, backend, clock } = await openRig();
    history.commit([{ key: 'k', value: '1' }]);
    history.commit([{ key: 'k' }]);
    history.commit([{ key: 'k', value: '2' }]);
    await clock.settle();
    backend.inject({ type: 'change', revision: 3, events: [{ type: 'delete', key: bytes('k'), modRevision: 3 }] });
    await clock.settle();
    expect([store.get('k')?.modRevision, store.revision]).toEqual([4, 4]);
  });

  it('F2: a stale insert revives no dead key', async () => {
    const { store, history, backend, clock } = await openRig();
    history.commit([{ key: 'k', value: '1' }]);
    history.commit([{ key: 'k' }]);
    await clock.settle();
    backend.replayItems(2);
    backend.replayItems(2);
    await clock.settle();
    expect([store.get('k'), store.revision]).toEqual([undefined, 3]);
  });

  it('F3: a write that finds nothing changes nothing here', async () => {
    const { store, history, clock } = await openRig();
    history.commit([{ key: 'k', value: '1' }]);
    await clock.settle();
    const lost = probe(store.put('k', 'mine', { expect: { modRevision: 9 } }));
    const none = probe(store.delete('other'));
    history.commit([{ key: 'k', value: 'theirs' }]);
    await clock.settle();
    expect(lost.error).toBeInstanceOf(ConflictError);
    expect(none.value).toMatchObject({ deleted: 0 });
    expect(store.get('k')?.value).toBe('theirs');
  });

  it('F4: an update between a delete and a new put gets into no orphan', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.holdItems();
    for (const value of ['1', undefined, '2', undefined, '3']) {
      history.commit([value === undefined ? { key: 'k' } : { key: 'k', value }]);
    }
    const own = [probe(store.put('k', 'own')), probe(store.delete('k')), probe(store.put('k', 'last'))];
    backend.releaseItems();
    await clock.settle();
    expect(own.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved']);
    expect(store.get('k')).toMatchObject({ value: 'last', createRevision: 9, modRevision: 9, version: 1 });
  });

  it('F5: a number that commits late is not skipped', async () => {
    const { store, history, clock } = await openRig();
    fillTo(history, 9);
    const held = history.hold([{ key: 'late', value: '1' }]);
    history.commit([{ key: 'k', value: '1' }]);
    await clock.settle();
    expect(store.revision).toBe(9);
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    held.release();
    expect((await watch.drain()).map(brief)).toEqual(['10 put late=1', '11 put k=1']);
  });

  it('F6: whoever sees a revision sees its state', async () => {
    const { store, history, clock } = await openRig();
    history.commit([{ key: 'k', value: '1' }]);
    const seen: (readonly [number, number | undefined])[] = [];
    let isOver = false;
    const look = async () => {
      while (!isOver) {
        seen.push([store.revision, store.get('k')?.modRevision]);
        await Promise.resolve();
      }
    };
    const looking = look();
    for (let count = 0; count < 20; count++) {
      history.commit([{ key: 'k', value: `${count}` }]);
      for (let turn = 0; turn < 40; turn++) await Promise.resolve();
    }
    isOver = true;
    await looking;
    await clock.settle();
    expect(new Set(seen.map(([revision]) => revision)).size).toBeGreaterThan(15);
    expect(seen.filter(([revision, mod]) => revision > 1 && revision !== mod)).toEqual([]);
  });

  both('F7: a start in the compacted part is an error with the smallest legal one', async ({ store }) => {
    for (let count = 0; count < 8; count++) await store.put('k', `${count}`);
    await store.compact(5);
    await expect(store.watch({ key: 'k' }, { fromRevision: 3 }).next()).rejects.toMatchObject({
      code: 'COMPACTED',
      minRevision: 5,
      compactRevision: 5,
    });
  });

  both('F8: the compacted revision itself can be read and watched from', async ({ store, clock }) => {
    for (let count = 0; count < 4; count++) await store.put('k', `${count}`);
    await store.compact(4);
    await clock.advance(100);
    expect(store.get('k', { revision: 4 })?.value).toBe('2');
    expect(await take(store.watch({ key: 'k' }, { fromRevision: 4 }), clock)).toEqual(['put k@4', 'put k@5']);
  });

  both('F9: the start revision is inclusive', async ({ store, clock }) => {
    for (let count = 0; count < 4; count++) await store.put('k', `${count}`);
    expect(await take(store.watch({ key: 'k' }, { fromRevision: 4 }), clock)).toEqual(['put k@4', 'put k@5']);
  });

  both('F10: start 0 is what comes after', async ({ store, clock }) => {
    await store.put('k', 'before');
    const watch = store.watch({ key: 'k' }, { fromRevision: 0 });
    await store.put('k', 'after');
    expect(await take(watch, clock)).toEqual(['put k@3']);
  });

  both('F11: compaction hides nothing from who is up to date, and cannot overtake', async ({ store, clock }) => {
    await store.put('k', '1');
    const watch = store.watch({ key: 'k' });
    await expect(store.compact(25)).rejects.toMatchObject({ code: 'FUTURE_REVISION' });
    await store.put('other', '1');
    await store.compact(3);
    await store.put('k', '2');
    expect(await take(watch, clock)).toEqual(['put k@4']);
  });

  both('F12: the low watermark never falls', async ({ store }) => {
    for (let count = 0; count < 8; count++) await store.put('k', `${count}`);
    const [first, second] = await Promise.allSettled([store.compact(7), store.compact(4)]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
    expect(store.compactRevision).toBe(7);
  });

  both('F14: lists ascend', async ({ store }) => {
    for (const key of ['c', 'a', 'b', 'a/', 'aé', '\u{1f600}', '\ue000']) await store.put(key, '1');
    const keys = store.range({ prefix: '' }).kvs.map(({ key }) => key);
    expect(keys).toEqual(['a', 'a/', 'aé', 'b', 'c', '\ue000', '\u{1f600}']);
  });

  it('F15: a list over several prefixes is one snapshot', async () => {
    const { store, history, backend, clock } = await openRig({ prefixes: ['a/', 'b/'] });
    for (let count = 0; count < 10; count++) {
      history.commit([
        { key: 'a/x', value: `${count}` },
        { key: 'b/x', value: `${count}` },
      ]);
      if (count === 5) backend.disconnect();
      for (let turn = 0; turn < 7; turn++) {
        await Promise.resolve();
        expect(store.get('a/x')?.modRevision).toBe(store.get('b/x')?.modRevision);
      }
    }
    await clock.advance(100);
    expect(store.get('b/x')?.value).toBe('9');
  });

  it('F16: the revision of an answer is that of the snapshot, not of the backend or of a key', async () => {
    const { store, history, backend, clock } = await openRig();
    history.commit([{ key: 'k', value: '1' }]);
    fillTo(history, 6);
    await clock.settle();
    backend.holdItems();
    history.commit([{ key: 'k', value: '2' }]);
    await clock.settle();
    expect(store.range({ key: 'k' })).toMatchObject({ revision: 6, kvs: [{ value: '1', modRevision: 2 }] });
  });

  both('F17: revision, limit and end of a range are heeded', async ({ store }) => {
    for (const key of ['a', 'b', 'c', 'd']) await store.put(key, '1');
    await store.delete('b');
    expect(store.range({ start: 'a', end: 'd', limit: 2 })).toMatchObject({ count: 2, more: false });
    expect(store.range({ start: 'a', end: 'd', revision: 5, limit: 2 }).kvs.map(({ key }) => key)).toEqual(['a', 'b']);
    expect([store.get('b', { revision: 5 })?.value, store.get('b')]).toEqual(['1', undefined]);
  });

  both('F18: a prefix is bytes, a single key is a point', async ({ store, clock }) => {
    const watch = store.watch({ key: '/registry/pods/default/nginx' });
    await store.put('/registry/pods/default/nginx', '1');
    await store.put('/registry/pods/default/nginx/', '1');
    const found = store.range({ prefix: '/registry/pods/default/ng' }).kvs.map(({ key }) => key);
    expect(found).toEqual(['/registry/pods/default/nginx', '/registry/pods/default/nginx/']);
    expect(await take(watch, clock)).toEqual(['put /registry/pods/default/nginx@2']);
  });

  both('F19: keys are not paths', async ({ store }) => {
    const keys = ['/a/../b', '/a/./b', '/a//b', '/b', 'a\\b'];
    for (const key of keys) await store.put(key, key);
    expect(store.range({ prefix: '/a/' }).count).toBe(3);
    for (const key of keys) expect(store.range({ prefix: key }).kvs.map((kv) => kv.key)).toEqual([key]);
  });

  both('F20: the events of one transaction keep their order', async ({ store, clock }) => {
    const watch = store.watch({ prefix: '' });
    const keys = ['m', 'z', 'a', 'q', 'b', 'y', 'c', 'x'];
    await store.txn({ then: keys.map((key) => ({ type: 'put', key, value: '1' }) as const) });
    expect(await take(watch, clock)).toEqual(keys.map((key) => `put ${key}@2`));
  });

  it('F30: what is not there yet is not empty', async () => {
    const { store, backend, clock, history } = await openRig({
      before: ({ backend, history }) => {
        history.commit([{ key: 'k', value: '1' }]);
        backend.offline();
      },
    });
    expect(() => store.range({ prefix: '' })).toThrow(NotReadyError);
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    expect([watch.batches, watch.isDone]).toEqual([[], false]);
    backend.online();
    await clock.advance(10_000);
    expect(store.range({ prefix: '' }).count).toBe(1);
    history.commit([{ key: 'k', value: '2' }]);
    expect((await watch.drain()).map(brief)).toEqual(['3 put k=2']);
  });

  it('F31, F32: priming is one list at one revision, and the stream goes on right behind it', async () => {
    const releases: (() => void)[] = [];
    const { store, history, backend, clock } = await openRig({
      prefixes: ['a/', 'c/'],
      before: ({ backend, history }) => {
        history.commit([{ key: 'a/x', value: '1' }]);
        history.commit([{ key: 'a/x' }]);
        history.commit([
          { key: 'a/x', value: '2' },
          { key: 'c/x', value: '2' },
        ]);
        releases.push(backend.hang('watch'));
      },
    });
    history.commit([{ key: 'c/x' }]);
    const watch = new Consumer(store.watch({ prefix: 'a/' }), clock);
    releases[0]?.();
    await watch.drain();
    expect([store.get('a/x')?.value, store.get('c/x'), store.compactRevision]).toEqual(['2', undefined, 4]);
    expect(store.get('c/x', { revision: 4 })?.value).toBe('2');
    // One list, and one question that verifies it.
    expect([watch.batches, backend.calls.range]).toEqual([[], 2]);
  });

  it('F33: a prefix first used after priming is there', async () => {
    const { store, history, clock } = await openRig();
    expect(store.range({ prefix: 'new/' }).count).toBe(0);
    history.commit([{ key: 'new/x', value: '1' }]);
    await clock.settle();
    expect(store.range({ prefix: 'new/' }).count).toBe(1);
  });

  it('F37: version and lease come with every event', async () => {
    const { store, history, clock } = await openRig();
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    history.commit([{ key: 'k', value: '1', lease: '694' }]);
    history.commit([{ key: 'k', value: '2', lease: '7587891' }]);
    const batches = await watch.drain();
    const facts = { version: 2, createRevision: 2, modRevision: 3, lease: '7587891' };
    expect(batches[1]?.events).toMatchObject([{ kv: facts }]);
    expect(store.get('k')).toMatchObject(facts);
  });

  it('F38: what one replica has written, another sees once it has waited for anything later', async () => {
    const one = await openRig();
    const two = await openRig({ history: one.history });
    two.backend.holdItems();
    const put = probe(one.store.put('k', '1'));
    await one.clock.settle();
    expect([put.state, two.store.get('k')]).toEqual(['resolved', undefined]);
    const barrier = probe(two.store.delete('none'));
    await two.clock.advance(200);
    expect(barrier.state).toBe('pending');
    two.backend.releaseItems();
    await two.clock.advance(200);
    expect([barrier.state, two.store.get('k')?.value]).toEqual(['resolved', '1']);
  });

  both('F39: a state and its event are visible together', async ({ store }) => {
    for (let count = 0; count < 5; count++) {
      const { revision } = await store.put('k', `${count}`);
      const { value } = await store.watch({ key: 'k' }, { fromRevision: store.revision }).next();
      expect([value?.revision, store.get('k')?.modRevision]).toEqual([revision, revision]);
    }
  });
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** One test for an embedded store, and the same for a replica. */
function both(name: string, run: (opened: Opened) => Promise<void>, options: StoreOptions = {}): void {
  it.each(KINDS)(`${name} (%s)`, (kind) => withStore(kind, run, options));
}
