import { KubeConfig as KubeConfig1 } from 'client-node-1';
import { KubeConfig as KubeConfig2 } from 'client-node-2';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createClientNodeTransport,
  type KubeConfigLike,
} from '../../../src/adapters/kubernetes/client-node-transport.ts';
import { type Listener, listen } from '../../../src/adapters/testing-node/listen.ts';
import { createInformer } from '../../../src/kubernetes/create-informer.ts';
import type { Informer } from '../../../src/kubernetes/informer-types.ts';
import { openTestApiServer, type TestApiServer } from '../../../src/testing/test-api-server.ts';
import { createCertificate } from '../../support/certificates.ts';
import { errorOf } from '../../support/error-of.ts';
import { until } from '../../support/until.ts';

/** Both majors of `@kubernetes/client-node`, each with its own KubeConfig, on a real socket of the test API server. */

interface LoadableConfig extends KubeConfigLike {
  loadFromOptions(options: object): void;
}

const MAJORS: readonly (readonly [string, new () => LoadableConfig])[] = [
  ['1.4', KubeConfig1],
  ['2.0', KubeConfig2],
];
const PODS_PATH = '/api/v1/namespaces/shop/pods';

let server: TestApiServer | undefined;
let listener: Listener | undefined;
let informer: Informer | undefined;

afterEach(async () => {
  await informer?.stop();
  await listener?.close();
  await server?.close();
  informer = undefined;
});

function configOf(
  Config: new () => LoadableConfig,
  cluster: object,
  user: object = { token: 'secret' },
): LoadableConfig {
  const config = new Config();
  config.loadFromOptions({
    clusters: [{ name: 'c', ...cluster }],
    users: [{ name: 'u', ...user }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  return config;
}

describe.each(MAJORS)('with the KubeConfig of client-node %s', (_, Config) => {
  it('an informer lists, watches, survives breaks, and leaves nothing behind', async () => {
    server = await openTestApiServer();
    const { faults } = server;
    listener = await listen(server);
    const write = (name: string, more = {}) => server?.call('POST', PODS_PATH, { metadata: { name, ...more } });
    await write('a');
    const said: string[] = [];
    const errors: unknown[] = [];
    const transport = createClientNodeTransport({
      kubeConfig: configOf(Config, { server: listener.url, skipTLSVerify: true }),
    });
    const followed = createInformer({
      transport,
      resource: { version: 'v1', resource: 'pods', namespace: 'shop' },
      backoff: { baseMs: 10, maxMs: 50 },
      onDeltas: (deltas) => {
        for (const { type, key } of deltas) said.push(`${type} ${key}`);
      },
      onError: (error) => errors.push(error),
    });
    informer = followed;
    followed.start();
    await followed.synced();
    await until(() => server?.openWatches.pods === 1);
    await write('b');
    await until(() => followed.size === 2);
    for (const harm of [
      () => faults.resetWatches(),
      () => faults.truncateWatches({ isBroken: true }),
      () => faults.truncateWatches(),
      () => faults.expireWatches(),
      () => faults.injectLine('{"type":'),
    ]) {
      await until(() => server?.openWatches.pods === 1);
      harm();
      const before = followed.size;
      await write(`c${before}`);
      await until(() => followed.size === before + 1);
    }
    await server.call('DELETE', `${PODS_PATH}/a`);
    await until(() => followed.get('shop/a') === undefined);
    expect(said.filter((one) => one.endsWith('shop/a'))).toEqual(['added shop/a', 'deleted shop/a']);
    expect(new Set(said).size).toBe(said.length);
    // The server has seen one watch at a time.
    expect(server.openWatches.pods).toBe(1);
    expect(errors.length).toBeGreaterThanOrEqual(4);
    await followed.stop();
    await until(() => listener?.active === 0 && server?.openWatches.pods === undefined);
  });

  it('credentials are in each request, and asked for once more after a 401', async () => {
    server = await openTestApiServer();
    listener = await listen(server);
    const kubeConfig = configOf(Config, { server: listener.url, skipTLSVerify: true });
    const transport = createClientNodeTransport({ kubeConfig });
    const { signal } = new AbortController();
    const list = () => transport.list({ resource: { version: 'v1', resource: 'pods' } }, { signal });
    const fault = server.faults.fail({ code: 401, token: 'secret' });
    await list();
    expect([fault.hits, server.requests.map(({ status }) => status)]).toEqual([1, [401, 200]]);
    server.faults.fail({ code: 401, token: 'secret', times: 2 });
    expect(await errorOf(list)).toMatchObject({ code: 'API_STATUS', httpStatus: 401, reason: 'Unauthorized' });
    server.faults.fail({ code: 429, token: 'secret', retryAfterSeconds: 7 });
    expect(await errorOf(list)).toMatchObject({ httpStatus: 429, retryAfterMs: 7000 });
    await listener.close();
    expect(await errorOf(list)).toMatchObject({ code: 'TRANSPORT', failure: 'unreachable' });
  });

  it('a server is trusted by the certificate authority of the cluster alone', async () => {
    server = await openTestApiServer();
    const authority = createCertificate({ name: 'authority' });
    const { key, cert } = createCertificate({ name: 'api', issuer: authority });
    listener = await listen(server, { tls: { key, cert } });
    const caData = Buffer.from(authority.cert).toString('base64');
    const { signal } = new AbortController();
    const ask = (cluster: object) =>
      createClientNodeTransport({ kubeConfig: configOf(Config, { server: listener?.url, ...cluster }) }).list(
        { resource: { version: 'v1', resource: 'pods' } },
        { signal },
      );
    expect((await ask({ caData })).items).toEqual([]);
    expect(await errorOf(() => ask({}))).toMatchObject({ code: 'TRANSPORT', failure: 'unreachable' });
  });
});

describe('options', () => {
  it('that cannot be are refused', () => {
    const create = (options: unknown) => () => createClientNodeTransport(options as never);
    expect(create({})).toThrow('kubeConfig is not an object');
    expect(create({ kubeConfig: {} })).toThrow('kubeConfig has no method getCurrentCluster');
    expect(create({ kubeConfig: { getCurrentCluster: () => null } })).toThrow('no method applyToHTTPSOptions');
    const kubeConfig = { getCurrentCluster: () => null, applyToHTTPSOptions: async () => {} };
    expect(create({ kubeConfig })).toThrow('no current cluster');
    expect(create({ kubeConfig, fetch: () => {} })).toThrow('unknown option fetch');
  });
});
