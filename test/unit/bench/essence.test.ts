import { describe, expect, it } from 'vitest';
import { generateObject } from '../../../bench/data/generated-objects.mjs';
import { createRandom } from '../../../bench/data/random.mjs';
import { canonicalText } from '../../../bench/essence/canonical.mjs';
import { omitEssence } from '../../../bench/essence/omit.mjs';
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
