import { openEtcdBackend } from '../../src/adapters/etcd/mod.ts';
import type { BackendCase } from '../../src/testing/backend-suite.ts';
import type { Backend, BackendPutOperation } from '../../src/types/backend.ts';
import { CompactedError } from '../../src/types/errors.ts';
import type { Gateway } from './gateway.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const put = (key: string): BackendPutOperation => ({ type: 'put', key: bytes(key), value: bytes('1') });

/** What only a real etcd shows of its backend: which requests it takes, from whom, and what it leaves out. */
export function ownCases(server: { readonly address: string; readonly gateway: Gateway }): readonly BackendCase[] {
  const opened = (run: (backend: Backend) => Promise<void>) => async () => {
    const backend = await openEtcdBackend({ endpoints: [server.address] });
    await run(backend).finally(() => backend[Symbol.asyncDispose]());
  };
  return [
    { rule: 'store:R22', name: 'a compaction that was made already is a CompactedError', run: opened(compactTwice) },
    { rule: 'B1', name: '300 ranges are of one revision', run: opened(readManyRanges) },
    { rule: 'B3', name: 'a transaction of compares alone goes through the log', run: opened(compareOnly) },
    { rule: 'B2', name: 'a role that may read its prefix only', run: () => useLimitedRole(server) },
  ];
}

async function compactTwice(backend: Backend): Promise<void> {
  for (const key of ['a', 'b', 'c']) await backend.txn({ compare: [], then: [put(key)], else: [] });
  const { revision } = await backend.status({});
  await backend.compact({ revision: revision - 1 });
  for (const again of [revision - 1, revision - 2, 1]) {
    const error = await errorOf(backend.compact({ revision: again }));
    equal(error instanceof CompactedError && error.minRevision, revision, `the smallest legal revision, of ${again}`);
  }
  await backend.compact({ revision });
}

async function readManyRanges(backend: Backend): Promise<void> {
  const ranges = Array.from({ length: 300 }, (_, index) => ({ start: bytes(`many/${1000 + index}`) }));
  for (const index of [0, 150, 299]) {
    await backend.txn({ compare: [], then: [put(`many/${1000 + index}`)], else: [] });
  }
  const { revision } = await backend.status({});
  const answer = await backend.range({ ranges });
  equal([answer.revision, answer.count, answer.kvs.length].join(), [revision, 3, 3].join(), 'what was read');
}

async function compareOnly(backend: Backend): Promise<void> {
  const before = await backend.status({});
  const answer = await backend.txn({
    compare: [{ key: bytes('nobody'), target: 'version', result: '=', value: 0 }],
    then: [],
    else: [],
  });
  equal([answer.succeeded, answer.responses.length].join(), 'true,0', 'the answer');
  equal(answer.revision, before.revision, 'its revision');
}

/** Turns authentication on, and off again: what follows runs on the same etcd. */
async function useLimitedRole({ address, gateway }: { readonly address: string; readonly gateway: Gateway }) {
  const ask = async (path: string, body: object, token?: string) => {
    const headers = token === undefined ? {} : { authorization: token };
    const response = await fetch(`${address}/v3/auth/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as { readonly token?: string };
  };
  const perm = { permType: 'READWRITE', key: btoa('apps/'), range_end: btoa('apps0') };
  for (const name of ['root', 'app']) {
    await gateway.call('auth/user/add', { name, password: name });
    await gateway.call('auth/role/add', { name });
    await gateway.call('auth/user/grant', { user: name, role: name });
  }
  await gateway.call('auth/role/grant', { name: 'app', perm });
  await gateway.call('auth/enable', {});
  try {
    const backend = await openEtcdBackend({ endpoints: [address], username: 'app', password: 'app' });
    try {
      const before = await backend.status({});
      const written = await backend.txn({ compare: [], then: [put('apps/x')], else: [] });
      equal(written.revision, before.revision + 1, 'the revision of its write');
      const ranges = [{ start: bytes('apps/'), end: bytes('apps0') }];
      equal((await backend.range({ ranges })).count, 1, 'the keys that it reads');
      for await (const item of backend.watch({ ranges, fromRevision: written.revision })) {
        if (item.type === 'change') break;
      }
      equal((await backend.status({})).revision, written.revision, 'where etcd is');
    } finally {
      await backend[Symbol.asyncDispose]();
    }
  } finally {
    const { token } = await ask('authenticate', { name: 'root', password: 'root' });
    await ask('disable', {}, token);
    for (const name of ['root', 'app']) {
      await gateway.call('auth/user/delete', { name });
      await gateway.call('auth/role/delete', { role: name });
    }
  }
}

function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function equal(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what} is ${String(actual)}, not ${String(expected)}`);
}
