import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendTxnRequest, BackendTxnResponse } from '../../../src/types/backend.ts';
import type { Store } from '../../../src/types/store.ts';
import type { TxnRequest } from '../../../src/types/txn.ts';

type Txn = TxnRequest<string>;

const codec = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (b: Uint8Array) => new TextDecoder().decode(b),
};

/** The same writes in an embedded store and, through a replica, in the data behind it. */
async function pair(): Promise<{ embedded: Store<string>; replica: Store<string>; sent: BackendTxnRequest[] }> {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
  const inner = createMemoryBackend(data);
  const sent: BackendTxnRequest[] = [];
  const backend: Backend = Object.assign(Object.create(inner) as Backend, {
    capabilities: inner.capabilities,
    leases: inner.leases,
    range: inner.range.bind(inner),
    status: inner.status.bind(inner),
    watch: inner.watch.bind(inner),
    compact: inner.compact.bind(inner),
    txn: (request: BackendTxnRequest) => {
      sent.push(request);
      return inner.txn(request);
    },
  });
  const embedded = await openStore<string>({ clock, random, codec });
  const replica = await openStore<string>({ backend, clock, random, codec });
  for (const store of [embedded, replica]) {
    await store.put('a', '3');
    await store.txn({
      then: [
        { type: 'put', key: 'b', value: '1' },
        { type: 'put', key: 'c', value: '2' },
      ],
    });
    await store.put('a', '3');
  }
  return { embedded, replica, sent };
}

/** An operation of each kind with each option. */
const TXNS: Readonly<Record<string, Txn>> = {
  'every target of a compare': {
    compare: [
      { key: 'a', target: 'value', result: '=', value: '3' },
      { key: 'a', target: 'version', result: '>', value: 1 },
      { key: 'b', target: 'create', result: '=', value: 3 },
      { key: 'b', target: 'mod', result: '<', value: 4 },
      { key: 'none', target: 'lease', result: '=', value: '0' },
    ],
    then: [{ type: 'put', key: 'd', value: 'x', prevKv: true }],
  },
  'compares over ranges': {
    compare: [
      { prefix: '', target: 'version', result: '>', value: 0 },
      { start: 'b', end: 'd', target: 'create', result: '=', value: 3 },
      { start: 'c', target: 'value', result: '=', value: '2' },
      { start: 'b', end: '', target: 'version', result: '=', value: 0 },
    ],
    then: [{ type: 'delete', prefix: 'b', prevKv: true }],
  },
  'a range compare that fails': {
    compare: [{ prefix: '', target: 'version', result: '=', value: 1 }],
    then: [{ type: 'delete', prefix: '' }],
    else: [{ type: 'range', prefix: '' }],
  },
  'nested transactions': {
    then: [
      { type: 'put', key: 'd', value: '1' },
      {
        type: 'txn',
        compare: [{ key: 'd', target: 'create', result: '=', value: 0 }],
        then: [
          { type: 'put', key: 'e', value: '1', prevKv: true },
          {
            type: 'txn',
            compare: [{ key: 'e', target: 'mod', result: '>', value: 0 }],
            else: [{ type: 'delete', key: 'a' }],
          },
        ],
        else: [{ type: 'put', key: 'e', value: '2' }],
      },
      { type: 'range', prefix: '' },
    ],
  },
  'every option of a range': {
    then: [
      { type: 'range', prefix: '', limit: 2 },
      { type: 'range', prefix: '', limit: 3 },
      { type: 'range', prefix: '', keysOnly: true },
      { type: 'range', prefix: '', countOnly: true, limit: 1 },
      { type: 'range', prefix: '', sortTarget: 'value', sortOrder: 'descend' },
      { type: 'range', prefix: '', sortOrder: 'descend', limit: 1 },
      { type: 'range', prefix: '', minModRevision: 4, limit: 1 },
      { type: 'range', prefix: '', maxModRevision: 3, limit: 1 },
      { type: 'range', prefix: '', minCreateRevision: 3, maxCreateRevision: 3, sortTarget: 'mod' },
      { type: 'range', prefix: '', revision: 2 },
      { type: 'range', start: 'b', end: '' },
    ],
  },
  'values that stay': {
    then: [
      { type: 'put', key: 'a', ignoreValue: true, prevKv: true },
      { type: 'put', key: 'b', value: 'new', ignoreLease: true },
    ],
  },
};

describe('a transaction through a replica', () => {
  it.each(Object.entries(TXNS))('is what it is in an embedded store: %s', async (_, txn) => {
    const { embedded, replica } = await pair();
    expect(await replica.txn(txn)).toEqual(await embedded.txn(txn));
    expect(replica.range({ prefix: '' }).kvs).toEqual(embedded.range({ prefix: '' }).kvs);
    await replica.close();
  });

  it('says only what is not as usual', async () => {
    const { replica, sent } = await pair();
    await replica.txn({
      then: [
        { type: 'put', key: 'k', value: 'v' },
        { type: 'range', key: 'k', limit: 0 },
      ],
    });
    const key = new TextEncoder().encode('k');
    expect(sent.at(-1)).toMatchObject({ compare: [], else: [] });
    expect(sent.at(-1)?.then).toEqual([
      { type: 'put', key, value: codec.encode('v') },
      { type: 'range', range: { start: key } },
    ]);
    await replica.close();
  });
});

describe('a put that keeps its lease', () => {
  it.each([
    ['with another value', { value: 'new' }],
    ['with the value that was', { ignoreValue: true }],
  ] as const)('keeps it through a replica too: %s', async (_, options) => {
    const { embedded, replica, sent } = await pair();
    for (const store of [embedded, replica]) {
      await store.grantLease({ ttlMs: 60_000, id: '7' });
      await store.put('a', '4', { lease: '7' });
    }
    const operation = { type: 'put', key: 'a', ignoreLease: true, ...options } as const;
    for (const txn of [{ then: [operation] }, { then: [{ type: 'txn', then: [operation] }] }] satisfies Txn[]) {
      expect(await replica.txn(txn)).toEqual(await embedded.txn(txn));
      expect(replica.get('a')).toEqual(embedded.get('a'));
      expect(replica.get('a')?.lease).toBe('7');
    }
    expect(sent.at(-2)?.then[0]).toMatchObject({ type: 'put', ignoreLease: true });
    await replica.close();
  });
});

describe('an answer that does not say whether there is more', () => {
  it.each([
    [{}, 1, 2, false],
    [{ limit: 1 }, 1, 2, true],
    [{ limit: 2 }, 2, 2, false],
    // One row of two is below the limit: the bound left the other out.
    [{ limit: 2, minModRevision: 3 }, 1, 2, false],
  ] as const)('%j with %i of %i rows: %s', async (selection, rows, count, more) => {
    const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', random: createSeededRandom(1) });
    const inner = createMemoryBackend(data);
    const kvs = ['a', 'b'].slice(0, rows).map(row);
    const answer = {
      identity: data.identity,
      revision: 1,
      succeeded: true,
      responses: [{ type: 'range', count, kvs }],
    };
    const replica = await openStore<string>({ backend: answering(inner, answer as BackendTxnResponse), codec });
    const { responses } = await replica.txn({ then: [{ type: 'range', prefix: '', ...selection }] });
    expect(responses[0]).toMatchObject({ count, more });
    await replica.close();
    await data.close();
  });
});

/** The same backend, whose transactions have one answer. */
function answering(inner: Backend, answer: BackendTxnResponse): Backend {
  return {
    capabilities: inner.capabilities,
    leases: inner.leases,
    range: (request) => inner.range(request),
    status: (request) => inner.status(request),
    watch: (request) => inner.watch(request),
    compact: (request) => inner.compact(request),
    txn: async () => answer,
    [Symbol.asyncDispose]: async () => {},
  };
}

function row(key: string) {
  const facts = { createRevision: 2, modRevision: 2, version: 1, lease: '0' };
  return { key: codec.encode(key), value: codec.encode('1'), ...facts };
}

describe('an answer to a transaction that cannot be', () => {
  const NESTED: Txn = { then: [{ type: 'txn', then: [{ type: 'delete', key: 'none' }] }] };
  const LIMITED: Txn = { then: [{ type: 'range', prefix: '', limit: 1 }] };
  const wrong: readonly (readonly [string, Txn, readonly unknown[]])[] = [
    ['a nested transaction is answered as a delete', NESTED, [{ type: 'delete', deleted: 0 }]],
    ['a nested one without compares did not succeed', NESTED, [{ type: 'txn', succeeded: false, responses: [] }]],
    ['a nested one has no responses', NESTED, [{ type: 'txn', succeeded: true }]],
    ['a nested one has too few', NESTED, [{ type: 'txn', succeeded: true, responses: [] }]],
    ['a nested response is of another type', NESTED, [{ type: 'txn', succeeded: true, responses: [{ type: 'put' }] }]],
    ['more rows than the limit', LIMITED, [{ type: 'range', count: 2, kvs: [row('a'), row('b')] }]],
    ['more is no boolean', LIMITED, [{ type: 'range', count: 2, kvs: [row('a')], more: 'yes' }]],
  ];
  it.each(wrong)('%s', async (_, txn, responses) => {
    const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', random: createSeededRandom(1) });
    const inner = createMemoryBackend(data);
    const answer = { identity: data.identity, revision: 1, succeeded: true, responses } as BackendTxnResponse;
    const replica = await openStore<string>({ backend: answering(inner, answer), codec });
    await expect(replica.txn(txn)).rejects.toMatchObject({ name: 'BackendError', maybeCommitted: true });
    await replica.close();
    await data.close();
  });
});
