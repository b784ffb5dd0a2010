import {
  ClosedError,
  type Codec,
  InvalidKeyError,
  type Key,
  LimitExceededError,
  openStore,
  type Store,
  StoreFullError,
} from 'plimsoll';
import { type ErrorExpectation, equal, rejects, test } from '../harness.ts';
import { storeOf } from './store-support.ts';

type Call = (store: Store<string>) => unknown;
const wrong = (value: unknown) => value as never;

const CALLS: [string, Call, ErrorExpectation][] = [
  ['get with an empty key', (s) => s.get(''), { class: InvalidKeyError, code: 'INVALID_KEY' }],
  ['get with a number', (s) => s.get(wrong(1)), { class: TypeError }],
  ['get with a lone surrogate', (s) => s.get('\ud800'), { class: TypeError }],
  [
    'get with a key of 65,536 bytes',
    (s) => s.get('x'.repeat(65_536)),
    { class: LimitExceededError, code: 'LIMIT_EXCEEDED' },
  ],
  ['get at a broken revision', (s) => s.get('a', { revision: 0.5 }), { class: RangeError }],
  ['range without a shape', (s) => s.range(wrong({})), { class: TypeError }],
  ['range with two shapes', (s) => s.range(wrong({ key: 'a', prefix: 'a' })), { class: TypeError }],
  ['range with a broken limit', (s) => s.range({ prefix: '', limit: 0.5 }), { class: RangeError }],
  ['range with a malformed token', (s) => s.range({ prefix: '', continue: 'x' }), { class: RangeError }],
  ['put with an empty key', (s) => s.put('', 'x'), { class: InvalidKeyError, code: 'INVALID_KEY' }],
  ['put with bytes as key', (s) => s.put(wrong(Uint8Array.of(1)), 'x'), { class: TypeError }],
  ['put with a broken expectation', (s) => s.put('a', 'x', { expect: { modRevision: -1 } }), { class: RangeError }],
  ['delete without a range', (s) => s.delete(wrong(undefined)), { class: TypeError }],
  [
    'delete of a range with an expectation',
    (s) => s.delete({ prefix: 'a' }, { expect: { modRevision: 2 } }),
    { class: TypeError },
  ],
  ['txn with an unknown operation', (s) => s.txn({ then: [wrong({ type: 'get', key: 'a' })] }), { class: TypeError }],
  [
    'txn with an unknown compare',
    (s) => s.txn({ compare: [wrong({ key: 'a', target: 'x', result: '=', value: 1 })] }),
    { class: TypeError },
  ],
  ['txn with no array', (s) => s.txn({ then: wrong('x') }), { class: TypeError }],
  ['compact with a negative revision', (s) => s.compact(-1), { class: RangeError }],
  ['watch with an unknown policy', (s) => s.watch({ key: 'a' }, { onSlow: wrong('x') }), { class: TypeError }],
];

for (const [name, call, expected] of CALLS) {
  test(`wrong: ${name}`, async () => {
    const store = await storeOf('a');
    await rejects((async () => call(store))(), expected);
    equal([store.revision, store.range({ prefix: '' }).count], [2, 1]);
  });
}

const CLOSED: Record<string, Call> = {
  get: (s) => s.get('a'),
  range: (s) => s.range({ prefix: '' }),
  put: (s) => s.put('a', 'x'),
  delete: (s) => s.delete('a'),
  txn: (s) => s.txn({}),
  watch: (s) => s.watch({ key: 'a' }),
  compact: (s) => s.compact(1),
  ready: (s) => s.ready(),
  revision: (s) => s.revision,
};

for (const [name, call] of Object.entries(CLOSED)) {
  test(`closed: ${name}`, async () => {
    const store = await storeOf('a');
    await store.close();
    await rejects((async () => call(store))(), { class: ClosedError, code: 'CLOSED' });
    await store[Symbol.asyncDispose]();
  });
}

test('open: unknown, broken and contradicting options are refused', async () => {
  for (const options of [
    { revisions: 1 },
    { keys: 'x' },
    { values: 'x' },
    { prefixes: ['a'] },
    { retention: { age: 1 } },
  ]) {
    await rejects(openStore(wrong(options)), { class: TypeError });
  }
  for (const options of [{ memoryBytesMax: 1 }, { retention: { events: 0 } }, { retention: { bytes: -1 } }]) {
    await rejects(openStore(options), { class: RangeError });
  }
});

test('open: an aborted signal rejects with its reason', async () => {
  const reason = new Error('too late');
  equal((await rejects(openStore({ signal: AbortSignal.abort(reason) }), { class: Error })) === reason, true);
});

test('full: the write is refused, and deletes with compaction make room', async () => {
  const codec: Codec<string> = {
    encode: (value) => new TextEncoder().encode(value),
    decode: (bytes) => new TextDecoder().decode(bytes),
  };
  const store = await openStore<string, Key & string>({ memoryBytesMax: 1_048_576, codec, retention: { events: 1 } });
  const key = (index: number) => `${index}/`.padEnd(1000, 'k');
  let count = 0;
  const fill = async (): Promise<unknown> => {
    try {
      for (;;) {
        await store.put(key(count), 'x');
        count++;
      }
    } catch (error) {
      return error;
    }
  };
  const error = await rejects(
    fill().then((reason) => Promise.reject(reason)),
    { class: StoreFullError, code: 'STORE_FULL' },
  );
  equal([error.memoryBytesMax, store.range({ prefix: '' }).count], [1_048_576, count]);
  const first = count;
  for (let index = 0; index < first - 10; index++) await store.delete(key(index));
  await fill();
  equal(count > first + first / 4, true);
  equal(store.range({ prefix: '', countOnly: true }).count, 10 + count - first);
});
