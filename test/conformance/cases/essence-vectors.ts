import { createEssenceHasher, type EssenceHasherOptions } from 'plimsoll';
import { equal, test } from '../harness.ts';

/**
 * The vectors of docs/essence.md; the tidy suite holds the two lists together. No `String.raw` with more than ASCII in
 * it: Bun 1.4 makes escapes of what is not.
 */
const VECTORS: [EssenceHasherOptions, string, string, string][] = [
  [{ defaults: false }, '{}', '{}', 'xxh3-128:dc7048f8f8747f561349cde127705c16'],
  [
    { defaults: false },
    String.raw`{"b":[1.0,-0,1e3,0.10,123456789012345678],"a":"\u20ac\/\u000F\ud83d\ude02"}`,
    '{"a":"€/\\u000f😂","b":[1,0,1000,0.1,123456789012345680]}',
    'xxh3-128:dfe8e7798f05dd829044ed63f63fac11',
  ],
  [
    { defaults: false },
    String.raw`{"\ue000":1,"\ud83d\ude02":2,"a":3,"a":4}`,
    '{"a":4,"😂":2,"\ue000":1}',
    'xxh3-128:9f042e9e70c2d0eb342c424a87498a6a',
  ],
  [
    {},
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"1","labels":{}},"data":{"k":"v"}}',
    '{"data":{"k":"v"}}',
    'xxh3-128:8a4573a0ff2aec1f9eb125ecb12af6f5',
  ],
  [
    {},
    '{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","note":"x"},"labels":{"app":"web"}},"spec":{},"status":{"ready":true}}',
    '{"metadata":{"annotations":{"note":"x"},"labels":{"app":"web"}},"spec":{}}',
    'xxh3-128:a6283dbcc6e192f38c658a0813643f40',
  ],
  [
    {},
    '{"metadata":{"annotations":{"o.example/plimsoll-managed":"","o.example/progress":"3","field.cattle.io/x":"y","p.example/a":"b"}}}',
    '{"metadata":{"annotations":{"p.example/a":"b"}}}',
    'xxh3-128:2329e9977aa823dba15d8c4deaf4b0ca',
  ],
  [
    { ignore: ['/spec/containers/*/image', '/spec/replicas'] },
    '{"spec":{"replicas":3,"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"i:2"}]}}',
    '{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}',
    'xxh3-128:04e2ea12c24c22a3fdd3bf67d4bfde7d',
  ],
  [
    { ignore: ['/spec/args/0'] },
    '{"spec":{"args":["first","second"]}}',
    '{"spec":{"args":["second"]}}',
    'xxh3-128:38466fff3f7c2c463e6604e577fc2fe4',
  ],
  [
    { algorithm: 'sha256' },
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"1","labels":{}},"data":{"k":"v"}}',
    '{"data":{"k":"v"}}',
    'sha256:8338386bc05b6a51ed41f42870cfc13b265df8ff411ce98a33e4786e7cd96be8',
  ],
  [
    { defaults: false, algorithm: 'sha256' },
    '{}',
    '{}',
    'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  ],
  [
    { seed: 0x0123456789abcdefn },
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"1","labels":{}},"data":{"k":"v"}}',
    '{"data":{"k":"v"}}',
    'xxh3-128-seed-7bfde05af59bbbbb:ed33293ce6a2ea66c39cdbed0c8cfa07',
  ],
  [{ defaults: false, seed: 1n }, '{}', '{}', 'xxh3-128-seed-71b1d71e430920f5:e4c01fbe21845c7137ef2ddb6c950ef3'],
  [
    { keep: ['/status', 'cattle.io'], ignore: ['/status/beat'] },
    '{"kind":"T","metadata":{"uid":"1","annotations":{"a.cattle.io/b":"1"}},"status":{"ready":true,"beat":7}}',
    '{"metadata":{"annotations":{"a.cattle.io/b":"1"}},"status":{"ready":true}}',
    'xxh3-128:efb782db416333a90ed7333005e3fa7f',
  ],
  [
    { lists: { '/spec/ports': { key: ['port', 'protocol'] }, '/spec/args': 'set' } },
    '{"spec":{"args":["b","a","b"],"ports":[{"port":9},{"port":80,"protocol":"UDP"},{"port":80,"protocol":"TCP"},{"port":80},{"x":1}]}}',
    '{"spec":{"args":["a","b"],"ports":[{"x":1},{"port":80},{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"},{"port":9}]}}',
    'xxh3-128:565814b86da3224b98f24c1c00806e58',
  ],
  [
    { nullIsAbsent: true },
    '{"spec":{"a":null,"b":[null]},"metadata":{"labels":null}}',
    '{"spec":{"b":[null]}}',
    'xxh3-128:4094aecc6ed71a908936c1b4c9f9dd18',
  ],
];

for (const [index, [options, input, canonical, digest]] of VECTORS.entries()) {
  test(`essence: vector ${index + 1}, from bytes and from the value`, () => {
    const hasher = createEssenceHasher(options);
    for (const form of [new TextEncoder().encode(input), JSON.parse(input) as unknown]) {
      equal([hasher.canonicalize(form), hasher.digest(form)], [canonical, digest]);
    }
  });
}

/** What ECMAScript writes for a double; no runtime may have an opinion of its own. */
const NUMBERS: [string, string][] = [
  ['-0.0', '0'],
  ['5e-324', '5e-324'],
  ['-5E-324', '-5e-324'],
  ['2e-324', '0'],
  ['1.7976931348623157E+308', '1.7976931348623157e+308'],
  ['9007199254740993', '9007199254740992'],
  ['123456789012345678901', '123456789012345680000'],
  ['1e21', '1e+21'],
  ['100e19', '1e+21'],
  ['999999999999999900000', '999999999999999900000'],
  ['0.000001', '0.000001'],
  ['0.0000001', '1e-7'],
  ['1e-6', '0.000001'],
  ['333333333.33333329', '333333333.3333333'],
  ['4.50', '4.5'],
  ['2.2250738585072011e-308', '2.225073858507201e-308'],
];

test('essence: numbers are written as ECMAScript writes them, with or without an exponent', () => {
  const hasher = createEssenceHasher({ defaults: false });
  for (const [input, canonical] of NUMBERS) {
    equal(hasher.canonicalize(new TextEncoder().encode(`[${input}]`)), `[${canonical}]`);
    equal(hasher.canonicalize([Number(input)]), `[${canonical}]`);
  }
});

test('essence: members sort by UTF-16 units, not by bytes', () => {
  const hasher = createEssenceHasher();
  const names = [
    '',
    '\u0000',
    '"',
    'B',
    'a',
    'a\\',
    '\u007f',
    '\u00e9',
    '\u20ac',
    '\ud7ff',
    '\u{10000}',
    '\u{1f600}',
    '\ue000',
    '\uffff',
  ];
  const value = Object.fromEntries([...names].reverse().map((name, index) => [name, index]));
  const text = hasher.canonicalize(new TextEncoder().encode(JSON.stringify(value)));
  equal(Object.keys(JSON.parse(text) as object), names);
  equal(hasher.canonicalize(value), text);
});

test('essence: strings have no escape that is not needed', () => {
  const hasher = createEssenceHasher();
  const text = String.raw`["\u0000\u001f\u007f\u2028\u0041\/\\\"\b\f\n\r\t\uD83D\uDE00"]`;
  const canonical = '["\\u0000\\u001f\u007f\u2028A/\\\\\\"\\b\\f\\n\\r\\t\u{1f600}"]';
  equal(hasher.canonicalize(new TextEncoder().encode(text)), canonical);
  equal(hasher.canonicalize(JSON.parse(text)), canonical);
});
