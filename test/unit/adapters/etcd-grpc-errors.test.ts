import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcp, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadGrpcLibraries } from '../../../src/adapters/etcd/grpc-libraries.ts';
import { type EtcdBackendOptions, type EtcdTlsOptions, openEtcdBackend } from '../../../src/adapters/etcd/mod.ts';
import { createCertificate } from '../../support/certificates.ts';
import { openGrpc, refusal, startMember } from './etcd-grpc-members.ts';
import { ALL, bytes, errorOf, PUT } from './etcd-members.ts';

type Closable = Pick<Server, 'listen' | 'close' | 'address' | 'on'>;

/** Where a server that is no etcd listens, until the end of the test. */
async function listen(server: Closable, scheme = 'http'): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `${scheme}://localhost:${typeof address === 'object' ? address?.port : ''}`;
}

const pageOf = (status: number) => () => {
  const server = createHttp2();
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': status, 'content-type': 'text/html' });
    stream.end('<html>connect ECONNREFUSED upstream</html>');
  });
  return listen(server);
};

async function openError(endpoint: string, options: Partial<EtcdBackendOptions> = {}) {
  return (await errorOf(openEtcdBackend({ endpoints: [endpoint], transport: 'grpc', ...options }))) as Error;
}

describe('a wrong endpoint is told when the backend is opened, with its name and the reason', () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    ['nobody listens', async () => 'http://127.0.0.1:1', /cannot be reached \(connect ECONNREFUSED 127\.0\.0\.1:1\)/],
    [
      'a name that is none',
      async () => 'http://nobody.invalid:2379',
      /cannot be reached \(Name resolution failed.*nobody/,
    ],
    ['a web server', () => listen(createHttp((_, answer) => answer.end('hi'))), /does not speak gRPC: is it etcd/],
    ['another protocol', () => listen(createTcp((socket) => void socket.write('SSH-2.0\r\n'))), /does not speak gRPC/],
    ['who hangs up', () => listen(createTcp((socket) => void socket.destroy())), /does not speak gRPC/],
    ['a page, 200', pageOf(200), /did not answer as etcd does \(an answer of the type text\/html\)/],
    ['a page, 502', pageOf(502), /did not answer as etcd does \(.*502/],
    ['a page, 404', pageOf(404), /did not answer as etcd does \(.*404/],
    [
      'TLS without TLS',
      async () => (await startMember()).endpoint.replace('http:', 'https:'),
      /cannot be reached \(.*SSL/,
    ],
    [
      'TLS, unknown to the address',
      async () => (await startMember({ tls: { own: SERVER } })).endpoint.replace('https:', 'http:'),
      /does not speak gRPC: is it etcd, and without TLS/,
    ],
  ])('%s', async (_, start, reason) => {
    const endpoint = await start();
    const error = await openError(endpoint);
    expect(error).toMatchObject({ code: 'BACKEND', maybeCommitted: false, permanent: false });
    expect(error.message).toContain(`: ${endpoint} `);
    expect(error.message).toMatch(reason);
  });

  it('who says nothing is waited for as long as the deadline says', async () => {
    const endpoint = await listen(createTcp(() => {}));
    const error = await openError(endpoint, { timeoutMs: 200 });
    expect(error.message).toMatch(/has not answered within 200 ms \(http:.* is silent\)/);
  });

  it('of several each is named', async () => {
    const error = (await errorOf(
      openEtcdBackend({ endpoints: ['http://127.0.0.1:1', 'http://nobody.invalid:2'], transport: 'grpc' }),
    )) as Error;
    expect(error.message).toMatch(/127\.0\.0\.1:1 cannot be reached.*; .*nobody\.invalid:2 cannot be reached/);
    expect((error.cause as AggregateError).errors).toHaveLength(2);
  });
});

const CA = createCertificate({ name: 'an authority' });
const SERVER = createCertificate({ name: 'a member', issuer: CA });

describe('certificates', () => {
  const open = async (own: typeof SERVER, tls: EtcdTlsOptions, clientCa?: string) => {
    const { endpoint } = await startMember({ tls: clientCa === undefined ? { own } : { own, clientCa } });
    return { endpoint, error: await openError(endpoint, { tls }) };
  };

  it('the right ones, as text and as bytes', async () => {
    const { endpoint } = await startMember({ tls: { own: SERVER, clientCa: CA.cert } });
    const own = createCertificate({ name: 'a client', issuer: CA });
    for (const tls of [
      { ca: CA.cert, cert: own.cert, key: own.key },
      { ca: bytes(CA.cert), cert: bytes(own.cert), key: bytes(own.key) },
    ]) {
      expect((await (await openGrpc([endpoint], { tls })).status({})).revision).toBe(5);
    }
  });

  it.each<[string, typeof SERVER, EtcdTlsOptions, RegExp]>([
    [
      'expired',
      createCertificate({ name: 'old', issuer: CA, fromDays: -9, toDays: -2 }),
      { ca: CA.cert },
      /has expired/,
    ],
    [
      'not yet good',
      createCertificate({ name: 'new', issuer: CA, fromDays: 2, toDays: 9 }),
      { ca: CA.cert },
      /not yet valid/,
    ],
    ['of an unknown authority', SERVER, {}, /unable to verify/],
    [
      'for another host',
      createCertificate({ name: 'other', issuer: CA, hosts: ['etcd.invalid'] }),
      { ca: CA.cert },
      /ALTNAME_INVALID/,
    ],
  ])('one that is %s is permanent', async (_, own, tls, reason) => {
    const { endpoint, error } = await open(own, tls);
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true, maybeCommitted: false });
    expect(error.message).toContain(`${endpoint} cannot be reached`);
    expect(error.message).toMatch(reason);
  });

  it('a member that wants one of the client says so', async () => {
    const { error } = await open(SERVER, { ca: CA.cert }, CA.cert);
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect(error.message).toMatch(/certificate required/);
  });

  it('what is no certificate is told before anybody is asked', async () => {
    const { endpoint, asked } = await startMember({ tls: { own: SERVER } });
    const error = await openError(endpoint, { tls: { ca: CA.cert, cert: 'no PEM', key: 'no PEM' } });
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect(error.message).toContain('tls cannot be used');
    expect(asked).toEqual([]);
  });
});

describe('credentials', () => {
  it('wrong ones are permanent, and told when the backend is opened', async () => {
    const { endpoint } = await startMember({
      answer: (_, { method }) => {
        if (method !== 'auth/authenticate') throw refusal(3, 'etcdserver: user name is empty');
        throw refusal(3, 'etcdserver: authentication failed, invalid user ID or password');
      },
    });
    const error = await openError(endpoint, { username: 'u', password: 'wrong' });
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect(error.message).toMatch(new RegExp(`${endpoint} says: .*authentication failed`));
  });

  it('a token that has ended is got anew, for calls and for watches', async () => {
    const world = { token: 0 };
    const isGood = (found: unknown) => found === `token ${world.token}`;
    const names: unknown[] = [];
    const { endpoint, asked } = await startMember({
      answer: (request, { method, metadata }) => {
        if (method === 'auth/authenticate') {
          names.push(request);
          return { token: `token ${++world.token}` };
        }
        if (!isGood(metadata.get('token')[0])) throw refusal(16, 'etcdserver: invalid auth token');
        return {};
      },
      streams: {
        watch: (_, stream) => {
          if (isGood(stream.metadata.get('token')[0])) stream.write({ created: true });
          else
            stream.write({ created: true, canceled: true, cancel_reason: 'rpc error: etcdserver: invalid auth token' });
        },
      },
    });
    const backend = await openGrpc([endpoint], { username: 'u', password: 'p' });
    world.token = 10;
    expect((await backend.status({})).revision).toBe(5);
    world.token = 20;
    for await (const { type } of backend.watch({ ranges: [ALL], fromRevision: 5 })) {
      expect(type).toBe('open');
      break;
    }
    expect(names).toEqual(Array(3).fill({ name: 'u', password: 'p' }));
    expect(asked.filter((one) => one === 'watch')).toHaveLength(2);
  });
});

describe('sizes', () => {
  it('an answer above the bound is a permanent error, and no other member is asked for the same', async () => {
    const answer = () => ({ responses: [{ response_range: { kvs: [], count: 0 } }], succeeded: true });
    const huge = () => ({
      ...answer(),
      responses: [{ response_range: { count: '1', kvs: [{ value: new Uint8Array(3000) }] } }],
    });
    const members = await Promise.all([startMember({ answer: huge }), startMember({ answer })]);
    const endpoints = members.map(({ endpoint }) => endpoint);
    const backend = await openGrpc(endpoints, { answerBytesMax: 2000 });
    const error = (await errorOf(backend.range({ ranges: [ALL] }))) as Error;
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true, maybeCommitted: false });
    expect(error.message).toContain(`${endpoints[0]} has an answer of more than 2000 bytes (answerBytesMax)`);
    expect(members[1]?.asked).toEqual([]);
    // It is no reason to avoid that member.
    expect((await backend.status({})).revision).toBe(5);
    expect(members[1]?.asked).toEqual([]);
  });

  it('of a write it may be committed; a request that is too large has certainly not', async () => {
    const { endpoint } = await startMember({
      answer: (_, { method }) =>
        method === 'kv/txn' ? { responses: [{ response_put: { prev_kv: { value: new Uint8Array(3000) } } }] } : {},
    });
    const backend = await openGrpc([endpoint], { answerBytesMax: 2000 });
    const put = { compare: [], then: [PUT], else: [] };
    expect(await errorOf(backend.txn(put))).toMatchObject({ permanent: true, maybeCommitted: true });
    const refusing = await startMember({
      answer: (_, { method }) => {
        if (method === 'kv/txn') throw refusal(8, 'grpc: received message larger than max (2097200 vs. 2097152)');
        return {};
      },
    });
    const error = await errorOf((await openGrpc([refusing.endpoint])).txn(put));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true, maybeCommitted: false });
  });
});

describe('options', () => {
  const secure = ['https://a.invalid:1'];
  it.each<[object, string]>([
    [{ transport: 'http' }, 'transport is neither'],
    [{ transport: 'grpc', fetch }, "fetch is for transport 'gateway'"],
    [{ tls: {} }, "tls is for transport 'grpc'"],
    [{ keepaliveMs: 5000 }, "keepaliveMs is for transport 'grpc'"],
    [{ transport: 'grpc', keepaliveMs: 10 }, 'keepaliveMs'],
    [{ transport: 'grpc', answerBytesMax: 0 }, 'answerBytesMax'],
    [{ transport: 'grpc', tls: { ca: '' } }, 'no endpoint begins with https:'],
    [{ transport: 'grpc', endpoints: secure, tls: { cert: 'x' } }, 'belong together'],
    [{ transport: 'grpc', endpoints: secure, tls: { ca: 5 } }, 'tls.ca is neither text nor bytes'],
    [{ transport: 'grpc', endpoints: secure, tls: { pem: '' } }, 'pem'],
  ])('%j is refused', async (options, reason) => {
    const all = { endpoints: ['http://a.invalid:1'], ...options } as EtcdBackendOptions;
    const error = (await errorOf(openEtcdBackend(all))) as Error;
    expect(error).not.toHaveProperty('code', 'BACKEND');
    expect(error.message).toContain('Cannot open an etcd backend');
    expect(error.message).toContain(reason);
  });

  it('packages that are not there are named, and how to install them', async () => {
    const error = await errorOf(
      loadGrpcLibraries('open an etcd backend', async (name) =>
        name.startsWith('@grpc') ? { error: new Error(`no ${name}`) } : { module: {} },
      ),
    );
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true });
    expect((error as Error).message).toBe(
      'Cannot open an etcd backend: @grpc/grpc-js cannot be loaded, which gRPC needs; run "npm install @grpc/grpc-js protobufjs"',
    );
  });
});
