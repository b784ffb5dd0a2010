import { describe, expect, it } from 'vitest';
import type { KubernetesTransport, WatchStream } from '../../../src/kubernetes/transport.ts';
import type { ApiResource, DiscoveredResources } from '../../../src/resource-cache/api-resource.ts';
import { DiscoveryLoop } from '../../../src/resource-cache/discovery-loop.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { rig } from './cache-rig.ts';
import { keyOf, POD, SET, type Thing, thing } from './things.ts';

const PODS: ApiResource = { ...POD, version: 'v1', resource: 'pods', isNamespaced: true };
const SETS: ApiResource = { ...SET, version: 'v1', resource: 'replicasets', isNamespaced: true };

/** Lists what `items` has of a resource; its watches say nothing. */
function listsOf(items: (resource: string, version: string) => readonly object[]): KubernetesTransport {
  return {
    list: async ({ resource: { resource, version } }) => ({ resourceVersion: '10', items: items(resource, version) }),
    watch: async (_, { signal }) => {
      const stream: WatchStream = {
        next: () =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          }),
        return: async () => ({ done: true, value: undefined }),
        [Symbol.asyncIterator]: () => stream,
      };
      return stream;
    },
  };
}

describe('what a resource cache does not know', () => {
  it('RC14 a group that could not be asked has kinds that nobody listed: nothing is absent yet', async () => {
    let found: DiscoveredResources = { resources: [PODS], failedGroups: [{ group: 'apps', error: new Error('503') }] };
    const { cache, until, statusOf } = await rig({
      transport: listsOf(() => []),
      discover: async () => found,
      discoveryMs: 1000,
    });
    expect([cache.store.isSynced(), cache.store.unsynced]).toEqual([false, [{ group: '*', kind: '*' }]]);
    cache.start();
    await until(() => statusOf('Pod')[0]?.phase === 'synced');
    const state = () => [cache.status().isSynced, cache.store.isSynced(), cache.store.managedObjects([], () => true)];
    const none = { seq: 0, resources: new Map() };
    expect(state()).toEqual([false, false, { ...none, isComplete: false, unsynced: [{ group: 'apps', kind: '*' }] }]);
    expect(cache.store.isSynced(POD)).toBe(true);
    found = { resources: [PODS, SETS] };
    await until(() => statusOf('ReplicaSet')[0]?.phase === 'synced');
    expect(state()).toEqual([true, true, { ...none, isComplete: true, unsynced: [] }]);
    await cache.close();
    expect(state()[2]).toMatchObject({ isComplete: true });
  });

  it('RC14 nothing is synced while what was listed waits to be visible', async () => {
    const { cache, until } = await rig({
      transport: listsOf(() => [thing('a/x')]),
      discover: async () => ({ resources: [PODS] }),
      latencyMs: 100_000,
    });
    cache.start();
    await until(() => cache.store.stats.pending > 0);
    await until(() => cache.status().kinds[0]?.size === 1);
    expect(cache.status()).toMatchObject({ isSynced: false, kinds: [{ phase: 'syncing', isSynced: false }] });
    const status = await cache.synced();
    expect(status).toMatchObject({ isSynced: true, kinds: [{ phase: 'synced', isSynced: true }] });
    expect(cache.store.size).toBe(1);
  });

  it('RC15 a list with an item that has no name is a failure of its kind, which holds up no other', async () => {
    let isWhole = false;
    const nameless = { metadata: { uid: 'u', resourceVersion: '5' } };
    const { cache, until, statusOf, clock } = await rig({
      transport: listsOf((resource) => (resource === 'pods' && !isWhole ? [nameless, thing('a/x')] : [thing('a/y')])),
      discover: async () => ({ resources: [PODS, SETS] }),
    });
    cache.start();
    let isAnswered = false;
    const synced = cache.synced().then((status) => {
      isAnswered = true;
      return status;
    });
    await until(() => isAnswered);
    const { isSynced } = await synced;
    expect(isSynced).toBe(false);
    expect(statusOf('ReplicaSet')).toMatchObject([{ phase: 'synced' }]);
    expect(statusOf('Pod')).toMatchObject([
      {
        phase: 'failed',
        reason: 'Incomplete',
        isSynced: false,
        retryAtMs: expect.any(Number),
        error: expect.any(Error),
      },
    ]);
    expect(cache.store.unsynced).toEqual([POD]);
    isWhole = true;
    const { retryAtMs = 0 } = statusOf('Pod')[0] ?? {};
    expect(retryAtMs).toBeGreaterThan(clock.now());
    await until(() => statusOf('Pod')[0]?.phase === 'synced', 500);
    expect(clock.now()).toBeLessThan(retryAtMs + 2000);
    expect(statusOf('Pod')[0]).toMatchObject({ reason: undefined, error: undefined, retryAtMs: undefined });
    await until(() => cache.store.list(POD).length === 1);
  });

  it('RC6 a handler may ask whether all is synced, and wait for it', async () => {
    const { cache, until } = await rig({
      transport: listsOf(() => [thing('a/x')]),
      discover: async () => ({ resources: [PODS] }),
    });
    const answers: unknown[] = [];
    cache.store.onResourceUpdated(() =>
      cache.synced().then(
        ({ isSynced }) => answers.push(isSynced),
        (error: unknown) => answers.push(error),
      ),
    );
    cache.start();
    await until(() => answers.length === 1);
    expect(answers).toEqual([true]);
    const late = cache.synced();
    const closed = expect(late).rejects.toThrow(/^Cannot wait for a resource cache: /);
    await cache.close();
    await closed;
  });

  it('RC17 another version of a kind brings its own manifests, of the same objects', async () => {
    let version = 'v1';
    const { cache, until } = await rig({
      transport: listsOf((_, of) => [{ ...thing('a/x'), apiVersion: of }]),
      discover: async () => ({ resources: [{ ...PODS, version }] }),
      discoveryMs: 1000,
      populate: (object) => ({ info: (object as Thing).apiVersion as undefined, keepManifest: false }),
    });
    const calls: unknown[] = [];
    cache.store.onResourceUpdated(({ old, new: now }) => void calls.push([old?.info, now?.info]));
    cache.start();
    await until(() => calls.length === 1);
    version = 'v2';
    await until(() => cache.status().kinds[0]?.version === 'v2' && cache.status().isSynced);
    await until(() => calls.length === 2);
    expect(calls).toEqual([
      [undefined, 'v1'],
      ['v1', 'v2'],
    ]);
    expect(cache.store.get(keyOf(POD, 'a/x'))?.info).toBe('v2');
  });

  it('a discovery that hangs has failed, is tried again, and holds up no close', async () => {
    const logged: string[] = [];
    const log = (message: string) => void logged.push(message);
    let asked = 0;
    const { cache, until, clock } = await rig({
      // It does not listen to its signal, either.
      discover: () => (++asked === 2 ? Promise.resolve({ resources: [] }) : new Promise(() => {})),
      discoveryTimeoutMs: 5000,
      discoveryMs: 1000,
      logger: { debug: log, info: log, warn: log, error: log },
    });
    cache.start();
    let isAnswered = false;
    const synced = cache.synced().finally(() => {
      isAnswered = true;
    });
    await until(() => cache.status().discovery.failures === 1, 100);
    expect(clock.now()).toBeLessThan(12_000);
    expect(String(cache.status().discovery.error)).toBe(
      'TransportError: Cannot discover kinds: no answer within 5000 ms',
    );
    expect(logged).toEqual(['Kinds could not be discovered']);
    await until(() => isAnswered, 100);
    expect((await synced).discovery).toMatchObject({ isReady: true, failures: 0 });
    await until(() => asked === 3, 100);
    let isClosed = false;
    const closed = cache.close().finally(() => {
      isClosed = true;
    });
    await until(() => isClosed, 100);
    await closed;
    expect(clock.pending).toBe(0);
  });

  it('a sign that kinds have changed is heard whenever it comes', async () => {
    const clock = createVirtualClock();
    let asked = 0;
    const loop: DiscoveryLoop = new DiscoveryLoop({
      discover: async () => {
        asked++;
        return { resources: [] };
      },
      clock,
      random: () => 0,
      backoff: { baseMs: 1000, factor: 2, maxMs: 1000, jitter: 0 },
      timeoutMs: 1000,
      everyMs: 100_000,
      delayMs: 10,
      // Right behind the answer, where the next discovery has its time already.
      found: () => {
        if (asked === 1) queueMicrotask(() => loop.soon());
      },
      failed: () => {},
    });
    loop.start();
    await clock.advance(5);
    expect(asked).toBe(1);
    await clock.advance(20);
    expect(asked).toBe(2);
    await loop.stop();
    expect(clock.pending).toBe(0);
  });

  it('a choice of kinds that answers with a promise includes nothing', async () => {
    const { cache, until } = await rig({
      transport: listsOf(() => []),
      discover: async () => ({ resources: [PODS] }),
      includes: (async () => false) as never,
    });
    cache.start();
    await until(() => cache.status().discovery.failures > 0);
    const { kinds, discovery } = cache.status();
    expect([kinds, String(discovery.error)]).toEqual([
      [],
      expect.stringMatching(/^TypeError: Cannot choose kinds: includes/),
    ]);
  });
});
