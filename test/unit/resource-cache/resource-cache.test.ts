import { describe, expect, it } from 'vitest';
import { createFetchTransport } from '../../../src/kubernetes/create-fetch-transport.ts';
import { createInformer } from '../../../src/kubernetes/create-informer.ts';
import type { KubernetesTransport, ListPage } from '../../../src/kubernetes/transport.ts';
import { type ApiResource, type DiscoveredResources, discoverWith } from '../../../src/resource-cache/api-resource.ts';
import { createResourceCache } from '../../../src/resource-cache/create-resource-cache.ts';
import { limitLists } from '../../../src/resource-cache/limit-lists.ts';
import { openTestApiServer } from '../../../src/testing/test-api-server.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { ClosedError } from '../../../src/types/errors.ts';
import { BASE, CONFIG, rig } from './cache-rig.ts';
import { POD } from './things.ts';

const SETS = { group: 'apps', kind: 'ReplicaSet' };

describe('the resource cache', () => {
  it('lists every kind of a cluster, follows it, and says so: RC14, RC15', async () => {
    const { server, cache, until, put, names, isSynced } = await rig();
    await put('before');
    expect(cache.status()).toMatchObject({ isSynced: false, kinds: [] });
    cache.start();
    cache.start();
    const synced = cache.synced();
    await until(isSynced);
    const { kinds, discovery } = await synced;
    expect(kinds.every(({ phase }) => phase === 'synced')).toBe(true);
    expect(kinds.map(({ kind }) => kind)).toContain('CustomResourceDefinition');
    expect(discovery).toEqual({ isReady: true, error: undefined, failures: 0, failedGroups: [] });
    expect(names()).toEqual(['shop/before']);
    await put('later');
    await until(() => names().length === 2);
    await server.call('DELETE', '/api/v1/namespaces/shop/configmaps/before');
    await until(() => names().length === 1);
    cache.store.checkInvariants();
    expect(cache.store.managedObjects([], () => true).isComplete).toBe(true);
  });

  it('RC15 a kind that is forbidden is told, holds up nobody, and comes when it may', async () => {
    const { server, cache, until, put, statusOf, names, clock } = await rig();
    await put('one');
    const fault = server.faults.fail({ code: 403, resource: 'pods', verb: 'list', times: Number.POSITIVE_INFINITY });
    cache.start();
    const synced = cache.synced();
    await until(() => statusOf('Pod')[0]?.phase === 'failed');
    const { isSynced } = await synced;
    expect(isSynced).toBe(false);
    const [pods] = statusOf('Pod');
    expect(pods).toMatchObject({ reason: 'Forbidden', isSynced: false, namespace: undefined });
    expect(pods?.retryAtMs).toBeGreaterThan(clock.now());
    expect(names()).toEqual(['shop/one']);
    expect([cache.store.isSynced(CONFIG), cache.store.isSynced(POD), cache.store.isSynced()]).toEqual([
      true,
      false,
      false,
    ]);
    expect(cache.store.managedObjects([], () => false)).toMatchObject({ isComplete: false, unsynced: [POD] });
    fault.remove();
    await until(() => statusOf('Pod')[0]?.phase === 'synced');
    expect(cache.status().isSynced).toBe(true);
    expect(statusOf('Pod')[0]).toMatchObject({ phase: 'synced', reason: undefined, retryAtMs: undefined });
  });

  it('RC16 lists and discoveries that fail take nothing away', async () => {
    const { server, cache, until, put, names, statusOf, isSynced, clock } = await rig({ discoveryMs: 1000 });
    await put('one');
    cache.start();
    await until(isSynced);
    const all = { times: Number.POSITIVE_INFINITY };
    server.faults.expireWatches({ resource: 'configmaps' });
    server.faults.fail({ code: 500, resource: 'configmaps', verb: ['list', 'watch'], ...all });
    await until(() => statusOf('ConfigMap')[0]?.phase === 'failed');
    expect([names(), statusOf('ConfigMap')[0]?.isSynced]).toEqual([['shop/one'], true]);
    server.faults.fail({ code: 500, ...all });
    await clock.advance(2000);
    await until(() => cache.status().discovery.failures > 1);
    expect(cache.status()).toMatchObject({ isSynced: true, discovery: { isReady: true } });
    expect(names()).toEqual(['shop/one']);
    server.faults.heal();
    await server.call('DELETE', '/api/v1/namespaces/shop/configmaps/one');
    await until(() => names().length === 0 && cache.status().discovery.failures === 0);
  });

  it('RC17 kinds come and go with their definitions; one whose group cannot be asked stays', async () => {
    const { server, cache, until, isSynced, statusOf } = await rig({ discoveryDelayMs: 10 });
    cache.start();
    await until(isSynced);
    const widget = { group: 'example.com', kind: 'Widget' };
    const ends: string[] = [];
    cache.store.onResourceUpdated(({ key, new: now }) => {
      if (now === undefined) ends.push(key.name);
    });
    const crd = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { status } = await server.call('POST', crds, crd);
    expect(status).toBe(201);
    await server.call('POST', '/apis/example.com/v1/namespaces/shop/widgets', { metadata: { name: 'w' } });
    await until(() => cache.store.list(widget).length === 1);
    expect(statusOf('Widget')[0]).toMatchObject({ phase: 'synced', version: 'v1', size: 1 });
    // Its group is there, and does not answer: nobody knows.
    const fault = server.faults.fail({ code: 503, times: Number.POSITIVE_INFINITY, resource: '' });
    await server.call('PATCH', `${crds}/widgets.example.com`, { metadata: { labels: { touched: 'yes' } } });
    await until(() => fault.hits > 0);
    expect(cache.store.list(widget)).toHaveLength(1);
    fault.remove();
    await until(() => cache.status().discovery.failures === 0);
    await server.call('DELETE', `${crds}/widgets.example.com`);
    await until(() => statusOf('Widget').length === 0 && cache.store.list(widget).length === 0);
    await until(() => ends.includes('w'));
    expect(server.openWatches['widgets.example.com'] ?? 0).toBe(0);
    cache.store.checkInvariants();
  });

  it('RC17 of a group that fails nothing is gone; another version goes on with the same objects', async () => {
    const server = await openTestApiServer();
    const fetched = createFetchTransport({ baseUrl: BASE, fetch: server.fetch });
    // Another version of a kind has the same objects: here it is v1 under another name.
    const asV1 = <R extends { readonly resource: object }>(request: R) => ({
      ...request,
      resource: { ...request.resource, version: 'v1' },
    });
    const transport = {
      list: (request, options) => fetched.list(asV1(request) as never, options),
      watch: (request, options) => fetched.watch(asV1(request) as never, options),
    } satisfies KubernetesTransport;
    const pods: ApiResource = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', isNamespaced: true };
    const sets: ApiResource = { ...SETS, version: 'v1', resource: 'replicasets', isNamespaced: true };
    let found: DiscoveredResources = { resources: [pods, sets] };
    const { cache, until, isSynced, statusOf } = await rig({
      discover: async () => found,
      discoveryMs: 1000,
      transport,
    });
    const call = (method: string, name: string, body?: object) =>
      server.call(method, `/api/v1/namespaces/shop/pods/${name}`, body);
    for (const name of ['one', 'two']) await call('POST', '', { metadata: { name } });
    cache.start();
    await until(isSynced);
    const calls: string[] = [];
    cache.store.onResourceUpdated(({ key, new: now }) => {
      calls.push(`${key.name} ${now === undefined ? 'gone' : 'there'}`);
    });
    found = { resources: [pods], failedGroups: [{ group: 'apps', error: new Error('down') }] };
    await until(() => cache.status().discovery.failedGroups.length === 1);
    expect([statusOf('ReplicaSet').length, cache.status().isSynced]).toEqual([1, false]);
    // One goes while the watch hears nothing; the list of the next version does not have it.
    server.faults.stallWatches({ resource: 'pods' });
    await call('DELETE', 'one');
    found = { resources: [{ ...pods, version: 'v2' }, sets] };
    await until(() => statusOf('Pod')[0]?.version === 'v2' && calls.includes('one gone'));
    expect(calls).toEqual(['two there', 'one gone']);
    found = { resources: [sets] };
    await until(() => cache.store.list(POD).length === 0 && calls.includes('two gone'));
    expect(calls).toEqual(['two there', 'one gone', 'two gone']);
    cache.store.checkInvariants();
    await cache.close();
    await server.close();
  });

  it('in namespaces, each kind has a watch in each, and one namespace that fails holds up no other', async () => {
    const { server, cache, until, put, names, statusOf } = await rig({ namespaces: ['shop', 'bank'] });
    for (const namespace of ['shop', 'bank', 'other']) await put('one', namespace);
    server.faults.fail({ code: 403, resource: 'configmaps', namespace: 'bank', times: 1 });
    cache.start();
    await until(() => statusOf('ConfigMap').some(({ phase }) => phase === 'failed'));
    await until(() => names().length === 1);
    expect(names()).toEqual(['shop/one']);
    expect(statusOf('ConfigMap').map(({ namespace, isSynced }) => [namespace, isSynced])).toEqual([
      ['shop', true],
      ['bank', false],
    ]);
    expect(cache.store.isSynced(CONFIG)).toBe(false);
    await until(() => cache.store.isSynced(CONFIG));
    expect(names()).toEqual(['bank/one', 'shop/one']);
    expect(statusOf('Node')).toMatchObject([{ namespace: undefined, phase: 'synced' }]);
    expect(server.openWatches.configmaps).toBe(2);
  });

  it('RC18 so many lists are under way at a time, the others wait in their order, until their signal ends that', async () => {
    const ends: (() => void)[] = [];
    const page: ListPage = { resourceVersion: '1', items: [] };
    const transport: KubernetesTransport = {
      list: () => new Promise((resolve) => void ends.push(() => resolve(page))),
      watch: () => Promise.reject(new Error('not here')),
    };
    const limited = limitLists(transport, 2, createVirtualClock());
    const resource = { version: 'v1', resource: 'pods' };
    const stop = new AbortController();
    const signals = [new AbortController(), new AbortController(), stop, new AbortController()];
    const lists = signals.map(({ signal }) => limited.list({ resource }, { signal }));
    const settled = () => new Promise((resolve) => void setImmediate(resolve));
    await settled();
    expect(ends).toHaveLength(2);
    stop.abort(new Error('enough'));
    await expect(lists[2]).rejects.toThrow('enough');
    ends[0]?.();
    await lists[0];
    await settled();
    expect(ends).toHaveLength(3);
    ends[1]?.();
    ends[2]?.();
    await Promise.all([lists[1], lists[3]]);
    await expect(limited.list({ resource }, { signal: stop.signal })).rejects.toThrow('enough');
    // All places are free again.
    void limited.list({ resource }, { signal: new AbortController().signal });
    void limited.list({ resource }, { signal: new AbortController().signal });
    await settled();
    expect(ends).toHaveLength(5);
    await expect(limited.watch({ resource }, { signal: stop.signal })).rejects.toThrow('not here');
  });

  it('RC18 the time in line is no time of the server, and a transport that hears nothing keeps no place', async () => {
    const clock = createVirtualClock();
    const asked: string[] = [];
    const hangs = new Set(['a', 'b', 'e']);
    const transport: KubernetesTransport = {
      // Deaf: it does not listen to its signal.
      list: ({ resource: { resource } }) => {
        asked.push(`${resource} ${clock.now()}`);
        return hangs.has(resource) ? new Promise(() => {}) : Promise.resolve({ resourceVersion: '5', items: [] });
      },
      watch: () => new Promise(() => {}),
    };
    const limited = limitLists(transport, 2, clock);
    const errors: string[] = [];
    const informers = ['a', 'b', 'c', 'd', 'e'].map((resource) => {
      const informer = createInformer({
        transport: limited,
        resource: { version: 'v1', resource },
        clock,
        listTimeoutMs: 1000,
        // No pause ends within the test.
        backoff: { baseMs: 100_000, maxMs: 100_000 },
        streamingList: 'never',
        onError: (error) => errors.push(`${resource} ${(error as Error).message}`),
      });
      informer.start();
      return informer;
    });
    await clock.advance(5999);
    expect([asked, errors]).toEqual([['a 0', 'b 0'], []]);
    await clock.advance(1);
    expect(asked).toEqual(['a 0', 'b 0', 'c 6000', 'd 6000', 'e 6000']);
    const told = (...kinds: string[]) => kinds.map((kind) => `${kind} Cannot list ${kind}: no answer within 1000 ms`);
    expect(errors).toEqual(told('a', 'b'));
    expect(informers.map((informer) => informer.state().isSynced)).toEqual([false, false, true, true, false]);
    // The deadline of one that has waited is whole; what it keeps is given back 5 s after it.
    await clock.advance(5999);
    expect(errors).toEqual(told('a', 'b'));
    await clock.advance(1);
    expect(errors).toEqual(told('a', 'b', 'e'));
    await Promise.all([...informers.map((informer) => informer.stop()), clock.advance(10_000)]);
    expect(clock.pending).toBe(0);
  });

  it('RC19 after close nothing is left: no call, watch, request or timer', async () => {
    const { server, cache, until, put, isSynced, clock } = await rig();
    cache.start();
    await until(isSynced);
    const calls: unknown[] = [];
    cache.store.onResourceUpdated((update) => void calls.push(update));
    await cache.close();
    await cache.close();
    await server.close();
    expect([Object.values(server.openWatches).reduce((sum, count) => sum + count, 0), clock.pending]).toEqual([0, 0]);
    expect((await put('late')).status).toBe(503);
    await clock.advance(10_000);
    expect(calls).toEqual([]);
    expect(() => cache.start()).toThrow(ClosedError);
    await expect(cache.synced()).rejects.toThrow(ClosedError);
    const { cache: other } = await rig();
    const waiting = expect(other.synced()).rejects.toThrow(ClosedError);
    await other.close();
    await waiting;
    const { cache: third } = await rig();
    const stop = new AbortController();
    const stopped = expect(third.synced({ signal: stop.signal })).rejects.toThrow('enough');
    stop.abort(new Error('enough'));
    await stopped;
  });

  it('wrong options are refused, by name', () => {
    const transport = { list: () => {}, watch: () => {} } as never;
    const discover = async () => ({ resources: [] });
    const wrong: object[] = [
      {},
      { transport, discover: 1 },
      { transport: {}, discover },
      { transport, discover, includes: 1 },
      { transport, discover, namespaces: 'shop' },
      { transport, discover, namespaces: [''] },
      { transport, discover, namespaces: [] },
      { transport, discover, namespaces: ['a', 'a'] },
      { transport, discover, listConcurrency: 0 },
      { transport, discover, discoveryMs: 1 },
      { transport, discover, discoveryDelayMs: -1 },
      { transport, discover, discoveryTimeoutMs: 0 },
      { transport, discover, informer: { page: 1 } },
      { transport, discover, informer: { pageLimit: 0 } },
      { transport, discover, informer: { tombstoneMs: -1 } },
      { transport, discover, informer: { selectors: { labelSelector: 5 } } },
      { transport, discover, informer: { backoff: { baseMs: 0 } } },
      { transport, discover, kinds: [] },
      { transport, discover, latencyMs: -1 },
    ];
    for (const options of wrong)
      expect(() => createResourceCache(options as never)).toThrow(/^Cannot create a resource cache: /);
  });

  it('a discovery that answers with something else, or that is half used, has failed', async () => {
    const bad: { discover: () => Promise<unknown>; includes?: () => boolean }[] = [
      ...[
        5,
        undefined,
        [],
        {},
        { resources: [{ kind: 'Pod' }] },
        { resources: [], failedGroups: 1 },
        { resources: [], failedGroups: ['apps'] },
      ].map((answer) => ({
        discover: async () => answer,
      })),
      {
        discover: async () => ({ resources: [{ ...POD, version: 'v1', resource: 'pods', isNamespaced: true }] }),
        includes: () => {
          throw new TypeError('Cannot discover kinds: no');
        },
      },
    ];
    for (const options of bad) {
      const { cache, until } = await rig(options as never);
      cache.start();
      await until(() => cache.status().discovery.failures > 0);
      const { discovery, isSynced } = cache.status();
      expect([discovery.isReady, isSynced, String(discovery.error)]).toEqual([
        false,
        false,
        expect.stringMatching(/^TypeError: Cannot discover kinds: /),
      ]);
      await cache.close();
    }
    expect(() => discoverWith(5 as never)).toThrow(/^Cannot discover kinds: readPath /);
  });

  it('discovers what can be listed and watched, and no answer is no answer', async () => {
    const signal = new AbortController().signal;
    const verbs = ['list', 'watch', 'get'];
    const answers: Record<string, unknown> = {
      '/api/v1': {
        resources: [
          { name: 'pods', kind: 'Pod', namespaced: true, verbs },
          { name: 'pods/status', kind: 'Pod', namespaced: true, verbs },
          { name: 'bindings', kind: 'Binding', namespaced: true, verbs: ['create'] },
          { name: 'nodes', kind: 'Node', namespaced: false, verbs },
          null,
        ],
      },
      '/apis': {
        groups: [
          { name: 'apps', preferredVersion: { version: 'v1' } },
          { name: 'down', preferredVersion: { version: 'v1' } },
          { name: 'odd', preferredVersion: { version: 'v1' } },
          {},
        ],
      },
      '/apis/apps/v1': { resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs }] },
      '/apis/odd/v1': {},
    };
    const discover = discoverWith(async (path) => {
      if (answers[path] === undefined) throw new Error(`no ${path}`);
      return answers[path];
    });
    const { resources, failedGroups } = await discover({ signal });
    expect(
      resources.map(({ group, version, resource, isNamespaced }) => [group, version, resource, isNamespaced]),
    ).toEqual([
      ['', 'v1', 'pods', true],
      ['', 'v1', 'nodes', false],
      ['apps', 'v1', 'deployments', true],
    ]);
    expect(failedGroups?.map(({ group }) => group)).toEqual(['down', 'odd']);
    await expect(discoverWith(async () => ({}))({ signal })).rejects.toThrow(/^Cannot discover kinds/);
  });

  it('discovers a kind that only another version of its group has, and one in several versions once', async () => {
    const signal = new AbortController().signal;
    const listed = (kind: string) => ({ name: kind.toLowerCase(), kind, namespaced: true, verbs: ['list', 'watch'] });
    const versions = ['v1beta1', 'v1', 'v1alpha1'].map((version) => ({ version }));
    const answers: Record<string, unknown> = {
      '/api/v1': { resources: [] },
      '/apis': { groups: [{ name: 'g', preferredVersion: { version: 'v1' }, versions }] },
      '/apis/g/v1': { resources: [listed('Both')] },
      '/apis/g/v1beta1': { resources: [listed('Both'), listed('Beta')] },
      '/apis/g/v1alpha1': { resources: [listed('Alpha'), listed('Beta')] },
    };
    const discover = discoverWith(async (path) => {
      if (answers[path] === undefined) throw new Error(`no ${path}`);
      return answers[path];
    });
    const { resources } = await discover({ signal });
    expect(resources.map(({ kind, version }) => `${kind} ${version}`)).toEqual([
      'Both v1',
      'Beta v1beta1',
      'Alpha v1alpha1',
    ]);
    // What only this version has would pass for gone, if the group did not count as failed.
    answers['/apis/g/v1alpha1'] = undefined;
    const half = await discover({ signal });
    expect(half.resources.map(({ kind }) => kind)).toEqual(['Both', 'Beta']);
    expect(half.failedGroups?.map(({ group }) => group)).toEqual(['g']);
  });

  it('asks for a few paths at a time, for all of them, and for none once its signal has aborted', async () => {
    const stop = new AbortController();
    const names = Array.from({ length: 30 }, (_, index) => `g${index}`);
    const groups = names.map((name) => ({ name, preferredVersion: { version: 'v1' } }));
    const waiting: (() => void)[] = [];
    let signals: AbortSignal[] = [];
    let asked = 0;
    const discover = discoverWith(async (path, { signal }) => {
      if (path === '/apis') return { groups };
      asked++;
      signals.push(signal);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { resources: [{ name: 'things', kind: 'Thing', verbs: ['list', 'watch'] }] };
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const all = discover({ signal: stop.signal });
    await turn();
    expect(asked).toBe(8);
    for (let answered = 0; answered < 31; answered++) {
      waiting.shift()?.();
      await turn();
      expect(waiting.length).toBeLessThanOrEqual(8);
    }
    expect((await all).resources).toHaveLength(31);
    // Each request has a signal of its own: Node counts those that listen to one.
    expect([new Set(signals).size, signals.some(({ aborted }) => aborted)]).toEqual([31, false]);
    asked = 0;
    signals = [];
    const half = discover({ signal: stop.signal });
    await turn();
    stop.abort(new Error('enough'));
    expect(signals.map(({ reason }) => String(reason))).toEqual(Array(8).fill('Error: enough'));
    for (const answer of waiting.splice(0)) answer();
    await expect(half).rejects.toThrow('enough');
    expect(asked).toBe(8);
  });

  it('RC17 groups that could not be asked are asked again, soon at first, and later as seldom as all', async () => {
    const asked: number[] = [];
    const failedGroups = [{ group: 'apps', error: new Error('down') }];
    const { clock, cache } = await rig({
      discover: async () => {
        asked.push(clock.now());
        return { resources: [], failedGroups: asked.length < 8 ? failedGroups : [] };
      },
      discoveryMs: 20_000,
      backoff: { baseMs: 2000, jitter: 0 },
    });
    cache.start();
    await clock.advance(120_000);
    const pauses = asked.slice(1).map((time, index) => time - (asked[index] ?? 0));
    expect(pauses).toEqual([2000, 4000, 8000, 16_000, 20_000, 20_000, 20_000, 20_000]);
  });

  it('a discovery that never answers is given up after a minute, and asked again', async () => {
    let calls = 0;
    const signals: AbortSignal[] = [];
    const { clock, cache, statusOf } = await rig({
      discover: ({ signal }) => {
        signals.push(signal);
        calls++;
        if (calls > 1) return Promise.resolve({ resources: [] });
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    cache.start();
    await clock.advance(59_999);
    expect([calls, signals[0]?.aborted]).toEqual([1, false]);
    await clock.advance(1);
    expect([signals[0]?.aborted, cache.status().discovery]).toMatchObject([true, { isReady: false, failures: 1 }]);
    expect(String(cache.status().discovery.error)).toContain('Cannot discover kinds: no answer within 60000 ms');
    await clock.advance(2000);
    expect([calls, cache.status().discovery.isReady, statusOf('Pod')]).toEqual([2, true, []]);
  });
});
