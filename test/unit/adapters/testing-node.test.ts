import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type FetchHandler, type Listener, listen } from '../../../src/adapters/testing-node/listen.ts';
import { openTestApiServer, type TestApiServer } from '../../../src/testing/test-api-server.ts';
import { createCertificate } from '../../support/certificates.ts';
import { until } from '../../support/until.ts';
import { PODS, watch } from '../server/rig.ts';

async function withListener(test: (listener: Listener, server: TestApiServer) => Promise<void>): Promise<void> {
  const server = await openTestApiServer();
  const listener = await listen(server);
  try {
    await test(listener, server);
  } finally {
    await listener.close();
    await server.close();
  }
}

function get(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(url, resolve).on('error', reject).end();
  });
}

describe('a listener of Node', () => {
  it('answers as the server does, with bodies both ways', async () => {
    await withListener(async ({ url }) => {
      const body = JSON.stringify({ metadata: { name: 'a' }, spec: 'é'.repeat(100_000) });
      const headers = { 'content-type': 'application/json' };
      const made = await fetch(`${url}${PODS}`, { method: 'POST', body, headers });
      expect([made.status, made.headers.get('content-type')]).toEqual([201, 'application/json']);
      expect((await made.json()).spec).toHaveLength(100_000);
      const bad = await fetch(`${url}${PODS}`, { method: 'POST', body: '{', headers });
      expect([bad.status, (await bad.json()).reason]).toEqual([400, 'BadRequest']);
      const patch = await fetch(`${url}${PODS}/a`, {
        method: 'PATCH',
        body: '[{"op":"remove","path":"/spec"}]',
        headers: { 'content-type': 'application/json-patch+json' },
      });
      expect(patch.status).toBe(200);
      expect((await fetch(`${url}${PODS}/a`, { method: 'DELETE' })).status).toBe(200);
      expect((await (await fetch(`${url}${PODS}`)).json()).items).toEqual([]);
    });
  });

  it('streams a watch, and ends it when the client has gone', async () => {
    await withListener(async (listener, server) => {
      const remote = { fetch: (path: string) => fetch(`${listener.url}${path}`) } as TestApiServer;
      const lines = await watch(remote, PODS);
      await server.call('POST', PODS, { metadata: { name: 'a' } });
      expect(await lines.brief(1)).toEqual(['ADDED a@2']);
      expect([listener.active, server.openWatches]).toEqual([1, { pods: 1 }]);
      await lines.cancel();
      await until(() => listener.active === 0 && server.storage.stats().watches === 0);
      expect(server.openWatches).toEqual({});
    });
  });

  it('breaks the connection where the answer is to be lost', async () => {
    await withListener(async ({ url }, server) => {
      server.faults.reset({ verb: 'list' });
      await expect(get(`${url}${PODS}`)).rejects.toMatchObject({ code: 'ECONNRESET' });
      const response = await get(`${url}${PODS}?watch=true`);
      await until(() => server.openWatches.pods === 1);
      const ended = new Promise((resolve) => {
        response.on('error', resolve).resume();
      });
      server.faults.resetWatches();
      expect(await ended).toMatchObject({ code: 'ECONNRESET' });
      server.faults.truncateWatches();
      expect((await get(`${url}${PODS}`)).statusCode).toBe(200);
    });
  });

  it('does not read on for a client that does not', async () => {
    let sent = 0;
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          sent++;
          controller.enqueue(new Uint8Array(65_536));
        },
      });
    const handler: FetchHandler = { fetch: async () => new Response(body()) };
    const listener = await listen(handler);
    const socket = connect(listener.port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    let before = -1;
    // Until the buffers of both sides are full.
    while (before !== sent) {
      before = sent;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(1000);
    socket.destroy();
    await until(() => listener.active === 0);
    await listener.close();
  });

  it('closes every connection, and its address is free', async () => {
    await withListener(async (listener, server) => {
      const { port, url } = listener;
      const lines = await watch({ fetch: (path: string) => fetch(`${url}${path}`) } as TestApiServer, PODS);
      const waiting = lines.next().then(
        () => 'ended',
        () => 'broken',
      );
      await until(() => server.openWatches.pods === 1);
      await listener.close();
      expect(await waiting).toBe('broken');
      await listener.close();
      await until(() => server.storage.stats().watches === 0);
      await expect(fetch(`${url}${PODS}`)).rejects.toThrow();
      const again = await listen(server, { port });
      expect(again.url).toBe(url);
      await expect(listen(server, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
      await again.close();
    });
  });

  it('refuses options that it does not know', async () => {
    const nobody: FetchHandler = { fetch: async () => new Response() };
    await expect(listen(nobody, { hostname: 'x' } as never)).rejects.toThrow('hostname');
    await expect(listen(nobody, { port: 65_536 })).rejects.toThrow(RangeError);
  });

  it('says how kubectl finds it', async () => {
    await withListener(async ({ url, kubeconfig }) => {
      expect(JSON.parse(kubeconfig)).toMatchObject({
        kind: 'Config',
        clusters: [{ name: 'plimsoll-test', cluster: { server: url } }],
        'current-context': 'plimsoll-test',
      });
    });
  });

  it('speaks TLS, and breaks its connections too', async () => {
    const server = await openTestApiServer();
    const issuer = createCertificate({ name: 'authority' });
    const { key, cert: own } = createCertificate({ name: 'localhost', issuer, hosts: ['127.0.0.1'] });
    // The chain: whoever is told the certificate can trust it.
    const cert = own + issuer.cert;
    const listener = await listen(server, { tls: { key, cert } });
    const ask = () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const options = { ca: cert, agent: false } as const;
        httpsRequest(`${listener.url}${PODS}`, options, resolve).on('error', reject).end();
      });
    expect(listener.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const response = await ask();
    expect(response.statusCode).toBe(200);
    response.resume();
    server.faults.reset();
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNRESET' });
    const { clusters } = JSON.parse(listener.kubeconfig);
    expect(atob(clusters[0].cluster['certificate-authority-data'])).toBe(cert);
    await listener.close();
    await server.close();
  });
});
