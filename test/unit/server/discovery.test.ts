import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../../src/server/kubernetes/kind-registry.ts';
import { PODS, watch, withServer } from './rig.ts';

const THING = { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', shortNames: ['th'] } as const;
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

describe('discovery', () => {
  it('says the versions of the core group, the other groups, and the kinds of each', async () => {
    await withServer(
      async ({ server }) => {
        const get = async (path: string) => (await server.call('GET', path)).body;
        expect(await get('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
        const group = {
          name: 'example.com',
          versions: [
            { groupVersion: 'example.com/v2', version: 'v2' },
            { groupVersion: 'example.com/v1', version: 'v1' },
          ],
          preferredVersion: { groupVersion: 'example.com/v2', version: 'v2' },
        };
        expect(await get('/apis')).toEqual({ kind: 'APIGroupList', apiVersion: 'v1', groups: [group] });
        expect(await get('/apis/example.com')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group });
        expect(await get('/apis/example.com/v1')).toEqual({
          kind: 'APIResourceList',
          apiVersion: 'v1',
          groupVersion: 'example.com/v1',
          resources: [
            {
              name: 'things',
              singularName: 'thing',
              namespaced: true,
              kind: 'Thing',
              verbs: VERBS,
              shortNames: ['th'],
            },
          ],
        });
        expect((await get('/apis/example.com/v2')).resources).toMatchObject([
          { name: 'things', categories: ['all'] },
          { name: 'things/status', singularName: '', verbs: ['get', 'patch', 'update'] },
        ]);
        expect(await get('/version')).toMatchObject({ major: '1', gitVersion: 'v1.32.0' });
      },
      { kinds: [THING, { ...THING, version: 'v2', status: true, categories: ['all'] }] },
    );
  });

  it('is one document for who asks for that', async () => {
    await withServer(
      async ({ server }) => {
        const response = await server.fetch('/apis', { headers: { accept: AGGREGATED } });
        expect(response.headers.get('content-type')).toBe(
          'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
        );
        const responseKind = { group: 'example.com', version: 'v1', kind: 'Thing' };
        expect(await response.json()).toEqual({
          kind: 'APIGroupDiscoveryList',
          apiVersion: 'apidiscovery.k8s.io/v2',
          metadata: {},
          items: [
            {
              metadata: { name: 'example.com', creationTimestamp: null },
              versions: [
                {
                  version: 'v1',
                  freshness: 'Current',
                  resources: [
                    {
                      resource: 'things',
                      responseKind,
                      scope: 'Cluster',
                      singularResource: 'thing',
                      verbs: VERBS,
                      shortNames: ['th'],
                      subresources: [{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }],
                    },
                  ],
                },
              ],
            },
          ],
        });
        const core = await server.fetch('/api', { headers: { accept: AGGREGATED } });
        expect(await core.json()).toMatchObject({ kind: 'APIGroupDiscoveryList', items: [] });
      },
      { kinds: [{ ...THING, namespaced: false, status: true }] },
    );
  });

  it('knows a kind from its registration to its end, and ends its watches then', async () => {
    await withServer(async ({ server }) => {
      const things = '/apis/example.com/v1/namespaces/ns1/things';
      expect((await server.fetch(things)).status).toBe(404);
      server.register(THING);
      expect((await server.call('POST', things, { metadata: { name: 'a' } })).status).toBe(201);
      expect((await server.call('GET', '/apis/example.com')).status).toBe(200);
      const lines = await watch(server, things);
      const pods = await watch(server, PODS);
      expect(await lines.brief(1)).toEqual(['ADDED a@2']);
      expect(server.unregister({ group: 'example.com', plural: 'things' })).toBe(true);
      expect(await lines.brief(1)).toEqual(['end']);
      expect((await server.fetch(things)).status).toBe(404);
      expect((await server.fetch('/apis/example.com')).status).toBe(404);
      expect(server.unregister({ group: 'example.com', plural: 'things' })).toBe(false);
      expect(server.openWatches).toEqual({ pods: 1 });
      await pods.cancel();
      server.register(THING);
      expect((await server.call('GET', `${things}/a`)).body.metadata.name).toBe('a');
    });
  });

  it('has one set of objects for all versions of a kind, each shown with the version asked for', async () => {
    await withServer(async ({ server }) => {
      server.register(THING);
      server.register({ ...THING, version: 'v2' });
      const path = (version: string) => `/apis/example.com/${version}/namespaces/ns1/things`;
      await server.call('POST', path('v1'), { metadata: { name: 'a' } });
      const second = await server.call('GET', path('v2'));
      expect(second.body.items).toMatchObject([
        { apiVersion: 'example.com/v2', kind: 'Thing', metadata: { name: 'a' } },
      ]);
      expect(server.unregister({ group: 'example.com', plural: 'things', version: 'v1' })).toBe(true);
      expect((await server.fetch(path('v1'))).status).toBe(404);
      expect((await server.call('GET', `${path('v2')}/a`)).body.apiVersion).toBe('example.com/v2');
    });
  });

  it('refuses kinds that are none, and names that are taken', async () => {
    await withServer(async ({ server }) => {
      server.register(THING);
      expect(() => server.register(THING)).toThrow('example.com/v1 has Thing (things) already');
      expect(() => server.register({ ...THING, plural: 'others' })).toThrow(RangeError);
      for (const kind of ['1thing', 'thing-', 'a.b', '']) {
        expect(() => server.register({ ...THING, kind })).toThrow(TypeError);
      }
      // A kind begins with a capital by custom alone.
      const zalando = { group: 'acid.zalan.do', version: 'v1', kind: 'postgresql', plural: 'postgresqls' };
      expect(server.register(zalando).listKind).toBe('postgresqlList');
      expect(() => server.register({ ...THING, group: 'Example' })).toThrow(TypeError);
      expect(() => server.register({ ...THING, version: 'V1' })).toThrow(TypeError);
      expect(() => server.register({ ...THING, plural: 'a/b' })).toThrow(TypeError);
      expect(() => server.register({ ...THING, shortNames: 'th' as never })).toThrow(TypeError);
      expect(() => server.register({ ...THING, status: 1 as never })).toThrow(TypeError);
      expect(() => server.register({ ...THING, scope: 'Cluster' } as never)).toThrow('scope');
    });
  });

  it('says by OpenAPI that the server validates, and what is healthy', async () => {
    await withServer(async ({ server }) => {
      expect((await server.call('GET', '/openapi/v3')).body.paths).toMatchObject({
        'api/v1': { serverRelativeURL: '/openapi/v3/api/v1' },
        'apis/apps/v1': {},
      });
      const { body } = await server.call<{ paths: Record<string, unknown> }>('GET', '/openapi/v3/apis/apps/v1');
      expect(body.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']).toMatchObject({
        patch: {
          parameters: [{ name: 'dryRun' }, {}, { name: 'fieldValidation', in: 'query' }, {}],
          'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
        },
      });
      expect((await server.fetch('/openapi/v3/apis/apps/v9')).status).toBe(404);
      for (const path of ['/healthz', '/livez', '/readyz']) expect(await (await server.fetch(path)).text()).toBe('ok');
    });
  });

  it('prefers versions as Kubernetes does', () => {
    const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
    expect([...order].reverse().sort(compareVersions)).toEqual(order);
  });
});
