import { afterAll, describe, expect, it } from 'vitest';
import { openEtcdBackend } from '../../../src/adapters/etcd/mod.ts';
import { openSqliteBackend } from '../../../src/adapters/sqlite/mod.ts';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import type { Backend, BackendRangeRequest, BackendTxnRequest } from '../../../src/types/backend.ts';
import { errorOf } from '../../support/error-of.ts';

/** What is wrong is refused at the door of each backend, before anything is asked: a value that is no bytes would be in every replica. */
const key = new Uint8Array([97]);
const value = new Uint8Array([1]);
const all = { start: new Uint8Array(0), end: new Uint8Array(0) };
const bad = <T>(request: unknown) => request as T;
const txn = (parts: object) => bad<BackendTxnRequest>({ compare: [], then: [], else: [], ...parts });

const TXNS: readonly (readonly [string, BackendTxnRequest])[] = [
  ['the value is x, not bytes', txn({ then: [{ type: 'put', key, value: 'x' }] })],
  ['the value is undefined, not bytes', txn({ else: [{ type: 'put', key }] })],
  ['the value is 1, not bytes', txn({ then: [{ type: 'txn', ...txn({ then: [{ type: 'put', key, value: 1 }] }) }] })],
  ['the value of a compare is x', txn({ compare: [{ key, target: 'value', result: '=', value: 'x' }] })],
  ['a compare has both', txn({ compare: [{ key, range: all, target: 'version', result: '=', value: 0 }] })],
  ['the start of a range is a', txn({ then: [{ type: 'delete', range: { start: 'a' } }] })],
  ['the end of a range is b', txn({ then: [{ type: 'range', range: { start: key, end: 'b' } }] })],
  ['the range is undefined', txn({ then: [{ type: 'delete' }] })],
  ['then is undefined, not an array', bad({ compare: [], else: [] })],
  ['the signal is not an AbortSignal', txn({ signal: {} })],
];

const RANGES: readonly (readonly [string, BackendRangeRequest])[] = [
  ['the ranges are undefined', bad({})],
  ['the range is null', bad({ ranges: [null] })],
  ['the start of a range is a', bad({ ranges: [{ start: 'a' }] })],
  ['revision is of type string', bad({ ranges: [all], revision: '1' })],
  ['revision is 1.5', { ranges: [all], revision: 1.5 }],
  ['minModRevision is NaN', { ranges: [all], minModRevision: Number.NaN }],
  ['limit is 1.5', { ranges: [all], limit: 1.5 }],
  ['the signal is not an AbortSignal', bad({ ranges: [all], signal: {} })],
];

const opened: Backend[] = [];
afterAll(async () => {
  for (const backend of opened) await backend[Symbol.asyncDispose]();
});

const OPENERS: Readonly<Record<string, () => Promise<Backend>>> = {
  memory: async () => createMemoryBackend(await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' })),
  sqlite: () => openSqliteBackend({ file: ':memory:', library: 'node-sqlite3-wasm' }),
  etcd: () => openEtcdBackend({ endpoints: ['http://127.0.0.1:1'], fetch: answered }),
};

/** As much of etcd as it takes to open a backend; every other request is one too many. */
async function answered(input: unknown): Promise<Response> {
  const { pathname } = new URL(String(input instanceof Request ? input.url : input));
  if (pathname === '/version') return Response.json({ etcdserver: '3.5.0', etcdcluster: '3.5.0' });
  if (pathname === '/v3/kv/range')
    return Response.json({ header: { cluster_id: '7', member_id: '1', revision: '1', raft_term: '1' } });
  throw new Error(`${pathname} was asked`);
}

async function openOne(name: string): Promise<Backend> {
  const backend = await (OPENERS[name] as () => Promise<Backend>)();
  opened.push(backend);
  return backend;
}

describe.each(Object.keys(OPENERS))('at the door of a backend, %s', (name) => {
  const open = () => openOne(name);

  it('a transaction', async () => {
    const backend = await open();
    for (const [reason, request] of TXNS) {
      const error = await errorOf(() => backend.txn(request));
      expect([error instanceof TypeError, String(error)]).toEqual([true, expect.stringContaining(reason)]);
    }
  });

  it('a range', async () => {
    const backend = await open();
    for (const [reason, request] of RANGES) {
      const error = await errorOf(() => backend.range(request));
      const isRefused = error instanceof TypeError || error instanceof RangeError;
      expect([isRefused, String(error)]).toEqual([true, expect.stringContaining(reason)]);
    }
  });
});

it.each(['memory', 'sqlite'])('what was refused has left nothing, %s, and what is right is taken', async (name) => {
  const backend = await openOne(name);
  const { revision } = await backend.status({});
  for (const [, request] of TXNS) await errorOf(() => backend.txn(request));
  expect((await backend.status({})).revision).toBe(revision);
  await backend.txn(txn({ then: [{ type: 'put', key, value }] }));
  expect((await backend.range({ ranges: [all], revision: -1, limit: -1 })).count).toBe(1);
});

it.each([
  { username: 5, password: 'x' },
  { username: 'x', password: 5 },
])('etcd takes no user of another type: %j', async (user) => {
  const error = await errorOf(() =>
    openEtcdBackend({ endpoints: ['http://127.0.0.1:1'], fetch: answered, ...(user as object) }),
  );
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toMatch(/(username|password) is no string/);
});
