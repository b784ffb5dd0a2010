import { afterEach, describe, expect, it } from 'vitest';
import { createFetchTransport } from '../../../src/kubernetes/create-fetch-transport.ts';
import { discoverWith } from '../../../src/resource-cache/api-resource.ts';
import { createResourceCache } from '../../../src/resource-cache/create-resource-cache.ts';
import type { ResourceCache } from '../../../src/resource-cache/resource-cache.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { openTestApiServer, type TestApiServer } from '../../../src/testing/test-api-server.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { added, keyOf, NODE, ownedBy, POD, rig, type Thing, thing } from './things.ts';

/** Public reports about caches of whole clusters, by their number in docs/spec/resource-cache.md: the smallest scenario, and what is right. */

const BASE = 'http://kubernetes.test';
const NAMESPACE = { group: '', kind: 'Namespace' };
const SECRET = { group: '', kind: 'Secret' };
const FOREVER = { times: Number.POSITIVE_INFINITY };

let open: { server: TestApiServer; cache: ResourceCache }[] = [];

afterEach(async () => {
  for (const { server, cache } of open) await Promise.all([cache.close(), server.close()]);
  open = [];
});

/** A cache in front of a server in this process, both in virtual time; `token` is what the cache logs in with. */
async function cluster(token: () => string = () => 'one') {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const server = await openTestApiServer({ clock, random });
  const transport = createFetchTransport({ baseUrl: BASE, fetch: server.fetch, clock, token: async () => token() });
  const discover = discoverWith(async (path, { signal }) => {
    const response = await server.fetch(BASE + path, { signal, headers: { authorization: `Bearer ${token()}` } });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return response.json();
  });
  const cache = createResourceCache({ transport, discover, clock, random });
  open.push({ server, cache });
  const until = async (condition: () => boolean): Promise<void> => {
    for (let step = 0; !condition(); step++) {
      if (step > 4000) throw new Error(`Waited for ${condition}`);
      await clock.advance(5);
    }
  };
  const put = (name: string, namespace: string) =>
    server.call('POST', `/api/v1/namespaces/${namespace}/pods`, { metadata: { name } });
  const names = () => cache.store.list(POD).map(({ key }) => `${key.namespace}/${key.name}`);
  const statusOf = (kind: string) => cache.status().kinds.find((one) => one.kind === kind);
  const isSynced = () => cache.status().isSynced && cache.store.isSynced();
  return { clock, server, cache, until, put, names, statusOf, isSynced };
}

describe('caches of a whole cluster, elsewhere', () => {
  it('report 55.1 (argo-cd#28322, #9226, #4053), RC13: a resync leaves no ghost in a namespace', async () => {
    const { server, cache, until, put, names, isSynced } = await cluster();
    await put('gone', 'shop');
    await put('stays', 'shop');
    await put('last', 'web');
    cache.start();
    await until(isSynced);
    const view = cache.store.view('shop');
    expect(view.list()).toHaveLength(2);
    // Their ends are told nobody: only the list of the resync does not have them any more.
    const stalled = server.faults.stallWatches();
    for (const path of ['shop/pods/gone', 'web/pods/last']) await server.call('DELETE', `/api/v1/namespaces/${path}`);
    server.faults.expireWatches();
    stalled.remove();
    await until(() => names().length === 1);
    const lists = [
      view.list(),
      cache.store.list({ namespace: 'shop' }),
      cache.store.list({ ...POD, namespace: 'shop' }),
    ];
    expect(lists.map((list) => list.map(({ key }) => key.name))).toEqual([['stays'], ['stays'], ['stays']]);
    expect([cache.store.list({ namespace: 'web' }), cache.store.stats.namespaces]).toEqual([[], 1]);
    cache.store.checkInvariants();
  });

  it('report 55.2 (argo-cd#28630), RC14: after a restart nothing may be taken for absent before its kind is listed', async () => {
    const { server, cache, until, isSynced } = await cluster();
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'shared' } });
    const fault = server.faults.fail({ code: 503, resource: 'namespaces', verb: 'list', ...FOREVER });
    const target = { ...NAMESPACE, namespace: '', name: 'shared' };
    const look = () => cache.store.managedObjects([target], () => false);
    // Before discovery nobody knows which kinds there are.
    const unknown = { group: '*', kind: '*' };
    expect(look()).toMatchObject({ isComplete: false, unsynced: [unknown, NAMESPACE] });
    cache.start();
    await until(() => cache.status().kinds.filter((one) => one.phase !== 'synced').length === 1);
    // All else is known by now, and this is still no reason to prune.
    expect(look()).toMatchObject({ isComplete: false, unsynced: [NAMESPACE] });
    expect(look().resources.size).toBe(0);
    fault.remove();
    await until(isSynced);
    expect(look()).toMatchObject({ isComplete: true, unsynced: [] });
    expect([...look().resources.keys()]).toEqual(['/Namespace//shared']);
  });

  it('report 55.3 (argo-cd#28928), RC6: while every request answers 401 reads and handlers go on, and so does the cache behind it', async () => {
    let token = 'one';
    const { server, cache, until, put, names, statusOf, isSynced, clock } = await cluster(() => token);
    await put('a', 'shop');
    cache.start();
    await until(isSynced);
    const told: string[] = [];
    cache.store.onResourceUpdated(({ key, new: now, view }) => {
      // What a lock that is held would block: reads of other namespaces, and other handlers.
      cache.store.onResourceUpdated(() => {})();
      told.push(`${key.name} ${now !== undefined} ${view.list().length} ${cache.store.list().length}`);
    });
    const fault = server.faults.fail({ code: 401, token: 'one', ...FOREVER });
    server.faults.endWatches();
    await put('b', 'shop');
    const isRefused = ({ reason }: { readonly reason: string | undefined }) => reason === 'Unauthorized';
    await until(() => cache.status().kinds.every(isRefused));
    await clock.advance(120_000);
    expect([names(), cache.store.isSynced(), statusOf('Pod')?.isSynced]).toEqual([['shop/a'], true, true]);
    expect([told, fault.hits > 15]).toEqual([[], true]);
    // The store is no less alive than before: what is fed by hand is told at once.
    cache.store.feed({ group: 'example.com', kind: 'Thing' }).apply(added(thing('shop/own') as Thing));
    await clock.advance(1);
    expect(told).toEqual(['own true 2 2']);
    token = 'two';
    await until(() => names().length === 2);
    expect(told).toEqual(['own true 2 2', 'b true 3 3']);
  });

  it('report 55.4 (argo-cd#26408, #7655), RH6: owners without a namespace lead to children in any, whoever comes last', () => {
    const { store } = rig();
    const [provider, revision, account] = ['Provider', 'ProviderRevision', 'Account'].map((kind) => ({
      group: 'pkg',
      kind,
    }));
    if (provider === undefined || revision === undefined || account === undefined) throw new Error('no kinds');
    const child = (text: string, owner: string) => thing(text, '1', ownedBy(`uid of ${owner}`));
    store.feed(POD).replace([child('a/web', 'a/run'), child('b/run', 'v1'), child('a/run', 'account')]);
    store.feed(account).replace([child('account', 'v1')]);
    store.feed(revision).replace([child('v1', 'top')]);
    store.feed(provider).replace([thing('top')]);
    store.feed(NODE).replace([thing('other')]);
    store.flush();
    const walk = () => {
      const found: string[] = [];
      store.iterateHierarchy([keyOf(provider, 'top')], ({ key }, { depth }) => {
        found.push(`${depth} ${key.namespace}/${key.name}`);
      });
      return found.sort();
    };
    expect(walk()).toEqual(['0 /top', '1 /v1', '2 /account', '2 b/run', '3 a/run', '4 a/web']);
    store.feed(account).replace([]);
    store.flush();
    expect(walk()).toEqual(['0 /top', '1 /v1', '2 b/run']);
  });

  it('report 55.5 (gitops-engine#520), RC15: a kind whose lists fail is tried again alone, and all others are followed', async () => {
    const { server, cache, until, put, names, statusOf } = await cluster();
    const fault = server.faults.fail({ code: 500, resource: 'secrets', verb: 'list', ...FOREVER });
    cache.start();
    await until(() => fault.hits >= 3);
    await put('a', 'shop');
    await until(() => names().length === 1);
    expect(statusOf('Secret')).toMatchObject({ phase: 'failed', isSynced: false, reason: 'InternalError' });
    const others = cache.status().kinds.filter(({ kind }) => kind !== 'Secret');
    expect([others.length > 10, others.every(({ phase }) => phase === 'synced')]).toEqual([true, true]);
    // Nothing else was listed again for it.
    const lists = server.requests.filter(({ verb, resource }) => verb === 'list' && resource !== 'secrets');
    expect(lists.length).toBe(others.length);
    await server.call('POST', '/api/v1/namespaces/shop/secrets', { metadata: { name: 'token' } });
    fault.remove();
    await until(() => cache.store.list(SECRET).length === 1);
    expect(statusOf('Secret')).toMatchObject({ phase: 'synced', reason: undefined });
  });
});
