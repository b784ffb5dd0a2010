import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import type { ApiObject } from '../../../src/server/kubernetes/stored-object.ts';
import { openTestApiServer, type TestApiServer } from '../../../src/testing/test-api-server.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { watch, withServer } from './rig.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/example.com/v1/namespaces/ns1/things';
const names = { plural: 'things', singular: 'thing', kind: 'Thing', shortNames: ['th'], categories: ['all'] };
const version = (name: string, more: object = {}) => ({ name, served: true, storage: name === 'v1', ...more });
const definition = (versions: readonly object[], more: object = {}) => ({
  metadata: { name: 'things.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions, ...more },
});

describe('a CustomResourceDefinition', () => {
  it('is served from its creation on, as it says', async () => {
    await withServer(async ({ server }) => {
      const v1 = version('v1', { subresources: { status: {} }, selectableFields: [{ jsonPath: '.spec.color' }] });
      const made = await server.call('POST', CRDS, definition([v1, version('v2', { served: false })]));
      expect(made.body.status).toMatchObject({
        acceptedNames: { plural: 'things' },
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True' },
        ],
      });
      expect((await server.call('GET', '/apis/example.com/v1')).body.resources).toMatchObject([
        { name: 'things', shortNames: ['th'], categories: ['all'] },
        { name: 'things/status' },
      ]);
      expect((await server.fetch('/apis/example.com/v2')).status).toBe(404);
      await server.call('POST', THINGS, { metadata: { name: 'a' }, spec: { color: 'red' } });
      const red = await server.call('GET', `${THINGS}?fieldSelector=spec.color=red`);
      expect(red.body.items).toHaveLength(1);
      expect((await server.call('GET', `${THINGS}?fieldSelector=spec.color=blue`)).body.items).toEqual([]);
    });
  });

  it('that changes is served as it is now; its watches of other versions go on', async () => {
    await withServer(async ({ server }) => {
      await server.call('POST', CRDS, definition([version('v1')]));
      const lines = await watch(server, THINGS);
      const versions = [version('v1'), version('v2')];
      const more = await server.call('PATCH', `${CRDS}/things.example.com`, { spec: { versions } });
      expect(more.status).toBe(200);
      expect((await server.call('GET', '/apis/example.com')).body.preferredVersion).toMatchObject({ version: 'v2' });
      await server.call('POST', THINGS, { metadata: { name: 'a' } });
      expect(await lines.brief(1)).toMatchObject([expect.stringMatching(/^ADDED a@/)]);
      await server.call('PATCH', `${CRDS}/things.example.com`, { spec: { versions: [version('v2')] } });
      expect(await lines.brief(1)).toEqual(['end']);
      expect((await server.fetch(THINGS)).status).toBe(404);
    });
  });

  it('that is deleted takes its objects along, each told to who watches', async () => {
    await withServer(async ({ server }) => {
      await server.call('POST', CRDS, definition([version('v1')]));
      await server.call('POST', THINGS, { metadata: { name: 'a', finalizers: ['f'] } });
      await server.call('POST', THINGS, { metadata: { name: 'b' } });
      const lines = await watch(server, THINGS);
      expect((await lines.brief(2)).map((line) => line.slice(0, 7))).toEqual(['ADDED a', 'ADDED b']);
      expect((await server.call('DELETE', `${CRDS}/things.example.com`)).body.status).toBe('Success');
      expect((await lines.brief(3)).map((line) => line.slice(0, 9))).toEqual(['DELETED a', 'DELETED b', 'end']);
      expect((await server.fetch('/apis/example.com')).status).toBe(404);
      await server.call('POST', CRDS, definition([version('v1')]));
      expect((await server.call('GET', THINGS)).body.items).toEqual([]);
      expect((await server.call('DELETE', CRDS)).body.items).toHaveLength(1);
      expect((await server.fetch(THINGS)).status).toBe(404);
    });
  });

  it('whose last finalizer goes is deleted then', async () => {
    await withServer(async ({ server }) => {
      const given = definition([version('v1')]);
      await server.call('POST', CRDS, { ...given, metadata: { ...given.metadata, finalizers: ['f'] } });
      await server.call('DELETE', `${CRDS}/things.example.com`);
      expect((await server.fetch(THINGS)).status).toBe(200);
      await server.call('PATCH', `${CRDS}/things.example.com`, { metadata: { finalizers: [] } });
      expect((await server.fetch(THINGS)).status).toBe(404);
    });
  });

  it('in the store is served by the next server', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    await withServer(
      async ({ server }) => {
        await server.call('POST', CRDS, definition([version('v1')], { scope: 'Cluster' }));
      },
      { store },
    );
    const next = await openTestApiServer({ store, clock });
    expect((await next.call('GET', '/apis/example.com/v1/things')).body.kind).toBe('ThingList');
    await next.close();
    await store.close();
  });

  it.each([
    [
      'has another name',
      { ...definition([version('v1')]), metadata: { name: 'x.example.com' } },
      'the name must be things.example.com',
    ],
    ['has no versions', { metadata: { name: 'things.example.com' }, spec: { names } }, 'has names and versions'],
    ['has no kind', definition([version('v1')], { names: { plural: 'things' } }), 'kind is undefined'],
    ['has a group that is none', definition([version('v1')], { group: 7 }), 'group is 7'],
    [
      'has no group',
      { ...definition([version('v1')], { group: '' }), metadata: { name: 'things' } },
      'the group is required',
    ],
    [
      'has a wrong version that is not served',
      definition([version('v1'), version('V 2', { served: false })]),
      'is no version',
    ],
  ])('that %s is refused, and not kept', async (_title, body, why) => {
    await withServer(async ({ server }) => {
      const refused = await server.call('POST', CRDS, body);
      expect(refused.body).toMatchObject({ code: 422, reason: 'Invalid', message: expect.stringContaining(why) });
      expect((await server.call('GET', CRDS)).body.items).toEqual([]);
    });
  });

  it('with a kind that another one has is refused; a trial of one serves nothing', async () => {
    await withServer(async ({ server }) => {
      await server.call('POST', CRDS, definition([version('v1')]));
      const other = {
        metadata: { name: 'others.example.com' },
        spec: { group: 'example.com', names: { ...names, plural: 'others' }, versions: [version('v1')] },
      };
      expect((await server.call('POST', CRDS, other)).body).toMatchObject({
        code: 422,
        message: expect.stringContaining('another resource'),
      });
      const fresh = { ...other, spec: { ...other.spec, names: { plural: 'others', kind: 'Other' } } };
      expect((await server.call('POST', `${CRDS}?dryRun=All`, fresh)).status).toBe(201);
      expect((await server.call('GET', '/apis/example.com/v1')).body.resources).toHaveLength(1);
    });
  });

  it('is served as it says now, whatever of it changes', async () => {
    await withServer(async ({ server }) => {
      const at = `${CRDS}/things.example.com`;
      await server.call('POST', CRDS, definition([version('v1'), version('v2')]));
      await server.call('POST', THINGS, { metadata: { name: 'a' }, spec: { color: 'red' } });
      const old = await watch(server, `${THINGS}?resourceVersion=1`);
      const v1 = version('v1', { subresources: { status: {} }, selectableFields: [{ jsonPath: '.spec.color' }] });
      const renamed = { ...names, kind: 'Gadget', listKind: 'Gadgets', shortNames: ['g'], categories: null };
      await server.call('PATCH', at, { spec: { versions: [v1, version('v2')], names: renamed } });
      expect((await server.call('GET', '/apis/example.com/v1')).body.resources).toMatchObject([
        { name: 'things', kind: 'Gadget', shortNames: ['g'] },
        { name: 'things/status' },
      ]);
      const red = (await server.call('GET', `${THINGS}?fieldSelector=spec.color=red`)).body;
      expect([red.kind, red.items?.length]).toEqual(['Gadgets', 1]);
      // What it was before is over.
      expect((await old.brief(2)).at(-1)).toBe('end');
      const none = [version('v1', { served: false }), version('v2', { served: false })];
      await server.call('PATCH', at, { spec: { versions: none } });
      expect((await server.fetch('/apis/example.com')).status).toBe(404);
      expect((await server.call('DELETE', at)).body.status).toBe('Success');
      await server.call('POST', CRDS, definition([version('v1')]));
      expect((await server.call('GET', THINGS)).body.items).toEqual([]);
    });
  });

  it('has a status that says which versions were stored, and keeps what others say there', async () => {
    await withServer(async ({ server, clock }) => {
      const at = `${CRDS}/things.example.com`;
      const stored = (name: string) => ['v1', 'v2'].map((one) => ({ name: one, served: true, storage: one === name }));
      const made = await server.call('POST', CRDS, definition(stored('v1')));
      expect(made.body.status).toMatchObject({ storedVersions: ['v1'] });
      const mine = { type: 'Mine', status: 'True' };
      const { conditions } = made.body.status as { readonly conditions: readonly object[] };
      await server.call('PATCH', `${at}/status`, { status: { mine: 1, conditions: [...conditions, mine] } });
      await clock.advance(60_000);
      const changed = await server.call('PATCH', at, { spec: { versions: stored('v2') } });
      expect(changed.body.status).toMatchObject({
        mine: 1,
        storedVersions: ['v1', 'v2'],
        conditions: [...conditions, mine],
      });
      const trimmed = await server.call('PATCH', `${at}/status`, { status: { storedVersions: ['v2'] } });
      expect(trimmed.body.status).toMatchObject({ storedVersions: ['v2'] });
      const again = await server.call('PATCH', at, { metadata: { labels: { a: 'b' } } });
      expect(Number(again.body.metadata.resourceVersion)).toBe(Number(trimmed.body.metadata.resourceVersion) + 1);
    });
  });

  it('of a kind that is registered takes it over if it is the same, and is refused if not', async () => {
    await withServer(async ({ server }) => {
      server.register({ group: 'example.com', version: 'v1', kind: 'Other', plural: 'things' });
      const refused = await server.call('POST', CRDS, definition([version('v1')]));
      expect(refused.body).toMatchObject({ code: 422, message: expect.stringContaining('the plural of another kind') });
      server.unregister({ group: 'example.com', plural: 'things' });
      server.register({ group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things' });
      expect((await server.call('POST', CRDS, definition([version('v1')]))).status).toBe(201);
      expect((await server.call('GET', '/apis/example.com/v1')).body.resources).toMatchObject([{ shortNames: ['th'] }]);
      await server.call('DELETE', `${CRDS}/things.example.com`);
      expect((await server.fetch(THINGS)).status).toBe(404);
    });
  });

  const other = {
    metadata: { name: 'others.example.com' },
    spec: { group: 'example.com', names: { ...names, plural: 'others' }, versions: [version('v1')] },
  };

  it('of a kind that another one defines at the same time is kept, not served, and served when the other goes', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    await withServer(
      async ({ server }) => {
        const made = await Promise.all([
          server.call('POST', CRDS, definition([version('v1')])),
          server.call('POST', CRDS, other),
        ]);
        expect(made.map(({ status }) => status)).toEqual([201, 201]);
        const accepted = async (of: TestApiServer) =>
          ((await of.call('GET', CRDS)).body.items ?? []).map(({ metadata, status }) => {
            const { conditions } = status as { readonly conditions: readonly { readonly status: string }[] };
            return `${metadata?.name} ${conditions.map((one) => one.status).join()}`;
          });
        expect((await accepted(server)).map((line) => line.split(' ')[1]).sort()).toEqual(['False,False', 'True,True']);
        // Another server on the same store opens all the same.
        const next = await openTestApiServer({ store, clock });
        expect(await accepted(next)).toHaveLength(2);
        const kinds = (await next.call('GET', '/apis/example.com/v1')).body.resources;
        expect(kinds).toHaveLength(1);
        await next.close();
        const [winner = ''] = (await accepted(server)).filter((line) => line.endsWith('True,True'));
        await server.call('DELETE', `${CRDS}/${winner.split(' ')[0]}`);
        expect((await accepted(server)).map((line) => line.split(' ')[1])).toEqual(['True,True']);
        expect((await server.call('GET', '/apis/example.com/v1')).body.resources).toHaveLength(1);
      },
      { store },
    );
    await store.close();
  });

  it('that is no definition in the store keeps no server from opening, and says what is wrong', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com';
    await store.put(key, { metadata: { name: 'things.example.com' } });
    await withServer(
      async ({ server }) => {
        expect((await server.call('GET', `${CRDS}/things.example.com`)).body.status).toMatchObject({
          conditions: [{ type: 'NamesAccepted', status: 'False', message: 'a definition has names and versions' }, {}],
        });
      },
      { store },
    );
    await store.close();
  });

  it('is served if it is stored, and only then, whenever its client stops waiting', async () => {
    await withServer(async ({ server, clock }) => {
      const gadgets = {
        metadata: { name: 'gadgets.example.org' },
        spec: { group: 'example.org', names: { plural: 'gadgets', kind: 'Gadget' }, versions: [version('v1')] },
      };
      const outcomes = new Set<string>();
      for (let ticks = 0; !outcomes.has('answered 0'); ticks++) {
        await server.call('POST', CRDS, definition([version('v1')]));
        await server.call('POST', CRDS, gadgets);
        const client = new AbortController();
        const outcome = server.fetch(CRDS, { method: 'DELETE', signal: client.signal }).then(
          () => 'answered',
          (error: Error) => error.message,
        );
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        client.abort(new Error('given up'));
        const told = await outcome;
        await clock.settle();
        const left = (await server.call('GET', CRDS)).body.items ?? [];
        for (const group of ['example.com', 'example.org']) {
          const isStored = left.some(({ metadata }) => metadata?.name?.endsWith(group));
          expect((await server.fetch(`/apis/${group}`)).status).toBe(isStored ? 200 : 404);
        }
        outcomes.add(`${told} ${left.length}`);
      }
      // Half of it was done, too.
      expect([...outcomes]).toContain('given up 1');
    });
  });

  it('takes along what is created while it goes', async () => {
    await withServer(async ({ server }) => {
      const [one, headers] = ['{"metadata":{"name":"a"}}', { 'content-type': 'application/json' }];
      let last = 201;
      for (let ticks = 0; last !== 404; ticks++) {
        await server.call('POST', CRDS, definition([version('v1')]));
        const gone = server.call('DELETE', `${CRDS}/things.example.com`);
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        const [, made] = await Promise.all([gone, server.fetch(THINGS, { method: 'POST', body: one, headers })]);
        last = made.status;
        expect((await server.storage.list('/example.com', { recursive: true })).items).toEqual([]);
      }
    });
  });

  it('takes along what is created once it has gone, by a request from before', async () => {
    await withServer(async ({ server, clock }) => {
      await server.call('POST', CRDS, definition([version('v1')]));
      let send: (text: string) => void = () => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          send = (text) => {
            controller.enqueue(new TextEncoder().encode(text));
            controller.close();
          };
        },
      });
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
      const made = server.fetch(THINGS, { ...init, headers: { 'content-type': 'application/json' } });
      await clock.settle();
      await server.call('DELETE', `${CRDS}/things.example.com`);
      send('{"metadata":{"name":"a"}}');
      expect((await made).status).toBe(201);
      expect((await server.storage.list('/example.com', { recursive: true })).items).toEqual([]);
    });
  });
});
