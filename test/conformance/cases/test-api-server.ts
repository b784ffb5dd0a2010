import { createVirtualClock, openTestApiServer, testKinds } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';

const PODS = '/api/v1/namespaces/ns1/pods';

/** Reads so many lines of a watch; a body that ends is the end. */
async function lines(
  response: Response,
  count: number,
): Promise<readonly { type: string; object: { code?: number } }[]> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.split('\n').length <= count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('a test API server: objects, lists in pages, a watch, without a socket', async () => {
  const server = await openTestApiServer();
  equal(
    testKinds.some(({ kind }) => kind === 'Pod'),
    true,
  );
  for (const name of ['a', 'b']) await server.call('POST', PODS, { metadata: { name } });
  const page = (await server.call('GET', `${PODS}?limit=1`)).body;
  equal([page.kind, page.items?.length, page.metadata.remainingItemCount], ['PodList', 1, 1]);
  const watch = await server.fetch(`http://kubernetes.test${PODS}?watch=true&resourceVersion=3`);
  await server.call('PATCH', `${PODS}/a`, { spec: { nodeName: 'ü\u{1f600}' } });
  await server.call('DELETE', `${PODS}/b`);
  equal(
    (await lines(watch, 2)).map(({ type }) => type),
    ['MODIFIED', 'DELETED'],
  );
  equal(server.openWatches, {});
  equal((await server.call('GET', `${PODS}/b`)).body.reason, 'NotFound');
  await server.close();
});

test('a test API server: faults, with a clock that stands still', async () => {
  const clock = createVirtualClock();
  const server = await openTestApiServer({ clock, kinds: [] });
  server.register({ version: 'v1', kind: 'Pod', plural: 'pods' });
  server.faults.fail({ code: 429, retryAfterSeconds: 3 });
  const refused = await server.fetch(PODS);
  equal([refused.status, refused.headers.get('retry-after')], [429, '3']);
  await refused.body?.cancel();
  server.faults.reset({ verb: 'list' });
  const failure = await server.fetch(PODS).catch((error: unknown) => error);
  equal(failure instanceof TypeError, true);
  const watch = await server.fetch(`${PODS}?watch=true`);
  server.faults.expireWatches();
  equal((await lines(watch, 1))[0]?.object.code, 410);
  await server.close();
  equal(clock.pending, 0);
});
