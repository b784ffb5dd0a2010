import {
  ApiStatusError,
  createClientNodeTransport,
  createFetchTransport,
  createInformer,
  openInClusterTransport,
  TransportError,
} from 'plimsoll/kubernetes';
import { createVirtualClock, openTestApiServer } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';

test('informer: follows a server whose watches break, and leaves nothing behind', async () => {
  const clock = createVirtualClock();
  const server = await openTestApiServer({ clock });
  const path = '/api/v1/namespaces/ns/configmaps';
  const write = (name: string) => server.call('POST', path, { metadata: { name } });
  await write('a');
  const said: string[] = [];
  const failed: string[] = [];
  const informer = createInformer({
    transport: createFetchTransport({ baseUrl: 'http://api.test', fetch: server.fetch, clock, token: () => 'secret' }),
    resource: { version: 'v1', resource: 'configmaps', namespace: 'ns' },
    clock,
    onDeltas: (deltas) => {
      for (const { type, key } of deltas) said.push(`${type} ${key}`);
    },
    onError: (error) => {
      if (error instanceof ApiStatusError) failed.push(String(error.httpStatus));
      else if (error instanceof TransportError) failed.push(error.failure);
    },
  });
  server.faults.fail({ code: 503, verb: ['list', 'watch'], retryAfterSeconds: 5 });
  informer.start();
  await clock.advance(10_000);
  await informer.synced();
  await write('ü');
  await clock.advance(0);
  server.faults.truncateWatches();
  await write('b');
  await clock.advance(10_000);
  server.faults.resetWatches();
  await write('c');
  await clock.advance(10_000);
  server.faults.expireWatches();
  await server.call('DELETE', `${path}/a`);
  await clock.advance(10_000);
  equal(said, ['added ns/a', 'added ns/ü', 'added ns/b', 'added ns/c', 'deleted ns/a']);
  equal(failed, ['503', 'truncated', 'cut', '410']);
  equal([informer.size, server.openWatches.configmaps], [3, 1]);
  await informer.stop();
  await clock.settle();
  equal(server.openWatches, {});
  await server.close();
  equal(clock.pending, 0);
});

test('informer: what has no credentials says so', async () => {
  await rejects(openInClusterTransport({ folder: '/nowhere' }), { class: TransportError, code: 'TRANSPORT' });
  const kubeConfig = { getCurrentCluster: () => null, applyToHTTPSOptions: async () => {} };
  throws(() => createClientNodeTransport({ kubeConfig }), { class: TypeError });
});
