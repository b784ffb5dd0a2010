import { describe, expect, it } from 'vitest';
import { inferKubernetesParents } from '../../../src/resource-cache/inferred-parents.ts';
import type { ResourceStoreOptions } from '../../../src/resource-cache/resource-store.ts';
import { ClosedError } from '../../../src/types/errors.ts';
import { keyOf, NODE, ownedBy, POD, rig, SET, type Thing, thing } from './things.ts';

type Kinds = readonly (readonly [kind: { group: string; kind: string }, things: readonly Thing[]])[];

function filled(kinds: Kinds, options: ResourceStoreOptions<Thing> = {}) {
  const made = rig(options);
  for (const [kind, things] of kinds) made.store.feed(kind).replace(things);
  made.store.flush();
  made.store.checkInvariants();
  const walk = (...starts: ReturnType<typeof keyOf>[]) => {
    const names: string[] = [];
    const result = made.store.iterateHierarchy(starts, ({ key }) => void names.push(key.name));
    return { ...result, names };
  };
  return { ...made, walk };
}

const owned = (text: string, ...uids: readonly string[]) => thing(text, '1', ownedBy(...uids));
const U = (text: string) => `uid of ${text}`;

describe('hierarchy of resources', () => {
  it('RH1 unknown keys are passed over, each is visited once over all, false stops below that one only', () => {
    const { store, walk } = filled([
      [SET, [thing('a/set'), thing('a/other')]],
      [POD, [owned('a/x', U('a/set')), owned('a/y', U('a/set'), U('a/other')), owned('a/z', U('a/x'))]],
    ]);
    const starts = [
      keyOf(SET, 'a/none'),
      keyOf(SET, 'a/set'),
      keyOf(SET, 'a/other'),
      keyOf(NODE, 'b'),
      keyOf(POD, 'a/x'),
    ];
    expect(walk(...starts).names).toEqual(['set', 'x', 'z', 'y', 'other']);
    const seen: unknown[] = [];
    store.iterateHierarchy([keyOf(SET, 'a/set')], ({ key }, { parent, depth }) => {
      seen.push([key.name, parent?.key.name, depth]);
      return key.name !== 'x';
    });
    expect(seen).toEqual([
      ['set', undefined, 0],
      ['x', 'set', 1],
      ['y', 'set', 1],
    ]);
  });

  it('RH2 children are in the namespace of the parent, by uid, and by name where there is no uid', () => {
    const byName = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set' };
    const { walk, store } = filled([
      [SET, [thing('a/set'), thing('b/set', '1', { uid: 'b' })]],
      [
        POD,
        [
          owned('a/uid', U('a/set')),
          owned('b/foreign', U('a/set')),
          thing('a/name', '1', { ownerReferences: [byName] }),
          thing('b/name', '1', { uid: 'b name', ownerReferences: [byName] }),
          thing('a/group', '1', { ownerReferences: [{ ...byName, apiVersion: 'v1' }] }),
          thing('a/none', '1', { ownerReferences: ['set', null, { name: 'set' }] as unknown as object[] }),
        ],
      ],
    ]);
    expect(walk(keyOf(SET, 'a/set')).names).toEqual(['set', 'uid', 'name']);
    expect(walk(keyOf(SET, 'b/set')).names).toEqual(['set', 'name']);
    // Once nobody names a set any more, nobody looks for it by its name.
    store.feed(POD).replace([owned('a/uid', U('a/set'))]);
    store.flush();
    store.checkInvariants();
    expect(walk(keyOf(SET, 'a/set')).names).toEqual(['set', 'uid']);
  });

  it('RH3 of one object under two groups always the same one is visited, in whichever order they came', () => {
    const old = { group: 'extensions', kind: 'Ingress' };
    const now = { group: 'networking.k8s.io', kind: 'Ingress' };
    const child = thing('a/child', '1', { uid: 'one', ...ownedBy(U('a/set')) });
    for (const kinds of [
      [old, now],
      [now, old],
    ]) {
      const { store } = filled([[SET, [thing('a/set')]], ...kinds.map((kind) => [kind, [child]] as const)]);
      const groups: string[] = [];
      store.iterateHierarchy([keyOf(SET, 'a/set')], ({ key }) => void groups.push(key.group));
      expect(groups).toEqual(['apps', 'extensions']);
      expect(store.byUid('one')?.key.group).toBe('extensions');
      // The other one is there by its own key, and takes over when the first one goes.
      store.feed(old).replace([]);
      store.flush();
      expect(store.byUid('one')?.key.group).toBe('networking.k8s.io');
    }
  });

  it('RH4 rings of owners and owners of themselves end, and are told', () => {
    const { walk } = filled([
      [
        POD,
        [
          owned('a/self', U('a/self')),
          owned('a/one', U('a/three')),
          owned('a/two', U('a/one')),
          owned('a/three', U('a/two')),
        ],
      ],
    ]);
    const self = walk(keyOf(POD, 'a/self'));
    expect(self).toMatchObject({
      names: ['self'],
      cycleCount: 1,
      cycles: [{ parent: { name: 'self' }, child: { name: 'self' } }],
    });
    const ring = walk(keyOf(POD, 'a/two'));
    expect(ring.names).toEqual(['two', 'three', 'one']);
    expect(ring.cycles).toEqual([{ parent: keyOf(POD, 'a/one'), child: keyOf(POD, 'a/two') }]);
    const many = Array.from({ length: 150 }, (_, at) => owned(`b/${at}`, U(`b/${at}`)));
    const { walk: walkMany } = filled([[POD, many]]);
    const told = walkMany(...many.map((_, at) => keyOf(POD, `b/${at}`)));
    expect([told.cycleCount, told.cycles.length]).toEqual([150, 100]);
  });

  it('RH5 parents that are not written down are inferred, whichever side comes first and goes first', () => {
    const core = (kind: string) => ({ group: '', kind });
    const stateful = { group: 'apps', kind: 'StatefulSet' };
    const template = (name: string) => ({ metadata: { name } });
    const web = thing('a/web', '1', {}, { spec: { volumeClaimTemplates: [template('data'), template('log-x')] } });
    const token = (name: string) => ({
      ...thing(`a/${name}`, '1', { annotations: { 'kubernetes.io/service-account.name': 'bot' } }),
      type: 'kubernetes.io/service-account-token',
    });
    const claims = ['data-web-0', 'log-x-web-12', 'data-web-x', 'web-0', 'data-webs-0'].map((name) =>
      thing(`a/${name}`),
    );
    const { walk, store } = filled([
      [core('PersistentVolumeClaim'), [...claims, thing('b/data-web-0')]],
      [stateful, [web]],
      [core('Service'), [thing('a/front'), thing('a/back')]],
      [core('Endpoints'), [thing('a/front'), owned('a/back', U('somebody'))]],
      [core('ServiceAccount'), [thing('a/bot')]],
      [
        core('Secret'),
        [token('bot-token'), thing('a/plain', '1', { annotations: { 'kubernetes.io/service-account.name': 'bot' } })],
      ],
    ]);
    expect(walk(keyOf(stateful, 'a/web')).names).toEqual(['web', 'data-web-0', 'log-x-web-12']);
    expect(walk(keyOf(core('Service'), 'a/front')).visited).toBe(2);
    expect(walk(keyOf(core('Service'), 'a/back')).visited).toBe(1);
    expect(walk(keyOf(core('ServiceAccount'), 'a/bot')).names).toEqual(['bot', 'bot-token']);
    const next = thing('a/web', '2', {}, { spec: { volumeClaimTemplates: [template('log-x')] } });
    store.feed(stateful).replace([next]);
    store.flush();
    expect(walk(keyOf(stateful, 'a/web')).names).toEqual(['web', 'log-x-web-12']);
    store.feed(stateful).replace([]);
    store.flush();
    store.checkInvariants();
    expect(walk(keyOf(stateful, 'a/web')).names).toEqual([]);
    store.feed(stateful).replace([web]);
    store.flush();
    expect(walk(keyOf(stateful, 'a/web')).names).toEqual(['web', 'data-web-0', 'log-x-web-12']);
  });

  it('RH5 a hook of your own adds to them, and one that throws is told and infers nothing', () => {
    const { walk, logged } = filled(
      [
        [SET, [thing('a/set')]],
        [POD, [thing('a/x'), owned('a/y', U('a/set'))]],
      ],
      {
        inferParents: (object, key) => {
          if (key.name === 'y') throw new Error('no');
          if (key.kind === 'Pod') return { parents: [{ ...SET, name: 'set' }] };
          return inferKubernetesParents(object, key);
        },
      },
    );
    expect(walk(keyOf(SET, 'a/set')).names).toEqual(['set', 'y', 'x']);
    expect(logged).toMatchObject([{ fields: { hook: 'inferParents', key: '/Pod/a/y' } }]);
  });

  it('RH6 what is in no namespace owns what is in any, over many levels', () => {
    const { walk } = filled([
      [NODE, [thing('top'), owned('middle', U('top'))]],
      [POD, [owned('a/x', U('middle')), owned('b/y', U('middle')), owned('a/z', U('a/x'))]],
    ]);
    expect(walk(keyOf(NODE, 'top')).names).toEqual(['top', 'middle', 'x', 'z', 'y']);
  });

  it('RH7 reading writes nothing: walks in the middle of one another do not meet', async () => {
    const pods = Array.from({ length: 2000 }, (_, at) =>
      owned(`a/${at}`, at === 0 ? U('a/set') : U(`a/${(at - 1) >> 1}`)),
    );
    const { store, clock } = filled([
      [SET, [thing('a/set')]],
      [POD, pods],
    ]);
    const before = store.stats;
    const inner: number[] = [];
    const walks = [0, 1, 2].map(() =>
      store.iterateHierarchyInSlices([keyOf(SET, 'a/set')], ({ key }) => {
        if (key.name === '700') inner.push(store.iterateHierarchy([keyOf(POD, 'a/0')], () => {}).visited);
      }),
    );
    await clock.advance(10);
    for (const walk of walks) expect(await walk).toMatchObject({ visited: 2001 });
    expect(inner).toEqual([2000, 2000, 2000]);
    expect(store.stats).toEqual(before);
  });

  it('goes round the event loop between slices, and ends with its signal, its visitor and its store', async () => {
    const pods = Array.from({ length: 2000 }, (_, at) => owned(`a/${at}`, U('a/set')));
    const { store, clock } = filled([
      [SET, [thing('a/set')]],
      [POD, pods],
    ]);
    const slow = (visits: { count: number }) => () => {
      visits.count++;
      if (visits.count % 256 === 0) void clock.advance(0);
    };
    // A clock that moves with each look: a slice is two looks long.
    let now = 0;
    const ticking = rig({ clock: { ...clock, now: () => now++, after: clock.after } });
    ticking.store.feed(POD).replace(pods);
    ticking.store.flush();
    const visits = { count: 0 };
    const keys = pods.map(({ metadata }) => keyOf(POD, `a/${metadata.name}`));
    const walk = ticking.store.iterateHierarchyInSlices(keys, slow(visits), { sliceMs: 1 });
    expect(visits.count).toBeLessThan(600);
    await clock.advance(100);
    expect((await walk).visited).toBe(2000);
    const stop = new AbortController();
    const stopped = ticking.store.iterateHierarchyInSlices(keys, () => {}, { sliceMs: 1, signal: stop.signal });
    stop.abort(new Error('enough'));
    const ends = expect(stopped).rejects.toThrow('enough');
    await clock.advance(10);
    await ends;
    const closing = ticking.store.iterateHierarchyInSlices(keys, () => {}, { sliceMs: 1 });
    ticking.store.close();
    const closed = expect(closing).rejects.toThrow(ClosedError);
    await clock.advance(10);
    await closed;
    const fails = () => {
      throw new Error('visitor');
    };
    expect(() => store.iterateHierarchy([keyOf(SET, 'a/set')], fails)).toThrow('visitor');
    await expect(store.iterateHierarchyInSlices([keyOf(SET, 'a/set')], fails)).rejects.toThrow('visitor');
    expect([store.stats.pins, ticking.store.stats.pins]).toEqual([0, 0]);
  });
});
