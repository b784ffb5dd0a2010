import { describe, expect, it } from 'vitest';
import type { BearerToken, TokenRequest } from '../../../src/kubernetes/bearer-tokens.ts';
import { createFetchTransport, type FetchTransportOptions } from '../../../src/kubernetes/create-fetch-transport.ts';
import type { ApiStatusError } from '../../../src/kubernetes/errors.ts';
import type { KubernetesResource } from '../../../src/kubernetes/transport.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { errorOf } from '../../support/error-of.ts';
import { InformerRig } from '../../support/informer-rig.ts';
import { PODS, pod, ScriptedApi } from '../../support/scripted-api.ts';

const A1 = pod('a', 'u1', 1);

function rigOf(options: Partial<FetchTransportOptions> = {}) {
  const api = new ScriptedApi();
  const clock = createVirtualClock();
  const transport = createFetchTransport({ baseUrl: 'https://api.test/prefix/', fetch: api.fetch, clock, ...options });
  const controller = new AbortController();
  const { signal } = controller;
  return { api, clock, transport, controller, signal };
}

describe('requests', () => {
  it.each<[KubernetesResource, string]>([
    [{ version: 'v1', resource: 'pods' }, '/prefix/api/v1/pods'],
    [{ group: '', version: 'v1', resource: 'pods', namespace: 'a' }, '/prefix/api/v1/namespaces/a/pods'],
    [{ group: 'apps', version: 'v1', resource: 'deployments' }, '/prefix/apis/apps/v1/deployments'],
    [{ group: 'x.io', version: 'v1', resource: 'ys', namespace: '../b' }, '/prefix/apis/x.io/v1/namespaces/..%2Fb/ys'],
  ])('have the path of the resource: %j', async (resource, path) => {
    const { api, transport, signal } = rigOf({ headers: { 'x-one': '1' } });
    const listed = transport.list({ resource, limit: 5 }, { signal });
    await Promise.resolve();
    await Promise.resolve();
    expect([api.last.url.pathname, api.last.query]).toEqual([path, { limit: '5' }]);
    expect([api.last.headers.get('accept'), api.last.headers.get('x-one')]).toEqual(['application/json', '1']);
    expect(api.last.headers.has('authorization')).toBe(false);
    api.last.list('7', [A1], { continue: 'more' });
    expect(await listed).toEqual({
      resourceVersion: '7',
      continue: 'more',
      items: [A1],
      itemType: { apiVersion: 'v1', kind: 'Pod' },
    });
  });

  it('that are refused say so with all that the server said', async () => {
    const { api, clock, transport, signal } = rigOf();
    const listed = errorOf(() => transport.list({ resource: PODS }, { signal }));
    await clock.settle();
    api.last.refuse(410, 'Expired', { continue: 'fresh', causes: ['One'], retryAfter: '3' });
    const error = await listed;
    expect(error).toMatchObject({
      name: 'ApiStatusError',
      message: 'Cannot list pods: the server answered 410 Expired, refused: Expired',
      httpStatus: 410,
      reason: 'Expired',
      continue: 'fresh',
      retryAfterMs: 3000,
      causes: ['One'],
    });
    expect((error as ApiStatusError).isExpired).toBe(true);
  });

  it('that are refused with a token have all of it, or none', async () => {
    const { api, clock, transport, signal } = rigOf();
    for (const [length, isThere] of [
      [2000, true],
      [16_384, true],
      [16_385, false],
    ] as const) {
      const token = 't'.repeat(length);
      const listed = errorOf(() => transport.list({ resource: PODS, continue: 'old' }, { signal }));
      await clock.settle();
      api.last.refuse(410, 'Expired', { continue: token });
      expect((await listed) as ApiStatusError).toMatchObject({ continue: isThere ? token : undefined });
    }
  });

  it('that a proxy refuses say what HTTP alone says', async () => {
    const { api, clock, transport, signal } = rigOf();
    for (const body of ['<html>', '', 'null', '"text"', '[]']) {
      const listed = errorOf(() => transport.list({ resource: PODS }, { signal }));
      await clock.settle();
      api.last.answer(body, 502);
      expect(await listed).toMatchObject({
        httpStatus: 502,
        reason: '',
        message: 'Cannot list pods: the server answered 502',
      });
    }
  });

  it('have answers up to a bound', async () => {
    const { api, clock, transport, signal } = rigOf({ answerBytesMax: 200 });
    const listed = errorOf(() => transport.list({ resource: PODS }, { signal }));
    await clock.settle();
    api.last.list('7', [pod('a'.repeat(200), 'u', 1)]);
    expect(await listed).toMatchObject({ code: 'TRANSPORT', failure: 'too-large' });
  });

  it('end with their signal, before they are sent, while they are, and behind; a late answer is given back', async () => {
    const { api, clock, transport, controller, signal } = rigOf();
    const listed = errorOf(() => transport.list({ resource: PODS }, { signal }));
    const stream = transport.watch({ resource: PODS }, { signal });
    await clock.settle();
    const body = api.lastWatch.open();
    const opened = await stream;
    const next = errorOf(() => opened.next());
    await clock.settle();
    controller.abort(new Error('enough'));
    expect([await listed, await next]).toEqual([new Error('enough'), new Error('enough')]);
    expect(body.isCanceled).toBe(true);
    expect(await errorOf(() => transport.list({ resource: PODS }, { signal }))).toEqual(new Error('enough'));
    expect(api.requests.length).toBe(2);
  });

  it('to a fetch that does not hear its signal end all the same', async () => {
    let answer = (_: Response): void => {};
    const canceled: unknown[] = [];
    const fetch = () =>
      new Promise<Response>((resolve) => {
        answer = resolve;
      });
    const { clock, transport, controller, signal } = rigOf({ fetch });
    const watched = errorOf(() => transport.watch({ resource: PODS }, { signal }));
    await clock.settle();
    controller.abort(new Error('enough'));
    expect(await watched).toEqual(new Error('enough'));
    answer(new Response(new ReadableStream({ cancel: (reason) => void canceled.push(reason) })));
    await clock.settle();
    expect(canceled.length).toBe(1);
  });
});

describe('streams', () => {
  it('IN5: nothing is read before it is asked for', async () => {
    const { api, clock, transport, signal } = rigOf();
    const watched = transport.watch({ resource: PODS, resourceVersion: '5' }, { signal });
    await clock.settle();
    const body = api.lastWatch.open();
    for (let turn = 0; turn < 5; turn++) body.send('ADDED', A1);
    const stream = await watched;
    await clock.settle();
    expect(body.waiting).toBe(5);
    expect(await stream.next()).toEqual({ done: false, value: [{ type: 'ADDED', object: A1 }] });
    await clock.settle();
    expect(body.waiting).toBe(4);
    await stream.return?.();
    expect(body.isCanceled).toBe(true);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('a return while somebody waits ends both', async () => {
    const { api, clock, transport, signal } = rigOf();
    const watched = transport.watch({ resource: PODS }, { signal });
    await clock.settle();
    const body = api.lastWatch.open();
    const stream = await watched;
    const next = stream.next();
    await stream.return?.();
    expect([await next, body.isCanceled]).toEqual([{ done: true, value: undefined }, true]);
  });
});

describe('tokens (IN22)', () => {
  it('are asked for once, sent, and asked for once more after a 401', async () => {
    const asked: TokenRequest[] = [];
    const rig = new InformerRig({
      token: (request) => {
        asked.push(request);
        return `t${asked.length}`;
      },
    });
    await rig.start();
    expect(rig.api.lastList.headers.get('authorization')).toBe('Bearer t1');
    rig.api.lastList.refuse(401, 'Unauthorized');
    await rig.settle();
    expect(rig.api.lastList.headers.get('authorization')).toBe('Bearer t2');
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    expect(rig.api.lastWatch.headers.get('authorization')).toBe('Bearer t2');
    expect([asked, rig.failures]).toEqual([[{}, { rejected: 't1' }], []]);
    // Refused twice: an error, and the next try asks again.
    rig.api.lastWatch.refuse(401, 'Unauthorized');
    await rig.settle();
    rig.api.lastWatch.refuse(401, 'Unauthorized');
    await rig.settle();
    expect(rig.failures).toEqual(['API_STATUS: 401']);
    await rig.advance(2000);
    expect(rig.api.lastWatch.headers.get('authorization')).toBe('Bearer t4');
  });

  it('that are the same after a 401 are not sent again at once', async () => {
    const rig = new InformerRig({ token: () => 'same' });
    await rig.start();
    rig.api.lastList.refuse(401, 'Unauthorized');
    await rig.settle();
    expect([rig.api.requests.length, rig.failures]).toEqual([1, ['API_STATUS: 401']]);
    await rig.advance(2000);
    expect(rig.api.requests.length).toBe(2);
  });

  it('are asked for when they have expired; one that cannot be replaced is used until it is refused', async () => {
    const said: string[] = [];
    const answers: (BearerToken | Error)[] = [];
    const logger = { debug: () => {}, info: () => {}, warn: (text: string) => void said.push(text), error: () => {} };
    const { api, clock, transport, signal } = rigOf({
      logger,
      token: () => {
        const answer = answers.shift();
        if (answer instanceof Error || answer === undefined) throw answer ?? new Error('none');
        return answer;
      },
    });
    const sent = async () => {
      const listed = errorOf(() => transport.list({ resource: PODS }, { signal }));
      await clock.settle();
      const authorization = api.last.headers.get('authorization');
      return { authorization, listed };
    };
    answers.push({ token: 'a', expiresAtMs: clock.wallTime() + 1000 });
    expect((await sent()).authorization).toBe('Bearer a');
    await clock.advance(999);
    expect((await sent()).authorization).toBe('Bearer a');
    await clock.advance(1);
    answers.push({ token: 'b', expiresAtMs: clock.wallTime() + 1000 });
    expect((await sent()).authorization).toBe('Bearer b');
    await clock.advance(1000);
    const last = await sent();
    expect([last.authorization, said.length]).toEqual(['Bearer b', 1]);
    api.last.refuse(401, 'Unauthorized');
    expect(await last.listed).toMatchObject({ code: 'TRANSPORT', failure: 'credentials' });
  });

  it('are asked for once, however many wait; a provider that never answers is asked again after 30 s', async () => {
    let asked = 0;
    const { api, clock, transport, controller, signal } = rigOf({
      token: () => {
        asked++;
        return new Promise(() => {});
      },
    });
    const all = [1, 2, 3].map(() => errorOf(() => transport.list({ resource: PODS }, { signal })));
    await clock.settle();
    expect([asked, api.requests.length]).toEqual([1, 0]);
    await clock.advance(30_000);
    all.push(errorOf(() => transport.list({ resource: PODS }, { signal })));
    await clock.settle();
    expect(asked).toBe(2);
    controller.abort(new Error('enough'));
    for (const one of all) expect(await one).toEqual(new Error('enough'));
  });

  it.each([[''], ['a b'], ['a\nb'], [5], [undefined], [{ token: 'a', expiresAtMs: 'soon' }], [{}]])(
    'that are none are refused: %j',
    async (answer) => {
      const { transport, signal } = rigOf({ token: () => answer as string });
      const error = await errorOf(() => transport.list({ resource: PODS }, { signal }));
      expect(error).toMatchObject({ code: 'TRANSPORT', failure: 'credentials', cause: expect.any(TypeError) });
    },
  );
});

describe('options', () => {
  it.each<[string, object]>([
    ['baseUrl is undefined', {}],
    ['logger is not an object', { baseUrl: 'https://x', logger: 5 }],
    [
      'logger has no method info',
      { baseUrl: 'https://x', logger: { debug: () => {}, warn: () => {}, error: () => {} } },
    ],
    ['baseUrl is ftp://x', { baseUrl: 'ftp://x' }],
    ['no address', { baseUrl: 'https://x/?a=b' }],
    ['baseUrl has a password in it', { baseUrl: 'https://me:secret@x' }],
    ['fetch is not a function', { baseUrl: 'https://x', fetch: 5 }],
    ['token is not a function', { baseUrl: 'https://x', token: 'secret' }],
    ['lineBytesMax is 0', { baseUrl: 'https://x', lineBytesMax: 0 }],
    ['answerBytesMax is 2147483648', { baseUrl: 'https://x', answerBytesMax: 2 ** 31 }],
    ['unknown option url', { url: 'https://x' }],
  ])('that cannot be are refused: %s', (why, options) => {
    expect(() => createFetchTransport(options as FetchTransportOptions)).toThrow(why);
    expect(() => createFetchTransport(options as FetchTransportOptions)).not.toThrow('secret');
  });
});
