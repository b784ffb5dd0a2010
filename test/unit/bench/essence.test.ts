import { describe, expect, it } from 'vitest';
import { generateObject } from '../../../bench/data/generated-objects.mjs';
import { createRandom } from '../../../bench/data/random.mjs';
import { canonicalText } from '../../../bench/essence/canonical.mjs';
import { isKept, omitEssence } from '../../../bench/essence/omit.mjs';
import { hash128, PlainScanner } from '../../../bench/essence/plain-scanner.mjs';
import { spellingFindings } from '../../../bench/essence/spellings.mjs';

type JsonObject = Record<string, unknown>;

const encode = (text: string): JsonObject => JSON.parse(text);
const good = (value: JsonObject): string => canonicalText(omitEssence(value));
const object = generateObject(createRandom(1), 2400);

function wrongAnswers(digest: (value: JsonObject) => unknown, isOrderDependent = false): readonly string[] {
  const findings = spellingFindings(digest, encode, object, { isOrderDependent });
  return findings.filter(({ actual, expected }) => actual !== expected).map(({ what }) => what);
}

describe('spellingFindings', () => {
  it('passes a digest that is right', () => {
    expect(wrongAnswers(good)).toEqual([]);
  });

  it.each<[string, (value: JsonObject) => unknown, readonly string[]]>([
    ['says the same of everything', () => 1, ['a changed spec']],
    ['looks at the length only', (value) => good({ ...value, spec: 1 }).length, ['a changed spec']],
    [
      'counts what must not count',
      (value) => canonicalText(value),
      ['other white space, resourceVersion and status', 'keys in another order'],
    ],
    ['depends on the order of keys', (value) => JSON.stringify(omitEssence(value)), ['keys in another order']],
    [
      'never says the same twice',
      () => Symbol('new'),
      ['other white space, resourceVersion and status', 'keys in another order'],
    ],
  ])('catches one that %s', (_, digest, expected) => {
    expect(wrongAnswers(digest)).toEqual(expected);
  });

  it('does not ask a digest that depends on the order of keys about that', () => {
    expect(wrongAnswers((value) => JSON.stringify(omitEssence(value)), true)).toEqual([]);
  });
});

describe('omitEssence', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'what the API server writes',
      { apiVersion: 'v1', kind: 'A', status: {}, spec: 1, metadata: { name: 'a', uid: 'b' } },
      { spec: 1 },
    ],
    ['labels stay', { metadata: { labels: { a: 'b' }, generation: 2 } }, { metadata: { labels: { a: 'b' } } }],
    ['empty parts of metadata, bottom up', { metadata: { labels: {}, x: { y: { z: [] } } }, spec: {} }, { spec: {} }],
    ['elements of arrays stay', { metadata: { x: [{}, [], { a: {} }] } }, { metadata: { x: [{}, [], {}] } }],
    [
      'annotations by name, prefix and marker',
      {
        metadata: {
          annotations: {
            'deployment.kubernetes.io/revision': '1',
            'plimsoll.dev/x': '1',
            'a.cattle.io/x': '1',
            'notcattle.io/x': '1',
            'op.example/plimsoll-managed': '',
            'op.example/y': '1',
            plain: '1',
          },
        },
      },
      { metadata: { annotations: { 'notcattle.io/x': '1', plain: '1' } } },
    ],
    ['metadata that is no object stays', { metadata: [] }, { metadata: [] }],
  ])('%s', (_, value, expected) => {
    const before = structuredClone(value);
    expect(omitEssence(value)).toEqual(expected);
    expect(value).toEqual(before);
  });
});

describe('canonicalText', () => {
  it('sorts by UTF-16 units and writes numbers as ECMAScript does', () => {
    const value = { '\u{10000}': 1e21, '\uffff': -0, b: [true, null, 'é"'], a: { d: 1, c: 0.1 } };
    expect(canonicalText(value)).toBe('{"a":{"c":0.1,"d":1},"b":[true,null,"é\\""],"\u{10000}":1e+21,"\uffff":0}');
  });
});

describe('generateObject', () => {
  it.each([800, 2400, 8800, 100_000])('makes about %d bytes, the same for one seed', (bytes) => {
    const text = JSON.stringify(generateObject(createRandom(7), bytes));
    expect(text.length).toBeGreaterThanOrEqual(bytes);
    expect(text.length).toBeLessThan(bytes * 1.4);
    expect(JSON.stringify(generateObject(createRandom(7), bytes))).toBe(text);
  });
});

describe('PlainScanner', () => {
  const scanner = new PlainScanner(isKept);
  const scan = (text: string): string => new TextDecoder().decode(scanner.scan(new TextEncoder().encode(text)));
  const digest = (value: JsonObject): string =>
    hash128(scanner.scan(new TextEncoder().encode(JSON.stringify(value, null, 1))));

  it.each([
    ['members out of order, a key that begins another, and none', '{"b":1,"a b":[],"a":{},"ab":{"d":1,"c":2}}'],
    ['escapes in values and keys', '{"k:{\\"b\\"}":"\\n\\u00e9\\/","k:{\\"a\\"}":"\\\\","k:":1}'],
    ['numbers', '[0, -0, 10, -5, 1.50, 1e3, 1E-7, 123456789012345678, 1e21, true, null]'],
    ['white space', ' { "a" : [ 1 , 2 ] , "b" : { } } '],
    [
      'what is left out',
      '{"kind":"A","metadata":{"name":"a","labels":{},"annotations":{"plimsoll.dev/a":"1"}},"spec":{}}',
    ],
  ])('writes the same text as the short way: %s', (_, text) => {
    const value = JSON.parse(text);
    expect(scan(text)).toBe(canonicalText(Array.isArray(value) ? value : omitEssence(value)));
  });

  it('does so for generated objects, and its digest answers rightly', () => {
    for (const bytes of [800, 2400, 8800]) {
      const value = generateObject(createRandom(bytes), bytes);
      expect(scan(JSON.stringify(value))).toBe(good(value));
    }
    expect(wrongAnswers(digest)).toEqual([]);
  });

  it.each(['', '{', '{"a":1}x', '{"a" 1}', '[1 2]', '"a', '01', '{"a":tru}'])('refuses %j', (text) => {
    expect(() => scan(text)).toThrow(SyntaxError);
  });
});
