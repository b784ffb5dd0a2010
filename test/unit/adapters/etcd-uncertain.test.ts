import { describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/types/backend.ts';
import { isRetryable } from '../../../src/types/errors.ts';
import { A, ALL, bytes, errorOf, lines, ok, open, PUT, refuse } from './etcd-members.ts';

const says =
  (body: unknown, status = 200) =>
  () =>
    new Response(JSON.stringify(body), { status });
const page = (status: number) => () => new Response('<html>connect ECONNREFUSED upstream</html>', { status });
const put = (backend: Backend) => backend.txn({ compare: [], then: [PUT], else: [] });

const WRITES: readonly [string, (backend: Backend) => Promise<unknown>][] = [
  ['kv/txn', put],
  ['kv/compaction', (backend) => backend.compact({ revision: 3 })],
  ['lease/grant', (backend) => backend.leases?.grant({ ttlMs: 1000 }) as Promise<unknown>],
  ['lease/revoke', (backend) => backend.leases?.revoke({ id: '7' }) as Promise<unknown>],
];
const LEASE = { ID: '7', TTL: '5', grantedTTL: '9' };

/** Each write with this as its answer; everything else is answered well. */
async function errorsOf(answer: () => Response | Promise<Response>): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const [path, write] of WRITES) {
    const { backend, asked } = await open((asking) => (asking === path ? answer() : ok(LEASE)));
    errors.push(await errorOf(write(backend)));
    expect(asked.filter((one) => one.endsWith(path))).toEqual([`a ${path}`]);
  }
  return errors;
}

describe('a write that may have been done', () => {
  it.each<[string, () => Response | Promise<Response>]>([
    ['a request that timed out', () => refuse('etcdserver: request timed out', 14)],
    [
      'a leader that failed',
      () => refuse('etcdserver: request timed out, possibly due to previous leader failure', 14),
    ],
    ['a leader that changed', () => refuse('etcdserver: leader changed', 14)],
    ['a deadline', () => refuse('context deadline exceeded', 4)],
    ['what nobody knows', () => refuse('raft proposal dropped', 2)],
    ['an inner error', () => refuse('etcdserver: internal', 13)],
    ['a connection that was lost', () => refuse('transport is closing', 14)],
    ['an answer that is too large', () => refuse('grpc: received message larger than max', 8)],
    ['a full database, which etcd may notice after it', () => refuse('etcdserver: mvcc: database space exceeded', 8)],
    ['refusals of another server', says({ code: 404, message: 'no such page' }, 404)],
    ['refusals of another gateway', says({ code: 5, message: 'Not Found' }, 404)],
    ["a proxy's page 500", page(500)],
    ["a proxy's page 502, which quotes why it reached nobody", page(502)],
    ["a proxy's page 504", page(504)],
    ["a proxy's page 404", page(404)],
    ["a proxy's page 200", page(200)],
    ['half an answer', () => new Response('{"header": {"clu')],
    ['no answer', () => new Response(null, { status: 200 })],
    ['an empty object', says({})],
    ['a list', says([])],
    ['null', says(null)],
    ['a word', says('ok')],
    ['a header without a revision', says({ header: { cluster_id: '7' } })],
    ['a header with revision 0', says({ header: { cluster_id: '7', revision: '0' } })],
  ])('%s: it is said of every write, and it is not made again', async (_, answer) => {
    for (const error of await errorsOf(answer)) {
      expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: true, permanent: false });
      expect((error as Error).message).toContain(A);
      expect(isRetryable(error as Error)).toBe(false);
    }
  });

  it.each([
    ['etcdserver: permission denied', 7],
    ['etcdserver: invalid auth token', 16],
    ['etcdserver: revision of auth store is old', 3],
    ['etcdserver: authentication is not enabled', 9],
    ['etcdserver: too many requests', 8],
    ['etcdserver: something is wrong with the argument', 3],
    ['etcdserver: not here', 12],
  ])('nothing was done where etcd says "%s"', async (message, code) => {
    for (const error of await errorsOf(() => refuse(message, code))) {
      expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: false });
      expect((error as Error).message).toContain(message);
    }
  });

  it('an answer with too few responses, or with others than were asked for', async () => {
    for (const responses of [
      [],
      [{}],
      [{ response_range: {} }],
      [null],
      {},
      [{ response_put: {} }, { response_put: {} }],
    ]) {
      const { backend } = await open((path) => ok(path === 'kv/txn' ? { succeeded: true, responses } : {}));
      expect(await errorOf(put(backend))).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    }
  });

  it('a lease without an id or a TTL was perhaps granted', async () => {
    for (const answer of [{}, { ID: '7' }, { TTL: '5' }, { ID: '8', TTL: '5' }, { ID: '7', TTL: '0' }]) {
      const { backend } = await open((path) => ok(path === 'lease/grant' ? answer : {}));
      const error = await errorOf(backend.leases?.grant({ ttlMs: 1000, id: '7' }) as Promise<unknown>);
      expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    }
  });

  it('what is granted or revoked is where its own answer says, and nothing is asked after it', async () => {
    const world = { isWell: true };
    const { backend, asked } = await open((path) =>
      path === 'kv/range' && !world.isWell
        ? refuse('etcdserver: no leader', 14)
        : ok({ ...LEASE, header: { cluster_id: '7', revision: '11' } }),
    );
    const { leases } = backend;
    expect(await leases?.grant({ ttlMs: 1000 })).toEqual({ identity: '7', revision: 11, id: '7', ttlMs: 5000 });
    expect(asked).toEqual(['a lease/grant']);
    world.isWell = false;
    expect((await leases?.grant({ ttlMs: 1000 }))?.revision).toBe(11);
    world.isWell = true;
    asked.length = 0;
    expect(await leases?.revoke({ id: '7' })).toEqual({ identity: '7', revision: 11, deleted: 0 });
    expect(asked.at(-1)).toBe('a lease/revoke');
  });
});

describe('a read that is answered by somebody else', () => {
  const READS: readonly [string, (backend: Backend) => Promise<unknown>][] = [
    ['kv/range', (backend) => backend.status({})],
    ['kv/txn', (backend) => backend.range({ ranges: [ALL] })],
    ['lease/timetolive', (backend) => backend.leases?.timeToLive({ id: '7' }) as Promise<unknown>],
    ['lease/leases', (backend) => backend.leases?.list({}) as Promise<unknown>],
    ['lease/keepalive', (backend) => backend.leases?.keepAlive({ id: '7' }) as Promise<unknown>],
  ];

  it.each([
    '{}',
    '[]',
    'null',
    '"ok"',
    '5',
    '',
    '{"status":"ok"}',
    '<html></html>',
    '{"header":null}',
    '{"result":{}}',
  ])('%j is an error that says so, never revision 0, no keys, no lease', async (text) => {
    for (const [path, read] of READS) {
      const world = { isWell: true };
      const { backend } = await open((asking) =>
        asking === path && !world.isWell ? new Response(text) : ok({ ...LEASE, responses: [{ response_range: {} }] }),
      );
      world.isWell = false;
      const error = await errorOf(read(backend));
      expect(error).toMatchObject({ name: 'BackendError', maybeCommitted: false, permanent: false });
      expect((error as Error).message).toContain('did not answer as etcd does');
    }
  });

  it.each([
    [{ kvs: [{}] }, 'no key'],
    [{ kvs: [{ key: 'YQ==' }] }, 'a create revision is missing'],
    [{ kvs: [null] }, 'a row is null'],
    [{ kvs: {} }, 'the rows is {}'],
    [{ kvs: [{ key: 5 }] }, 'bytes are 5'],
    [{ count: 'many' }, 'a count is "many"'],
  ])('rows like %j are none', async (answer, reason) => {
    const { backend } = await open((path) => ok(path === 'kv/txn' ? { responses: [{ response_range: answer }] } : {}));
    const error = await errorOf(backend.range({ ranges: [ALL] }));
    expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: false });
    expect((error as Error).message).toContain(reason);
  });

  it('a range without a response is not an empty one', async () => {
    for (const responses of [[], [{ response_put: {} }], [{}], [{ response_range: {} }, { response_range: {} }]]) {
      const { backend } = await open((path) => ok(path === 'kv/txn' ? { responses } : {}));
      const error = await errorOf(backend.range({ ranges: [ALL] }));
      expect(error).toMatchObject({ name: 'BackendError', maybeCommitted: false });
    }
  });

  it('a lease is gone if etcd says so of that lease', async () => {
    for (const ID of [undefined, '8']) {
      const header = { cluster_id: '7', revision: '5' };
      const { backend } = await open((path) =>
        path === 'lease/keepalive' ? lines([{ header, ID }]) : ok(path === 'lease/timetolive' ? { ID, TTL: '-1' } : {}),
      );
      for (const read of [backend.leases?.keepAlive({ id: '7' }), backend.leases?.timeToLive({ id: '7' })]) {
        expect(await errorOf(read as Promise<unknown>)).toMatchObject({ code: 'BACKEND' });
      }
    }
  });

  it.each([
    'null\n',
    '5\n',
    '{"result":null}\n',
    '{"result":[]}\n',
    '{"result":{"events":{}}}\n',
    '{"result":{"events":[null]}}\n',
    '{"result":{"events":[{"type":"MOVE"}]}}\n',
    '{"result":{"events":[{"kv":{"key":"YQ=="}}]}}\n',
    '{"result":{"events":[{"type":"DELETE","kv":{"key":"YQ=="}}]}}\n',
    '{"result":{"canceled":"yes"}}\n',
    '{"error":"x"}\n',
    '{"error":{}}\n',
  ])(
    'a watch that brings %j ends with an error that says so, and the next one goes to another member',
    async (tail) => {
      const header = { cluster_id: '7', revision: '5' };
      const { backend, asked } = await open((path) =>
        path === 'watch' ? lines([{ header, created: true }], { tail }) : ok({}),
      );
      for (const member of ['a', 'b']) {
        asked.length = 0;
        const error = await errorOf(drain(backend.watch({ ranges: [{ start: bytes('a') }], fromRevision: 3 })));
        expect(error).toMatchObject({ name: 'BackendError', permanent: false });
        expect((error as Error).message).toContain('did not answer as etcd does');
        expect(asked[0]).toBe(`${member} watch`);
      }
    },
  );

  it('a watch that was not created is none: the next member is asked', async () => {
    const { backend, asked } = await open((path, _, __, endpoint) =>
      path === 'watch' ? lines([endpoint === A ? {} : { created: true }], { isOpen: true }) : ok({}),
    );
    for await (const { type } of backend.watch({ ranges: [ALL], fromRevision: 3 })) {
      expect(type).toBe('open');
      break;
    }
    expect(asked.slice(0, 2)).toEqual(['a watch', 'b watch']);
  });
});

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
