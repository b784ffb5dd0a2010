import { describe, expect, it } from 'vitest';
import { type EtcdBackendOptions, openEtcdBackend } from '../../../src/adapters/etcd/mod.ts';
import { Unreadable } from '../../../src/backends/etcd/errors.ts';
import { bytesOf, idOf, integerOf, toBase64, wireRange } from '../../../src/backends/etcd/wire.ts';
import type { BackendOperation } from '../../../src/types/backend.ts';
import { BackendError, CompactedError, FutureRevisionError, LeaseNotFoundError } from '../../../src/types/errors.ts';
import {
  A,
  ALL,
  B,
  broken,
  bytes,
  errorOf,
  type Handler,
  lines,
  ok,
  open,
  PUT,
  read,
  refuse,
  refused,
} from './etcd-members.ts';

describe('wire', () => {
  it('base64 is what the platform has, for any bytes', () => {
    const all = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    expect(bytesOf(toBase64(all))).toEqual(all);
    expect(toBase64(all)).toBe(Buffer.from(all).toString('base64'));
    expect(toBase64(new Uint8Array(0))).toBe('');
    expect(() => bytesOf('%')).toThrow(Unreadable);
  });

  it('an int64 that is no safe integer is an error, never another number', () => {
    expect([integerOf(undefined, 'x'), integerOf('9007199254740991', 'x'), integerOf(5, 'x')]).toEqual([
      0, 9007199254740991, 5,
    ]);
    for (const wrong of ['9007199254740992', '1.5', 'x', {}, '', null, true, [5], '1e3']) {
      expect(() => integerOf(wrong, 'x')).toThrow(Unreadable);
    }
  });

  it('two halves of an int64 are one, whatever their signs', () => {
    const halves = (high: number, low: number, unsigned = false) => ({ high, low, unsigned });
    expect(integerOf(halves(0x1f_ffff, -1), 'x')).toBe(Number.MAX_SAFE_INTEGER);
    expect(integerOf(halves(-1, -1), 'x')).toBe(-1);
    expect(() => integerOf(halves(0x20_0000, 0), 'x')).toThrow(Unreadable);
    expect(idOf(halves(0x7fff_ffff, -1), 'x')).toBe('9223372036854775807');
    expect(idOf(halves(-1, -2), 'x')).toBe('-2');
    expect(idOf(halves(-1, -2, true), 'x')).toBe('18446744073709551614');
  });

  it('bytes are copied out of what they were read from', () => {
    const whole = new Uint8Array(1000);
    const found = bytesOf(whole.subarray(10, 12));
    expect([found.length, found.buffer.byteLength, found.constructor]).toEqual([2, 2, Uint8Array]);
  });

  it('ranges: a point, no upper bound, no lower bound', () => {
    const zero = Uint8Array.of(0);
    expect(wireRange({ start: bytes('a') })).toEqual({ key: bytes('a') });
    expect(wireRange(ALL)).toEqual({ key: zero, range_end: zero });
    expect(wireRange({ start: bytes('a'), end: bytes('b') })).toEqual({ key: bytes('a'), range_end: bytes('b') });
  });
});

describe('failover', () => {
  it('asks the next member when one cannot be reached, and keeps to the one that answers', async () => {
    const { backend, asked } = await open((_, __, ___, endpoint) => (endpoint === A ? refused() : ok({})));
    await backend.status({});
    await backend.status({});
    expect(asked).toEqual(['b kv/range', 'b kv/range']);
  });

  it('a write that may have arrived is not sent twice, one that has not is', async () => {
    const world = { fails: broken };
    const { backend, asked } = await open((path, _, __, endpoint) => {
      if (path === 'kv/txn' && endpoint === A) return world.fails();
      return ok({ succeeded: true, responses: [{ response_put: {} }] });
    });
    const write = () => backend.txn({ compare: [], then: [PUT], else: [] });
    const error = await errorOf(write());
    expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: true, permanent: false });
    expect((error as Error).message).toContain('a.invalid');
    expect(asked).toEqual(['a kv/txn']);
    await backend.status({});
    world.fails = refused;
    asked.length = 0;
    expect((await write()).succeeded).toBe(true);
    expect(asked.at(-1)).toBe('b kv/txn');
  });

  it('a member without a leader, or a proxy that is unwell, is as one that is away', async () => {
    for (const answer of [
      () => refuse('etcdserver: no leader', 14),
      () => new Response('<html>Bad gateway</html>', { status: 502 }),
    ]) {
      const { backend } = await open((_, __, ___, endpoint) => (endpoint === A ? answer() : ok({})));
      expect((await backend.status({})).revision).toBe(5);
    }
  });

  it('nobody there: one error that names the last member and why', async () => {
    const error = await errorOf(openEtcdBackend({ endpoints: [A, B], fetch: refused }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: false, maybeCommitted: false });
    expect((error as Error).message).toMatch(/b\.invalid.*ECONNREFUSED/);
  });

  it('one whose certificate is no good does not make the other one, which is away, permanent', async () => {
    const expired = () => {
      throw new TypeError('fetch failed', { cause: new Error('certificate has expired') });
    };
    const fetch = (url: string) => (url.startsWith(B) ? expired() : refused());
    const error = (await errorOf(openEtcdBackend({ endpoints: [A, B], fetch }))) as Error;
    expect(error).toMatchObject({ permanent: false, cause: { errors: [{ permanent: false }, { permanent: true }] } });
    expect(error.message).toMatch(/a\.invalid:1 cannot.*; http:\/\/b\.invalid:1 cannot.*expired/);
  });

  it('a certificate that is no good is permanent', async () => {
    const bad = () => {
      throw Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
      });
    };
    const error = await errorOf(openEtcdBackend({ endpoints: [A], fetch: bad }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect((error as Error).message).toContain('CERT_HAS_EXPIRED');
  });
});

describe('deadlines', () => {
  it('a call that nobody answers ends in time; a write may have happened', async () => {
    const world = { isHanging: false };
    const { backend, clock } = await open(() => (world.isHanging ? new Promise<Response>(() => {}) : ok({})), {
      timeoutMs: 300,
    });
    world.isHanging = true;
    const outcomes = [
      errorOf(backend.status({})),
      errorOf(backend.range({ ranges: [ALL] })),
      errorOf(backend.txn({ compare: [], then: [PUT], else: [] })),
      read(backend.watch({ ranges: [ALL], fromRevision: 1 })).then(({ error }) => error),
    ];
    await clock.advance(300);
    const errors = await Promise.all(outcomes);
    for (const error of errors) expect((error as Error).message).toContain('within 300 ms');
    expect(errors[2]).toMatchObject({ maybeCommitted: true });
    expect(errors[0]).toMatchObject({ maybeCommitted: false });
    expect(clock.pending).toBe(0);
  });

  it('a signal ends a call with its reason, and a closed backend with ClosedError', async () => {
    const world = { isHanging: false };
    const { backend } = await open(() => (world.isHanging ? new Promise<Response>(() => {}) : ok({})));
    world.isHanging = true;
    const controller = new AbortController();
    const left = errorOf(backend.status({ signal: controller.signal }));
    const closed = errorOf(backend.status({}));
    controller.abort('enough');
    expect(await left).toBe('enough');
    await backend[Symbol.asyncDispose]();
    expect(await closed).toMatchObject({ code: 'CLOSED' });
    expect(await errorOf(backend.status({}))).toMatchObject({ code: 'CLOSED' });
  });
});

describe('authentication', () => {
  it('gets a token, sends it, and gets a new one when etcd does not know it', async () => {
    let tokens = 0;
    const seen: unknown[] = [];
    const handler: Handler = (path, body, { headers }) => {
      if (path === 'auth/authenticate') {
        seen.push(body);
        return Response.json({ token: `token ${++tokens}` });
      }
      const { authorization } = headers as Record<string, string>;
      seen.push(authorization);
      return authorization === 'token 1' && seen.length > 3 ? refuse('etcdserver: invalid auth token', 16) : ok({});
    };
    const { backend } = await open(handler, { username: 'u', password: 'p' });
    await backend.status({});
    expect((await backend.status({})).revision).toBe(5);
    expect(seen).toEqual([
      { name: 'u', password: 'p' },
      'token 1',
      'token 1',
      'token 1',
      { name: 'u', password: 'p' },
      'token 2',
    ]);
  });

  it('a wrong password is permanent, and told when the backend is opened', async () => {
    const handler = async () => refuse('etcdserver: authentication failed, invalid user ID or password', 3);
    const error = await errorOf(openEtcdBackend({ endpoints: [A], fetch: handler, username: 'u', password: 'p' }));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect((error as Error).message).toContain('authentication failed');
  });
});

describe('what etcd refuses, with the facts that it leaves out', () => {
  const compacted = 'etcdserver: mvcc: required revision has been compacted';

  it('a revision that was compacted, and one that is still to come', async () => {
    const world = { message: compacted };
    const { backend } = await open((path, { revision }) => {
      if (path === 'kv/txn') return refuse(world.message);
      if (path === 'kv/range' && revision === '3') return refuse(compacted);
      if (path === 'watch') return lines([{ created: true }, { canceled: true, compact_revision: '4' }]);
      return ok({});
    });
    const error = await errorOf(backend.range({ ranges: [ALL], revision: 2 }));
    expect(error).toBeInstanceOf(CompactedError);
    expect(error).toMatchObject({ minRevision: 4, compactRevision: 4 });
    expect(await errorOf(backend.range({ ranges: [ALL], revision: 3 }))).toMatchObject({ minRevision: 4 });
    world.message = 'etcdserver: mvcc: required revision is a future revision';
    const future = await errorOf(backend.range({ ranges: [ALL], revision: 9 }));
    expect(future).toBeInstanceOf(FutureRevisionError);
    expect(future).toMatchObject({ revision: 9, currentRevision: 5 });
  });

  it('a lease that is not there, of several', async () => {
    const { backend } = await open((path, { ID }) => {
      if (path === 'kv/txn') return refuse('etcdserver: requested lease not found', 5);
      if (path === 'lease/timetolive') return ok(ID === '2' ? { ID, TTL: '-1' } : { ID, TTL: '5', grantedTTL: '9' });
      return ok({});
    });
    const put = (key: string, lease: string): BackendOperation => ({ ...PUT, key: bytes(key), lease });
    const error = await errorOf(backend.txn({ compare: [], then: [put('a', '1'), put('b', '2')], else: [] }));
    expect(error).toBeInstanceOf(LeaseNotFoundError);
    expect(error).toMatchObject({ leaseId: '2' });
  });

  it('everything else is a BackendError in its own words', async () => {
    for (const [message, permanent] of [
      ['etcdserver: permission denied', true],
      ['etcdserver: too many requests', false],
      ['etcdserver: request is too large', true],
    ] as const) {
      const { backend } = await open((path) => (path === 'kv/txn' ? refuse(message, 8) : ok({})));
      const error = await errorOf(backend.txn({ compare: [], then: [PUT], else: [] }));
      expect(error).toMatchObject({ code: 'BACKEND', permanent, maybeCommitted: false });
      expect((error as Error).message).toContain(message);
    }
  });
});

describe('what comes back broken', () => {
  const half = () => new Response('{"header": {"revis', { headers: { 'content-type': 'application/json' } });

  it('an answer that breaks off is a BackendError; of a write it may be committed', async () => {
    const { backend } = await open((path) => (path === 'kv/txn' ? half() : ok({})));
    const read = await errorOf(backend.range({ ranges: [ALL] }));
    expect(read).toMatchObject({ code: 'BACKEND', maybeCommitted: false, permanent: false });
    const write = await errorOf(backend.txn({ compare: [], then: [PUT], else: [] }));
    expect(write).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
  });

  it('a refusal is a BackendError wherever it comes: of a watch, a renewal, a list of leases, before and in a stream', async () => {
    const denied = () => refuse('etcdserver: permission denied', 7);
    const { backend } = await open((path) => (/^(watch|lease)/.test(path) ? denied() : ok({})));
    const { error } = await read(backend.watch({ ranges: [ALL], fromRevision: 1 }));
    const renewed = await errorOf(backend.leases?.keepAlive({ id: '1' }) as Promise<unknown>);
    const listed = await errorOf(backend.leases?.list({}) as Promise<unknown>);
    for (const one of [error, renewed, listed]) expect(one).toMatchObject({ code: 'BACKEND', permanent: true });
  });
});

describe('a watch', () => {
  const put = (key: string, revision: number) => ({
    kv: { key: btoa(key), value: btoa('v'), create_revision: '1', mod_revision: String(revision), version: '1' },
  });
  const gone = (key: string, revision: number) => ({
    type: 'DELETE',
    kv: { key: btoa(key), mod_revision: String(revision) },
  });

  async function items(messages: readonly object[], options: { isOpen?: boolean; tail?: string } = {}) {
    const bodies: unknown[] = [];
    const { backend } = await open((path, body) => {
      if (path !== 'watch') return ok({});
      bodies.push(body);
      return lines([{ created: true }, ...messages], options);
    });
    const ranges = [{ start: bytes('a') }, { start: bytes('c'), end: bytes('e') }];
    const found = await read(backend.watch({ ranges, fromRevision: 3 }));
    return { ...found, bodies };
  }

  it('opens with where the cluster is, and brings one item a revision, only of what is wanted', async () => {
    const { told, error, bodies } = await items([
      { events: [put('a', 2), put('a', 3), put('b', 3), put('c', 4), gone('d', 4)] },
      { events: [put('b', 5)] },
      { events: [gone('a', 6)] },
    ]);
    expect(told).toEqual(['open 5', 'change 3: put a', 'change 4: put c, delete d', 'change 6: delete a']);
    expect(error).toMatchObject({ code: 'BACKEND', permanent: false });
    const range = { key: btoa('a'), range_end: btoa('e') };
    expect(bodies).toEqual([{ create_request: { ...range, start_revision: '2', fragment: true } }]);
  });

  it('joins fragments, which may cut a revision', async () => {
    const { told } = await items([
      { fragment: true, events: [put('a', 3), put('c', 4)] },
      { fragment: true, events: [put('d', 4)] },
      { events: [gone('a', 5)] },
    ]);
    expect(told).toEqual(['open 5', 'change 3: put a', 'change 4: put c, put d', 'change 5: delete a']);
  });

  it('what was compacted is a CompactedError, what was refused is not', async () => {
    const { error } = await items([{ canceled: true, compact_revision: '9' }]);
    expect(error).toBeInstanceOf(CompactedError);
    expect(error).toMatchObject({ minRevision: 10, compactRevision: 9 });
    const denied = await items([{ canceled: true, cancel_reason: 'rpc error: permission denied' }]);
    expect(denied.error).toMatchObject({ code: 'BACKEND', permanent: true });
  });

  it.each([
    ['half a message', '{"result": {"events": [{"kv"', 'in the middle of a message'],
    ['what is no message', 'Service Unavailable\n', 'is no message'],
    ['an error', '{"error": {"grpc_code": 14, "message": "etcdserver: leader changed"}}\n', 'leader changed'],
  ])('%s ends it with an error that says so', async (_, tail, reason) => {
    const { told, error } = await items([{ events: [put('a', 3)] }], { tail });
    expect(told).toEqual(['open 5', 'change 3: put a']);
    expect(error).toBeInstanceOf(BackendError);
    expect((error as Error).message).toContain(reason);
  });

  it('a signal ends it with its reason, and what is left quietly is closed', async () => {
    const controller = new AbortController();
    const { backend } = await open((path) =>
      path === 'watch' ? lines([{ created: true }], { isOpen: true }) : ok({}),
    );
    const { signal } = controller;
    const found = read(backend.watch({ ranges: [ALL], fromRevision: 1, signal }), () => controller.abort('enough'));
    expect((await found).error).toBe('enough');
    for await (const { type } of backend.watch({ ranges: [ALL], fromRevision: 1 })) if (type === 'open') break;
    await backend[Symbol.asyncDispose]();
  });
});

describe('options', () => {
  it.each([
    [{ endpoints: [] }, 'endpoints'],
    [{ endpoints: ['ftp://a'] }, 'ftp://a'],
    [{ endpoints: [A], username: 'u' }, 'belong together'],
    [{ endpoints: [A], timeoutMs: 0 }, 'timeoutMs'],
    [{ endpoints: [A], fetch: 1 }, 'fetch'],
    [{ endpoints: [A], clock: {} }, 'clock has no method now'],
    [{ endpoints: [A], signal: {} }, 'the signal is not an AbortSignal'],
    [{ endpoints: [A], retries: 1 }, 'unknown option retries'],
  ])('%j is refused', async (options, reason) => {
    const error = await errorOf(openEtcdBackend(options as unknown as EtcdBackendOptions));
    expect((error as Error).message).toContain('Cannot open an etcd backend');
    expect((error as Error).message).toContain(reason);
  });
});
