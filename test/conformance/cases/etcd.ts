import { BackendError, openStore } from 'plimsoll';
import { openEtcdBackend } from 'plimsoll/etcd';
import { createVirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';

const HEADER = { cluster_id: '17', revision: '9007199254740991' };

/** An etcd with one key, which it says by heart. */
async function answer(url: string): Promise<Response> {
  if (url.endsWith('/watch')) return new Response(`${JSON.stringify({ result: { header: HEADER, created: true } })}\n`);
  const kv = {
    key: 'YQ==',
    value: 'IjEi',
    create_revision: '2',
    mod_revision: '3',
    version: '2',
    lease: '9223372036854775807',
  };
  const range = { header: HEADER, kvs: [kv], count: '1' };
  if (url.endsWith('/kv/range')) return Response.json(range);
  return Response.json({ header: HEADER, succeeded: true, responses: [{ response_range: range }] });
}

test('etcd: a list over fetch, int64 without loss', async () => {
  const asked: string[] = [];
  const backend = await openEtcdBackend({
    endpoints: ['http://etcd.invalid:2379/'],
    fetch: (url) => {
      asked.push(url);
      return answer(url);
    },
  });
  const { identity, revision, kvs } = await backend.range({
    ranges: [{ start: new Uint8Array(0), end: new Uint8Array(0) }],
  });
  equal([identity, revision, kvs[0]?.lease], ['17', 9007199254740991, '9223372036854775807']);
  equal(asked, ['http://etcd.invalid:2379/v3/kv/range', 'http://etcd.invalid:2379/v3/kv/txn']);
  const store = await openStore<string>({ backend });
  equal(store.get('a')?.value, '1');
  await store.close();
  await backend[Symbol.asyncDispose]();
});

test('etcd: a member that does not answer is an error within the deadline', async () => {
  const clock = createVirtualClock();
  const opening = openEtcdBackend({
    endpoints: ['http://etcd.invalid:2379'],
    fetch: () => new Promise(() => {}),
    timeoutMs: 700,
    clock,
  });
  const error = rejects(opening, { class: BackendError, code: 'BACKEND' });
  await clock.advance(700);
  equal((await error).message.includes('within 700 ms'), true);
});

test('etcd: addresses that are none are refused', async () => {
  await rejects(openEtcdBackend({ endpoints: [] }), { class: TypeError });
  await rejects(openEtcdBackend({ endpoints: ['etcd:2379'] }), { class: TypeError });
});

test('etcd: gRPC without its packages is an error that says what to install', async () => {
  const opening = openEtcdBackend({ endpoints: ['http://etcd.invalid:2379'], transport: 'grpc' });
  const error = await rejects(opening, { class: BackendError, code: 'BACKEND' });
  equal(error.message.includes('run "npm install @grpc/grpc-js protobufjs"'), true);
});
