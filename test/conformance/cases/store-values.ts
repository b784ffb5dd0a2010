import { bytesCodec, type Codec, jsonCodec, openStore, textCodec, ValueError } from 'plimsoll';
import { equal, rejects, test, throws } from '../harness.ts';

const GOOD: unknown[] = [
  '',
  'text',
  '\u{1f600}\ue000',
  0,
  -1.5,
  2 ** 53,
  true,
  null,
  [],
  {},
  [1, [null, { a: 'b' }]],
  { a: { b: [] } },
];

for (const value of GOOD) {
  test(`values: ${JSON.stringify(value)} comes out as it went in`, async () => {
    for (const options of [{}, { codec: jsonCodec() }]) {
      const store = await openStore(options);
      await store.put('a', value);
      equal(store.get('a')?.value, value);
    }
  });
}

const BAD: [string, unknown, string][] = [
  ['a function', () => 1, ''],
  ['a bigint', 1n, ''],
  ['NaN inside', { a: [Number.NaN] }, '/a/0'],
  ['a Map', new Map(), ''],
  ['a Date inside', { 'a/b': new Date(0) }, '/a~1b'],
  ['bytes inside', { bytes: new Uint8Array(1) }, '/bytes'],
  ['a lone surrogate', '\ud800', ''],
];

for (const [name, value, path] of BAD) {
  test(`values: ${name} is refused`, async () => {
    for (const options of [{}, { codec: jsonCodec() }]) {
      const store = await openStore(options);
      const error = await rejects(store.put('a', value), { class: ValueError, code: 'VALUE' });
      equal([error.path, store.revision], [path, 1]);
    }
  });
}

test('values: undefined is no value, with or without a codec', async () => {
  for (const options of [{}, { codec: jsonCodec() }, { values: 'trusted' as const }]) {
    const store = await openStore<unknown>(options);
    const error = await store.put('a', undefined).catch((thrown: unknown) => thrown);
    equal([error instanceof TypeError, store.revision], [true, 1]);
  }
});

test('values: plain data is a frozen copy, the caller keeps an ordinary object', async () => {
  const store = await openStore<{ list: number[] }>();
  const mine = { list: [1] };
  await store.put('a', mine);
  mine.list.push(2);
  const value = store.get('a')?.value;
  equal([value, Object.isFrozen(value), Object.isFrozen(value?.list)], [{ list: [1] }, true, true]);
});

test('values: bytes are copied in and out', async () => {
  const store = await openStore<Uint8Array>();
  const mine = Uint8Array.of(1, 2);
  await store.put('a', mine);
  mine.fill(9);
  store.get('a')?.value.fill(8);
  equal(store.get('a')?.value, Uint8Array.of(1, 2));
});

test('values: trusted ones are shared', async () => {
  const store = await openStore<unknown>({ values: 'trusted' });
  const value = new Map([[1, 2]]);
  await store.put('a', value);
  equal(store.get('a')?.value === value, true);
});

test('values: a thousand levels are the most', async () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  const store = await openStore();
  await store.put('a', nested(1000));
  await rejects(store.put('a', nested(1002)), { class: ValueError, code: 'VALUE' });
  equal(store.revision, 2);
});

test('codecs: jsonCodec is JSON text in UTF-8', () => {
  const codec = jsonCodec<unknown>();
  equal(new TextDecoder().decode(codec.encode({ a: ['\u00e9', 1] })), '{"a":["\u00e9",1]}');
  equal(codec.decode(new TextEncoder().encode('{"a":[1]}')), { a: [1] });
  throws(() => codec.decode(new TextEncoder().encode('{')), { class: SyntaxError });
  throws(() => codec.encode(new Uint8Array(1)), { class: ValueError, code: 'VALUE' });
});

test('codecs: textCodec is UTF-8, strictly', () => {
  const codec = textCodec();
  equal(codec.decode(codec.encode('\ufeff\u{1f600}')), '\ufeff\u{1f600}');
  throws(() => codec.encode('\udc00'), { class: ValueError, code: 'VALUE' });
  throws(() => codec.decode(Uint8Array.of(255)), { class: TypeError });
});

test('codecs: bytesCodec copies', () => {
  const codec = bytesCodec();
  const mine = Uint8Array.of(1);
  const encoded = codec.encode(mine);
  mine.fill(2);
  const decoded = codec.decode(encoded);
  encoded.fill(3);
  equal(decoded, Uint8Array.of(1));
  throws(() => codec.encode('x' as never), { class: ValueError, code: 'VALUE' });
});

test('codecs: a store uses the one it was opened with', async () => {
  const upper: Codec<string> = {
    encode: (value) => new TextEncoder().encode(value.toUpperCase()),
    decode: (bytes) => new TextDecoder().decode(bytes),
  };
  const store = await openStore({ codec: upper });
  await store.put('a', 'x');
  const compare = [{ key: 'a', target: 'value', result: '=', value: 'X' }] as const;
  equal([store.get('a')?.value, (await store.txn({ compare })).succeeded], ['X', true]);
});

test('codecs: one that throws leaves the store as it was', async () => {
  const failing: Codec<string> = {
    encode: () => {
      throw new Error('no');
    },
    decode: () => '',
  };
  const store = await openStore({ codec: failing });
  await rejects(store.put('a', 'x'), { class: Error });
  await rejects(store.txn({ then: [{ type: 'put', key: 'a', value: 'x' }] }), { class: Error });
  equal([store.revision, store.range({ prefix: '' }).count], [1, 0]);
});

test('codecs: a write from inside one is refused', async () => {
  let outcome: Promise<unknown> = Promise.resolve();
  const store = await openStore<string>({
    codec: {
      encode: (value) => {
        if (value === 'outer') outcome = store.put('inner', 'x');
        return new TextEncoder().encode(value);
      },
      decode: (bytes) => new TextDecoder().decode(bytes),
    },
  });
  const writing = store.put('a', 'outer');
  await rejects(outcome, { class: TypeError });
  equal([await writing, store.range({ prefix: '' }).count], [{ revision: 2 }, 1]);
});
