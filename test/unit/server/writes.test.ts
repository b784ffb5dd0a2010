import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/server/kubernetes/stored-object.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { testKinds } from '../../../src/testing/test-kinds.ts';
import { CONFIG_MAPS, createAll, PODS, watch, withServer } from './rig.ts';

const THING = { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', status: true } as const;
const THINGS = '/apis/example.com/v1/namespaces/ns1/things';

describe('a write of an object', () => {
  it('gives it a uid, and a name if it asks for one', async () => {
    await withServer(async ({ server }) => {
      const make = async () => (await server.call('POST', PODS, { metadata: { generateName: 'web-' } })).body.metadata;
      const [first, second] = [await make(), await make()];
      expect(first.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(first.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(second.name).not.toBe(first.name);
      expect(second.uid).not.toBe(first.uid);
      const long = await server.call('POST', PODS, { metadata: { generateName: 'x'.repeat(80) } });
      expect(long.body.metadata.name).toHaveLength(63);
    });
  });

  it('takes for roles, as Kubernetes does, whatever is one segment of a path, and for other kinds DNS names', async () => {
    const group = 'rbac.authorization.k8s.io';
    const roles = { group, version: 'v1', kind: 'Role', plural: 'roles' };
    const files = { group: 'example.com', version: 'v1', kind: 'File', plural: 'files', names: 'segment' } as const;
    await withServer(
      async ({ server }) => {
        const make = async (path: string, name: string) =>
          (await server.call('POST', path, { metadata: { name } })).status;
        const path = `/apis/${group}/v1/namespaces/ns1/roles`;
        const names = ['system:node', 'A b~*', '.', '..', 'a/b', '100%'];
        const answers = await Promise.all(names.map((name) => make(path, name)));
        expect(answers).toEqual([201, 201, 422, 422, 422, 422]);
        expect((await server.call('GET', `${path}/system:node`)).body.metadata.name).toBe('system:node');
        expect((await server.call('DELETE', `${path}/A%20b~*`)).status).toBe(200);
        expect(await make('/apis/example.com/v1/namespaces/ns1/files', 'a:b')).toBe(201);
        expect(await make(PODS, 'system:node')).toBe(422);
        expect(() => server.register({ ...files, kind: 'Other', plural: 'others', names: 'any' as never })).toThrow(
          /names/,
        );
      },
      { kinds: [...testKinds, roles, files] },
    );
  });

  it('tries other names, a few, when the generated one is taken', async () => {
    let calls = 0;
    const seeded = createSeededRandom(3);
    // Every name is `a-bbbbb` at first.
    const random = () => (calls++ < 40 ? 0 : seeded());
    await withServer(
      async ({ server }) => {
        await createAll(server, PODS, ['a-bbbbb']);
        calls = 15;
        expect((await server.call('POST', PODS, { metadata: { generateName: 'a-' } })).status).toBe(201);
        calls = Number.NEGATIVE_INFINITY;
        const late = await server.call('POST', PODS, { metadata: { generateName: 'a-' } });
        expect(late.body).toMatchObject({ reason: 'AlreadyExists', message: 'pods "a-bbbbb" already exists' });
      },
      { random },
    );
  });

  it('keeps what the server alone decides', async () => {
    await withServer(async ({ server }) => {
      const sent = {
        metadata: {
          name: 'a',
          uid: 'mine',
          generation: 9,
          creationTimestamp: '2000-01-01T00:00:00Z',
          deletionTimestamp: '2000-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          managedFields: [{}],
          selfLink: '/x',
          labels: null,
          ownerReferences: [{ uid: 'o' }],
        },
      };
      const { metadata } = (await server.call('POST', PODS, sent)).body;
      expect(metadata.uid).not.toBe('mine');
      expect(metadata).toEqual({
        name: 'a',
        namespace: 'ns1',
        uid: metadata.uid,
        creationTimestamp: '2026-01-02T03:04:05Z',
        generation: 1,
        ownerReferences: [{ uid: 'o' }],
        resourceVersion: '2',
      });
      const patch = { metadata: { ...sent.metadata, uid: metadata.uid, labels: { x: 'y' } } };
      const patched = (await server.call('PATCH', `${PODS}/a`, patch)).body.metadata;
      expect(patched).toEqual({ ...metadata, labels: { x: 'y' }, resourceVersion: '3' });
    });
  });

  it('counts generations by what is neither metadata nor status, and writes no difference that is none', async () => {
    await withServer(async ({ server }) => {
      server.register(THING);
      const at = (body: ApiObject) => [body.metadata?.generation, body.metadata?.resourceVersion];
      const made = await server.call('POST', THINGS, { metadata: { name: 'a' }, spec: { x: 1 }, status: { y: 1 } });
      expect(at(made.body)).toEqual([1, '2']);
      expect(made.body.status).toBeUndefined();
      const patch = async (path: string, body: object) => (await server.call('PATCH', path, body)).body;
      expect(at(await patch(`${THINGS}/a`, { metadata: { labels: { l: '1' } } }))).toEqual([1, '3']);
      expect(at(await patch(`${THINGS}/a`, { status: { y: 2 } }))).toEqual([1, '3']);
      expect(at(await patch(`${THINGS}/a`, { spec: { x: 1 } }))).toEqual([1, '3']);
      expect(at(await patch(`${THINGS}/a`, { spec: { x: 2 } }))).toEqual([2, '4']);
      const status = await patch(`${THINGS}/a/status`, {
        spec: { x: 3 },
        status: { y: 3 },
        metadata: { labels: { l: '2' } },
      });
      expect(at(status)).toEqual([2, '5']);
      expect(status).toMatchObject({ spec: { x: 2 }, status: { y: 3 }, metadata: { labels: { l: '1' } } });
      const put = await server.call('PUT', `${THINGS}/a/status`, {
        ...status,
        metadata: { name: 'a', resourceVersion: '4' },
      });
      expect(put.body).toMatchObject({ reason: 'Conflict' });
      const kept = await server.call('PUT', `${THINGS}/a`, { metadata: { name: 'a', resourceVersion: '5' }, spec: 1 });
      expect([...at(kept.body), kept.body.status]).toEqual([3, '6', { y: 3 }]);
      expect((await server.call('GET', `${THINGS}/a/status`)).body.status).toEqual({ y: 3 });
      // Without the subresource a status is a member as any other.
      const map = await server.call('POST', CONFIG_MAPS, { metadata: { name: 'a' }, status: 1 });
      expect(map.body.status).toBe(1);
      expect(at((await server.call('PATCH', `${CONFIG_MAPS}/a`, { status: 2 })).body)).toEqual([2, '8']);
    });
  });

  it('of a trial changes nothing', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['a']);
      const trial = '?dryRun=All';
      expect((await server.call('POST', `${PODS}${trial}`, { metadata: { name: 'b' } })).status).toBe(201);
      expect((await server.call('PATCH', `${PODS}/a${trial}`, { spec: 1 })).body.spec).toBe(1);
      expect((await server.call('DELETE', `${PODS}/a${trial}`)).body.status).toBe('Success');
      expect((await server.call('DELETE', PODS, { dryRun: ['All'] })).body.items).toHaveLength(1);
      expect((await server.call('PATCH', `${PODS}/z${trial}`, { spec: 1 })).status).toBe(404);
      const { items, metadata } = (await server.call('GET', PODS)).body;
      expect([items?.length, items?.[0]?.metadata?.name, metadata.resourceVersion]).toEqual([1, 'a', '2']);
    });
  });

  it('of several at once loses none', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, CONFIG_MAPS, ['a']);
      const all = Array.from({ length: 10 }, (_, index) => index);
      await Promise.all(all.map((index) => server.call('PATCH', `${CONFIG_MAPS}/a`, { data: { [`k${index}`]: 'v' } })));
      const { body } = await server.call('GET', `${CONFIG_MAPS}/a`);
      expect(Object.keys(body.data as object)).toHaveLength(10);
      expect(body.metadata.generation).toBe(11);
    });
  });
});

describe('a deletion', () => {
  it('waits for the last finalizer, and is told as DELETED with the last state', async () => {
    await withServer(async ({ server, clock }) => {
      await server.call('POST', PODS, { metadata: { name: 'a', finalizers: ['x', 'y'] }, spec: 1 });
      const lines = await watch(server, `${PODS}?resourceVersion=2`);
      await clock.advance(5000);
      const begun = (await server.call('DELETE', `${PODS}/a`)).body;
      expect(begun.metadata).toMatchObject({ deletionTimestamp: '2026-01-02T03:04:10Z', generation: 2 });
      await clock.advance(5000);
      // A second one changes nothing, and does not put it off.
      expect((await server.call('DELETE', `${PODS}/a`)).body).toEqual(begun);
      const add = await server.call('PATCH', `${PODS}/a`, { metadata: { finalizers: ['x', 'y', 'z'] } });
      expect(add.body).toMatchObject({ code: 422, details: { causes: [{ reason: 'FieldValueForbidden' }] } });
      const one = await server.call('PATCH', `${PODS}/a`, { metadata: { finalizers: ['y'] } });
      expect(one.body.metadata).toMatchObject({ finalizers: ['y'], deletionTimestamp: '2026-01-02T03:04:10Z' });
      const trial = await server.call('PATCH', `${PODS}/a?dryRun=All`, { metadata: { finalizers: [] } });
      expect([trial.status, (await server.fetch(`${PODS}/a`)).status]).toEqual([200, 200]);
      const last = await server.call('PATCH', `${PODS}/a`, { metadata: { finalizers: null }, spec: 2 });
      expect([last.status, last.body.metadata.finalizers]).toEqual([200, undefined]);
      expect((await server.fetch(`${PODS}/a`)).status).toBe(404);
      expect(await lines.brief(2)).toEqual(['MODIFIED a@3', 'MODIFIED a@4']);
      // What was the last finalizer's own write was never a state of the object.
      expect(await lines.next()).toMatchObject({
        type: 'DELETED',
        object: { kind: 'Pod', spec: 1, metadata: { name: 'a', resourceVersion: '5', finalizers: ['y'] } },
      });
      await lines.cancel();
    });
  });

  it('by a policy adds the finalizer that a garbage collector would take off', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['a', 'b']);
      const a = await server.call('DELETE', `${PODS}/a`, { propagationPolicy: 'Orphan' });
      expect(a.body.metadata.finalizers).toEqual(['orphan']);
      const b = await server.call('DELETE', `${PODS}/b?propagationPolicy=Foreground`);
      expect(b.body.metadata.finalizers).toEqual(['foregroundDeletion']);
      const again = await server.call('DELETE', `${PODS}/b?propagationPolicy=Foreground`);
      expect(again.body.metadata.finalizers).toEqual(['foregroundDeletion']);
      const kept = await server.call('DELETE', `${PODS}/b`);
      expect(kept.body.metadata.finalizers).toEqual(['foregroundDeletion']);
      const other = await server.call('DELETE', `${PODS}/b`, { propagationPolicy: 'Orphan' });
      expect(other.body.metadata.finalizers).toEqual(['orphan']);
      expect((await server.call('DELETE', `${PODS}/b?propagationPolicy=Background`)).body.status).toBe('Success');
      await server.call('POST', PODS, { metadata: { name: 'c', finalizers: ['orphan', 'f'] } });
      const c = await server.call('DELETE', `${PODS}/c?propagationPolicy=Foreground`);
      expect(c.body.metadata.finalizers).toEqual(['f', 'foregroundDeletion']);
      await server.call('PATCH', `${PODS}/a`, { metadata: { finalizers: [] } });
      expect((await server.fetch(`${PODS}/a`)).status).toBe(404);
    });
  });

  it('of a collection takes what the selectors leave, in its namespace', async () => {
    await withServer(async ({ server }) => {
      const make = (path: string, name: string, app: string, finalizers: readonly string[] = []) =>
        server.call('POST', path, { metadata: { name, labels: { app }, finalizers } });
      await make(PODS, 'a', 'web');
      await make(PODS, 'b', 'web', ['f']);
      await make(PODS, 'c', 'api');
      await make('/api/v1/namespaces/ns2/pods', 'd', 'web');
      const deleted = await server.call('DELETE', `${PODS}?labelSelector=app=web`);
      expect(deleted.body.items?.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b']);
      const left = (await server.call('GET', '/api/v1/pods')).body.items ?? [];
      expect(left.map(({ metadata }) => [metadata?.name, metadata?.deletionTimestamp !== undefined])).toEqual([
        ['b', true],
        ['c', false],
        ['d', false],
      ]);
    });
  });
});
