import {
  createFetchTransport,
  createResourceCache,
  createResourceStore,
  discoverWith,
  inferKubernetesParents,
  resourceKeyText,
} from 'plimsoll/kubernetes';
import { openTestApiServer } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';

const SET = { group: 'apps', kind: 'StatefulSet' };
const CLAIM = { group: '', kind: 'PersistentVolumeClaim' };

test('resource store: calls in the order of commits, walks, indexes', async () => {
  const store = createResourceStore({
    indexes: { name: ({ key }) => [key.name] },
    inferParents: inferKubernetesParents,
  });
  const metadata = (name: string, resourceVersion = '1') => ({
    name,
    namespace: 'ns',
    uid: `uid of ${name}`,
    resourceVersion,
  });
  const calls: string[] = [];
  store.onResourceUpdated(({ seq, key, new: now }) => {
    calls.push(`${seq} ${key.name} ${now?.resourceVersion ?? 'gone'}`);
  });
  const claims = store.feed(CLAIM);
  claims.replace([{ metadata: metadata('data-web-0') }, { metadata: metadata('data-db-0') }]);
  store
    .feed(SET)
    .replace([{ metadata: metadata('web'), spec: { volumeClaimTemplates: [{ metadata: { name: 'data' } }] } }]);
  await store.idle();
  claims.replace([{ metadata: metadata('data-web-0', '2') }]);
  await store.idle();
  equal(calls, ['1 data-web-0 1', '2 data-db-0 1', '3 web 1', '4 data-web-0 2', '5 data-db-0 gone']);
  const visited: string[] = [];
  const start = [{ ...SET, namespace: 'ns', name: 'web' }];
  const { seq } = await store.iterateHierarchyInSlices(start, ({ key }) => void visited.push(resourceKeyText(key)));
  equal(visited, ['apps/StatefulSet/ns/web', '/PersistentVolumeClaim/ns/data-web-0']);
  equal([seq, store.byIndex('name', 'web').length, store.isSynced()], [5, 1, true]);
  store.checkInvariants();
  store.close();
});

test('resource cache: all kinds of a server, and their changes', async () => {
  const server = await openTestApiServer();
  const baseUrl = 'http://kubernetes.test';
  const cache = createResourceCache({
    transport: createFetchTransport({ baseUrl, fetch: server.fetch }),
    discover: discoverWith(async (path, { signal }) => (await server.fetch(baseUrl + path, { signal })).json()),
  });
  await server.call('POST', '/api/v1/namespaces/ns/configmaps', { metadata: { name: 'a' } });
  cache.start();
  const { kinds, isSynced } = await cache.synced();
  equal([isSynced, kinds.every(({ phase }) => phase === 'synced')], [true, true]);
  const heard = new Promise<string>((resolve) => {
    cache.store.onResourceUpdated(({ key }) => void resolve(key.name));
  });
  await server.call('POST', '/api/v1/namespaces/ns/configmaps', { metadata: { name: 'b' } });
  equal([await heard, cache.store.list({ group: '', kind: 'ConfigMap' }).length], ['b', 2]);
  await cache.close();
  await server.close();
});
