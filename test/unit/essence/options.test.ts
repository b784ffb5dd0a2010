import { describe, expect, it } from 'vitest';
import type { EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { KIND_SETS_MAX, KindTable } from '../../../src/core/essence-kinds.ts';
import { KIND_PATTERNS_MAX } from '../../../src/core/essence-options.ts';
import { DEFAULT_POINTERS, HARD_POINTERS, HARD_PREFIXES, SOFT_POINTERS } from '../../../src/core/essence-rules.ts';
import { JsonSyntaxError, LimitExceededError, ValueError } from '../../../src/types/errors.ts';
import { createHasher, utf8 } from './support.ts';

/** The same answer from both paths, or the test fails. */
function essence(value: unknown, options?: EssenceHasherOptions): string {
  const hasher = createHasher(options);
  const text = hasher.canonicalize(value);
  const bytes = utf8(JSON.stringify(value));
  expect(hasher.canonicalize(bytes)).toBe(text);
  expect(hasher.digest(bytes)).toBe(hasher.digest(value));
  return text;
}

describe('essence: what is put back', () => {
  it.each(SOFT_POINTERS)('%s counts when it is kept, alone', (pointer) => {
    const names = pointer
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/'));
    const object = names.reduceRight<unknown>((value, name) => ({ [name]: value }), 'x');
    expect(essence(object)).toBe('{}');
    expect(essence(object, { keep: [pointer] })).toBe(JSON.stringify(object));
    expect(essence(object, { keep: SOFT_POINTERS.filter((other) => other !== pointer) })).toBe('{}');
  });

  it('annotations by their prefix', () => {
    const annotations = {
      'cattle.io/a': '1',
      'x.cattle.io/b': '2',
      'plimsoll.dev/c': '3',
      'o/plimsoll-managed': '',
      'o/d': '',
    };
    const kept = essence({ metadata: { annotations } }, { keep: ['cattle.io'] });
    expect(kept).toBe('{"metadata":{"annotations":{"cattle.io/a":"1","x.cattle.io/b":"2"}}}');
  });

  it.each([...HARD_POINTERS, ...HARD_PREFIXES])('%s cannot be put back', (entry) => {
    const create = (): unknown => createHasher({ keep: [entry] });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`the keep entry "${entry}" cannot be put back`);
  });

  it('each default exclusion can be put back or cannot', () => {
    expect([...HARD_POINTERS, ...SOFT_POINTERS].sort()).toEqual([...DEFAULT_POINTERS].sort());
  });

  it('a part of what is put back can be ignored', () => {
    const options = { keep: ['/status'], ignore: ['/status/conditions/*/lastTransitionTime'] };
    const status = (time: string): object => ({
      status: { conditions: [{ type: 'Ready', lastTransitionTime: time }] },
    });
    // E8
    expect(essence(status('1'), options)).toBe(essence(status('2'), options));
    expect(essence(status('1'), options)).toBe('{"status":{"conditions":[{"type":"Ready"}]}}');
  });
});

describe('essence: lists', () => {
  const conditions = { '/status/conditions': { key: 'type' } } as const;
  const pod = (...types: readonly string[]): object => ({ status: { conditions: types.map((type) => ({ type })) } });

  it('conditions in another order are a change, but for a list declared as keyed (E7)', () => {
    const keep = ['/status'];
    expect(essence(pod('A', 'B'), { keep })).not.toBe(essence(pod('B', 'A'), { keep }));
    expect(essence(pod('A', 'B'), { keep, lists: conditions })).toBe(
      essence(pod('B', 'A'), { keep, lists: conditions }),
    );
  });

  it.each<[string, object, NonNullable<EssenceHasherOptions['lists']>, string]>([
    ['a set', { l: ['b', 'a', 'B'] }, { '/l': 'set' }, '["B","a","b"]'],
    ['a set with equal elements', { l: [1, { a: 1 }, '1', 1, { a: 1 }] }, { '/l': 'set' }, '["1",1,{"a":1}]'],
    ['a set of what is no text', { l: [null, true, [2, 1], 10, 9] }, { '/l': 'set' }, '[10,9,[2,1],null,true]'],
    ['keys', { l: [{ n: 'b' }, { n: 'a', x: 1 }] }, { '/l': { key: 'n' } }, '[{"n":"a","x":1},{"n":"b"}]'],
    ['keys that are numbers, by text', { l: [{ n: 9 }, { n: 10 }] }, { '/l': { key: 'n' } }, '[{"n":10},{"n":9}]'],
    [
      'equal keys, which keep their order',
      { l: [{ n: 1, x: 2 }, { n: 0 }, { n: 1, x: 1 }] },
      { '/l': { key: 'n' } },
      '[{"n":0},{"n":1,"x":2},{"n":1,"x":1}]',
    ],
    [
      'missing keys, first, in their order',
      { l: [{ n: 1 }, { x: 2 }, 7, [0], { x: 1 }] },
      { '/l': { key: 'n' } },
      '[{"x":2},7,[0],{"x":1},{"n":1}]',
    ],
    [
      'two keys',
      { l: [{ p: 2, q: 'b' }, { p: 2, q: 'a' }, { p: 1, q: 'c' }, { p: 2 }] },
      { '/l': { key: ['p', 'q'] } },
      '[{"p":1,"q":"c"},{"p":2},{"p":2,"q":"a"},{"p":2,"q":"b"}]',
    ],
    [
      'lists in lists, inner ones first',
      { l: [{ n: ['b', 'a'] }, { n: ['a', 'a'] }] },
      { '/l': { key: 'n' }, '/l/*/n': 'set' },
      '[{"n":["a","b"]},{"n":["a"]}]',
    ],
    ['what is no array', { l: { b: 1, a: 2 } }, { '/l': 'set' }, '{"a":2,"b":1}'],
    [
      'an index before a wildcard',
      {
        l: [
          ['b', 'a'],
          ['b', 'a', 'b'],
        ],
      },
      { '/l/*': 'set', '/l/0': { key: 'n' } },
      '[["b","a"],["a","b"]]',
    ],
  ])('%s', (_what, object, lists, expected) => {
    expect(essence(object, { lists })).toBe(`{"l":${expected}}`);
  });

  it('keys are looked at as they are in the essence', () => {
    const list = {
      l: [
        { n: 2, x: 'b' },
        { n: 1, x: 'a' },
      ],
    };
    expect(essence(list, { lists: { '/l': { key: 'n' } }, ignore: ['/l/*/n'] })).toBe('{"l":[{"x":"b"},{"x":"a"}]}');
    expect(essence(list, { lists: { '/l': { key: 'n' } }, ignore: ['/l/0'] })).toBe('{"l":[{"n":1,"x":"a"}]}');
  });

  it('of the whole document', () => {
    // RFC 6901 names it by the empty pointer, which rules do not take.
    expect(() => createHasher({ lists: { '': 'set' } })).toThrow('the lists pointer "" is the whole document');
  });

  it('sorts a long list with long equal beginnings in no more than a moment', () => {
    const long = 'x'.repeat(1000);
    const list = Array.from({ length: 20_000 }, (_, index) => ({ n: `${long}${(index * 7919) % 20_000}` }));
    const { l } = JSON.parse(createHasher({ lists: { '/l': { key: 'n' } } }).canonicalize({ l: list })) as {
      l: typeof list;
    };
    expect(l.map(({ n }) => n)).toEqual(list.map(({ n }) => n).sort());
  });
});

describe('essence: null', () => {
  it('is not absent, or is (E6)', () => {
    const object = { spec: { a: null, b: [null], c: { d: null } }, metadata: { labels: null } };
    expect(essence(object)).toBe('{"metadata":{"labels":null},"spec":{"a":null,"b":[null],"c":{"d":null}}}');
    expect(essence(object, { nullIsAbsent: true })).toBe('{"spec":{"b":[null],"c":{}}}');
  });

  it('marks annotations all the same', () => {
    const annotations = { 'o/plimsoll-managed': null, 'o/a': '1', 'p/b': null };
    expect(essence({ metadata: { annotations } }, { nullIsAbsent: true })).toBe('{}');
  });
});

describe('essence: kinds', () => {
  const rules = { ignore: ['/spec/x'] };
  const of = (apiVersion: unknown, kind: unknown, options: EssenceHasherOptions): boolean =>
    essence({ apiVersion, kind, spec: { x: 1 } }, options) === '{"spec":{}}';

  it.each<[string, readonly (readonly [unknown, unknown])[], readonly (readonly [unknown, unknown])[]]>([
    [
      'apps/v1/D',
      [['apps/v1', 'D']],
      [
        ['apps/v2', 'D'],
        ['v1', 'D'],
        ['apps/v1', 'E'],
        ['x/apps/v1', 'D'],
        ['apps', 'v1/D'],
      ],
    ],
    [
      'v1/D',
      [['v1', 'D']],
      [
        ['apps/v1', 'D'],
        ['v1', 'E'],
        ['', 'v1/D'],
      ],
    ],
    [
      'apps/*/D',
      [
        ['apps/v1', 'D'],
        ['apps/v2', 'D'],
      ],
      [
        ['v1', 'D'],
        ['x/v1', 'D'],
      ],
    ],
    [
      '*/D',
      [
        ['apps/v1', 'D'],
        ['v1', 'D'],
      ],
      [
        ['v1', 'E'],
        [1, 'D'],
        [undefined, 'D'],
        ['', 'D'],
        ['a/b/c', 'D'],
      ],
    ],
    [
      'apps/v1/*',
      [
        ['apps/v1', 'D'],
        ['apps/v1', 'E'],
      ],
      [
        ['apps/v2', 'D'],
        ['apps/v1', ''],
        ['apps/v1', '*'],
      ],
    ],
    [
      'apps/*/*',
      [
        ['apps/v1', 'D'],
        ['apps/v2', 'E'],
      ],
      [
        ['v1', 'D'],
        ['apps/', 'D'],
      ],
    ],
    [
      '*/*',
      [
        ['apps/v1', 'D'],
        ['v1', 'E'],
      ],
      [
        ['v1', null],
        ['*', 'D'],
      ],
    ],
  ])('%s is a pattern', (pattern, matching, others) => {
    for (const [apiVersion, kind] of matching) expect(of(apiVersion, kind, { kinds: { [pattern]: rules } })).toBe(true);
    for (const [apiVersion, kind] of others) expect(of(apiVersion, kind, { kinds: { [pattern]: rules } })).toBe(false);
  });

  it.each(['D', 'a/b/c/d', '', '/', 'apps//D', 'a*/D', '*/v1/D', 'v1/'])('%j is none', (pattern) => {
    const create = (): unknown => createHasher({ kinds: { [pattern]: rules } });
    expect(create).toThrow(TypeError);
    expect(create).toThrow('is not apiVersion/kind');
  });

  it('all that match count, beside those for all; of two orders for a list, that of the kind', () => {
    const object = { apiVersion: 'v1', kind: 'D', spec: { x: 1, y: 2, z: 3, l: [{ n: 2 }, { n: 1 }, { n: 1 }] } };
    const options: EssenceHasherOptions = {
      ignore: ['/spec/z'],
      lists: { '/spec/l': 'set' },
      kinds: {
        '*/D': { ignore: ['/spec/x'], lists: { '/spec/l': { key: 'm' } } },
        'v1/D': { keep: ['/kind'], ignore: ['/spec/y'], lists: { '/spec/l': { key: 'n' } } },
      },
    };
    expect(essence(object, options)).toBe('{"kind":"D","spec":{"l":[{"n":1},{"n":1},{"n":2}]}}');
  });

  it('more of them than are kept compiled give the same', () => {
    const all = Array.from({ length: KIND_SETS_MAX + 3 }, (_, index) => index);
    const kinds = Object.fromEntries(all.map((index) => [`v1/K${index}`, { ignore: [`/spec/x${index}`] }]));
    const hasher = createHasher({ kinds });
    const spec = Object.fromEntries(all.map((index) => [`x${index}`, 1]));
    for (const index of [...all, ...all]) {
      const text = hasher.canonicalize({ apiVersion: 'v1', kind: `K${index}`, spec });
      expect(Object.keys((JSON.parse(text) as { spec: object }).spec)).not.toContain(`x${index}`);
    }
  });

  it('keeps what was used last compiled, and makes the rest again', () => {
    const kinds = Array.from({ length: KIND_SETS_MAX + 1 }, (_, index) => `v1/K${index}`);
    const made: string[] = [];
    const table = new KindTable(
      kinds.map((kind) => [kind, kind] as const),
      (rules) => made.push(rules.join()),
    );
    const find = (index: number): unknown => table.find({ apiVersion: 'v1', kind: `K${index}` });
    for (let index = 0; index < KIND_SETS_MAX; index++) find(index);
    find(0);
    find(KIND_SETS_MAX);
    expect(made).toEqual(kinds);
    find(0);
    expect(made).toEqual(kinds);
    find(1);
    expect(made).toEqual([...kinds, 'v1/K1']);
  });

  it('are bounded, and their pointers checked at once', () => {
    const many = Object.fromEntries(Array.from({ length: KIND_PATTERNS_MAX + 1 }, (_, index) => [`v1/K${index}`, {}]));
    expect(() => createHasher({ kinds: many })).toThrow(LimitExceededError);
    expect(() => createHasher({ kinds: { 'v1/K': { ignore: ['x'] } } })).toThrow(
      'the ignore pointer "x" does not start',
    );
  });

  it('bytes that are no JSON are refused as without them, and so is what no canonical form has', () => {
    const hasher = createHasher({ kinds: { 'v1/D': { ignore: ['/x'] } } });
    expect(() => hasher.digest(utf8('{"kind":'))).toThrow(JsonSyntaxError);
    expect(() => hasher.digest(utf8('{"apiVersion":"v1","kind":"D","y":1e400}'))).toThrow(JsonSyntaxError);
    expect(hasher.canonicalize(utf8('{"apiVersion":"v1","kind":"D","x":1e400}'))).toBe('{}');
    expect(() => hasher.digest(utf8('{"apiVersion":"v1","kind":"E","x":1e400}'))).toThrow(JsonSyntaxError);
    expect(() => hasher.digest(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d))).toThrow('a byte order mark');
  });
});

describe('essence: what is compared besides', () => {
  const isReady = (object: unknown): unknown => (object as { status?: { ready?: unknown } }).status?.ready;

  it('makes other digests, and the same essence', () => {
    const hasher = createHasher({ alsoCompare: isReady });
    const at = (ready: unknown, beat: number): unknown => ({ spec: 1, status: { ready, beat } });
    expect(hasher.digest(at(true, 1))).toBe(hasher.digest(at(true, 2)));
    expect(hasher.digest(at(true, 1))).not.toBe(hasher.digest(at(false, 1)));
    expect(hasher.digest(utf8(JSON.stringify(at(true, 1))))).toBe(hasher.digest(at(true, 1)));
    expect(hasher.canonicalize(at(true, 1))).toBe('{"spec":1}');
    expect(hasher.digest(at(undefined, 1))).toBe(hasher.digest(at(null, 1)));
  });

  it('is hashed as the second of two elements', () => {
    const pair = createHasher({ defaults: false }).digest([{ spec: 1 }, { a: true }]);
    expect(createHasher({ alsoCompare: () => ({ a: true }) }).digest({ spec: 1 })).toBe(pair);
  });

  it('throws what it throws, and what it may not return is refused', () => {
    expect(() =>
      createHasher({
        alsoCompare: () => {
          throw new RangeError('mine');
        },
      }).digest({}),
    ).toThrow('mine');
    const refused = (): unknown => createHasher({ alsoCompare: () => ({ at: new Date(0) }) }).digest({});
    expect(refused).toThrow(ValueError);
    expect(refused).toThrow('Cannot digest the value: alsoCompare: the value at /at is a Date');
  });
});

describe('essence: rules that match nothing (E13)', () => {
  it('are told once, after a hundred objects', () => {
    const told: unknown[] = [];
    const hasher = createHasher({
      ignore: ['/spec/a', '/spec/l/*/x', '/spec/typo', '/spec/l/1', '/spec/l/length'],
      lists: { '/spec/l': 'set', '/spec/m': 'set' },
      kinds: { 'v1/D': { ignore: ['/spec/a'] }, 'v1/E': { ignore: ['/spec/a'] } },
      onUnmatched: (rules) => told.push(rules),
    });
    const object = { apiVersion: 'v1', kind: 'D', spec: { a: null, l: [{ x: 1 }, 2] } };
    for (let nth = 0; nth < 99; nth++) hasher.digest(nth % 2 === 0 ? object : utf8(JSON.stringify(object)));
    expect(told).toEqual([]);
    for (let nth = 0; nth < 200; nth++) hasher.digest(object);
    expect(told).toEqual([
      [
        { option: 'ignore', pointer: '/spec/typo' },
        { option: 'ignore', pointer: '/spec/l/length' },
        { option: 'lists', pointer: '/spec/m' },
        { option: 'ignore', pointer: '/spec/a', kind: 'v1/E' },
      ],
    ]);
  });

  it('are not told of where all match', () => {
    const told: unknown[] = [];
    const hasher = createHasher({ ignore: ['/a'], onUnmatched: (rules) => told.push(rules) });
    for (let nth = 0; nth < 300; nth++) hasher.digest({ a: nth });
    expect(told).toEqual([]);
  });
});

describe('essence options that cannot be', () => {
  it.each<[unknown, string]>([
    [{ keep: '/status' }, 'keep is not an array'],
    [{ keep: [1] }, 'a keep entry is of type number'],
    [{ keep: ['/spec'] }, 'the keep entry "/spec" is not in the list of default exclusions'],
    [{ lists: ['/a'] }, 'lists is not an object'],
    [{ lists: { '/a': 'map' } }, 'lists["/a"] is neither "set" nor { key }'],
    [{ lists: { '/a': { key: [] } } }, 'lists["/a"] has no key'],
    [{ lists: { '/a': { key: 1 } } }, 'lists["/a"] has a key that is not a well-formed string'],
    [{ lists: { '/a': { key: 'a', order: 1 } } }, 'lists["/a"] is neither'],
    [{ lists: { '/a': { key: Array.from({ length: 17 }, String) } } }, 'lists["/a"] has more than 16 keys'],
    [{ lists: { a: 'set' } }, 'the lists pointer "a" does not start with "/"'],
    [{ normalise: 'trim' }, 'normalise is of type string, not a function'],
    [{ alsoCompare: {} }, 'alsoCompare is of type object, not a function'],
    [{ onUnmatched: 1 }, 'onUnmatched is of type number'],
    [{ checkNormalise: true }, 'checkNormalise is true, not "sampled" or "always"'],
    [{ nullIsAbsent: 1 }, 'nullIsAbsent is not a boolean'],
    [{ version: 1 }, 'version is not a well-formed string'],
    [{ kinds: null }, 'kinds is not an object'],
    [{ kinds: { 'v1/D': null } }, 'kinds["v1/D"] is not an object'],
    [{ kinds: { 'v1/D': { defaults: false } } }, 'unknown option of kinds["v1/D"] defaults'],
    [{ kinds: { 'v1/D': { ignore: 1 } } }, 'ignore of kinds["v1/D"] is not an array'],
  ])('%j is refused', (options, reason) => {
    const create = (): unknown => createHasher(options as EssenceHasherOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`Cannot create the essence hasher: ${reason}`);
  });
});
