import { describe, expect, it } from 'vitest';
import type { BackendOperation } from '../../../src/types/backend.ts';
import {
  ALL,
  broken,
  bytes,
  errorOf,
  type Handler,
  HEADER,
  lines,
  ok,
  open,
  PUT,
  read,
  refuse,
} from './etcd-members.ts';

const USER = { username: 'u', password: 'p' };
const authorizationOf = ({ headers }: RequestInit) => (headers as Record<string, string>).authorization;

/** Members that take the newest token only. */
function withTokens(
  refusal: () => Response,
  handler: Handler = () => ok({ responses: [{ response_put: {} }], succeeded: true }),
) {
  const world = { current: 'token 1', logins: 0 };
  const members: Handler = (path, body, init, endpoint) => {
    if (path === 'auth/authenticate') {
      world.logins++;
      return Response.json({ header: HEADER, token: world.current });
    }
    return authorizationOf(init) === world.current ? handler(path, body, init, endpoint) : refusal();
  };
  return { world, members };
}

describe('a token that etcd does not take any more', () => {
  it.each([
    ['etcdserver: revision of auth store is old', 3],
    ['auth: revision in header is old', 2],
    ['etcdserver: invalid auth token', 16],
    ['etcdserver: user name is empty', 3],
  ])('"%s": one more is got, and the call sent again, once', async (message, code) => {
    const { world, members } = withTokens(() => refuse(message, code));
    const { backend, asked } = await open(members, USER);
    world.current = 'token 2';
    expect((await backend.txn({ compare: [], then: [PUT], else: [] })).succeeded).toBe(true);
    expect(asked).toEqual(['a kv/txn', 'a auth/authenticate', 'a kv/txn']);
    await backend.status({});
    expect(world.logins).toBe(2);
  });

  it('once only: then it is an error, and nothing was done', async () => {
    const world = { isChanging: false };
    const { backend, asked } = await open((path) => {
      if (path === 'auth/authenticate') return Response.json({ token: 't' });
      return world.isChanging ? refuse('etcdserver: revision of auth store is old', 3) : ok({});
    }, USER);
    world.isChanging = true;
    const error = await errorOf(backend.txn({ compare: [], then: [PUT], else: [] }));
    expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: false, permanent: false });
    expect(asked).toEqual(['a kv/txn', 'a auth/authenticate', 'a kv/txn']);
  });

  it('a watch, which is canceled with it', async () => {
    const canceled = () =>
      lines([{ created: true, canceled: true, cancel_reason: 'rpc error: desc = etcdserver: invalid auth token' }]);
    const { world, members } = withTokens(canceled, (path) =>
      path === 'watch' ? lines([{ created: true }], { isOpen: true }) : ok({}),
    );
    const { backend, asked } = await open(members, USER);
    world.current = 'token 2';
    for await (const { type } of backend.watch({ ranges: [ALL], fromRevision: 1 })) {
      expect(type).toBe('open');
      break;
    }
    expect(asked.slice(0, 3)).toEqual(['a watch', 'a auth/authenticate', 'a watch']);
  });

  it('who cannot log in has sent no write: the next member gets it', async () => {
    const world = { logins: 0 };
    const { backend, asked } = await open((path, _, init) => {
      if (path === 'auth/authenticate') {
        return ++world.logins === 2 ? broken() : Response.json({ token: `t${world.logins}` });
      }
      if (path === 'kv/txn' && authorizationOf(init) === 't1') return refuse('etcdserver: invalid auth token', 16);
      return ok({ succeeded: true, responses: [{ response_put: {} }] });
    }, USER);
    expect((await backend.txn({ compare: [], then: [PUT], else: [] })).succeeded).toBe(true);
    expect(asked).toEqual(['a kv/txn', 'a auth/authenticate', 'b auth/authenticate', 'b kv/txn']);
  });

  it('a login that brings no token is not one', async () => {
    for (const answer of ['{}', 'null', '{"token":5}', '<html>']) {
      const error = await errorOf(open((path) => (/auth/.test(path) ? new Response(answer) : ok({})), USER));
      expect(error).toMatchObject({ name: 'BackendError', permanent: false });
      expect((error as Error).message).toContain('did not answer as etcd does');
    }
  });
});

describe('a role that may read its prefix only', () => {
  const NESTED = { request_txn: { compare: [], success: [], failure: [] } };

  it('opens by what needs no permission, and later asks for what it has read', async () => {
    const bodies: unknown[] = [];
    const { backend, asked } = await open((path, body) => {
      bodies.push(body);
      if (path === 'kv/range') return body.key === btoa('apps/') ? ok({}) : refuse('etcdserver: permission denied', 7);
      return ok({ succeeded: true, responses: [{ response_range: {} }] });
    });
    expect(bodies.at(-1)).toEqual({ compare: [], success: [NESTED], failure: [] });
    expect(await backend.status({})).toEqual({ identity: '7', revision: 5 });
    await backend.range({ ranges: [{ start: bytes('apps/'), end: bytes('apps0') }] });
    await backend.status({});
    expect(asked).toEqual(['a kv/txn', 'a kv/txn', 'a kv/range']);
  });

  it('which cannot be read any more one day', async () => {
    const world = { mayRead: true };
    const { backend, asked } = await open((path, { key }) => {
      if (path !== 'kv/range') return ok({ responses: [{ response_range: {} }] });
      return world.mayRead && key === btoa('apps/') ? ok({}) : refuse('etcdserver: permission denied', 7);
    });
    await backend.range({ ranges: [{ start: bytes('apps/') }] });
    world.mayRead = false;
    asked.length = 0;
    await backend.status({});
    await backend.status({});
    expect(asked).toEqual(['a kv/range', 'a kv/txn', 'a kv/txn']);
  });

  it('a watch that it may not have is a permanent error', async () => {
    const reason = 'rpc error: code = PermissionDenied desc = etcdserver: permission denied';
    const { backend } = await open((path) =>
      path === 'watch' ? lines([{ created: true, canceled: true, cancel_reason: reason }]) : ok({}),
    );
    const { told, error } = await read(backend.watch({ ranges: [ALL], fromRevision: 1 }));
    expect(told).toEqual([]);
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
  });
});

describe('a transaction without operations', () => {
  it('has one that does nothing, since a member answers it from what it has otherwise', async () => {
    const bodies: unknown[] = [];
    const { backend } = await open((path, body) => {
      if (path === 'kv/txn') bodies.push(body);
      return ok({ succeeded: true, responses: [{ response_txn: { header: {}, succeeded: true } }] });
    });
    const compare = [{ target: 'mod', result: '=', value: 3, key: bytes('a') }] as const;
    const answer = await backend.txn({ compare, then: [], else: [] });
    expect(answer).toEqual({ identity: '7', revision: 5, succeeded: true, responses: [] });
    expect(bodies[0]).toMatchObject({ success: [{ request_txn: {} }], failure: [{ request_txn: {} }] });
  });
});

describe('more ranges than etcd takes in one transaction', () => {
  const compacted = 'etcdserver: mvcc: required revision has been compacted';
  const ranges = Array.from({ length: 300 }, (_, index) => ({ start: bytes(`k${1000 + index}`) }));
  type Operation = { readonly request_range: { readonly key: string; readonly revision?: string } };

  /** One row for each range; the cluster moves on with each call. */
  function moving(refusals: number) {
    const world = { revision: 5, refusals, asked: [] as (readonly [number, string | undefined])[] };
    const handler: Handler = (path, body) => {
      if (path !== 'kv/txn') return ok({});
      const operations = body.success as Operation[];
      const at = operations[0]?.request_range.revision;
      world.asked.push([operations.length, at]);
      if (operations.length > 128) return refuse('etcdserver: too many operations in txn request', 3);
      if (at !== undefined && world.refusals-- > 0) return refuse(compacted);
      const responses = operations.map(({ request_range: { key } }) => ({
        response_range: { count: '1', kvs: [{ key, create_revision: '2', mod_revision: '2', version: '1' }] },
      }));
      return ok({ header: { ...HEADER, revision: String(world.revision++) }, succeeded: true, responses });
    };
    return { world, handler };
  }

  it('are read in several, at the revision of the first', async () => {
    const { world, handler } = moving(0);
    const { backend } = await open(handler);
    const { revision, count, kvs } = await backend.range({ ranges });
    expect({ revision, count }).toEqual({ revision: 5, count: 300 });
    expect(kvs.map(({ key }) => key)).toEqual(ranges.map(({ start }) => start));
    expect(world.asked).toEqual([
      [128, undefined],
      [128, '5'],
      [44, '5'],
    ]);
    expect((await backend.range({ ranges, limit: 130 })).kvs.length).toBe(130);
  });

  it('anew when that was compacted meanwhile, but not for ever', async () => {
    const { world, handler } = moving(2);
    const { backend } = await open(handler);
    expect((await backend.range({ ranges })).revision).toBe(7);
    world.refusals = 1000;
    const error = await errorOf(backend.range({ ranges }));
    expect(error).toMatchObject({ name: 'BackendError', permanent: false, maybeCommitted: false });
    expect((error as Error).message).toContain('compacted 5 times');
  });

  it('a revision that was asked for and is compacted is not tried again', async () => {
    const { world, handler } = moving(1);
    const { backend } = await open(handler);
    expect(await errorOf(backend.range({ ranges, revision: 3 }))).toMatchObject({ code: 'COMPACTED', minRevision: 4 });
    expect(world.asked).toEqual([[128, '3']]);
  });

  it('members of two clusters are not one list', async () => {
    const { handler } = moving(0);
    let calls = 0;
    const { backend } = await open(async (...asked) => {
      const response = await handler(...asked);
      if (asked[0] !== 'kv/txn' || ++calls < 2) return response;
      return Response.json({ ...(await response.json()), header: { cluster_id: '8', revision: '5' } });
    });
    expect(((await errorOf(backend.range({ ranges }))) as Error).message).toContain('two clusters');
  });

  it('no range at all is read nowhere', async () => {
    const { backend, asked } = await open(() => ok({}));
    expect(await backend.range({ ranges: [] })).toEqual({ identity: '7', revision: 5, count: 0, kvs: [] });
    expect(asked).toEqual(['a kv/range']);
  });

  it('a write with as many is still refused', async () => {
    const puts = ranges.slice(0, 129).map(({ start }): BackendOperation => ({ ...PUT, key: start }));
    const { backend } = await open(moving(0).handler);
    expect(await errorOf(backend.txn({ compare: [], then: puts, else: [] }))).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
