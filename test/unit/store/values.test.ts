import { describe, expect, it } from 'vitest';
import { DEPTH_MAX } from '../../../src/core/canonical-text.ts';
import { bytesCodec, jsonCodec, textCodec } from '../../../src/store/codecs.ts';
import {
  CodecValues,
  EncodedValues,
  PlainValues,
  readValue,
  TrustedValues,
  type ValuePolicy,
} from '../../../src/store/values.ts';
import type { Codec } from '../../../src/types/codec.ts';
import { ValueError } from '../../../src/types/errors.ts';
import type { Key } from '../../../src/types/revision.ts';
import { errorOf } from '../../support/error-of.ts';
import { openTestStore, Reader } from './fixture.ts';

/** Values (M34, R38, JS traps): what goes in and out is nobody else's. */
class Point {
  x = 1;
}

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};
const circular: Record<string, unknown> = {};
circular.self = circular;

const BAD: [string, unknown, string, string][] = [
  ['a function', () => 1, '', 'is not JSON data but function'],
  ['a symbol', Symbol('x'), '', 'is not JSON data but symbol'],
  ['a bigint', 1n, '', 'is not JSON data but bigint'],
  ['NaN', Number.NaN, '', 'is not a finite number'],
  ['infinity', { a: [1, Number.POSITIVE_INFINITY] }, '/a/1', 'is not a finite number'],
  ['a lone surrogate', 'a\ud800', '', 'has a lone surrogate'],
  ['a lone surrogate inside', { 'a/b~c': ['\udc00'] }, '/a~1b~0c/0', 'has a lone surrogate'],
  ['a lone surrogate in a name', { x: { '\ud800': 1 } }, '/x', 'has a member name with a lone surrogate'],
  ['a Date', { when: new Date(0) }, '/when', 'is not a plain object'],
  ['a Map', new Map(), '', 'is not a plain object'],
  ['a Set', [new Set()], '/0', 'is not a plain object'],
  ['a class instance', new Point(), '', 'is not a plain object'],
  ['bytes inside data', { bytes: Uint8Array.of(1) }, '/bytes', 'is not a plain object'],
  ['an instance of a subclass of Array', new (class extends Array {})(), '', 'is not a plain array'],
  ['an array with a hole', Object.assign(new Array(3), { 0: 1, 2: 2 }), '/1', 'is not JSON data but undefined'],
  ['undefined in an array', [undefined], '/0', 'is not JSON data but undefined'],
  ['a toJSON method', { toJSON: () => 1 }, '/toJSON', 'is not JSON data but function'],
  ['a circle', circular, '/self'.repeat(DEPTH_MAX), `is nested deeper than ${DEPTH_MAX} levels`],
  ['too deep', nested(DEPTH_MAX + 1), '/0'.repeat(DEPTH_MAX), `is nested deeper than ${DEPTH_MAX} levels`],
];

describe('values that are refused', () => {
  it.each(BAD)('%s', async (_, value, path, reason) => {
    const { store } = await openTestStore();
    const outcomes = [
      await store.put('k', value).catch((error: unknown) => error),
      await store.txn({ then: [{ type: 'put', key: 'k', value }] }).catch((error: unknown) => error),
      await store
        .txn({ compare: [{ key: 'k', target: 'value', result: '=', value }] })
        .catch((error: unknown) => error),
    ];
    for (const error of outcomes) {
      expect(error).toBeInstanceOf(ValueError);
      expect(error).toMatchObject({ path, code: 'VALUE' });
      expect((error as Error).message.endsWith(reason)).toBe(true);
    }
    expect([store.revision, store.get('k')]).toEqual([1, undefined]);
    expect(() => jsonCodec().encode(value)).toThrow(ValueError);
  });
});

describe('plain values', () => {
  const GOOD: unknown[] = [
    '',
    'text',
    '\u{1f600}',
    0,
    -0.5,
    2 ** 53,
    true,
    false,
    null,
    [],
    {},
    [[null]],
    { a: { b: [1, 'x'] } },
    nested(DEPTH_MAX),
  ];

  it.each(GOOD.map((value) => [value]))('%j comes out as it went in, with and without a codec', async (value) => {
    for (const options of [{}, { codec: jsonCodec() }]) {
      const { store } = await openTestStore(options);
      await store.put('k', value);
      expect(store.get('k')?.value).toEqual(value);
    }
  });

  it("are a private copy, frozen in depth; the caller's object is neither frozen nor followed", async () => {
    const { store } = await openTestStore<{ list: number[] }>();
    const mine = { list: [1] };
    await store.put('k', mine);
    mine.list.push(2);
    const { value } = store.get('k') ?? {};
    expect([value, Object.isFrozen(value), Object.isFrozen(value?.list), Object.isFrozen(mine)]).toEqual([
      { list: [1] },
      true,
      true,
      false,
    ]);
    expect(() => value?.list.push(3)).toThrow(TypeError);
    expect(Object.isFrozen(store.get('k'))).toBe(true);
  });

  it('a member named __proto__ is a member, an undefined one is absent, a prototype of null is plain', async () => {
    const { store } = await openTestStore<Record<string, unknown>>();
    await store.put('k', JSON.parse('{"__proto__":{"x":1},"a":1}'));
    const { value } = store.get('k') ?? {};
    expect([Object.keys(value ?? {}), Object.getPrototypeOf(value)]).toEqual([['__proto__', 'a'], Object.prototype]);
    await store.put('k', Object.assign(Object.create(null), { a: undefined, b: 1 }));
    expect(Object.keys(store.get('k')?.value ?? {})).toEqual(['b']);
  });

  it('what hangs on data and is no data is not kept; -0 is 0; a getter is read once', async () => {
    let reads = 0;
    const object = Object.defineProperty({ a: 1, [Symbol('s')]: 2 }, 'hidden', { value: 3 });
    const getter = {
      get a() {
        return ++reads;
      },
    };
    const given = [object, Object.assign([1], { extra: 2 }), -0, { a: [-0] }, getter];
    for (const options of [{}, { codec: jsonCodec() }]) {
      const { store } = await openTestStore(options);
      const kept: unknown[] = [];
      for (const value of given) {
        await store.put('k', value);
        kept.push(store.get('k')?.value);
      }
      expect(kept).toEqual([{ a: 1 }, [1], 0, { a: [0] }, { a: reads }]);
      const names = kept.map((value) => (typeof value === 'object' ? Reflect.ownKeys(value as object) : []));
      expect(names).toEqual([['a'], ['0', 'length'], [], ['a'], ['a']]);
      if (!('codec' in options)) expect(reads).toBe(1);
    }
  });

  it('the path of a value that is refused is whole in the error, and short in its message', async () => {
    const { store } = await openTestStore();
    const error = await store.put('k', nested(DEPTH_MAX + 1)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ path: '/0'.repeat(DEPTH_MAX) });
    const { message } = error as Error;
    expect([message.length < 300, message.includes('/0.../0')]).toEqual([true, true]);
  });

  it('what was read can be put back without a copy', async () => {
    const { store } = await openTestStore<object>();
    await store.put('a', { x: 1 });
    const value = store.get('a')?.value ?? {};
    await store.put('b', value);
    expect(store.get('b')?.value).toBe(value);
  });

  it('bytes are copied in and out, those of a Node Buffer too', async () => {
    const { store } = await openTestStore<Uint8Array>();
    const mine = [Uint8Array.of(1, 2), Buffer.from([1, 2])];
    for (const bytes of mine) {
      await store.put('k', bytes);
      bytes[0] = 99;
      expect(store.get('k')?.value).toEqual(Uint8Array.of(1, 2));
      const out = store.get('k')?.value;
      out?.fill(7);
      expect([...(store.get('k')?.value ?? [])]).toEqual([1, 2]);
    }
  });

  it('answers stay what they were when the memory grows and when history goes', async () => {
    const { store, clock } = await openTestStore<unknown, Uint8Array>({ keys: 'bytes', retention: { events: 1 } });
    const key = (index: number) => new TextEncoder().encode(`key ${index}`.padEnd(200, '.'));
    await store.put(key(0), Uint8Array.of(1));
    const before = store.range({ prefix: new Uint8Array(0) });
    const copy = structuredClone(before);
    for (let index = 1; index < 3000; index++) await store.put(key(index), index);
    await store.delete(key(0));
    while (await clock.advanceToNext());
    expect(before).toEqual(copy);
  });
});

describe('a policy of values', () => {
  const read = <V>(values: ValuePolicy<V>, value: V) => {
    const cell = values.admit(value, 'test');
    const before = values.isShareable(cell);
    values.read(cell);
    return [before, values.isShareable(cell)];
  };

  it.each<[string, ValuePolicy<unknown>, unknown, [before: boolean, after: boolean]]>([
    ['text', new PlainValues(), 'text', [true, true]],
    ['data', new PlainValues(), [1], [true, true]],
    ['bytes', new PlainValues(), Uint8Array.of(1), [false, false]],
    ['shared bytes', new TrustedValues(), Uint8Array.of(1), [true, true]],
    ['data of a codec', new EncodedValues(jsonCodec()), [1], [false, true]],
    ['bytes of a codec', new EncodedValues(bytesCodec() as Codec<unknown>), Uint8Array.of(1), [false, false]],
    ['data of a part', CodecValues.of(new PlainValues<unknown>(), jsonCodec(), 'test'), [1], [false, true]],
    [
      'bytes of a part',
      CodecValues.of(new PlainValues<unknown>(), bytesCodec() as Codec<unknown>, 'test'),
      Uint8Array.of(1),
      [false, false],
    ],
  ])('says whether a row of %s may serve many readers, before and after it was read', (_, values, value, expected) => {
    expect(read(values, value)).toEqual(expected);
  });

  it('bounds the size of each value', () => {
    for (const values of [new PlainValues<unknown>(), new EncodedValues<unknown>(jsonCodec())]) {
      for (const value of ['', 'text \u20ac', 7, null, true, [], { a: [1, '\u{1f600}'] }]) {
        const cell = values.admit(value, 'test');
        expect(values.sizeBound(cell)).toBeGreaterThanOrEqual(values.size(cell));
        expect(values.size(cell)).toBe(values.bytes(cell).length);
      }
    }
  });
});

describe('trusted values', () => {
  it('are shared, whatever they are', async () => {
    const { store } = await openTestStore<unknown>({ values: 'trusted' });
    for (const value of [new Point(), Uint8Array.of(1), { list: [1] }]) {
      await store.put('k', value);
      expect(store.get('k')?.value).toBe(value);
    }
  });

  it('a toJSON that throws leaves the store unchanged when sizes are measured', async () => {
    const { store } = await openTestStore<unknown>({ values: 'trusted', retention: { bytes: 10 } });
    const value = {
      toJSON: () => {
        throw new Error('not today');
      },
    };
    const error = await store.put('k', value).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'VALUE', key: 'k', cause: { message: 'not today' } });
    expect(String(error)).toBe('ValueError: Cannot put a key: the value of key "k" has no JSON text');
    expect([store.revision, store.get('k')]).toEqual([1, undefined]);
  });
});

describe('codecs', () => {
  const failing: Codec<string> = {
    encode(value) {
      if (value === 'bad') throw new Error('cannot encode');
      return new TextEncoder().encode(value);
    },
    decode(bytes) {
      const value = new TextDecoder().decode(bytes);
      if (value === 'unreadable') throw new Error('cannot decode');
      return value;
    },
  };

  it('M8: one that throws leaves the store unchanged', async () => {
    const { store } = await openTestStore<string>({ codec: failing });
    await store.put('a', 'unreadable');
    await store.put('b', 'good');
    const calls = [
      () => store.put('c', 'bad'),
      () => store.put('a', 'x', { prevKv: true }),
      () => store.delete('a', { prevKv: true }),
      () => store.delete({ prefix: '' }, { prevKv: true }),
      () =>
        store.txn({
          then: [
            { type: 'put', key: 'b', value: 'x' },
            { type: 'put', key: 'c', value: 'bad' },
          ],
        }),
      () =>
        store.txn({
          then: [
            { type: 'put', key: 'b', value: 'x' },
            { type: 'range', key: 'a' },
          ],
        }),
      () =>
        store.txn({
          compare: [{ key: 'b', target: 'value', result: '=', value: 'bad' }],
          then: [{ type: 'delete', key: 'b' }],
        }),
      async () => store.range({ prefix: '' }),
      async () => store.get('a'),
    ];
    for (const call of calls) {
      const error = await call().catch((reason: unknown) => reason);
      const isOfRead = error instanceof ValueError;
      // What is stored and cannot be read is told with its key, what is to be stored as the codec told it.
      expect(isOfRead ? [error.key, (error.cause as Error).message] : (error as Error).message).toEqual(
        isOfRead ? ['a', 'cannot decode'] : 'cannot encode',
      );
    }
    expect([store.revision, store.range({ prefix: '', keysOnly: true }).count, store.get('b')?.value]).toEqual([
      3,
      2,
      'good',
    ]);
    await store.delete('a');
    expect(store.range({ prefix: '' }).count).toBe(1);
  });

  it('M8: one that calls the store may read, and is refused a write', async () => {
    const errors: unknown[] = [];
    let isArmed = false;
    const { store } = await openTestStore<string>({
      codec: {
        encode: failing.encode,
        decode: (bytes) => {
          if (isArmed) {
            isArmed = false;
            store.get('a');
            for (const call of [store.put('a', 'z'), store.delete('a'), store.txn({}), store.compact(1)]) {
              call.catch((error: unknown) => errors.push(error));
            }
          }
          return failing.decode(bytes);
        },
      },
    });
    await store.put('a', 'x');
    isArmed = true;
    expect(await store.put('a', 'y', { prevKv: true })).toMatchObject({ revision: 3, prevKv: { value: 'x' } });
    expect(errors.map((error) => (error as Error).message)).toEqual([
      'Cannot put a key: called from inside a codec or toJSON',
      'Cannot delete keys: called from inside a codec or toJSON',
      'Cannot run a transaction: called from inside a codec or toJSON',
      'Cannot compact: called from inside a codec or toJSON',
    ]);
    expect(store.get('a')).toMatchObject({ value: 'y', modRevision: 3, version: 2 });
  });

  it('decode plain data once, everything else at each read', async () => {
    let decodes = 0;
    const json = jsonCodec<unknown>();
    const counting: Codec<unknown> = {
      encode: json.encode,
      decode: (bytes) => {
        decodes++;
        return json.decode(bytes);
      },
    };
    const { store } = await openTestStore({ codec: counting });
    await store.put('k', { list: [1] });
    const first = store.get('k')?.value;
    expect([store.get('k')?.value === first, Object.isFrozen(first), decodes]).toEqual([true, true, 1]);
    const { store: bytes } = await openTestStore<Uint8Array>({ codec: bytesCodec() });
    await bytes.put('k', Uint8Array.of(1));
    bytes.get('k')?.value.fill(9);
    expect([...(bytes.get('k')?.value ?? [])]).toEqual([1]);
  });

  it('a codec that hands out its input cannot reach what is stored', async () => {
    const { store } = await openTestStore<Uint8Array>({
      codec: { encode: (value) => value, decode: (bytes) => bytes },
    });
    const mine = Buffer.from([1, 2]);
    await store.put('k', mine);
    mine.fill(0);
    store.get('k')?.value.fill(9);
    expect([...(store.get('k')?.value ?? [])]).toEqual([1, 2]);
  });

  it.each<[string, () => unknown, boolean]>([
    ['plain data', () => ({ n: 1 }), true],
    ['a frozen Map', () => Object.freeze(new Map([['n', 1]])), false],
    ['a frozen class instance', () => Object.freeze(Object.assign(new Point(), { inner: { n: 1 } })), false],
    ['a frozen array of such', () => Object.freeze([Object.freeze(new Map())]), false],
  ])('%s: one for all watches only if nobody can change it', async (_, decode, isShared) => {
    const codec = { encode: () => Uint8Array.of(1), decode };
    const { store } = await openTestStore<unknown>({ codec });
    await store.put('k', 1);
    const value = async () => {
      const event = (await store.watch({ prefix: '' }, { fromRevision: 2 }).next()).value?.events[0];
      return event?.type === 'put' ? event.kv.value : undefined;
    };
    const [first, second] = [await value(), await value()];
    expect(first === second).toBe(isShared);
  });

  it('a value that it cannot read fails each list and watch of it with the key, and nothing else', async () => {
    const { store } = await openTestStore<string>({ codec: failing });
    const long = 'x'.repeat(1_000);
    await store.put(`a/${long}`, 'unreadable');
    await store.put('b/1', 'good');
    const outcomes = [
      await Promise.resolve()
        .then(() => store.range({ prefix: '' }))
        .catch((error: unknown) => error),
      await store
        .watch({ prefix: '' }, { initial: true })
        .next()
        .catch((error: unknown) => error),
    ];
    for (const error of outcomes) {
      expect(error).toBeInstanceOf(ValueError);
      expect(error).toMatchObject({ code: 'VALUE', key: `a/${long}`, path: '', cause: { message: 'cannot decode' } });
      const { message } = error as Error;
      expect([message.startsWith('Cannot read a value: the value of key "a/xxx'), message.length < 200]).toEqual([
        true,
        true,
      ]);
    }
    expect([store.range({ prefix: 'b/' }).count, store.range({ prefix: '', keysOnly: true }).count]).toEqual([1, 2]);
  });

  it.each<[string, Key, string]>([
    ['short', 'k', '"k"'],
    ['as long as a message has them', 'k'.repeat(100), `"${'k'.repeat(100)}"`],
    ['longer', `${'k'.repeat(100)}l`, `"${'k'.repeat(100)}..."`],
    ['bytes', Uint8Array.of(1, 255), '"1,255"'],
  ])('a value that cannot be read is told with its key: %s', (_, key, name) => {
    const values = new EncodedValues<string>(failing);
    const cell = values.admit('unreadable', 'test');
    const message = `Cannot read a value: the value of key ${name} was not decoded by the codec`;
    expect(() => readValue(values, cell, key)).toThrow(expect.objectContaining({ key, message }));
  });

  it('one that does not encode to bytes is a ValueError', async () => {
    const { store } = await openTestStore<string>({ codec: { encode: () => 'text' as never, decode: () => '' } });
    await expect(store.put('k', 'x')).rejects.toThrow(ValueError);
    expect(store.revision).toBe(1);
  });

  it('one that answers with a promise is refused, and what the promise comes to ends no process', async () => {
    const late = (): never => Promise.reject(new Error('late')) as never;
    const codec: Codec<unknown> = { encode: late, decode: late };
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    const { store } = await openTestStore<unknown>({ codec });
    const { store: whole } = await openTestStore<unknown>({ codec: bytesCodec() as Codec<unknown> });
    const part = whole.prefix('p/', { codec });
    const { store: decoding } = await openTestStore<unknown>({
      codec: { encode: () => Uint8Array.of(1), decode: late },
    });
    await whole.put('p/a', Uint8Array.of(1));
    await decoding.put('a', 1);
    for (const refused of [errorOf(() => store.put('a', 1)), errorOf(() => part.put('b', 1))]) {
      expect(await refused).toMatchObject({ name: 'ValueError', reason: 'was encoded to a promise by the codec' });
    }
    for (const refused of [errorOf(() => decoding.get('a')), errorOf(() => part.get('a'))]) {
      expect(await refused).toMatchObject({ name: 'ValueError', cause: { name: 'TypeError' } });
    }
    expect([store.revision, whole.revision]).toEqual([1, 2]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  it('of a prefix reads what the whole store has put, whatever it is, and cannot reach it', async () => {
    const { store } = await openTestStore<unknown>();
    const part = store.prefix('p/', { codec: { encode: (bytes: Uint8Array) => bytes, decode: (bytes) => bytes } });
    for (const [value, text] of [
      [null, 'null'],
      [7, '7'],
      ['text', 'text'],
      [[1], '[1]'],
      [Uint8Array.of(104, 105), 'hi'],
    ] as const) {
      await store.put('p/k', value);
      for (let round = 0; round < 2; round++) {
        const read = part.get('k')?.value as Uint8Array;
        expect(new TextDecoder().decode(read)).toBe(text);
        read.fill(0);
      }
    }
    const json = store.prefix('p/', { codec: jsonCodec() });
    for (const [value, data] of [
      [null, null],
      [7, 7],
      ['[true]', [true]],
    ]) {
      await store.put('p/k', value);
      expect([json.get('k')?.value, json.get('k')?.value]).toEqual([data, data]);
    }
  });

  it('of a prefix keeps cells of the whole store, whoever made them', () => {
    for (const store of [new PlainValues<unknown>(7), new EncodedValues<unknown>(bytesCodec() as never, 7)]) {
      const part = CodecValues.of<string>(store, textCodec(), 'test');
      const cell = part.admitBytes(new TextEncoder().encode('text'));
      expect([part.form, part.bytesMax, part.read(cell)]).toEqual([store.form, 7, 'text']);
      expect([store.read(cell), part.size(cell), part.sizeBound(cell)]).toEqual([store.bytes(cell), 4, 4]);
    }
  });

  it('compare by the bytes of the codec', async () => {
    const { store } = await openTestStore<unknown>({ codec: jsonCodec() });
    await store.put('k', { a: 1, b: [2] });
    const holds = async (value: unknown) =>
      (await store.txn({ compare: [{ key: 'k', target: 'value', result: '=', value }] })).succeeded;
    expect([await holds({ a: 1, b: [2] }), await holds({ a: 1, b: [3] })]).toEqual([true, false]);
  });

  it('jsonCodec takes no bytes, and says which codec does', () => {
    const encode = () => jsonCodec().encode(Uint8Array.of(1));
    expect(encode).toThrow(ValueError);
    expect(encode).toThrow('use bytesCodec()');
  });

  it('textCodec and bytesCodec take their own type only', () => {
    expect(textCodec().decode(textCodec().encode('\ufeffa\u{1f600}'))).toBe('\ufeffa\u{1f600}');
    expect(() => textCodec().encode('\ud800')).toThrow(ValueError);
    expect(() => textCodec().encode(1 as never)).toThrow(ValueError);
    expect(() => textCodec().decode(Uint8Array.of(0xff))).toThrow(TypeError);
    expect(() => bytesCodec().encode('x' as never)).toThrow(ValueError);
    expect(() => jsonCodec().encode(Uint8Array.of(1))).toThrow(ValueError);
    expect(() => jsonCodec().decode(new TextEncoder().encode('{'))).toThrow(SyntaxError);
    expect(() => jsonCodec().decode(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(TypeError);
    const source = Buffer.from([1, 2]);
    const encoded = bytesCodec().encode(source);
    source.fill(0);
    expect([...encoded]).toEqual([1, 2]);
  });

  it('plain data is decoded once, and what a freeze cannot protect for each read', () => {
    const admitted = <V>(codec: Codec<V>, value: V) => {
      const values = new EncodedValues<V>(codec);
      const cell = values.admit(value, 'put');
      return [values.read(cell), values.read(cell)];
    };
    const [first, second] = admitted(jsonCodec(), { a: 1 });
    expect(first).toEqual({ a: 1 });
    expect(second).toBe(first);
    const [bytes, others] = admitted(bytesCodec() as Codec<Uint8Array>, Uint8Array.of(1));
    expect(others).toEqual(bytes);
    expect(others).not.toBe(bytes);
  });

  it('a watch delivers decoded values, the same object to each', async () => {
    const { store } = await openTestStore<unknown>({ codec: jsonCodec() });
    const readers = [new Reader(store.watch({ prefix: '' })), new Reader(store.watch({ key: 'k' }))];
    await store.put('k', { a: 1 });
    for (const reader of readers) await reader.drain();
    const [first, second] = readers.map(({ batches }) => Object(batches[0]?.events[0]?.kv).value as unknown);
    expect(first).toEqual({ a: 1 });
    expect(first).toBe(second);
  });
});
