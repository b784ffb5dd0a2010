import { describe, expect, it } from 'vitest';
import { createInformerCore } from '../../../src/kubernetes/create-informer-core.ts';
import type { NamespaceView } from '../../../src/resource-cache/namespace-view.ts';
import type { ResourceUpdate } from '../../../src/resource-cache/subscription.ts';
import { ClosedError, PinBrokenError } from '../../../src/types/errors.ts';
import { added, deleted, keyOf, NODE, POD, rig, SET, type Thing, thing, updated } from './things.ts';

type Update = ResourceUpdate<Thing, undefined>;

/** What a call was about, in a line. */
function told({ seq, old, new: now }: Update): string {
  return `${seq}: ${old?.resourceVersion ?? '-'} -> ${now?.resourceVersion ?? '-'}`;
}

describe('the contract of a resource store', () => {
  it('RC1 every change has a seq of its own, and each handler one call for it, in order', async () => {
    const { store, clock } = rig();
    const calls: Update[] = [];
    store.onResourceUpdated((update) => void calls.push(update));
    const feed = store.feed(POD);
    const [one, two, three] = [thing('a/x', '1'), thing('a/x', '2'), thing('a/y', '3')];
    feed.apply([added(one), added(three)]);
    await clock.advance(1);
    feed.apply([updated(two, one), deleted(three)]);
    await clock.advance(1);
    expect(calls.map(told)).toEqual(['1: - -> 1', '2: - -> 3', '3: 1 -> 2', '4: 3 -> -']);
    expect(store.seq).toBe(4);
  });

  it('RC1 calls of one handler never overlap, and those of two do', async () => {
    const { store, clock } = rig();
    const ends: (() => void)[] = [];
    let running = 0;
    let most = 0;
    store.onResourceUpdated(async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => void ends.push(resolve));
      running--;
    });
    const quick: number[] = [];
    store.onResourceUpdated(({ seq }) => void quick.push(seq));
    store.feed(POD).apply([added(thing('a/x')), added(thing('a/y')), added(thing('a/z'))]);
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(1);
      expect(ends.length).toBe(turn + 1);
      expect(quick).toEqual([1, 2, 3]);
      ends[turn]?.();
    }
    await clock.advance(1);
    expect([most, running]).toEqual([1, 0]);
  });

  it('RC2 old is the new of the call before, new and old are frozen to the last leaf', async () => {
    const { store, clock } = rig();
    const calls: Update[] = [];
    store.onResourceUpdated((update) => void calls.push(update));
    const one = { ...thing('a/x', '1'), spec: { list: [{ deep: { leaf: 1 } }] } };
    store.feed(POD).apply(added(one));
    await clock.advance(1);
    store.feed(POD).apply(updated(thing('a/x', '2'), one));
    await clock.advance(1);
    const [first, second] = calls;
    expect(second?.old).toBe(first?.new);
    expect(() => Object.assign(first as object, { seq: 9 })).toThrow(TypeError);
    expect(() => Object.assign(one.spec.list[0]?.deep ?? {}, { leaf: 2 })).toThrow(TypeError);
    expect(first?.new?.object).toBe(one);
    expect(() => Object.assign(first?.new?.key as object, { name: 'y' })).toThrow(TypeError);
  });

  it('RC3, RC4 a live view has the change or a later state, and says which', async () => {
    const { store, clock } = rig({ coalesce: true });
    const seen: unknown[] = [];
    store.onResourceUpdated(({ seq, key, new: now, old, view }) => {
      expect(view.seq).toBeGreaterThanOrEqual(seq);
      seen.push([seq, old?.resourceVersion, now?.resourceVersion, view.get(key)?.resourceVersion, view.seq]);
    });
    const [one, two] = [thing('a/x', '1'), thing('a/x', '2')];
    store.feed(POD).apply(added(one));
    await clock.advance(1);
    // The last finalizer goes, and then the object: both are told, although the view has nothing more at the first.
    store.feed(POD).apply([updated(two, one), deleted(two)]);
    await clock.advance(1);
    expect(seen).toEqual([
      [1, undefined, '1', '1', 1],
      [2, '1', '2', undefined, 3],
      [3, '2', undefined, undefined, 3],
    ]);
  });

  it('RC5 a snapshot view is exactly of its seq, until its call has ended', async () => {
    const { store, clock } = rig();
    const seen: unknown[] = [];
    const views: NamespaceView<Thing, undefined>[] = [];
    store.onResourceUpdated(
      ({ seq, view }) => {
        views.push(view);
        const names = view.list(POD).map(({ key, resourceVersion }) => `${key.name}${resourceVersion}`);
        seen.push([seq, view.seq, names.sort().join(' '), view.get({ ...POD, name: 'x' })?.resourceVersion]);
      },
      { snapshotView: true },
    );
    const [one, two, other] = [thing('a/x', '1'), thing('a/x', '2'), thing('a/y', '1')];
    store.feed(POD).apply([added(one), added(other), deleted(one), added(two), deleted(other)]);
    await clock.advance(1);
    expect(seen).toEqual([
      [1, 1, 'x1', '1'],
      [2, 2, 'x1 y1', '1'],
      [3, 3, 'y1', undefined],
      [4, 4, 'x2 y1', '2'],
      [5, 5, 'x2', '2'],
    ]);
    store.checkInvariants();
    expect(store.stats).toMatchObject({ pins: 0, retained: 0 });
    expect(() => views[0]?.list()).toThrow(ClosedError);
    expect(() => views[0]?.get({ ...POD, name: 'x' })).toThrow(ClosedError);
  });

  it('RC5 a view that holds too much back is given up, and says so', async () => {
    const { store, clock } = rig({ retainedMax: 2 });
    let release = () => {};
    let view: NamespaceView<Thing, undefined> | undefined;
    store.onResourceUpdated(
      async (update) => {
        view ??= update.view;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
      { snapshotView: true, coalesce: true },
    );
    const feed = store.feed(POD);
    const names = ['a/p', 'a/q', 'a/r', 'a/s'];
    feed.apply(names.map((name) => added(thing(name))));
    await clock.advance(1);
    expect(view?.list()).toHaveLength(1);
    feed.apply(names.slice(0, 2).map((name) => updated(thing(name, '2'), thing(name))));
    await clock.advance(1);
    expect(view?.list().map(({ resourceVersion }) => resourceVersion)).toEqual(['1']);
    feed.apply(names.slice(2).map((name) => updated(thing(name, '2'), thing(name))));
    await clock.advance(1);
    expect(store.stats.retained).toBeLessThanOrEqual(2);
    expect(() => view?.list()).toThrow(PinBrokenError);
    store.checkInvariants();
    release();
  });

  it('RC6 a handler may read, subscribe and write: what it writes comes after its batch', async () => {
    const { store, clock } = rig({ pendingMax: 2 });
    const feed = store.feed(POD);
    const seqs: number[] = [];
    const late: number[] = [];
    store.onResourceUpdated(({ seq, key }) => {
      seqs.push(seq);
      if (key.name !== 'x') return;
      feed.apply([added(thing('a/y')), added(thing('a/z')), added(thing('a/w'))]);
      expect(store.size).toBe(1);
      expect(() => store.flush()).toThrow(TypeError);
      expect(store.find({ namespace: 'a' }, () => true)).toHaveLength(1);
      store.onResourceUpdated((update) => void late.push(update.seq));
    });
    feed.apply(added(thing('a/x')));
    await clock.advance(5);
    expect(seqs).toEqual([1, 2, 3, 4]);
    expect(late).toEqual([2, 3, 4]);
  });

  it('RC7 a handler that throws, rejects or hangs stops nobody', async () => {
    const { store, clock, logged } = rig();
    store.onResourceUpdated(
      () => {
        throw new Error('thrown');
      },
      { name: 'thrower' },
    );
    store.onResourceUpdated(() => Promise.reject(new Error('rejected')), { name: 'rejecter' });
    store.onResourceUpdated(() => new Promise(() => {}), { name: 'hanging' });
    const heard: number[] = [];
    store.onResourceUpdated(({ seq }) => void heard.push(seq), { name: 'last' });
    store.feed(POD).apply([added(thing('a/x')), added(thing('a/y'))]);
    await clock.advance(5);
    expect(heard).toEqual([1, 2]);
    const failures = logged.map(
      ({ fields }) => `${fields.handler} ${fields.seq} ${fields.key} ${(fields.error as Error).message}`,
    );
    expect(failures.sort()).toEqual([
      'rejecter 1 /Pod/a/x rejected',
      'rejecter 2 /Pod/a/y rejected',
      'thrower 1 /Pod/a/x thrown',
      'thrower 2 /Pod/a/y thrown',
    ]);
    const stats = store.stats.handlers.map(({ name, calls, failures: failed, depth }) => [name, calls, failed, depth]);
    expect(stats).toEqual([
      ['thrower', 2, 2, 0],
      ['rejecter', 2, 2, 0],
      ['hanging', 1, 0, 1],
      ['last', 2, 0, 0],
    ]);
  });

  it('RC7 with coalesce, and past queueMax, calls that wait are merged; an end and the next life are not', async () => {
    const { store, clock } = rig({ latencyMs: 0 });
    for (const options of [{ coalesce: true }, { queueMax: 1 }]) {
      const calls: string[] = [];
      let release = () => {};
      const stop = store.onResourceUpdated(async (update) => {
        calls.push(`${update.key.name} ${update.old?.resourceVersion ?? '-'} -> ${update.new?.resourceVersion ?? '-'}`);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }, options);
      const feed = store.feed(POD);
      const step = async (...deltas: Parameters<typeof feed.apply>[0][]) => {
        for (const delta of deltas) feed.apply(delta);
        await clock.advance(1);
      };
      const first = thing('a/first', '1');
      const [x1, x2, x3] = [thing('a/x', '1'), thing('a/x', '2'), thing('a/x', '3')];
      const next = thing('a/x', '5', { uid: 'next' });
      await step(added(first));
      await step(added(x1));
      await step(updated(x2, x1));
      await step(updated(x3, x2));
      await step(deleted(first));
      await step(added(thing('a/gone', '1')));
      await step(deleted(thing('a/gone', '1')));
      release();
      await clock.advance(1);
      // Called, so an end of it is one more call; the next life is another.
      await step(deleted(x3));
      await step(added(next));
      for (let turn = 0; turn < 8; turn++) {
        release();
        await clock.advance(1);
      }
      expect(calls).toEqual(['first - -> 1', 'x - -> 3', 'first 1 -> -', 'x 3 -> -', 'x - -> 5']);
      expect(store.stats.handlers[0]).toMatchObject({ depth: 0, calls: 5, merged: 4 });
      stop();
      await step(deleted(next));
    }
  });

  it('RC8 no call begins after unsubscribing, also from within a call', async () => {
    const { store, clock } = rig();
    const calls: string[] = [];
    const stops: (() => void)[] = [];
    stops.push(
      store.onResourceUpdated(() => {
        calls.push('a');
        for (const stop of [...stops].reverse()) stop();
      }),
    );
    stops.push(store.onResourceUpdated(() => void calls.push('b')));
    store.feed(POD).apply([added(thing('a/x')), added(thing('a/y'))]);
    await clock.advance(5);
    expect(calls).toEqual(['a']);
    for (let turn = 0; turn < 1000; turn++) store.onResourceUpdated(() => {})();
    expect(store.stats.handlers).toEqual([]);
    expect(store.stats.pins).toBe(0);
  });

  it('RC9 a walk in slices is of the seq at which it began', async () => {
    const { store, clock } = rig();
    const feed = store.feed(POD);
    const owner = thing('a/owner');
    const child = (name: string, uid = 'uid of a/owner') =>
      thing(`a/${name}`, '1', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'owner', uid }] });
    feed.replace([owner, child('x'), child('y')]);
    store.flush();
    const names: string[] = [];
    const walk = store.iterateHierarchyInSlices([keyOf(POD, 'a/owner')], ({ key }) => {
      names.push(key.name);
      if (key.name !== 'owner') return;
      // In the middle of it: one leaves, one comes, one changes its owner.
      feed.replace([
        owner,
        child('z'),
        { ...child('y', 'other'), metadata: { ...child('y', 'other').metadata, resourceVersion: '2' } },
      ]);
      store.flush();
    });
    await clock.advance(1);
    expect(await walk).toMatchObject({ seq: 3, visited: 3, cycles: [] });
    expect(names.sort()).toEqual(['owner', 'x', 'y']);
    store.checkInvariants();
    const after: string[] = [];
    store.iterateHierarchy([keyOf(POD, 'a/owner')], ({ key }) => void after.push(key.name));
    expect(after.sort()).toEqual(['owner', 'z']);
  });

  it('RC10 behind an informer what is older, late or of another life changes nothing', () => {
    const { store, clock } = rig();
    const core = createInformerCore<Thing>({ clock });
    const feed = store.feed(POD);
    const heard: string[] = [];
    store.onResourceUpdated((update) => void heard.push(told(update)));
    const send = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Thing) =>
      feed.apply(core.apply({ type, object }).deltas);
    send('ADDED', thing('a/x', '5'));
    send('MODIFIED', thing('a/x', '4'));
    send('DELETED', thing('a/x', '3', { uid: 'before' }));
    store.flush();
    expect(store.get(keyOf(POD, 'a/x'))?.resourceVersion).toBe('5');
    send('DELETED', thing('a/x', '7'));
    send('MODIFIED', thing('a/x', '6'));
    store.flush();
    expect(store.get(keyOf(POD, 'a/x'))).toBeUndefined();
    // Of its own accord, too, for who brings deltas without one.
    feed.apply([added(thing('a/y', '1')), deleted(thing('a/y', '1', { uid: 'other' })), deleted(thing('a/z'))]);
    feed.apply(updated(thing('a/y', '1'), thing('a/y', '1')));
    store.flush();
    expect(store.get(keyOf(POD, 'a/y'))?.uid).toBe('uid of a/y');
    expect(store.stats).toMatchObject({ unknown: 1, commits: 3 });
  });

  it('RC11 another life under a name is two commits and two calls, whatever came in between', async () => {
    const { store, clock } = rig();
    const calls: Update[] = [];
    store.onResourceUpdated((update) => void calls.push(update));
    const feed = store.feed(POD);
    const [one, two] = [thing('a/x', '1', { uid: 'first' }), thing('a/x', '2', { uid: 'second' })];
    feed.apply(added(one));
    await clock.advance(1);
    feed.apply(added(two));
    await clock.advance(1);
    expect(calls.map(({ old, new: now }) => [old?.uid, now?.uid])).toEqual([
      [undefined, 'first'],
      ['first', undefined],
      [undefined, 'second'],
    ]);
    expect(store.byUid('first')).toBeUndefined();
    expect(store.byUid('second')?.key.name).toBe('x');
    // In one batch, too.
    feed.apply([deleted(two), added(thing('a/x', '3', { uid: 'third' })), added(thing('a/x', '4', { uid: 'fourth' }))]);
    await clock.advance(1);
    expect(calls.slice(3).map(({ old, new: now }) => [old?.uid, now?.uid])).toEqual([
      ['second', undefined],
      [undefined, 'third'],
      ['third', undefined],
      [undefined, 'fourth'],
    ]);
  });

  it('RC12 a list that is taken in comes after what waits, so nothing that waits brings back what it took away', () => {
    const { store } = rig({ latencyMs: 1000 });
    const feed = store.feed(POD);
    feed.replace([thing('a/x', '1'), thing('a/y', '1')]);
    store.flush();
    feed.apply(updated(thing('a/x', '2'), thing('a/x', '1')));
    expect(feed.replace([thing('a/y', '1')], { resourceVersion: '3' })).toMatchObject({ changed: 0, removed: 1 });
    store.flush();
    expect(store.list(POD).map(({ key }) => key.name)).toEqual(['y']);
    // What waits is newer than the list, although what is visible is older: it stays.
    feed.replace([thing('a/y', '1'), thing('a/w', '2')]);
    store.flush();
    feed.apply(updated(thing('a/w', '8'), thing('a/w', '2')));
    expect(feed.replace([thing('a/y', '1')], { resourceVersion: '5' })).toMatchObject({ changed: 0, removed: 0 });
    store.flush();
    expect(store.get(keyOf(POD, 'a/w'))?.resourceVersion).toBe('8');
    feed.replace([thing('a/y', '1')]);
    // What is newer than the list stays, waiting or not; what the list has in an older state does, too.
    feed.apply([added(thing('a/z', '9')), updated(thing('a/y', '8'), thing('a/y', '1'))]);
    expect(feed.replace([thing('a/y', '1')], { resourceVersion: '5' })).toMatchObject({ changed: 0, removed: 0 });
    store.flush();
    expect(
      store
        .list(POD)
        .map(({ key, resourceVersion }) => `${key.name}${resourceVersion}`)
        .sort(),
    ).toEqual(['y8', 'z9']);
  });

  it('RC13 all indexes change in the same commit', async () => {
    const { store, clock } = rig({ indexes: { tier: ({ object }) => [String(object?.tier)] } });
    const feed = store.feed(POD);
    const seen: unknown[] = [];
    store.onResourceUpdated(({ new: now, old }) => {
      store.checkInvariants();
      const tiers = ['front', 'back'].map((tier) => store.byIndex('tier', tier).length);
      seen.push([old?.object?.tier, now?.object?.tier, ...tiers, store.list({ namespace: 'a' }).length]);
    });
    const [front, back] = [thing('a/x', '1', {}, { tier: 'front' }), thing('a/x', '2', {}, { tier: 'back' })];
    for (const delta of [added(front), updated(back, front), deleted(back)]) {
      feed.apply(delta);
      await clock.advance(1);
    }
    expect(seen).toEqual([
      [undefined, 'front', 1, 0, 1],
      ['front', 'back', 0, 1, 1],
      ['back', undefined, 0, 0, 0],
    ]);
    expect(store.stats).toMatchObject({ namespaces: 0, size: 0 });
    expect(() => store.byIndex('name', 'x')).toThrow(RangeError);
  });

  it('RC14 synced is per kind and for all, and what is decided on absence says so', () => {
    const { store } = rig();
    expect(store.isSynced()).toBe(false);
    const [pods, sets] = [store.feed(POD), store.feed(SET)];
    pods.replace([thing('a/x', '1', { annotations: { managed: 'yes' } }), thing('a/other')]);
    // Not before it can be seen.
    expect(pods.isSynced).toBe(false);
    store.flush();
    expect([store.isSynced(POD), store.isSynced(SET), store.isSynced(NODE), store.isSynced()]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const isManaged = ({ object }: { object: Thing | undefined }) => object?.metadata.annotations?.managed === 'yes';
    const first = store.managedObjects([keyOf(POD, 'a/other'), keyOf(SET, 'a/set')], isManaged);
    expect([...first.resources.keys()].sort()).toEqual(['/Pod/a/other', '/Pod/a/x']);
    expect(first).toMatchObject({ isComplete: false, unsynced: [SET] });
    // A list that could not be read is none.
    expect(sets.replace([{ metadata: {} } as unknown as Thing]).malformed).toHaveLength(1);
    expect(sets.isSynced).toBe(false);
    sets.replace([]);
    expect(store.managedObjects([keyOf(SET, 'a/set')], isManaged)).toMatchObject({ isComplete: true, unsynced: [] });
    expect(store.managedObjects([keyOf(NODE, 'n')], isManaged)).toMatchObject({ isComplete: false, unsynced: [NODE] });
  });
});
