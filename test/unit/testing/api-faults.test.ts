import { describe, expect, it } from 'vitest';
import { createAll, PODS, watch, withServer } from '../server/rig.ts';

const MAPS = '/api/v1/namespaces/ns1/configmaps';

describe('a fault of requests', () => {
  it('fails those in its scope, so many times', async () => {
    await withServer(async ({ server }) => {
      const fault = server.faults.fail({ resource: 'pods', verb: 'list', namespace: 'ns1', code: 429, times: 2 });
      const status = async (path: string, method = 'GET') => (await server.fetch(path, { method })).status;
      expect(await status(MAPS)).toBe(200);
      expect(await status('/api/v1/pods')).toBe(200);
      expect(await status(`${PODS}/a`)).toBe(404);
      const first = await server.fetch(PODS);
      expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await first.json()).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
      expect([fault.hits, fault.isActive]).toEqual([1, true]);
      expect(await status(PODS)).toBe(429);
      expect([fault.hits, fault.isActive]).toEqual([2, false]);
      expect(await status(PODS)).toBe(200);
      expect(server.requests.map((request) => [request.resource, request.verb, request.status]).slice(-2)).toEqual([
        ['pods', 'list', 429],
        ['pods', 'list', 200],
      ]);
    });
  });

  it('is for groups, names, several verbs, and discovery', async () => {
    await withServer(async ({ server }) => {
      const { faults } = server;
      const lasting = { times: Number.POSITIVE_INFINITY, code: 503 };
      const rules = [
        faults.fail({ ...lasting, resource: 'deployments.apps' }),
        faults.fail({ ...lasting, resource: 'pods', name: 'a', verb: ['get', 'delete'] }),
        faults.fail({
          ...lasting,
          resource: '',
          verb: 'discovery',
          retryAfterSeconds: 7,
          message: 'closed',
          reason: 'Mine',
        }),
      ];
      const status = async (path: string, method = 'GET') => (await server.fetch(path, { method })).status;
      expect(await status('/apis/apps/v1/deployments')).toBe(503);
      expect(await status('/apis/apps/v1/replicasets')).toBe(200);
      expect([await status(`${PODS}/a`), await status(`${PODS}/a`, 'DELETE'), await status(`${PODS}/b`)]).toEqual([
        503, 503, 404,
      ]);
      expect((await server.call('GET', '/apis')).body).toMatchObject({
        code: 503,
        reason: 'Mine',
        message: 'closed',
        details: { retryAfterSeconds: 7 },
      });
      expect(rules.map(({ hits }) => hits)).toEqual([1, 2, 1]);
      rules[0]?.remove();
      expect(await status('/apis/apps/v1/deployments')).toBe(200);
      faults.heal();
      expect(rules.map(({ isActive }) => isActive)).toEqual([false, false, false]);
      expect(await status('/apis')).toBe(200);
    });
  });

  it('refuses a token, and no other', async () => {
    await withServer(async ({ server }) => {
      const ask = async (token: string) =>
        (await server.fetch(PODS, { headers: { authorization: `Bearer ${token}` } })).status;
      expect(await ask('old')).toBe(200);
      const lines = await watch(server, PODS, { headers: { authorization: 'Bearer old' } });
      const fault = server.faults.fail({ code: 401, token: 'old', times: Number.POSITIVE_INFINITY });
      expect([await ask('old'), await ask('new'), (await server.fetch(PODS)).status]).toEqual([401, 200, 200]);
      expect(fault.hits).toBe(1);
      // What is open stays open, as with Kubernetes.
      await createAll(server, PODS, ['a']);
      expect(await lines.brief(1)).toEqual(['ADDED a@2']);
      await lines.cancel();
    });
  });

  it('expires lists by their status, and watches by an event or their status', async () => {
    await withServer(async ({ server }) => {
      server.faults.expire({ verb: ['list', 'watch'], times: 2 });
      expect((await server.call('GET', PODS)).body).toMatchObject({ code: 410, reason: 'Expired' });
      expect(await (await watch(server, PODS)).brief(2)).toEqual(['ERROR 410 Expired', 'end']);
      server.faults.expire({ verb: 'watch', as: 'status' });
      const refused = await server.fetch(`${PODS}?watch=true`);
      expect([refused.status, (await refused.json()).reason]).toEqual([410, 'Expired']);
    });
  });

  it('resets before the request, after it, and within its answer', async () => {
    await withServer(async ({ server }) => {
      const post = (name: string) => server.call('POST', PODS, { metadata: { name } });
      const isThere = async (name: string) => (await server.fetch(`${PODS}/${name}`)).status === 200;
      server.faults.reset({ verb: 'create' });
      await expect(post('a')).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ECONNRESET' } });
      server.faults.reset({ verb: 'create', when: 'after' });
      await expect(post('b')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
      expect([await isThere('a'), await isThere('b')]).toEqual([false, true]);
      server.faults.reset({ verb: 'list', when: 'body' });
      const half = await server.fetch(PODS);
      expect(half.status).toBe(200);
      await expect(half.json()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
      // A watch has no end to wait for: it is open, and breaks within the next line.
      server.faults.reset({ verb: 'watch', when: 'body' });
      const watch = await server.fetch(`${PODS}?watch=true`);
      await expect(watch.text()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
      server.faults.reset({ verb: 'watch', when: 'after' });
      await expect(server.fetch(`${PODS}?watch=true`)).rejects.toThrow('fetch failed');
      expect(server.storage.stats().watches).toBe(0);
      server.faults.reset({ verb: 'watch', when: 'body' });
      const cut = await server.fetch(`${PODS}?watch=true&resourceVersion=1`);
      await expect(cut.text()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
      expect([server.openWatches, server.storage.stats().watches]).toEqual([{}, 0]);
      expect(server.requests.filter(({ status }) => status === undefined)).toHaveLength(3);
    });
  });

  it('makes answers slow, of the state at their end', async () => {
    await withServer(async ({ server, clock }) => {
      server.faults.delay({ verb: 'list', delayMs: 5000 });
      let count: number | undefined;
      const list = server.call('GET', PODS).then(({ body }) => {
        count = body.items?.length;
      });
      await clock.advance(4999);
      expect(count).toBeUndefined();
      await createAll(server, PODS, ['a']);
      await clock.advance(1);
      await list;
      expect(count).toBe(1);
      // Who gives up leaves no timer.
      server.faults.delay({ verb: 'list', delayMs: 5000 });
      const client = new AbortController();
      const given = server.fetch(PODS, { signal: client.signal });
      client.abort(new Error('enough'));
      await expect(given).rejects.toThrow('enough');
      expect(clock.pending).toBe(0);
    });
  });

  it('holds answers back until it is removed, or the client or the server is gone', async () => {
    await withServer(async ({ server, clock }) => {
      const fault = server.faults.hang({ verb: 'create' });
      const made = server.call('POST', PODS, { metadata: { name: 'a' } });
      await clock.advance(100_000);
      expect((await server.fetch(`${PODS}/a`)).status).toBe(404);
      fault.remove();
      expect((await made).status).toBe(201);
      // One that takes no more requests still holds the one it has.
      const once = server.faults.hang({ verb: 'list', times: 1 });
      const held = server.call('GET', PODS);
      await clock.settle();
      expect([once.isActive, (await server.call('GET', PODS)).status]).toEqual([false, 200]);
      server.faults.heal();
      expect((await held).status).toBe(200);
      server.faults.hang();
      const client = new AbortController();
      const given = server.fetch(PODS, { signal: client.signal });
      await clock.settle();
      client.abort(new Error('enough'));
      await expect(given).rejects.toThrow('enough');
      const left = server.fetch(PODS).catch((error: Error) => error.name);
      await clock.settle();
      await server.close();
      expect(await left).toBe('ClosedError');
    });
  });

  it('keeps nothing from the end of the server: no timer, no body that is still to come', async () => {
    await withServer(async ({ server, clock }) => {
      server.faults.delay({ verb: 'list', delayMs: 5000 });
      const late = server.fetch(PODS).catch((error: Error) => error.name);
      let isCancelled = false;
      const body = new ReadableStream({
        cancel() {
          isCancelled = true;
        },
      });
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
      const stalled = server.fetch(PODS, { ...init, headers: { 'content-type': 'application/json' } });
      const client = new AbortController();
      const other = new ReadableStream();
      const given = server.fetch(PODS, { ...init, body: other, signal: client.signal });
      await clock.settle();
      client.abort(new Error('enough'));
      await expect(given).rejects.toThrow('enough');
      let isClosed = false;
      const [first, second] = [server.close(), server.close()];
      void first.then(() => {
        isClosed = true;
      });
      await second;
      expect([isClosed, clock.pending]).toEqual([true, 0]);
      expect([await late, (await stalled).status, isCancelled]).toEqual(['ClosedError', 503, true]);
    });
  });

  it('answers gets and lists of an old state, but to who asks for a newer one', async () => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['a', 'b']);
      const fault = server.faults.stale({ resource: 'pods' });
      await server.call('PATCH', `${PODS}/a`, { spec: 1 });
      await server.call('DELETE', `${PODS}/b`);
      await createAll(server, PODS, ['c']);
      const names = async (query: string) => {
        const { items = [], metadata } = (await server.call('GET', `${PODS}${query}`)).body;
        return `${items.map((item) => item.metadata?.name).join()}@${metadata.resourceVersion}`;
      };
      expect(await names('')).toBe('a,b@3');
      expect(await names('?resourceVersion=0')).toBe('a,b@3');
      expect(await names('?resourceVersion=3')).toBe('a,b@3');
      expect(await names('?resourceVersion=4')).toBe('a,c@6');
      expect(await names('?resourceVersion=2&resourceVersionMatch=Exact')).toBe('a@2');
      const page = (await server.call('GET', `${PODS}?limit=1`)).body.metadata.continue ?? '';
      expect(await names(`?limit=1&continue=${page}`)).toBe('b@3');
      expect((await server.call('GET', `${PODS}/a`)).body.metadata.resourceVersion).toBe('2');
      expect((await server.call('GET', `${PODS}/b`)).status).toBe(200);
      expect((await server.call('GET', `${PODS}/c`)).body).toMatchObject({ code: 404, message: 'pods "c" not found' });
      expect((await server.call('GET', `${PODS}/a?resourceVersion=3`)).body.metadata.resourceVersion).toBe('2');
      expect((await server.call('GET', `${PODS}/a?resourceVersion=4`)).body.metadata.resourceVersion).toBe('4');
      expect((await server.call('GET', `${PODS}/c?resourceVersion=6`)).status).toBe(200);
      expect((await server.call('GET', `${PODS}/a?resourceVersion=x`)).status).toBe(400);
      expect((await server.call('PATCH', `${PODS}/a`, { spec: 2 })).body.metadata.resourceVersion).toBe('7');
      fault.remove();
      expect(await names('')).toBe('a,c@7');
      server.faults.stale({ resourceVersion: '2', verb: 'list', times: 1 });
      expect([await names(''), await names('')]).toEqual(['a@2', 'a,c@7']);
    });
  });

  it('that cannot be is refused', async () => {
    await withServer(async ({ server }) => {
      const { faults } = server;
      expect(() => faults.fail({ code: 200 })).toThrow(RangeError);
      expect(() => faults.fail({ code: 500, times: 0 })).toThrow(RangeError);
      expect(() => faults.fail({ code: 500, resources: 'pods' } as never)).toThrow('resources');
      expect(() => faults.delay({ delayMs: -1 })).toThrow(RangeError);
      expect(() => faults.endWatches({ times: 1 } as never)).toThrow(TypeError);
      expect(() => faults.stallWatches({ times: 1 } as never)).toThrow(TypeError);
    });
  });
});

describe('a fault of watches', () => {
  it('ends, breaks and expires those in its scope', async () => {
    await withServer(async ({ server, clock }) => {
      await createAll(server, PODS, ['a']);
      const open = async () =>
        [await watch(server, PODS), await watch(server, PODS), await watch(server, MAPS)] as const;
      const [first, second, maps] = await open();
      expect(await first.brief(1)).toEqual(['ADDED a@2']);
      const waiting = first.next();
      await clock.settle();
      expect(server.faults.endWatches({ resource: 'pods' })).toBe(2);
      expect(await waiting).toBeUndefined();
      expect(await second.next()).toBeUndefined();
      expect(server.openWatches).toEqual({ configmaps: 1 });
      const broken = maps.next();
      await clock.settle();
      expect(server.faults.resetWatches()).toBe(1);
      await expect(broken).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
      const [third, fourth] = await open();
      expect(server.faults.expireWatches({ resource: 'pods', namespace: 'ns1' })).toBe(2);
      expect(await third.brief(2)).toEqual(['ERROR 410 Expired', 'end']);
      expect(await fourth.brief(2)).toEqual(['ERROR 410 Expired', 'end']);
      await clock.settle();
      expect(server.faults.expireWatches({ resource: 'pods' })).toBe(0);
      expect(server.storage.stats().watches).toBe(1);
    });
  });

  it('cuts the next line in half', async () => {
    await withServer(async ({ server, clock }) => {
      for (const isBroken of [false, true]) {
        const { resourceVersion } = (await server.call('GET', PODS)).body.metadata;
        const lines = await watch(server, `${PODS}?resourceVersion=${resourceVersion}`);
        const next = lines.next();
        await clock.settle();
        expect(server.faults.truncateWatches({ isBroken })).toBe(1);
        await createAll(server, PODS, [isBroken ? 'b' : 'a']);
        if (isBroken) await expect(next).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
        else await expect(next).rejects.toThrow(/^cut off: \{"type":"ADDED","object":\{"kind":"Pod"/);
        expect(server.openWatches).toEqual({});
      }
    });
  });

  it('keeps watches silent, those that are open and those to come, and loses nothing', async () => {
    await withServer(async ({ server, clock }) => {
      const open = await watch(server, `${PODS}?resourceVersion=1`);
      const seen = open.brief(2);
      await clock.settle();
      const fault = server.faults.stallWatches({ resource: 'pods' });
      await createAll(server, PODS, ['a', 'b']);
      const later = await watch(server, PODS);
      let isTold = false;
      const told = later.brief(2).then((lines) => {
        isTold = true;
        return lines;
      });
      await clock.advance(100_000);
      expect(isTold).toBe(false);
      fault.remove();
      expect(await seen).toEqual(['ADDED a@2', 'ADDED b@3']);
      expect(await told).toEqual(['ADDED a@2', 'ADDED b@3']);
      server.faults.stallWatches();
      await createAll(server, PODS, ['c']);
      const silent = open.next();
      await clock.settle();
      server.faults.endWatches();
      expect(await silent).toBeUndefined();
      await later.cancel();
    });
  });

  it('tells events twice, and lines that nobody sent', async () => {
    await withServer(async ({ server }) => {
      const lines = await watch(server, `${PODS}?resourceVersion=1`);
      const fault = server.faults.duplicateEvents({ times: 2 });
      await createAll(server, PODS, ['a', 'b', 'c']);
      expect(await lines.brief(5)).toEqual(['ADDED a@2', 'ADDED a@2', 'ADDED b@3', 'ADDED b@3', 'ADDED c@4']);
      expect(fault.hits).toBe(2);
      expect(server.faults.injectLine('{"type":"ADDED","object":{"metadata":{"name":"x"}}}', { verb: 'watch' })).toBe(
        1,
      );
      expect(await lines.brief(1)).toEqual(['ADDED x@undefined']);
      server.faults.injectLine('{"type":"ADDED","obj');
      await expect(lines.next()).rejects.toThrow(SyntaxError);
      await lines.cancel();
      expect(server.faults.injectLine('{}')).toBe(0);
    });
  });
});

describe('a test API server', () => {
  it('keeps the newest requests, as many as it may', async () => {
    await withServer(
      async ({ server }) => {
        for (const path of ['/api', `${PODS}?limit=1`, '/apis/apps/v1/deployments', '/api/v1/%ff'])
          await server.fetch(path);
        expect(server.requests).toEqual([
          { method: 'GET', url: '/apis/apps/v1/deployments', verb: 'list', resource: 'deployments.apps', status: 200 },
          { method: 'GET', url: '/api/v1/%ff', verb: 'discovery', resource: '', status: 400 },
        ]);
      },
      { requestsMax: 2 },
    );
  });

  it('refuses options that it does not know', async () => {
    await expect(withServer(async () => {}, { kind: [] } as never)).rejects.toThrow('kind');
    await expect(withServer(async () => {}, { requestsMax: -1 })).rejects.toThrow(RangeError);
    await expect(withServer(async () => {}, { random: 1 as never })).rejects.toThrow('random is 1');
    await expect(withServer(async () => {}, { storage: { pinMs: 0 } })).rejects.toThrow(RangeError);
    await expect(withServer(async () => {}, { kinds: 5 as never })).rejects.toThrow('kinds is 5');
  });

  it('refuses faults that nothing could meet', async () => {
    await withServer(async ({ server: { faults } }) => {
      const wrong: (() => unknown)[] = [
        () => faults.reset({ when: 'x' as never }),
        () => faults.stale({ resourceVersion: 'x' }),
        () => faults.stale({ resourceVersion: '0' }),
        () => faults.stale({ resourceVersion: 5 as never }),
        () => faults.expire({ as: 'line' as never }),
        () => faults.fail({ code: 429, verb: 'LIST' as never }),
        () => faults.hang({ verb: ['list', 'head' as never] }),
        () => faults.stallWatches({ verb: 5 as never }),
        () => faults.endWatches({ verb: 'WATCH' as never }),
        () => faults.injectLine(undefined as never),
        () => faults.injectLine({ a: 1 } as never),
      ];
      for (const call of wrong) expect(call).toThrow(/^Cannot set a fault of an API server: /);
    });
  });

  it('reads an answer that is a text, too', async () => {
    await withServer(async ({ server }) => {
      expect(await server.call('GET', '/none')).toEqual({ status: 404, body: { message: '404 page not found\n' } });
    });
  });

  it('takes a URL, a Request and a relative path', async () => {
    await withServer(async ({ server }) => {
      const { fetch } = server;
      for (const input of [
        `http://a.test${PODS}`,
        new URL(`http://b.test${PODS}`),
        new Request(`http://c.test${PODS}`),
        PODS,
      ]) {
        expect((await fetch(input)).status).toBe(200);
      }
      const body = JSON.stringify({ metadata: { name: 'a' } });
      const post = new Request(`http://d.test${PODS}`, { method: 'POST', body });
      expect((await fetch(post, { headers: { 'content-type': 'application/json' } })).status).toBe(201);
    });
  });
});
