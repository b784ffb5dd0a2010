import { createEssenceHasher, JsonSyntaxError, LimitExceededError, ValueError } from 'plimsoll';
import { equal, test, throws } from '../harness.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Not JSON, or without a canonical form, and where that shows first. */
const TEXTS: [string, Uint8Array, number][] = [
  ['an empty text', encode(''), 0],
  ['a text that ends too early', encode('{"a":'), 5],
  ['a comma too many', encode('[1,]'), 3],
  ['a member without quotes', encode('{a:1}'), 1],
  ['two values', encode('1 2'), 2],
  ['a number with a leading zero', encode('[01]'), 2],
  ['a number larger than any double', encode('[1e400]'), 1],
  ['half of a surrogate pair', encode(String.raw`["x\ud800"]`), 3],
  ['a pair the wrong way round', encode(String.raw`["\ude00\ud83d"]`), 2],
  ['a control character', encode('["a\nb"]'), 3],
  ['an unknown escape', encode(String.raw`["\x"]`), 2],
  ['a byte order mark', encode('\ufeff{}'), 0],
  ['bytes that are not UTF-8', Uint8Array.of(0x22, 0x61, 0xff, 0x22), 2],
  ['an overlong form', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 1],
  ['1001 levels', encode('['.repeat(1001) + ']'.repeat(1001)), 1000],
];

for (const [name, text, offset] of TEXTS) {
  test(`essence error: ${name}`, () => {
    const hasher = createEssenceHasher();
    for (const call of [() => hasher.digest(text), () => hasher.canonicalize(text)]) {
      equal(throws(call, { class: JsonSyntaxError, code: 'JSON_SYNTAX' }).offset, offset);
    }
    // A refusal leaves nothing behind.
    equal(hasher.canonicalize(encode('{"a":1}')), '{"a":1}');
  });
}

const cyclic: unknown[] = [];
cyclic.push({ again: cyclic });

/** No JSON data, and the part that is not. */
const VALUES: [string, unknown, string][] = [
  ['undefined', undefined, ''],
  ['a function in an array', { a: [1, () => 1] }, '/a/1'],
  ['a bigint', { a: 1n }, '/a'],
  ['not a number', { 'a/b': { 'c~d': Number.NaN } }, '/a~1b/c~0d'],
  ['an infinite number', [Number.POSITIVE_INFINITY], '/0'],
  ['a date', { at: new Date(0) }, '/at'],
  ['a map', { map: new Map() }, '/map'],
  ['an undefined element', { list: [undefined] }, '/list/0'],
  ['half of a surrogate pair', { text: 'x\ud800' }, '/text'],
  ['half of a surrogate pair in a name', { '\udc00': 1 }, '/\udc00'],
];

for (const [name, value, path] of VALUES) {
  test(`essence error: a value with ${name}`, () => {
    const hasher = createEssenceHasher();
    equal(throws(() => hasher.digest(value), { class: ValueError, code: 'VALUE' }).path, path);
  });
}

test('essence error: a value that contains itself, or is too deep', () => {
  const hasher = createEssenceHasher();
  throws(() => hasher.digest(cyclic), { class: ValueError, code: 'VALUE' });
  let deep: unknown = 1;
  for (let level = 0; level < 1000; level++) deep = [deep];
  equal(hasher.canonicalize(deep).length, 2001);
  throws(() => hasher.digest([deep]), { class: ValueError });
});

test('essence error: a value that shares parts cannot unfold without end', () => {
  let shared: unknown = 1;
  for (let level = 0; level < 40; level++) shared = [shared, shared];
  throws(() => createEssenceHasher().digest(shared), { class: LimitExceededError, code: 'LIMIT_EXCEEDED' });
});

test('essence error: duplicates are the last one or, on request, refused at the second name', () => {
  const text = encode('{"a":1,"b":{"c":1,"\\u0063":2},"a":3}');
  equal(createEssenceHasher().canonicalize(text), '{"a":3,"b":{"c":2}}');
  const strict = createEssenceHasher({ duplicates: 'reject' });
  const error = throws(() => strict.digest(text), { class: JsonSyntaxError, code: 'JSON_SYNTAX' });
  equal([error.offset, error.reason], [18, 'the member name was used before']);
  equal(strict.canonicalize(encode('{"a":{"a":1},"b":[{"a":1},{"a":1}]}')), '{"a":{"a":1},"b":[{"a":1},{"a":1}]}');
  // A parsed value cannot have any.
  equal(strict.digest({ a: 1 }), createEssenceHasher().digest({ a: 1 }));
});
