import { describe, expect, it } from 'vitest';
import { createResourceStore } from '../../../src/resource-cache/create-resource-store.ts';
import type { ResourceStoreOptions } from '../../../src/resource-cache/resource-store.ts';
import { ClosedError } from '../../../src/types/errors.ts';
import { added, deleted, keyOf, NODE, POD, rig, SET, type Thing, thing, updated } from './things.ts';

describe('the resource store', () => {
  it('waits latencyMs for more, and merges states of one life in between', async () => {
    const { store, clock } = rig({ latencyMs: 10 });
    const feed = store.feed(POD);
    const [one, two, three] = ['1', '2', '3'].map((version) => thing('a/x', version)) as [Thing, Thing, Thing];
    feed.apply(added(one));
    await clock.advance(5);
    feed.apply([updated(two, one), updated(three, two)]);
    await clock.advance(4);
    expect(store.size).toBe(0);
    await clock.advance(1);
    expect(store.get(keyOf(POD, 'a/x'))?.resourceVersion).toBe('3');
    expect(store.stats).toMatchObject({ seq: 1, batches: 1, coalesced: 2, pending: 0, waitMaxMs: 10 });
    expect(clock.pending).toBe(0);
  });

  it('applies all that waits at pendingMax, in the call that brings the last one; none is lost', () => {
    const { store } = rig({ latencyMs: 1000, pendingMax: 3 });
    const feed = store.feed(POD);
    feed.apply([added(thing('a/1')), added(thing('a/2'))]);
    expect(store.size).toBe(0);
    feed.apply(added(thing('a/3')));
    expect(store.size).toBe(3);
    feed.apply(added(thing('a/4')));
    expect(store.stats).toMatchObject({ pending: 1, size: 3 });
  });

  it('without coalesce every state is a commit', async () => {
    const { store, clock } = rig({ coalesce: false });
    const [one, two] = [thing('a/x', '1'), thing('a/x', '2')];
    store.feed(POD).apply([added(one), updated(two, one)]);
    await clock.advance(1);
    expect(store.stats).toMatchObject({ seq: 2, coalesced: 0 });
  });

  it('applies and calls in slices, so that the event loop goes round', async () => {
    const { store, clock } = rig({ sliceMs: 5, pendingMax: 10_000 });
    // Each look at an object takes a millisecond.
    let now = 0;
    const slow = createResourceStore<Thing>({
      clock: { now: () => now, wallTime: () => 0, after: clock.after },
      sliceMs: 5,
      pendingMax: 10_000,
      populate: () => void now++,
    });
    const calls: number[] = [];
    const turns = new Map<number, number>();
    slow.onResourceUpdated(({ seq, view }) => {
      now++;
      calls.push(seq);
      turns.set(view.seq, (turns.get(view.seq) ?? 0) + 1);
    });
    slow.feed(POD).replace(Array.from({ length: 100 }, (_, at) => thing(`a/${at}`)));
    await clock.advance(1);
    // 32 are applied before anybody looks at the clock, then calls take their slice.
    expect([...turns].slice(0, 3)).toEqual([
      [32, 5],
      [64, 5],
      [96, 5],
    ]);
    // Nothing is late for ever, whoever else is slow.
    await slow.idle();
    expect([slow.size, calls.length, calls.at(-1)]).toEqual([100, 100, 100]);
    expect(store.size).toBe(0);
  });

  it('lists a namespace, a kind, both and all, as the same array until something in it changes', () => {
    const { store } = rig();
    store.feed(POD).replace([thing('a/x'), thing('b/y')]);
    store.feed(SET).replace([thing('a/set')]);
    store.feed(NODE).replace([thing('node')]);
    store.flush();
    const names = (selector: Parameters<typeof store.list>[0]) =>
      store
        .list(selector)
        .map(({ key }) => key.name)
        .sort();
    expect(names({})).toEqual(['node', 'set', 'x', 'y']);
    expect(names({ namespace: 'a' })).toEqual(['set', 'x']);
    expect(names({ namespace: '' })).toEqual(['node']);
    expect(names(POD)).toEqual(['x', 'y']);
    expect(names({ ...POD, namespace: 'b' })).toEqual(['y']);
    expect(names({ group: 'none', kind: 'Pod' })).toEqual([]);
    const list = store.list({ ...POD, namespace: 'a' });
    expect(store.list({ ...POD, namespace: 'a' })).toBe(list);
    expect(() => (list as unknown[]).push(1)).toThrow(TypeError);
    store.feed(POD).apply(updated(thing('b/y', '2'), thing('b/y')));
    store.flush();
    expect(store.list({ ...POD, namespace: 'a' })).toBe(list);
    store.feed(POD).apply(updated(thing('a/x', '2'), thing('a/x')));
    store.flush();
    expect(list[0]?.resourceVersion).toBe('1');
    expect(store.list({ ...POD, namespace: 'a' })[0]?.resourceVersion).toBe('2');
    expect(store.find({ namespace: 'a' }, ({ key }) => key.name === 'x')).toHaveLength(1);
    for (const wrong of [undefined, 'x', async () => false]) {
      expect(() => store.find({ namespace: 'a' }, wrong as never)).toThrow(/^Cannot find resources: predicate /);
      expect(() => store.managedObjects([], wrong as never)).toThrow(/^Cannot compare managed objects: predicate /);
    }
    expect(store.view('a').list(SET)[0]?.key.name).toBe('set');
    expect(() => store.view('a').get({ ...POD, namespace: 'b', name: 'y' })).toThrow(RangeError);
  });

  it('keeps of an object what populate says, and without it everything', () => {
    const { store, logged } = rig();
    const made = createResourceStore<Thing, { readonly tier: string }>({
      populate: (object, { name }) => {
        if (name === 'bad') throw new Error('no');
        return { info: { tier: String(object.tier) }, keepManifest: name === 'kept' };
      },
      logger: {
        debug: () => {},
        info: () => {},
        warn: () => {},
        error: (_, fields = {}) => void logged.push({ message: '', fields }),
      },
    });
    made
      .feed(POD)
      .replace([thing('a/kept', '1', {}, { tier: 'x' }), thing('a/dropped', '1', {}, { tier: 'y' }), thing('a/bad')]);
    made.flush();
    const of = (name: string) => made.get(keyOf(POD, `a/${name}`));
    expect(of('kept')).toMatchObject({ info: { tier: 'x' }, object: { tier: 'x' } });
    expect(of('dropped')).toMatchObject({ info: { tier: 'y' }, object: undefined, uid: 'uid of a/dropped' });
    expect(of('bad')).toMatchObject({ info: undefined, object: { metadata: { name: 'bad' } } });
    expect(logged).toMatchObject([{ fields: { hook: 'populate', key: '/Pod/a/bad' } }]);
    expect(store.size).toBe(0);
  });

  it('an index that throws is told, and has nothing of that object', () => {
    const { store, logged } = rig({
      indexes: {
        bad: ({ key }) => {
          if (key.name === 'x') throw new Error('no');
          return ['all', 'all'];
        },
      },
    });
    store.feed(POD).replace([thing('a/x'), thing('a/y')]);
    store.flush();
    expect(store.byIndex('bad', 'all').map(({ key }) => key.name)).toEqual(['y']);
    expect(logged).toMatchObject([{ fields: { hook: 'index bad' } }]);
    store.checkInvariants();
  });

  it('tells an end with the final state, why, and nothing for what nobody knew', async () => {
    const { store, clock } = rig();
    const ends: unknown[] = [];
    store.onResourceUpdated(({ new: now, final, reason }) => {
      if (now === undefined) ends.push([final?.metadata.resourceVersion, reason]);
    });
    const feed = store.feed(POD);
    feed.apply([added(thing('a/x')), added(thing('a/y')), deleted(thing('a/none'))]);
    feed.apply([
      deleted(thing('a/x'), thing('a/x', '9')),
      { ...deleted(thing('a/y')), reason: 'left-selector-or-deleted' } as never,
    ]);
    await clock.advance(1);
    expect(ends).toEqual([
      ['9', 'deleted'],
      [undefined, 'left-selector-or-deleted'],
    ]);
    expect(store.stats).toMatchObject({ kinds: 1, namespaces: 0, size: 0 });
  });

  it('tells events as they came, the newest queueMax of them, whatever a handler of them does', async () => {
    const { store, clock, logged } = rig();
    const seen: string[] = [];
    const stop = store.onEvent(({ kind, delta }) => void seen.push(`${kind} ${delta.type} ${delta.key}`), {
      queueMax: 2,
    });
    store.onEvent(() => Promise.reject(new Error('rejected')));
    const [one, two] = [thing('a/x', '1'), thing('a/x', '2')];
    store.feed(POD).apply([added(one), updated(two, one), deleted(two)]);
    await clock.advance(1);
    expect(seen).toEqual(['Pod updated a/x', 'Pod deleted a/x']);
    expect(store.stats.eventsDropped).toBe(1);
    expect(logged).toHaveLength(3);
    stop();
    store.feed(POD).apply(added(thing('a/y')));
    await clock.advance(1);
    expect(seen).toHaveLength(2);
  });

  it('a kind that goes takes its objects with it, tells their ends, and can come again', async () => {
    const { store, clock } = rig();
    const ends: string[] = [];
    store.onResourceUpdated(({ key, new: now }) => {
      if (now === undefined) ends.push(key.name);
    });
    const feed = store.feed(POD);
    feed.replace([thing('a/x'), thing('b/y')]);
    store.feed(SET).replace([thing('a/set')]);
    await clock.advance(1);
    feed.remove();
    feed.remove();
    expect(() => feed.apply(added(thing('a/z')))).toThrow(TypeError);
    await clock.advance(1);
    expect(ends.sort()).toEqual(['x', 'y']);
    expect(store.stats).toMatchObject({ kinds: 1, size: 1 });
    store.checkInvariants();
    expect(store.feed(POD)).not.toBe(feed);
    store.feed(POD).replace([thing('a/x')]);
    await clock.advance(1);
    expect(store.size).toBe(2);
    store.feed(POD).removeAll('none');
    store.feed(POD).removeAll('a');
    await clock.advance(1);
    expect(store.size).toBe(1);
  });

  it('after close nothing is called, nothing comes in, no timer is left, and what is there can be read', async () => {
    const { store, clock } = rig();
    const calls: unknown[] = [];
    store.onResourceUpdated((update) => void calls.push(update));
    const feed = store.feed(POD);
    feed.apply(added(thing('a/x')));
    await clock.advance(1);
    feed.apply(added(thing('a/y')));
    const idle = store.idle();
    store.close();
    await idle;
    await clock.advance(10);
    expect([calls.length, clock.pending, store.size]).toEqual([1, 0, 1]);
    for (const call of [
      () => feed.apply([]),
      () => feed.replace([]),
      () => store.flush(),
      () => store.feed(SET),
      () => store.onEvent(() => {}),
    ]) {
      expect(call).toThrow(ClosedError);
    }
  });

  it('what is no object of Kubernetes is refused at the door, or told, and takes nothing away', () => {
    const { store } = rig();
    const feed = store.feed(POD);
    feed.replace([thing('a/x'), thing('a/y')]);
    store.flush();
    const { malformed, removed } = feed.replace([{ metadata: { name: 'x', namespace: 'a' } } as unknown as Thing]);
    expect([malformed[0]?.key, removed]).toEqual(['a/x', 1]);
    expect(feed.replace([null as unknown as Thing])).toMatchObject({ removed: 0, changed: 0 });
    for (const object of [undefined, null, {}, { metadata: { name: 'z' } }]) {
      expect(() => feed.apply({ type: 'added', key: 'z', object: object as unknown as Thing })).toThrow(TypeError);
    }
    expect(() => feed.apply({ type: 'added', key: 'z', object: thing('a/z') })).toThrow(TypeError);
    expect(() => feed.replace('all' as never)).toThrow(TypeError);
  });

  it('wrong options and arguments are refused, by name', () => {
    const wrong: readonly ResourceStoreOptions<Thing>[] = [
      { latency: 1 } as never,
      { latencyMs: -1 },
      { pendingMax: 0 },
      { sliceMs: 0 },
      { retainedMax: 0 },
      { coalesce: 'yes' as never },
      { clock: {} as never },
      { logger: 5 as never },
      { logger: { error: () => {} } as never },
      { populate: 1 as never },
      { inferParents: {} as never },
      { compare: 1 as never },
      { indexes: { a: 1 } as never },
      { indexes: null as never },
      { indexes: [] as never },
    ];
    for (const options of wrong)
      expect(() => createResourceStore(options)).toThrow(/^Cannot create a resource store: /);
    const { store } = rig({ indexes: { app: () => [] } });
    const feed = store.feed(POD);
    const calls: (() => unknown)[] = [
      () => store.get('a/x' as never),
      () => store.get({ ...POD, name: 'x' } as never),
      () => store.list({ group: '' }),
      () => store.list({ ns: 'a' } as never),
      () => store.feed({ kind: 'Pod' } as never),
      () => store.feed({ group: '', kind: '' }),
      ...[undefined, null, 'Pod', 5, {}].flatMap((wrong) => [
        () => store.feed(wrong as never),
        () => store.isSynced((wrong ?? null) as never),
        () => store.managedObjects((wrong ?? null) as never, () => true),
        () => store.view({ wrong } as never),
        () => store.byUid({ wrong } as never),
        () => store.byIndex('app', { wrong } as never),
        () => feed.apply([wrong] as never),
      ]),
      () => store.iterateHierarchy({} as never, () => {}),
      () => store.iterateHierarchy([], undefined as never),
      () => store.onResourceUpdated(undefined as never),
      () => store.onResourceUpdated(() => {}, { snapshot: true } as never),
      () => store.onResourceUpdated(() => {}, { coalesce: 1 as never }),
      () => store.onResourceUpdated(() => {}, { queueMax: 0 }),
    ];
    for (const call of calls) expect(call).toThrow(/^Cannot /);
    expect(store.unsynced).toEqual([POD]);
  });
});
