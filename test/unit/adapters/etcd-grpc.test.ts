import { connect, createServer as createTcp } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BackendTxnRequest } from '../../../src/types/backend.ts';
import { CompactedError, FutureRevisionError, LeaseNotFoundError } from '../../../src/types/errors.ts';
import { GRPC_HEADER, type MemberStream, openGrpc, refusal, startMember, until } from './etcd-grpc-members.ts';
import { ALL, bytes, errorOf, PUT, read } from './etcd-members.ts';

const WRITE: BackendTxnRequest = { compare: [], then: [PUT], else: [] };
const done = () => ({ succeeded: true, responses: [{ response_put: {} }] });

describe('what lies on the wire', () => {
  it('every part of a transaction arrives as it was meant, ids of 64 bits to the digit', async () => {
    const seen: unknown[] = [];
    const lease = '9223372036854775807';
    const { endpoint } = await startMember({
      answer: (request, { method }) => {
        if (method !== 'kv/txn') return {};
        seen.push(request);
        const row = { key: bytes('a'), create_revision: '9007199254740991', mod_revision: '3', version: '2', lease };
        return {
          succeeded: true,
          responses: [
            { response_put: { prev_kv: row } },
            { response_delete_range: { deleted: '2', prev_kvs: [{ ...row, lease: '-1' }] } },
            { response_range: { count: '9', more: true, kvs: [row] } },
            { response_txn: { succeeded: false, responses: [] } },
          ],
        };
      },
    });
    const backend = await openGrpc([endpoint]);
    const key = bytes('a');
    const answer = await backend.txn({
      compare: [
        { key, target: 'value', result: '!=', value: bytes('v') },
        { key, target: 'lease', result: '=', value: lease },
        { range: ALL, target: 'create', result: '<', value: 9007199254740991 },
        { key, target: 'mod', result: '>', value: 1 },
        { key, target: 'version', result: '=', value: 0 },
      ],
      then: [
        { type: 'put', key, value: bytes('1'), lease, prevKv: true },
        { type: 'delete', range: { start: bytes('b'), end: new Uint8Array(0) }, prevKv: true },
        {
          type: 'range',
          range: { start: bytes('c') },
          revision: 3,
          limit: 4,
          sortTarget: 'version',
          sortOrder: 'descend',
        },
        { type: 'txn', compare: [], then: [], else: [] },
      ],
      else: [{ type: 'put', key, value: new Uint8Array(0), ignoreValue: true, ignoreLease: true }],
    });
    // Zero, the first of an enum and what is empty are not sent, but for what a compare is made with.
    const [zero, text] = [Buffer.of(0), (word: string) => Buffer.from(word)];
    expect(seen).toEqual([
      {
        compare: [
          { key: text('a'), target: 'VALUE', result: 'NOT_EQUAL', value: text('v') },
          { key: text('a'), target: 'LEASE', lease },
          { key: zero, range_end: zero, target: 'CREATE', result: 'LESS', create_revision: '9007199254740991' },
          { key: text('a'), target: 'MOD', result: 'GREATER', mod_revision: '1' },
          { key: text('a'), version: '0' },
        ],
        success: [
          { request_put: { key: text('a'), value: text('1'), lease, prev_kv: true } },
          { request_delete_range: { key: text('b'), range_end: zero, prev_kv: true } },
          {
            request_range: {
              ...{ key: text('c'), revision: '3', limit: '4' },
              ...{ sort_target: 'VERSION', sort_order: 'DESCEND' },
            },
          },
          { request_txn: {} },
        ],
        failure: [{ request_put: { key: text('a'), ignore_value: true, ignore_lease: true } }],
      },
    ]);
    const kv = { key, value: new Uint8Array(0), createRevision: 9007199254740991, modRevision: 3, version: 2, lease };
    expect(answer).toEqual({
      identity: '7',
      revision: 5,
      succeeded: true,
      responses: [
        { type: 'put', prevKv: kv },
        { type: 'delete', deleted: 2, prevKvs: [{ ...kv, lease: '-1' }] },
        { type: 'range', count: 9, more: true, kvs: [kv] },
        { type: 'txn', succeeded: false, responses: [] },
      ],
    });
  });

  it('revisions that no number holds, and answers without a header, are errors', async () => {
    for (const header of [
      { cluster_id: '7', revision: '9007199254740992' },
      {},
      { cluster_id: '7' },
      { revision: '5' },
    ]) {
      const world = { isWell: true };
      const { endpoint } = await startMember({ answer: () => (world.isWell ? {} : { header }) });
      const backend = await openGrpc([endpoint]);
      world.isWell = false;
      const error = (await errorOf(backend.status({}))) as Error;
      expect(error).toMatchObject({ code: 'BACKEND', permanent: false });
      expect(error.message).toContain('did not answer as etcd does');
    }
  });

  it('the name of the data is the number of the cluster, all of it', async () => {
    const header = { cluster_id: '18446744073709551615', revision: '5' };
    const { endpoint } = await startMember({ answer: () => ({ header }) });
    expect((await (await openGrpc([endpoint])).status({})).identity).toBe('18446744073709551615');
  });
});

describe('failover', () => {
  it('who cannot be reached is passed by, with a write too: nobody has heard it', async () => {
    const { endpoint, asked } = await startMember({ answer: done });
    const backend = await openGrpc(['http://127.0.0.1:1', endpoint]);
    expect((await backend.txn(WRITE)).succeeded).toBe(true);
    expect(asked.filter((one) => one === 'kv/txn')).toHaveLength(1);
  });

  it('a write whose connection breaks is not sent twice, and may be committed', async () => {
    const breaking = await startMember({
      answer: (_, { method }) => {
        if (method === 'kv/txn') breaking.server.forceShutdown();
        return method === 'kv/txn' ? new Promise(() => {}) : {};
      },
    });
    const other = await startMember({ answer: done });
    const backend = await openGrpc([breaking.endpoint, other.endpoint]);
    const error = (await errorOf(backend.txn(WRITE))) as Error;
    expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: true, permanent: false });
    expect(error.message).toContain(breaking.endpoint);
    expect(other.asked).toEqual([]);
    expect((await backend.txn(WRITE)).succeeded).toBe(true);
  });

  it.each<[string, number, string, boolean]>([
    ['a leader that changed', 14, 'etcdserver: leader changed', true],
    ['a request that timed out', 14, 'etcdserver: request timed out', true],
    ['words like those of a connection', 14, 'No connection established. Last error: connect ECONNREFUSED', true],
    ['a full database', 8, 'etcdserver: mvcc: database space exceeded', true],
    ['a missing permission', 7, 'etcdserver: permission denied', false],
    ['a wrong argument', 3, 'etcdserver: key is not provided', false],
  ])('a write that is answered by %s: whether it may be committed', async (_, code, details, maybeCommitted) => {
    const member = await startMember({
      answer: (_request, { method }) => {
        if (method === 'kv/txn') throw refusal(code, details);
        return {};
      },
    });
    const other = await startMember({ answer: done });
    const backend = await openGrpc([member.endpoint, other.endpoint]);
    const error = (await errorOf(backend.txn(WRITE))) as Error;
    expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted });
    expect(error.message).toContain(details);
    expect(other.asked).toEqual([]);
  });

  it('a server that was stopped is found again when it is back', async () => {
    const first = await startMember();
    const backend = await openGrpc([first.endpoint], { timeoutMs: 2_000 });
    first.server.forceShutdown();
    const error = (await errorOf(backend.status({}))) as Error;
    expect(error).toMatchObject({ code: 'BACKEND', permanent: false, maybeCommitted: false });
    expect(error.message).toContain(first.endpoint);
    await startMember({ port: Number(new URL(first.endpoint).port) });
    let isBack = false;
    while (!isBack) isBack = (await errorOf(backend.status({}))) === undefined;
  });

  it('a member that is stopped in the middle of an answer: the read is made again elsewhere', async () => {
    const world = { isWell: true };
    const hanging = await startMember({ answer: () => (world.isWell ? {} : new Promise(() => {})) });
    const other = await startMember();
    const backend = await openGrpc([hanging.endpoint, other.endpoint], { timeoutMs: 400 });
    world.isWell = false;
    expect((await backend.status({})).revision).toBe(5);
    expect(other.asked).toEqual(['kv/range']);
  });

  it('a connection that is broken without anybody noticing is given up with all that is on it', async () => {
    const member = await startMember({
      streams: {
        watch: (_, stream) => stream.write({ created: true }),
        'lease/keepalive': ({ ID }, stream) => stream.write({ header: GRPC_HEADER, ID, TTL: '9' }),
      },
    });
    const world = { isBroken: false };
    const proxy = createTcp((client) => {
      const server = connect(Number(new URL(member.endpoint).port), '127.0.0.1');
      client.pipe(server);
      const isOld = !world.isBroken;
      // The begin of a frame that is never finished.
      server.on('data', (data) => void client.write(isOld && world.isBroken ? Buffer.of(0, 0x3f, 0xff, 0, 0) : data));
      for (const socket of [client, server]) socket.on('error', () => client.destroy());
      onTestFinished(() => void server.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const address = proxy.address();
    const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    for (const ask of ['status', 'renewal'] as const) {
      world.isBroken = false;
      const backend = await openGrpc([endpoint], { timeoutMs: 300 });
      const call = () =>
        ask === 'status' ? backend.status({}) : (backend.leases?.keepAlive({ id: '7' }) as Promise<unknown>);
      const watch = backend.watch({ ranges: [ALL], fromRevision: 3 })[Symbol.asyncIterator]();
      await watch.next();
      const ended = errorOf(watch.next());
      await call();
      world.isBroken = true;
      expect(((await errorOf(call())) as Error).message).toContain('has not answered within 300 ms');
      expect(((await ended) as Error).message).toContain('a connection on which a call had no answer');
      await call();
      await backend[Symbol.asyncDispose]();
    }
  });

  it('a signal ends a call with its reason, and the member hears of it', async () => {
    const world = { isWell: true };
    const { endpoint } = await startMember({ answer: () => (world.isWell ? {} : new Promise(() => {})) });
    const backend = await openGrpc([endpoint]);
    world.isWell = false;
    const controller = new AbortController();
    const left = errorOf(backend.status({ signal: controller.signal }));
    const closed = errorOf(backend.status({}));
    controller.abort('enough');
    expect(await left).toBe('enough');
    await backend[Symbol.asyncDispose]();
    expect(await closed).toMatchObject({ code: 'CLOSED' });
    expect(await errorOf(backend.status({}))).toMatchObject({ code: 'CLOSED' });
  });

  it('nothing is sent through a proxy that the environment names', async () => {
    const sockets: unknown[] = [];
    const proxy = createTcp((socket) => sockets.push(socket.destroy()));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const address = proxy.address();
    process.env.grpc_proxy = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    onTestFinished(() => {
      delete process.env.grpc_proxy;
    });
    await openGrpc([(await startMember()).endpoint]);
    expect(sockets).toEqual([]);
  });
});

describe('what etcd refuses', () => {
  it('a revision that was compacted, and one that is still to come', async () => {
    const world = { words: 'etcdserver: mvcc: required revision has been compacted' };
    const { endpoint } = await startMember({
      answer: (request, { method }) => {
        if (method === 'kv/txn' || request.revision === '2') throw refusal(11, world.words);
        return {};
      },
      streams: {
        watch: (_, stream) => [{ created: true }, { canceled: true, compact_revision: '4' }].map(stream.write),
      },
    });
    const backend = await openGrpc([endpoint]);
    const compacted = await errorOf(backend.range({ ranges: [ALL], revision: 1 }));
    expect(compacted).toBeInstanceOf(CompactedError);
    expect(compacted).toMatchObject({ minRevision: 4, compactRevision: 4 });
    world.words = 'etcdserver: mvcc: required revision is a future revision';
    const future = await errorOf(backend.range({ ranges: [ALL], revision: 9 }));
    expect(future).toBeInstanceOf(FutureRevisionError);
    expect(future).toMatchObject({ revision: 9, currentRevision: 5 });
  });
});

describe('a watch', () => {
  const put = (key: string, revision: number) => ({
    kv: { key: bytes(key), value: bytes('v'), create_revision: '1', mod_revision: `${revision}`, version: '1' },
  });
  const gone = (key: string, revision: number) => ({
    type: 'DELETE',
    kv: { key: bytes(key), mod_revision: `${revision}` },
  });

  async function follow(
    messages: readonly object[],
    ending: (stream: MemberStream) => void = (stream) => stream.end(),
  ) {
    const requests: unknown[] = [];
    const { endpoint, streams } = await startMember({
      streams: {
        watch: (request, stream) => {
          requests.push(request, stream.metadata.get('hasleader'));
          for (const message of [{ created: true }, ...messages]) stream.write(message);
          ending(stream);
        },
      },
    });
    const backend = await openGrpc([endpoint]);
    const ranges = [{ start: bytes('a') }, { start: bytes('c'), end: bytes('e') }];
    return { ...(await read(backend.watch({ ranges, fromRevision: 3 }))), requests, streams };
  }

  it('joins fragments, drops what is not wanted, and asks for a leader', async () => {
    const { told, error, requests } = await follow([
      { fragment: true, events: [put('a', 2), put('a', 3), put('c', 4)] },
      { fragment: true, events: [put('d', 4)] },
      { events: [gone('d', 5), put('b', 6)] },
    ]);
    expect(told).toEqual(['open 5', 'change 3: put a', 'change 4: put c, put d', 'change 5: delete d']);
    expect(error).toMatchObject({ code: 'BACKEND', permanent: false });
    const create_request = { key: Buffer.from('a'), range_end: Buffer.from('e'), start_revision: '2', fragment: true };
    expect(requests).toEqual([{ create_request }, ['true']]);
  });

  it('what was compacted is a CompactedError; a leader that was lost, and an end in the middle, are not', async () => {
    const compacted = await follow([{ canceled: true, compact_revision: '9' }], () => {});
    expect(compacted.error).toMatchObject({ code: 'COMPACTED', minRevision: 10, compactRevision: 9 });
    await until(() => compacted.streams.size === 0, 'the end of the stream at the member');
    const lost = await follow([{ events: [put('a', 3)] }], (stream) => stream.refuse(14, 'etcdserver: no leader'));
    expect(lost.told).toEqual(['open 5', 'change 3: put a']);
    expect((lost.error as Error).message).toContain('etcdserver: no leader');
  });

  it('what is pulled slowly is not pulled ahead of', async () => {
    const world = { sent: 0 };
    const { endpoint } = await startMember({
      streams: {
        watch: (_, stream) => {
          stream.write({ created: true });
          const value = new Uint8Array(200_000);
          for (let revision = 3; revision < 203; revision++) {
            stream.write({ events: [{ kv: { ...put('a', revision).kv, value } }] });
            world.sent++;
          }
        },
      },
    });
    const backend = await openGrpc([endpoint]);
    const revisions: number[] = [];
    for await (const item of backend.watch({ ranges: [ALL], fromRevision: 3 })) {
      revisions.push(item.revision);
      await new Promise((resolve) => setImmediate(resolve));
      if (revisions.length === 201) break;
    }
    expect(revisions).toEqual([5, ...Array.from({ length: 200 }, (_, index) => index + 3)]);
  });
});

describe('progress', () => {
  const event = (revision: number) => ({
    kv: { key: bytes('a'), value: bytes('v'), create_revision: '1', mod_revision: `${revision}`, version: '1' },
  });

  async function openWatch(version: string, onProgress: (stream: MemberStream) => void = () => {}) {
    const requests: object[] = [];
    const { endpoint } = await startMember({
      version,
      streams: {
        watch: (request, stream) => {
          requests.push(request);
          if ('create_request' in request) stream.write({ created: true });
          else onProgress(stream);
        },
      },
    });
    const world = { now: 0 };
    const clock = {
      now: () => world.now,
      wallTime: () => 0,
      after: (ms: number, fn: () => void) => {
        const timer = setTimeout(fn, ms);
        return () => clearTimeout(timer);
      },
    };
    const backend = await openGrpc([endpoint], { clock });
    const stream = backend.watch({ ranges: [ALL], fromRevision: 3 });
    const items = stream[Symbol.asyncIterator]();
    onTestFinished(async () => void (await items.return?.()));
    return { backend, stream, items, requests, world };
  }

  it.each([
    ['3.4.23', false],
    ['3.4.30', false],
    ['3.4.31', true],
    ['3.5.12', false],
    ['3.5.13', true],
    ['3.6.0-rc.1', true],
    ['3.3.99', false],
    ['4.0.0', true],
    ['', false],
    ['many', false],
  ])('is asked of etcd "%s": %s', async (version, isSound) => {
    const { backend, stream, items } = await openWatch(version);
    expect(backend.capabilities.progress).toBe(isSound);
    expect(stream.requestProgress).toBe(undefined);
    expect((await items.next()).value).toMatchObject({ type: 'open' });
    expect(typeof stream.requestProgress).toBe(isSound ? 'function' : 'undefined');
  });

  it('a member that refuses to tell its version is watched without', async () => {
    const world = { isWell: true };
    const { endpoint } = await startMember({
      answer: (_, { method }) => {
        if (method === 'maintenance/status' && !world.isWell) throw refusal(7, 'etcdserver: permission denied');
        return {};
      },
      streams: { watch: (_, stream) => stream.write({ created: true }) },
    });
    const backend = await openGrpc([endpoint]);
    expect(backend.capabilities.progress).toBe(true);
    world.isWell = false;
    expect((await openGrpc([endpoint])).capabilities.progress).toBe(false);
    const stream = backend.watch({ ranges: [ALL], fromRevision: 3 });
    for await (const { type } of stream) {
      expect([type, stream.requestProgress]).toEqual(['open', undefined]);
      break;
    }
  });

  it('comes behind the events that it stands for, on request only', async () => {
    const { stream, items, requests } = await openWatch('3.5.13', (member) => {
      member.write({ events: [event(4)] });
      member.write({ header: { cluster_id: '7', revision: '9' }, watch_id: '-1' });
    });
    await items.next();
    stream.requestProgress?.();
    expect((await items.next()).value).toMatchObject({ type: 'change', revision: 4 });
    expect((await items.next()).value).toEqual({ type: 'progress', revision: 9 });
    expect(requests.map((one) => Object.keys(one)[0])).toEqual(['create_request', 'progress_request']);
    await items.return?.();
    expect(stream.requestProgress).toBe(undefined);
  });

  it('is not taken from between fragments', async () => {
    const { stream, items } = await openWatch('3.5.13', (member) => {
      member.write({ fragment: true, events: [event(4)] });
      member.write({ fragment: true, header: { cluster_id: '7', revision: '9' } });
      member.write({ events: [event(4)] });
    });
    await items.next();
    stream.requestProgress?.();
    expect((await items.next()).value).toMatchObject({ type: 'change', revision: 4, events: [{}, {}] });
  });

  it('is given up on a stream that does not answer for 5 s, but for one that brings events', async () => {
    const world = { isBusy: false };
    const {
      stream,
      items,
      world: time,
    } = await openWatch('3.5.13', (member) => {
      if (world.isBusy) member.write({ events: [event(4)] });
    });
    await items.next();
    stream.requestProgress?.();
    time.now = 4_999;
    world.isBusy = true;
    stream.requestProgress?.();
    expect((await items.next()).value).toMatchObject({ type: 'change' });
    time.now = 9_998;
    expect(stream.requestProgress).toBeTypeOf('function');
    time.now = 9_999;
    expect(stream.requestProgress).toBe(undefined);
  });

  it('a member that is too old is asked what has changed instead, though another one was new', async () => {
    const old = await startMember({
      version: '3.4.23',
      streams: { watch: (_, stream) => stream.write({ created: true }) },
    });
    const fresh = await startMember({ version: '3.5.13' });
    const backend = await openGrpc([fresh.endpoint, old.endpoint]);
    expect(backend.capabilities.progress).toBe(true);
    fresh.server.forceShutdown();
    const stream = backend.watch({ ranges: [ALL], fromRevision: 3 });
    for await (const { type } of stream) {
      expect([type, stream.requestProgress]).toEqual(['open', undefined]);
      break;
    }
  });
});

describe('leases', () => {
  const header = GRPC_HEADER;
  const renewal = (ID: unknown, TTL = '9') => ({ header, ID, TTL });

  it('all renewals share one stream, answers find their questions', async () => {
    const ids: unknown[] = [];
    const { endpoint, asked } = await startMember({
      streams: {
        'lease/keepalive': ({ ID }, stream) => {
          ids.push(ID);
          if (ids.length === 40) for (const id of ids.toReversed()) stream.write(renewal(id, String(Number(id) + 1)));
        },
      },
    });
    const { leases } = await openGrpc([endpoint]);
    const renewed = await Promise.all(
      Array.from({ length: 40 }, (_, index) => leases?.keepAlive({ id: `${index + 1}` })),
    );
    expect(renewed.map((one) => [one?.id, one?.ttlMs])).toEqual(
      ids.map((_, index) => [`${index + 1}`, (index + 2) * 1000]),
    );
    expect(asked.filter((one) => one === 'lease/keepalive')).toHaveLength(1);
  });

  it('one that is gone has a TTL of 0', async () => {
    const { endpoint } = await startMember({
      streams: { 'lease/keepalive': ({ ID }, stream) => stream.write({ header, ID }) },
    });
    const { leases } = await openGrpc([endpoint]);
    expect(await errorOf(leases?.keepAlive({ id: '77' }) as Promise<unknown>)).toBeInstanceOf(LeaseNotFoundError);
  });

  it('a renewal that was given up leaves its answer to nobody, and the next one a stream of its own', async () => {
    const waiting: [unknown, MemberStream][] = [];
    const { endpoint, asked } = await startMember({
      streams: { 'lease/keepalive': ({ ID }, stream) => void waiting.push([ID, stream]) },
    });
    const { leases } = await openGrpc([endpoint]);
    const controller = new AbortController();
    const left = errorOf(leases?.keepAlive({ id: '7', signal: controller.signal }) as Promise<unknown>);
    const patient = leases?.keepAlive({ id: '8' });
    await until(() => waiting.length === 2, 'two renewals');
    controller.abort('enough');
    expect(await left).toBe('enough');
    const next = leases?.keepAlive({ id: '7' });
    await until(() => waiting.length === 3, 'the third');
    const [first, second, third] = waiting as [
      [unknown, MemberStream],
      [unknown, MemberStream],
      [unknown, MemberStream],
    ];
    expect(first[1]).toBe(second[1]);
    expect(third[1]).not.toBe(first[1]);
    first[1].write(renewal('7', '1'));
    first[1].write(renewal('8', '2'));
    expect((await patient)?.ttlMs).toBe(2000);
    third[1].write(renewal('7', '3'));
    expect((await next)?.ttlMs).toBe(3000);
    expect(asked.filter((one) => one === 'lease/keepalive')).toHaveLength(2);
  });

  it.each<[string, (stream: MemberStream) => void]>([
    ['ends it', (stream) => stream.end()],
    ['refuses it', (stream) => stream.refuse(14, 'etcdserver: no leader')],
    ['answers what was not asked', (stream) => stream.write(renewal('9'))],
    ['names no lease', (stream) => stream.write({ header })],
  ])('a member that %s fails all that wait, and the next member is asked', async (_, fail) => {
    const streams = {
      'lease/keepalive': ({ ID }: { ID?: unknown }, stream: MemberStream) => stream.write(renewal(ID)),
    };
    const ill = await startMember({ streams: { 'lease/keepalive': (_request, stream) => fail(stream) } });
    const well = await startMember({ streams });
    const { leases } = await openGrpc([ill.endpoint, well.endpoint]);
    const renewed = await Promise.all(['1', '2', '3'].map((id) => leases?.keepAlive({ id })));
    expect(renewed.map((one) => one?.ttlMs)).toEqual([9000, 9000, 9000]);
    expect(well.asked.filter((one) => one === 'lease/keepalive')).toHaveLength(1);
  });

  it('a stream that nobody has used for a while is ended, and made anew when it is wanted', async () => {
    const { endpoint, asked, streams } = await startMember({
      streams: { 'lease/keepalive': ({ ID }, stream) => stream.write(renewal(ID)) },
    });
    const idle = new Set<() => void>();
    const clock = {
      now: () => 0,
      wallTime: () => 0,
      after: (ms: number, fn: () => void) => {
        if (ms === 10_000) idle.add(fn);
        return () => void idle.delete(fn);
      },
    };
    const { leases } = await openGrpc([endpoint], { clock });
    await leases?.keepAlive({ id: '1' });
    await leases?.keepAlive({ id: '2' });
    expect(idle.size).toBe(1);
    for (const end of idle) end();
    await until(() => streams.size === 0, 'the end of the stream');
    await leases?.keepAlive({ id: '3' });
    expect(asked.filter((one) => one === 'lease/keepalive')).toHaveLength(2);
  });
});
