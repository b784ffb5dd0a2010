import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import type { ApiObject } from '../../../src/server/kubernetes/stored-object.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { CONFIG_MAPS, createAll, PODS, watch, withServer } from './rig.ts';

const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

describe('a watch', () => {
  it('from a version tells what came after it, each event with its kind', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['a', 'b']);
      const lines = await watch(server, `${PODS}?resourceVersion=2`);
      expect(lines.response.headers.get('content-type')).toBe('application/json');
      await server.call('PATCH', `${PODS}/a`, { spec: 1 });
      await createAll(server, CONFIG_MAPS, ['m']);
      await createAll(server, '/api/v1/namespaces/ns2/pods', ['c']);
      await server.call('DELETE', `${PODS}/a`);
      expect(await lines.next()).toMatchObject({
        type: 'ADDED',
        object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'b' } },
      });
      expect(await lines.brief(2)).toEqual(['MODIFIED a@4', 'DELETED a@7']);
      expect(server.openWatches).toEqual({ pods: 1 });
      await lines.cancel();
      expect(server.openWatches).toEqual({});
      expect(server.storage.stats().watches).toBe(0);
    });
  });

  it('without a version tells the state first, and with 0', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['b', 'a']);
      for (const query of ['', '?resourceVersion=0']) {
        const lines = await watch(server, `${PODS}${query}`);
        expect(await lines.brief(2)).toEqual(['ADDED b@2', 'ADDED a@3']);
        await lines.cancel();
      }
    });
  });

  it('with initial events tells their end by a bookmark, then the live ones, and bookmarks each minute', async () => {
    await withServer(async ({ server, clock }) => {
      await createAll(server, PODS, ['a']);
      const lines = await watch(server, `${PODS}?${INITIAL}&allowWatchBookmarks=true`);
      expect(await lines.brief(1)).toEqual(['ADDED a@2']);
      expect(await lines.next()).toEqual({
        type: 'BOOKMARK',
        object: {
          kind: 'Pod',
          apiVersion: 'v1',
          metadata: {
            resourceVersion: '2',
            creationTimestamp: null,
            annotations: { 'k8s.io/initial-events-end': 'true' },
          },
        },
      });
      await createAll(server, PODS, ['b']);
      expect(await lines.brief(1)).toEqual(['ADDED b@3']);
      await createAll(server, CONFIG_MAPS, ['m']);
      const next = lines.brief(1);
      await clock.advance(60_000);
      expect(await next).toEqual(['BOOKMARK @4']);
      await lines.cancel();
      const live = await watch(server, `${PODS}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
      await createAll(server, PODS, ['c']);
      expect(await live.brief(1)).toEqual(['ADDED c@5']);
      await live.cancel();
    });
  });

  it('ends after timeoutSeconds, behind a last bookmark; without, after half an hour to an hour', async () => {
    await withServer(async ({ server, clock }) => {
      await createAll(server, PODS, ['a']);
      const lines = await watch(server, `${PODS}?resourceVersion=2&timeoutSeconds=10&allowWatchBookmarks=true`);
      await createAll(server, CONFIG_MAPS, ['m']);
      const seen = lines.brief(2);
      await clock.advance(9000);
      expect(server.openWatches).toEqual({ pods: 1 });
      await clock.advance(1000);
      expect(await seen).toEqual(['BOOKMARK @3', 'end']);
      expect(server.openWatches).toEqual({});
      const long = await watch(server, `${PODS}?resourceVersion=3`);
      const end = long.brief(1);
      await clock.advance(1_799_000);
      expect(server.openWatches).toEqual({ pods: 1 });
      await clock.advance(1_801_000);
      expect(await end).toEqual(['end']);
    });
  });

  it('of a version that is compacted is an ERROR event with 410, and so is one that compaction has passed', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    await withServer(
      async ({ server }) => {
        await createAll(server, PODS, ['a', 'b', 'c']);
        const slow = await watch(server, `${PODS}?resourceVersion=2`);
        expect(await slow.brief(1)).toEqual(['ADDED b@3']);
        await createAll(server, PODS, ['d']);
        await store.compact(5);
        const lines = await watch(server, `${PODS}?resourceVersion=2`);
        expect(await lines.next()).toMatchObject({
          type: 'ERROR',
          object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 2' },
        });
        expect(await lines.next()).toBeUndefined();
        expect(await slow.brief(2)).toEqual(['ERROR 410 Expired', 'end']);
        expect(server.openWatches).toEqual({});
      },
      { store },
    );
    await store.close();
  });

  it('from the future with initial events is an ERROR event with 504', async () => {
    await withServer(async ({ server, clock }) => {
      const lines = await watch(server, `${PODS}?${INITIAL}&resourceVersion=99`);
      const seen = lines.next();
      await clock.advance(3000);
      expect(await seen).toMatchObject({ type: 'ERROR', object: { code: 504, details: { retryAfterSeconds: 1 } } });
    });
  });

  it('with selectors tells what begins and ceases to match', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['a', 'b']);
      const lines = await watch(server, `${PODS}?labelSelector=on&resourceVersion=3`);
      const named = await watch(server, `${PODS}?fieldSelector=metadata.name=b&resourceVersion=3`);
      await server.call('PATCH', `${PODS}/a`, { metadata: { labels: { on: '' } } });
      await server.call('PATCH', `${PODS}/b`, { spec: 1 });
      await server.call('PATCH', `${PODS}/a`, { spec: 1 });
      await server.call('PATCH', `${PODS}/a`, { metadata: { labels: { on: null } } });
      expect(await lines.brief(3)).toEqual(['ADDED a@4', 'MODIFIED a@6', 'DELETED a@7']);
      expect(await named.brief(1)).toEqual(['MODIFIED b@5']);
      await Promise.all([lines.cancel(), named.cancel()]);
    });
  });

  it('of metadata alone has nothing else', async () => {
    await withServer(async ({ server }) => {
      await server.call('POST', PODS, { metadata: { name: 'a' }, spec: 1 });
      const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
      const lines = await watch(server, PODS, { headers: { accept } });
      const line = await lines.next();
      expect(Object.keys(line?.object ?? {})).toEqual(['kind', 'apiVersion', 'metadata']);
      await lines.cancel();
      const marked = await watch(server, `${PODS}?${INITIAL}&allowWatchBookmarks=true`, { headers: { accept } });
      const kinds = [await marked.next(), await marked.next()].map((event) => [event?.type, event?.object.kind]);
      expect(kinds).toEqual([
        ['ADDED', 'PartialObjectMetadata'],
        ['BOOKMARK', 'PartialObjectMetadata'],
      ]);
      await marked.cancel();
    });
  });

  it('ends with the signal of its client, with the kind of its reason', async () => {
    await withServer(async ({ server, clock }) => {
      const client = new AbortController();
      const lines = await watch(server, PODS, { signal: client.signal });
      const next = lines.next();
      await clock.settle();
      const reason = new Error('enough');
      client.abort(reason);
      await expect(next).rejects.toBe(reason);
      expect(server.openWatches).toEqual({});
      await expect(server.fetch(PODS, { signal: client.signal })).rejects.toBe(reason);
    });
  });

  it.each(['its client', 'its time'])('that nobody reads goes with %s', async (which) => {
    await withServer(async ({ server, clock }) => {
      const client = new AbortController();
      const lines = await watch(server, `${PODS}?timeoutSeconds=10`, { signal: client.signal });
      await createAll(server, PODS, ['a']);
      expect(server.openWatches).toEqual({ pods: 1 });
      const reason = new Error('enough');
      if (which === 'its client') client.abort(reason);
      await clock.advance(10_000);
      expect([server.openWatches, server.storage.stats().watches, clock.pending]).toEqual([{}, 0, 0]);
      if (which === 'its client') await expect(lines.next()).rejects.toBe(reason);
      else expect(await lines.next()).toBeUndefined();
    });
  });

  it('above those that a store can have is refused for the time being', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock, limits: { watches: 1 } });
    await withServer(
      async ({ server }) => {
        const lines = await watch(server, PODS);
        const refused = await server.fetch(`${PODS}?watch=true`);
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
        await lines.cancel();
      },
      { store },
    );
    await store.close();
  });

  it('ends with the server, quietly, and no request is answered after that', async () => {
    await withServer(async ({ server, clock }) => {
      const lines = await watch(server, PODS);
      const next = lines.next();
      await clock.settle();
      await server.close();
      expect(await next).toBeUndefined();
      expect((await server.call('GET', PODS)).body).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
      expect((await server.call('GET', `${PODS}?watch=true`)).status).toBe(503);
    });
  });

  it('that nobody reads is not read ahead: what compaction takes meanwhile it never sees', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    await withServer(
      async ({ server }) => {
        await createAll(server, CONFIG_MAPS, ['a']);
        const lines = await watch(server, `${CONFIG_MAPS}?resourceVersion=2`);
        for (let index = 0; index < 200; index++) {
          await server.call('PATCH', `${CONFIG_MAPS}/a`, { data: { x: `${index}` } });
        }
        expect(await lines.brief(1)).toEqual(['MODIFIED a@3']);
        await store.compact(202);
        expect(await lines.brief(2)).toEqual(['ERROR 410 Expired', 'end']);
      },
      { store },
    );
    await store.close();
  });
});

describe('what is in the store and is no object', () => {
  it('is a failure of each read that meets it, and no empty answer', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    await withServer(
      async ({ server }) => {
        await createAll(server, PODS, ['a']);
        await store.put('/registry/core/pods/ns1/b', 'text' as never);
        expect((await server.call('GET', PODS)).body).toMatchObject({ code: 500, reason: 'InternalError' });
        expect((await server.call('GET', `${PODS}/b`)).body).toMatchObject({ code: 500, reason: 'InternalError' });
        const lines = await watch(server, PODS);
        expect(await lines.brief(3)).toEqual(['ADDED a@2', 'ERROR 500 InternalError', 'end']);
        expect((await server.fetch('/api/v1/namespaces/ns2/pods')).status).toBe(200);
        // What was sent and cannot be stored is the client's fault.
        const sent = await server.call('POST', PODS, { metadata: { name: 'c' }, spec: '\ud800' });
        expect(sent.body).toMatchObject({ code: 400, reason: 'BadRequest' });
      },
      { store },
    );
    await store.close();
  });
});

describe('a list', () => {
  it('in pages is of one state, and the last page is 410 with a fresh token once that is gone', async () => {
    const clock = createVirtualClock();
    const store = await openStore<ApiObject>({ clock });
    await withServer(
      async ({ server }) => {
        await createAll(server, PODS, ['a', 'b', 'c', 'd']);
        const page = (token: string | undefined) =>
          server.call('GET', `${PODS}?limit=2${token === undefined ? '' : `&continue=${encodeURIComponent(token)}`}`);
        const names = ({ items = [] }: { readonly items?: readonly ApiObject[] }) =>
          items.map(({ metadata }) => metadata?.name);
        const first = (await page(undefined)).body;
        expect([names(first), first.metadata.remainingItemCount]).toEqual([['a', 'b'], 2]);
        await server.call('DELETE', `${PODS}/c`);
        await createAll(server, PODS, ['e']);
        const second = (await page(first.metadata.continue)).body;
        expect([names(second), second.metadata.resourceVersion, second.metadata.continue]).toEqual([
          ['c', 'd'],
          '5',
          undefined,
        ]);
        await store.compact(7);
        const gone = (await page(first.metadata.continue)).body;
        expect(gone).toMatchObject({ code: 410, reason: 'Expired' });
        const rest = (await page(gone.metadata.continue)).body;
        expect([names(rest), rest.metadata.resourceVersion]).toEqual([['d', 'e'], '7']);
        const exact = await server.call('GET', `${PODS}?resourceVersion=3&resourceVersionMatch=Exact`);
        expect(exact.body).toMatchObject({ code: 410, reason: 'Expired' });
      },
      { store, storage: { pinsMax: 0 } },
    );
    await store.close();
  });

  it('of a built-in kind has items without their kind, one of custom resources with it', async () => {
    await withServer(async ({ server }) => {
      server.register({ group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things' });
      await createAll(server, PODS, ['a']);
      await createAll(server, '/apis/example.com/v1/namespaces/ns1/things', ['a']);
      const pods = (await server.call('GET', PODS)).body;
      expect([pods.kind, pods.items?.[0]?.kind, pods.items?.[0]?.apiVersion]).toEqual([
        'PodList',
        undefined,
        undefined,
      ]);
      const things = (await server.call('GET', '/apis/example.com/v1/things')).body;
      expect([things.kind, things.items?.[0]?.kind]).toEqual(['ThingList', 'Thing']);
    });
  });
});
