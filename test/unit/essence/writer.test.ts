import { createXXHash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { compileRules } from '../../../src/core/essence-rules.ts';
import { EssenceWriter, NOT_WRITTEN, type TextRegion } from '../../../src/core/essence-writer.ts';
import { CoreInstance } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import { ValueError } from '../../../src/types/errors.ts';
import { oracleText } from './oracle.ts';
import { createHasher, PLAIN, utf8 } from './support.ts';

/** The digest by the book: no part of the path under test has a hand in it. */
const xxh3 = await createXXHash128();
function expected(value: unknown, options = PLAIN): string {
  return `xxh3-128:${xxh3.init().update(oracleText(value, options)).digest('hex')}`;
}

/** A region of the core as a hasher has it, and what became of the value in it. */
function write(value: unknown, ignore: readonly string[] = [], defaults = false): string | undefined {
  const { exports, bytes } = openCore();
  let input = exports.inputRegion(4096);
  let size = 4096;
  const view = (): Uint8Array => bytes().subarray(input, input + size);
  const region: TextRegion = {
    bytes: view,
    grow(length, kept) {
      const old = input;
      while (size < length) size *= 2;
      input = exports.inputRegion(size);
      bytes().copyWithin(input, old, old + kept);
      return view();
    },
    escapes: (offset, length) => exports.essenceEscapes(input + offset, length),
    escape: (offset, length, extra) => exports.essenceEscape(input + offset, length, extra),
  };
  const length = new EssenceWriter(region).write(value, compileRules({ ignore, defaults }).root);
  return length === NOT_WRITTEN ? undefined : new TextDecoder().decode(view().subarray(0, length));
}

function openCore() {
  const core = new CoreInstance(coreModule());
  return { exports: core.exports, bytes: () => core.bytes() };
}

/** What a string is made of, next to plain letters. */
const PIECES = ['"', '\\', '\n', '\u0000', '\u001f', '\u007f', 'é', '€', '😂', '\ufffd', '\uffff', '\u2028', ' '];

describe('essence of a value, as it is written', () => {
  it('writes strings of every length around the bounds with every kind of character at every place', () => {
    const lengths = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 47, 61, 62, 63, 64, 65, 66, 79, 80, 81, 127, 130];
    for (const length of lengths) {
      const values: string[] = ['x'.repeat(length)];
      for (let place = 0; place < length; place++) {
        const piece = PIECES[(place + length) % PIECES.length] ?? '';
        values.push(`${'x'.repeat(place)}${piece}${'y'.repeat(length - place - 1)}`);
      }
      values.push(...PIECES.map((piece) => piece.repeat(length)));
      expect(JSON.parse(write(values) ?? ''), `length ${length}`).toEqual(values);
    }
  });

  it('keeps what it has written when its region has to grow, wherever that happens', () => {
    for (let lead = 4000; lead < 4100; lead += 3) {
      for (const tail of ['short', '"'.repeat(70), 'é'.repeat(30), 'z'.repeat(20_000), '\n'.repeat(9000)]) {
        const value = { lead: 'x'.repeat(lead), '': [tail, { [tail]: 1 }], n: -1.5e-300 };
        expect(JSON.parse(write(value) ?? '')).toEqual(value);
      }
    }
  });

  it('leaves out what a pointer excludes, and keeps the places of elements', () => {
    const value = { a: [1n, 'x', { b: 1n, c: 2 }], status: () => 1, u: undefined };
    expect(write(value, ['/a/0', '/a/*/b', '/status'])).toBe('{"a":[0,"x",{"c":2}]}');
    const annotations = { 'o/plimsoll-managed': { x: 1n }, 'o/a': 1 };
    const ignore = ['/metadata/annotations/o~1plimsoll-managed'];
    expect(write({ metadata: { annotations } }, ignore, true)).toBe(
      '{"metadata":{"annotations":{"o/plimsoll-managed":0,"o/a":1}}}',
    );
  });

  it.each<[string, unknown]>([
    ['a class instance', new (class {})()],
    ['a date', { a: [new Date(0)] }],
    ['undefined in an array', [undefined]],
    ['a hole', new Array<unknown>(2)],
    ['a bigint', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['NaN', [Number.NaN]],
    ['half of a pair in a long string', [`${'x'.repeat(64)}\ud800`]],
    ['half of a pair in a short one', ['\udc00']],
    ['half of a pair in a name', { '\udc00': 1 }],
  ])('does not write %s', (_name, value) => {
    expect(write(value)).toBeUndefined();
  });

  it('does not write when plain objects have members that are not their own', () => {
    Object.defineProperty(Object.prototype, 'polluted', {
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    try {
      expect(write({ a: 1 })).toBeUndefined();
      expect(createHasher(PLAIN).digest({ a: 1 })).toBe(expected({ a: 1 }));
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
  });
});

describe('essence of a value, end to end', () => {
  it.each<[string, unknown]>([
    ['numbers with exponents and 17 digits', [1e21, 1e-7, 0.1 + 0.2, 5e-324, -0, Number.MAX_VALUE, 2 ** 53, 123456]],
    ['objects without a prototype', Object.assign(Object.create(null) as object, { b: 1, a: { c: null } })],
    ['names that look like indexes', { 10: 'a', 9: 'b', '01': 'c', '': 'd' }],
    ['a member named __proto__', JSON.parse('{"__proto__":{"b":1},"a":2}') as unknown],
    ['a string', 'a"b'],
    ['a number', 0.1],
    ['null', null],
    ['nested empty containers', [[], {}, [{}], { a: [] }]],
    ['U+FFFD, which is not half of a pair', ['\ufffd'.repeat(70), '\ufffd']],
  ])('of %s is the one by the book', (_name, value) => {
    expect(createHasher(PLAIN).digest(value)).toBe(expected(value));
  });

  it('is right when a getter of the value uses the same hasher, for a value or for bytes', () => {
    const hasher = createHasher(PLAIN);
    for (const other of [{ other: 'y'.repeat(10_000) }, utf8('{"x":[1,2,3]}'), 'short']) {
      const value = {
        a: 'first',
        get b() {
          hasher.digest(other);
          return 'second';
        },
        c: ['third'],
      };
      expect(hasher.digest(value)).toBe(expected({ a: 'first', b: 'second', c: ['third'] }));
    }
  });

  it('is right before and after the memory has grown', () => {
    const hasher = createHasher(PLAIN);
    const small = { a: 'x'.repeat(70), b: 1 };
    for (const size of [1, 5000, 100_000, 3_000_000, 1]) {
      const large = { text: '"'.repeat(size), list: Array.from({ length: size % 1000 }, (_, index) => index) };
      expect(hasher.digest(large)).toBe(expected(large));
      expect(hasher.digest(small)).toBe(expected(small));
      expect(hasher.digest(utf8(JSON.stringify(large)))).toBe(expected(large));
    }
  });

  it('says what is wrong, and where, in the words of the slow way', () => {
    const long = { a: [`${'x'.repeat(100)}\ud800`] };
    expect(() => createHasher(PLAIN).digest(long)).toThrow(ValueError);
    expect(() => createHasher(PLAIN).digest(long)).toThrow('the value at /a/0 has half of a surrogate pair');
  });
});
