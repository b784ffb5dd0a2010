import { openEtcdBackend } from '../../src/adapters/etcd/mod.ts';
import type { BackendCase } from '../../src/testing/backend-suite.ts';
import type { Backend, BackendPutOperation } from '../../src/types/backend.ts';
import { BackendError, CompactedError, LeaseNotFoundError } from '../../src/types/errors.ts';
import type { Gateway } from './gateway.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const put = (key: string): BackendPutOperation => ({ type: 'put', key: bytes(key), value: bytes('1') });

export interface OwnCasesOptions {
  readonly address: string;
  readonly gateway: Gateway;
  readonly transport: 'gateway' | 'grpc';
}

/** What only a real etcd shows of its backend: which requests it takes, from whom, and what it leaves out. */
export function ownCases(server: OwnCasesOptions): readonly BackendCase[] {
  const { address, transport } = server;
  const opened = (run: (backend: Backend) => Promise<void>) => async () => {
    const backend = await openEtcdBackend({ endpoints: [address], transport });
    await run(backend).finally(() => backend[Symbol.asyncDispose]());
  };
  return [
    { rule: 'store:R22', name: 'a compaction that was made already is a CompactedError', run: opened(compactTwice) },
    { rule: 'B1', name: '300 ranges are of one revision', run: opened(readManyRanges) },
    { rule: 'B3', name: 'a transaction of compares alone goes through the log', run: opened(compareOnly) },
    { rule: 'B1', name: 'what is larger than etcd takes, or than is to be read', run: () => exceedSizes(server) },
    { rule: 'B9', name: 'a commit of several megabytes comes in fragments, and is one', run: opened(watchFragments) },
    { rule: 'store:R40', name: 'a hundred leases are renewed at once', run: opened(renewMany) },
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

async function exceedSizes({ address, transport }: OwnCasesOptions): Promise<void> {
  const backend = await openEtcdBackend({ endpoints: [address], transport, answerBytesMax: 100_000 });
  try {
    const then = ['1', '2'].map((key) => ({ ...put(`large/${key}`), value: new Uint8Array(1_200_000) }));
    const write = await errorOf(backend.txn({ compare: [], then, else: [] }));
    // Through the gateway the same words may be about the answer.
    const isCertain = write instanceof BackendError && write.permanent && !write.maybeCommitted;
    equal(isCertain, transport === 'grpc', `whether it is certain that nothing was written (${String(write)})`);
    for (const key of ['large/1', 'large/2']) {
      await backend.txn({ compare: [], then: [{ ...put(key), value: new Uint8Array(60_000) }], else: [] });
    }
    const read = await errorOf(backend.range({ ranges: [{ start: bytes('large/'), end: bytes('large0') }] }));
    equal(read instanceof BackendError && read.permanent, true, `an answer that is too large: ${String(read)}`);
    equal(
      (await backend.range({ ranges: [{ start: bytes('large/1') }] })).kvs[0]?.value.length,
      60_000,
      'one that is not',
    );
  } finally {
    await backend[Symbol.asyncDispose]();
  }
}

/** Five of a megabyte, which is what etcd takes in a commit only one by one; what a watch has to catch up with comes together. */
async function watchFragments(backend: Backend): Promise<void> {
  const { revision: from } = await backend.status({});
  const value = new Uint8Array(1_000_000);
  for (let count = 0; count < 5; count++) {
    await backend.txn({ compare: [], then: [{ ...put(`fragment/${count}`), value }], else: [] });
  }
  const found: number[] = [];
  const ranges = [{ start: bytes('fragment/'), end: bytes('fragment0') }];
  for await (const item of backend.watch({ ranges, fromRevision: from + 1 })) {
    if (item.type !== 'change') continue;
    equal(
      item.events.map((one) => one.type === 'put' && one.kv.value.length).join(),
      '1000000',
      'the events of a commit',
    );
    found.push(item.revision);
    if (found.length === 5) break;
  }
  equal(found.join(), [1, 2, 3, 4, 5].map((more) => from + more).join(), 'the revisions');
}

async function renewMany({ leases }: Backend): Promise<void> {
  if (leases === undefined) throw new Error('there are no leases');
  const granted = await Promise.all(Array.from({ length: 100 }, () => leases.grant({ ttlMs: 60_000 })));
  const gone = granted[50] as (typeof granted)[0];
  await leases.revoke(gone);
  const renewed = await Promise.all(granted.map(({ id }) => errorOf(leases.keepAlive({ id }))));
  renewed.forEach((error, index) => {
    equal(error instanceof LeaseNotFoundError, index === 50, `that lease ${index} is gone`);
    if (index !== 50) equal(error, undefined, `the renewal of lease ${index}`);
  });
  for (const { id } of granted) if (id !== gone.id) await leases.revoke({ id });
}

/** Turns authentication on, and off again: what follows runs on the same etcd. */
async function useLimitedRole({ address, gateway, transport }: OwnCasesOptions) {
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
    const wrong = openEtcdBackend({ endpoints: [address], transport, username: 'app', password: 'wrong' });
    const refused = await errorOf(wrong);
    equal(refused instanceof BackendError && refused.permanent, true, 'that a wrong password is permanent');
    const backend = await openEtcdBackend({ endpoints: [address], transport, username: 'app', password: 'app' });
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
