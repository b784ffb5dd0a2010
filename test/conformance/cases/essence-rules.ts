import { createEssenceHasher, type EssenceHasherOptions } from 'plimsoll';
import { createSeededRandom } from 'plimsoll/testing';
import { equal, test, throws } from '../harness.ts';

/** The text of what is left, which has to be the same for the value and for its JSON text. */
function essence(value: unknown, options: EssenceHasherOptions = {}): string {
  const hasher = createEssenceHasher(options);
  const bytes = new TextEncoder().encode(JSON.stringify(value, undefined, 2));
  const text = hasher.canonicalize(value);
  equal(hasher.canonicalize(bytes), text);
  equal(hasher.digest(bytes), hasher.digest(value));
  return text;
}

const RULES: [string, EssenceHasherOptions, unknown, string][] = [
  [
    'lists, nulls, kinds and what is put back',
    {
      keep: ['/kind'],
      nullIsAbsent: true,
      lists: { '/l': { key: 'n' } },
      kinds: { '*/D': { lists: { '/s': 'set' }, normalise: (object) => ({ ...(object as object), made: true }) } },
    },
    { apiVersion: 'v1', kind: 'D', x: null, l: [{ n: '😂' }, { n: '\ue000' }, { n: 'a' }], s: ['b', 'a', 'b'] },
    '{"kind":"D","l":[{"n":"a"},{"n":"😂"},{"n":"\ue000"}],"made":true,"s":["a","b"]}',
  ],
  [
    'defaults: what clusters write for themselves does not count',
    {},
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'a',
        namespace: 'b',
        resourceVersion: '7',
        generation: 2,
        finalizers: ['f'],
        managedFields: [{}],
      },
      spec: { status: 'stays' },
      status: { phase: 'Running' },
    },
    '{"spec":{"status":"stays"}}',
  ],
  ['defaults: false leaves everything in', { defaults: false }, { status: {}, kind: 'x' }, '{"kind":"x","status":{}}'],
  ['defaults: only a document that is an object has them', {}, [{ status: 1 }], '[{"status":1}]'],
  [
    'prune: empty parts of metadata go, innermost first, and nowhere else',
    {},
    { metadata: { labels: {}, annotations: { a: 'b' }, deep: { er: { est: [] } }, list: [{}] }, spec: { empty: {} } },
    '{"metadata":{"annotations":{"a":"b"},"list":[{}]},"spec":{"empty":{}}}',
  ],
  [
    'ignore: * is every element, a number the element or the member',
    { ignore: ['/list/*/at', '/list/1/by', '/map/1', '/map/*/x'] },
    {
      list: [
        { at: 1, by: 1 },
        { at: 2, by: 2, id: 2 },
      ],
      map: { 1: 'one', 2: { x: 1 } },
    },
    '{"list":[{"by":1},{"id":2}],"map":{"2":{"x":1}}}',
  ],
  [
    'ignore: indexes are those before anything is removed',
    { ignore: ['/args/0', '/args/2'] },
    { args: ['a', 'b', 'c', 'd'] },
    '{"args":["b","d"]}',
  ],
  [
    'ignore: ~1 is a slash, ~0 a tilde',
    { ignore: ['/a~1b', '/c~0d', '/e~01'] },
    { 'a/b': 1, 'c~d': 2, 'e~1': 3, e: 4 },
    '{"e":4}',
  ],
  [
    'ignore: adds to the defaults',
    { ignore: ['/data/secret'] },
    { status: 1, data: { secret: 1, open: 2 } },
    '{"data":{"open":2}}',
  ],
];

for (const [name, options, value, canonical] of RULES) {
  test(`essence ${name}`, () => {
    equal(essence(value, options), canonical);
  });
}

test('essence ignore: what is ignored need not have a canonical form', () => {
  const hasher = createEssenceHasher({ ignore: ['/skip'] });
  equal(hasher.canonicalize(new TextEncoder().encode(String.raw`{"skip":[1e400,"\ud800"],"a":1}`)), '{"a":1}');
  equal(hasher.canonicalize({ skip: () => 1, a: 1 }), '{"a":1}');
});

test('essence options: wrong ones are refused', () => {
  for (const options of [
    { ignore: ['spec'] },
    { ignore: [''] },
    { ignore: ['/a~2'] },
    { ignore: [1] },
    { ignore: '/a' },
    { defaults: 'yes' },
    { duplicates: 'first' },
  ]) {
    throws(() => createEssenceHasher(options as EssenceHasherOptions), { class: TypeError });
  }
});

test('essence: the value is only read, and its toJSON is not called', () => {
  const value = Object.freeze({ b: Object.freeze([1]), a: undefined, toJSON: undefined });
  equal(createEssenceHasher().canonicalize(value), '{"b":[1]}');
});

/**
 * More than 100 KB of everything: deep and wide, text in several scripts, and numbers: integers, which the core decides
 * itself, or fractions too, of which some have an exponent or 17 digits and so take the way over `JSON.parse`.
 */
function largeDocument(hasFractions: boolean): unknown {
  const random = createSeededRandom(100);
  const letters = ['a', 'Z', '0', ' ', '"', '\\', '\n', '\u00e9', '\u20ac', '\u{1f600}'];
  const text = () =>
    Array.from({ length: Math.floor(random() * 30) }, () => letters[Math.floor(random() * 10)]).join('');
  const number = () => {
    const digits = Math.floor(random() * 2 ** 32);
    return random() < 0.5 || !hasFractions ? digits : digits / 2 ** Math.floor(random() * 60);
  };
  const value = (depth: number): unknown => {
    const roll = random();
    if (depth > 6 || roll < 0.2) return text();
    if (roll < 0.4) return number();
    if (roll < 0.5) return roll < 0.45 ? null : roll < 0.475;
    const parts = Array.from({ length: Math.floor(random() * 8) }, () => value(depth + 1));
    return roll < 0.75 ? parts : Object.fromEntries(parts.map((part, index) => [`${index}${text()}`, part]));
  };
  return { items: Array.from({ length: 50 }, () => value(0)) };
}

/** Made once with another implementation of JCS and XXH3. */
const LARGE: [string, boolean, string][] = [
  ['integers', false, 'xxh3-128:6619d93222ba779ba5bde18e10cbf2f5'],
  ['fractions', true, 'xxh3-128:6c35346addbd5a03b3c8f424b2c34395'],
];

for (const [name, hasFractions, digest] of LARGE) {
  test(`essence: a document of 100 KB with ${name} has one digest on every runtime`, () => {
    const document = largeDocument(hasFractions);
    const text = new TextEncoder().encode(JSON.stringify(document));
    equal([text.length > 100_000, text.length < 200_000], [true, true]);
    const hasher = createEssenceHasher();
    equal([hasher.digest(document), hasher.digest(text)], [digest, digest]);
    // The scratch memory of the large one does not show in the next small one.
    equal(hasher.digest({}), 'xxh3-128:dc7048f8f8747f561349cde127705c16');
  });
}
