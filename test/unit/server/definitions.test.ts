import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import type { ApiObject } from '../../../src/server/kubernetes/stored-object.ts';
import { openTestApiServer } from '../../../src/testing/test-api-server.ts';
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
});
