import { describe, expect, it } from 'vitest';
import { createEssenceHasherWith } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import { diffViews } from '../../../src/handlers/diff.ts';
import { parsePath, valueAt } from '../../../src/handlers/path.ts';
import {
  defaultViewBy,
  digestOfSub,
  digestOfView,
  ownData,
  viewOfData,
  viewOfPart,
} from '../../../src/handlers/view.ts';
import { LimitExceededError, ValueError } from '../../../src/types/errors.ts';

describe('paths', () => {
  it.each([
    ['spec.replicas', ['spec', 'replicas']],
    ['spec', ['spec']],
    ['/metadata/annotations/a.b~1c~0d', ['metadata', 'annotations', 'a.b/c~d']],
    ['a~2b', ['a~2b']],
  ])('%s', (field, path) => {
    expect(parsePath(field)).toEqual(path);
  });

  it.each(['', '.', 'a.', '.a', '/', '/a//b', '/a~2b', '/a~', '/~/b', 7 as unknown as string])(
    'refuses %j',
    (field) => {
      expect(() => parsePath(field)).toThrow(TypeError);
    },
  );

  it('looks at own keys only', () => {
    const object = { a: [{ b: 1 }], n: null };
    expect(valueAt(object, ['a', '0', 'b'])).toBe(1);
    for (const path of [['constructor'], ['__proto__'], ['a', 'length', 'x'], ['n', 'x'], ['a', '7'], ['x', 'y']]) {
      expect(valueAt(object, path)).toBe(undefined);
    }
  });
});

describe('the default view', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', labels: {}, annotations: { 'plimsoll.dev/progress': '1', other: '2' } },
    spec: { kind: 'inner', status: 1 },
    status: { ready: true },
  };

  it('is the essence of the object, in value and digest', () => {
    const hasher = createEssenceHasherWith(coreModule());
    const view = defaultViewBy(undefined, undefined)(object);
    expect(view.value).toEqual({ metadata: { annotations: { other: '2' } }, spec: { kind: 'inner', status: 1 } });
    expect(view.digest).toBe(hasher.digest(object));
    // One list of exclusions: what is told is what is compared.
    expect(digestOfView(view.value)).toBe(view.digest);
  });

  it('is made by the hasher that was given', () => {
    const hasher = createEssenceHasherWith(coreModule(), { defaults: false, ignore: ['/spec/status'] });
    const view = defaultViewBy(undefined, hasher)(object);
    expect(view.value).toEqual({ ...object, spec: { kind: 'inner' } });
    expect(view.digest).toBe(hasher.digest(object));
  });

  it('makes its value when asked for it, once, frozen to the last leaf', () => {
    let texts = 0;
    const hasher = {
      digest: () => 'd',
      canonicalize: () => {
        texts++;
        return '{"spec":{}}';
      },
    };
    const view = defaultViewBy(undefined, hasher)(object);
    expect([view.digest, texts]).toEqual(['d', 0]);
    const value = view.value as { spec: object };
    expect([view.value === value, Object.isFrozen(value), Object.isFrozen(value.spec), texts]).toEqual([
      true,
      true,
      true,
      1,
    ]);
  });

  it('of bytes is what the JSON text in them says', () => {
    const bytes = new TextEncoder().encode('{"kind":"Thing","spec":{"n":1.0}}');
    const view = defaultViewBy(undefined, undefined)(bytes);
    expect(view.value).toEqual({ spec: { n: 1 } });
    expect(view.digest).toBe(digestOfView({ spec: { n: 1 } }));
  });

  it('of bytes that are no JSON text says so', () => {
    const look = defaultViewBy(undefined, undefined);
    for (const bytes of [Uint8Array.of(1, 2), Uint8Array.of()]) expect(() => look(bytes)).toThrow(ValueError);
    expect(() => look(Uint8Array.of(1, 2))).toThrow(/bytes, and no JSON text: .* at byte 0; give the handler a select/);
  });

  it('is what `view` returns, all of it', () => {
    const view = defaultViewBy((value) => ({ value }), undefined)(object);
    expect(view.value).toEqual({ value: object });
    expect(view.digest).toBe(digestOfView({ value: object }));
    const { status: _status, ...rest } = object;
    expect(defaultViewBy((value) => value, undefined)(rest).digest).not.toBe(digestOfView(object));
  });
});

describe('digests', () => {
  it('tell apart absent, null, a view, a sub, and its args', () => {
    const digests = [
      digestOfView(undefined),
      digestOfView(null),
      digestOfView('absent'),
      digestOfView({ view: 1, args: 2 }),
      digestOfSub(1, 2),
      digestOfSub(1, undefined),
      digestOfSub(undefined, 1),
      digestOfSub(null, 1),
      digestOfSub(undefined, undefined),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it.each(['kind', 'apiVersion', 'status', 'metadata'])('of parts count their %s, whatever it is called', (name) => {
    const parts = [{}, { [name]: {} }, { [name]: { name: 'a' } }, { [name]: { uid: '1', generation: 7 } }];
    expect(new Set(parts.map((part) => viewOfPart(part).digest)).size).toBe(parts.length);
    expect(
      new Set(parts.map((part) => digestOfSub(part, part)).concat(parts.map((part) => digestOfSub(part, 1)))).size,
    ).toBe(8);
  });

  it.each([Uint8Array.of(49), new DataView(new ArrayBuffer(1)), [Uint8Array.of(49)], () => 1, 1n, new Map()])(
    'refuse %s: a view is JSON data',
    (view) => {
      expect(() => digestOfView(view)).toThrow(ValueError);
      expect(() => digestOfSub(view, undefined)).toThrow(ValueError);
    },
  );
});

describe('what user code makes for a handler to see', () => {
  class Secret {
    readonly #value: number;

    constructor(value: number) {
      this.#value = value;
    }

    get value(): number {
      return this.#value;
    }
  }

  it.each([
    new Secret(1),
    { deep: [new Secret(1)] },
    Promise.resolve(1),
    new Date(0),
    new Map(),
    Uint8Array.of(1),
    { bytes: Uint8Array.of(1) },
    [undefined],
  ])('is refused where it is not plain data: %s', (data) => {
    expect(() => viewOfData(data)).toThrow(ValueError);
    expect(() => ownData('look', data)).toThrow(ValueError);
  });

  it('is copied: neither frozen under the hands of its maker nor changed by them', () => {
    const constant = { list: [1] };
    const view = viewOfData(constant);
    expect([view.value, Object.isFrozen(view.value), Object.isFrozen(constant.list)]).toEqual([constant, true, false]);
    constant.list.push(2);
    expect(view.value).toEqual({ list: [1] });
    expect([viewOfData(undefined).value, ownData('look', undefined)]).toEqual([undefined, undefined]);
  });

  it('is refused where it has parts without end', () => {
    let shared: unknown = {};
    for (let level = 0; level < 60; level++) shared = { a: shared, b: shared };
    expect(() => viewOfData(shared)).toThrow(LimitExceededError);
    const ring: { self?: unknown } = {};
    ring.self = ring;
    expect(() => viewOfData(ring)).toThrow(ValueError);
  });
});

describe('diffViews', () => {
  it.each([
    [1, 1, []],
    [undefined, { a: 1 }, [{ path: '', old: undefined, new: { a: 1 } }]],
    [
      { a: 1, b: { c: 1, d: 2 } },
      { a: 1, b: { c: 2, e: 3 } },
      [
        { path: '/b/c', old: 1, new: 2 },
        { path: '/b/d', old: 2, new: undefined },
        { path: '/b/e', old: undefined, new: 3 },
      ],
    ],
    [{ 'a/b~c': 1 }, { 'a/b~c': 2 }, [{ path: '/a~1b~0c', old: 1, new: 2 }]],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    [{ a: [1, 2] }, { a: [2, 1] }, [{ path: '/a', old: [1, 2], new: [2, 1] }]],
    [{ a: {} }, { a: [] }, [{ path: '/a', old: {}, new: [] }]],
    [{ a: null }, {}, [{ path: '/a', old: null, new: undefined }]],
    [{}, { constructor: 1 }, [{ path: '/constructor', old: undefined, new: 1 }]],
  ])('from %j to %j', (before, after, expected) => {
    expect(diffViews(before, after)).toEqual(expected);
  });
});
