import { afterEach } from 'vitest';
import { createFetchTransport } from '../../../src/kubernetes/create-fetch-transport.ts';
import { discoverWith } from '../../../src/resource-cache/api-resource.ts';
import { createResourceCache, type ResourceCacheOptions } from '../../../src/resource-cache/create-resource-cache.ts';
import type { ResourceCache } from '../../../src/resource-cache/resource-cache.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { openTestApiServer, type TestApiServer } from '../../../src/testing/test-api-server.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

export const BASE = 'http://kubernetes.test';
export const CONFIG = { group: '', kind: 'ConfigMap' };

let open: { server: TestApiServer; cache: ResourceCache }[] = [];

afterEach(async () => {
  for (const { server, cache } of open) await Promise.all([cache.close(), server.close()]);
  open = [];
});

/** A cache in front of a server in this process, both in virtual time. */
export async function rig(options: Partial<ResourceCacheOptions> = {}) {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const server = await openTestApiServer({ clock, random });
  const readPath = async (path: string, init: { signal: AbortSignal }): Promise<unknown> => {
    const response = await server.fetch(BASE + path, init);
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return response.json();
  };
  const cache = createResourceCache({
    transport: createFetchTransport({ baseUrl: BASE, fetch: server.fetch, clock }),
    discover: discoverWith(readPath),
    clock,
    random,
    ...options,
  });
  open.push({ server, cache });
  /** Moves on until it is so; each step lets everything settle that can. */
  const until = async (condition: () => boolean, stepMs = 5): Promise<void> => {
    for (let step = 0; !condition(); step++) {
      if (step > 4000) throw new Error(`Waited for ${condition}`);
      await clock.advance(stepMs);
    }
  };
  const put = (name: string, namespace = 'shop', plural = 'configmaps') =>
    server.call('POST', `/api/v1/namespaces/${namespace}/${plural}`, { metadata: { name } });
  const names = (groupKind = CONFIG) =>
    cache.store
      .list(groupKind)
      .map(({ key }) => `${key.namespace}/${key.name}`)
      .sort();
  const statusOf = (kind: string) => cache.status().kinds.filter((one) => one.kind === kind);
  const isSynced = () => cache.status().isSynced && cache.store.isSynced();
  return { clock, server, cache, until, put, names, statusOf, isSynced };
}
