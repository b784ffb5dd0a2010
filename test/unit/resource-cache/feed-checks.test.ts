import { describe, expect, it } from 'vitest';
import { added, deleted, keyOf, POD, rig, type Thing, thing, updated } from './things.ts';

const names = (store: { list(): readonly { key: { namespace: string; name: string } }[] }) =>
  store
    .list()
    .map(({ key: { namespace, name } }) => `${namespace}/${name}`)
    .sort();

describe('what comes into a feed', () => {
  it('a delta that is none changes nothing, is named, and tells no handler of events', async () => {
    const { store, clock } = rig();
    const feed = store.feed(POD);
    const events: string[] = [];
    store.onEvent(({ delta }) => void events.push(delta.key));
    feed.apply(added(thing('a/x')));
    store.flush();
    const x = thing('a/x');
    const wrong: readonly object[] = [
      { type: 'delete', key: 'a/x', old: x, reason: 'deleted' },
      { type: 'ADDED', key: 'a/y', object: thing('a/y') },
      { key: 'a/y', object: thing('a/y') },
      { type: 'added', key: 'a/y', object: { metadata: { name: 'y', namespace: 'a', uid: 'u' } } },
      { type: 'updated', key: 'a/x', object: { metadata: { ...x.metadata, resourceVersion: '' } }, old: x },
      { type: 'updated', key: 'a/x', object: thing('b/x', '2'), old: x },
      { type: 'updated', key: 'a/x', object: thing('a/y', '2'), old: x },
      { type: 'added', key: 'a/y', object: { metadata: { ...x.metadata, name: 5 } } },
      { type: 'added', key: '5/y', object: { metadata: { ...x.metadata, namespace: 5, name: 'y' } } },
      { type: 'added', object: thing('a/y') },
      { type: 'deleted', key: 'a/x', old: thing('a/y'), reason: 'deleted' },
      { type: 'deleted', key: 'a/x', old: undefined, reason: 'deleted' },
      { type: 'deleted', key: 'a/x', old: { metadata: { ...x.metadata, uid: undefined } }, reason: 'deleted' },
      { type: 'deleted', key: 'a/x', old: x },
      { type: 'deleted', key: 'a/x', old: x, object: null, reason: 'deleted' },
    ];
    for (const delta of wrong) {
      const key = 'key' in delta ? String(delta.key) : 'undefined';
      expect(() => feed.apply(delta as never), JSON.stringify(delta)).toThrow(
        new RegExp(`^Cannot apply a delta: of ${key}, `),
      );
    }
    await clock.advance(1);
    expect([names(store), store.get(keyOf(POD, 'a/x'))?.resourceVersion, events]).toEqual([['a/x'], '1', ['a/x']]);
    store.checkInvariants();
  });

  it('one delta that is none costs the others of its array nothing', () => {
    const { store } = rig();
    const feed = store.feed(POD);
    const bad = { type: 'added', key: 'a/bad', object: { metadata: { name: 'bad' } } } as never;
    expect(() => feed.apply([added(thing('a/x')), bad, added(thing('a/y'))])).toThrow(
      /^Cannot apply a delta: of a\/bad, /,
    );
    expect(() => feed.apply([bad, null as never, added(thing('a/z'))])).toThrow(
      /^Cannot apply a delta: of a\/bad, .*; and 1 more$/,
    );
    store.flush();
    expect(names(store)).toEqual(['a/x', 'a/y', 'a/z']);
  });

  it('a namespace of null is none, in deltas and in lists', () => {
    const { store } = rig();
    const inNone = (name: string, version: string) =>
      thing(name, version, { namespace: null } as unknown as Partial<Thing['metadata']>);
    const feed = store.feed(POD);
    feed.apply([{ type: 'added', key: 'n', object: inNone('n', '1') }]);
    expect(feed.replace([inNone('n', '2'), inNone('m', '1')])).toEqual({ changed: 2, removed: 0, malformed: [] });
    feed.apply({ type: 'updated', key: 'n', object: inNone('n', '3'), old: inNone('n', '2') });
    store.flush();
    expect(names(store)).toEqual(['/m', '/n']);
    expect(store.get(keyOf(POD, 'n'))?.resourceVersion).toBe('3');
    feed.apply({ type: 'deleted', key: 'n', object: undefined, old: inNone('n', '3'), reason: 'deleted' });
    store.flush();
    expect(names(store)).toEqual(['/m']);
  });

  it('options of replace that there are not are refused before anything ends', () => {
    const { store } = rig();
    const feed = store.feed(POD);
    feed.replace([thing('a/x'), thing('b/y')]);
    for (const options of [{ namespce: 'a' }, { namespace: 5 }, { namespace: null }, { resourceVersion: 7 }, null, 'a'])
      expect(() => feed.replace([], options as never)).toThrow(/^Cannot replace the objects of a kind: /);
    store.flush();
    expect(names(store)).toEqual(['a/x', 'b/y']);
  });

  it('RC12 what is newer than a list stays, also where the list has another life under the name', () => {
    const { store } = rig();
    const feed = store.feed(POD);
    const next = thing('a/x', '8', { uid: 'next' });
    feed.apply([added(thing('a/x', '2')), added(next)]);
    expect(feed.replace([thing('a/x', '2')], { resourceVersion: '5' })).toMatchObject({ changed: 0, removed: 0 });
    store.flush();
    expect(store.get(keyOf(POD, 'a/x'))?.uid).toBe('next');
    // Of a newer list, and of one that says nothing of its version, the other life is news.
    expect(feed.replace([thing('a/x', '9', { uid: 'third' })], { resourceVersion: '9' }).changed).toBe(1);
    expect(feed.replace([thing('a/x', '2')]).changed).toBe(1);
    store.flush();
    expect(store.get(keyOf(POD, 'a/x'))?.uid).toBe('uid of a/x');
  });

  it('RC10, RC12 the end of another life that waits hides nothing from a list, and nothing from the end of the kind', () => {
    for (const take of ['replace', 'remove'] as const) {
      const { store } = rig({ latencyMs: 1000 });
      const feed = store.feed(POD);
      feed.replace([thing('a/x')]);
      store.flush();
      feed.apply(deleted(thing('a/x', '1', { uid: 'another' })));
      if (take === 'replace') expect(feed.replace([]).removed).toBe(1);
      else feed.remove();
      store.flush();
      expect(names(store), take).toEqual([]);
      expect(store.stats.unknown).toBe(1);
      store.checkInvariants();
    }
    // Behind the end of one life, and before the next one, too.
    const { store } = rig({ latencyMs: 1000 });
    const feed = store.feed(POD);
    const [one, two] = [thing('a/x', '1'), thing('a/x', '2', { uid: 'next' })];
    feed.apply([added(one), deleted(one), deleted(two), added(two), deleted(one)]);
    expect(feed.replace([two])).toMatchObject({ changed: 0, removed: 0 });
    store.flush();
    expect(store.get(keyOf(POD, 'a/x'))?.uid).toBe('next');
  });

  it('restated, what is known makes a commit with the version that it has, once', async () => {
    const { store, clock } = rig();
    const calls: unknown[] = [];
    store.onResourceUpdated(({ new: now }) => void calls.push(now?.object?.apiVersion));
    const feed = store.feed(POD);
    const of = (text: string, apiVersion: string) => thing(text, '1', {}, { apiVersion });
    feed.replace([of('a/x', 'v1'), of('a/gone', 'v1')]);
    feed.restate();
    for (let turn = 0; turn < 2; turn++) feed.replace([of('a/x', 'v2')]);
    await clock.advance(1);
    expect(feed.replace([of('a/x', 'v3')]).changed).toBe(0);
    feed.apply(updated(of('a/x', 'v3'), of('a/x', 'v2')));
    await clock.advance(1);
    expect(calls).toEqual(['v1', 'v1', 'v2', undefined]);
    expect(store.stats.same).toBe(1);
  });
});
