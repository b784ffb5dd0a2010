import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInClusterTransport } from '../../../src/adapters/kubernetes/in-cluster-transport.ts';
import { type Listener, listen } from '../../../src/adapters/testing-node/listen.ts';
import { openTestApiServer, type TestApiServer } from '../../../src/testing/test-api-server.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { createCertificate } from '../../support/certificates.ts';
import { errorOf } from '../../support/error-of.ts';

/** IN22: the service account of a pod, over HTTPS with its own certificate authority. */

let folder: string;
let server: TestApiServer;
let listener: Listener;
const tokens: (string | null)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-in-cluster-'));
  const authority = createCertificate({ name: 'authority' });
  const { key, cert } = createCertificate({ name: 'api', issuer: authority });
  server = await openTestApiServer();
  tokens.length = 0;
  const fetch: TestApiServer['fetch'] = (input, init) => {
    tokens.push(input instanceof Request ? input.headers.get('authorization') : null);
    return server.fetch(input, init);
  };
  listener = await listen({ fetch }, { tls: { key, cert } });
  await writeFile(join(folder, 'ca.crt'), authority.cert);
  await writeFile(join(folder, 'token'), 'one\n');
});

afterEach(async () => {
  await listener.close();
  await server.close();
  await rm(folder, { recursive: true });
});

describe('in a pod', () => {
  it('the token is read again after a minute and after a 401', async () => {
    const clock = createVirtualClock();
    const transport = await openInClusterTransport({ folder, baseUrl: listener.url, clock });
    const { signal } = new AbortController();
    const list = () => transport.list({ resource: { version: 'v1', resource: 'pods' } }, { signal });
    await list();
    await writeFile(join(folder, 'token'), 'two\n');
    await list();
    await clock.advance(60_000);
    await list();
    await writeFile(join(folder, 'token'), 'three\n');
    server.faults.fail({ code: 401, token: 'two' });
    await list();
    expect(tokens).toEqual(['one', 'one', 'two', 'two', 'three'].map((token) => `Bearer ${token}`));
  });

  it('what is missing is said when it is opened', async () => {
    const open = (options: object) => errorOf(() => openInClusterTransport(options));
    expect(await open({ folder: join(folder, 'none'), baseUrl: listener.url })).toMatchObject({
      failure: 'credentials',
      message: expect.stringContaining('cannot be read'),
    });
    // The tests run in no pod.
    expect(await open({ folder })).toMatchObject({
      failure: 'credentials',
      message: expect.stringContaining('no pod'),
    });
    expect(await open({ file: folder })).toBeInstanceOf(TypeError);
  });
});
