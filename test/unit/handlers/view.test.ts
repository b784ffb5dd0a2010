import { describe, expect, it } from 'vitest';
import { diffViews } from '../../../src/handlers/diff.ts';
import { deepFreeze, defaultView, digestOfSub, digestOfView, parsePath, valueAt } from '../../../src/handlers/view.ts';
import { ValueError } from '../../../src/types/errors.ts';
import { essence } from './harness.ts';

describe('paths', () => {
  it.each([
    ['spec.replicas', ['spec', 'replicas']],
    ['spec', ['spec']],
    ['/metadata/annotations/a.b~1c~0d', ['metadata', 'annotations', 'a.b/c~d']],
  ])('%s', (field, path) => {
    expect(parsePath(field)).toEqual(path);
  });

  it.each(['', '.', 'a.', '.a', '/', '/a//b'])('refuses "%s"', (field) => {
    expect(() => parsePath(field)).toThrow(TypeError);
  });

  it('looks at own keys only', () => {
    const object = { a: [{ b: 1 }], n: null };
    expect(valueAt(object, ['a', '0', 'b'])).toBe(1);
    for (const path of [['constructor'], ['__proto__'], ['a', 'length', 'x'], ['n', 'x'], ['a', '7'], ['x', 'y']]) {
      expect(valueAt(object, path)).toBe(undefined);
    }
  });
});

describe('the default view (operators 6.2)', () => {
  it('leaves out bookkeeping and status, and what is empty then in metadata', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: {
        name: 'a',
        uid: 'u',
        resourceVersion: '7',
        generation: 2,
        labels: {},
        annotations: { 'plimsoll.dev/progress': '1', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      },
      spec: {},
      data: { k: 'v' },
      status: { ready: true },
    };
    const before = structuredClone(object);
    expect(defaultView(object)).toEqual({ spec: {}, data: { k: 'v' } });
    expect(object).toEqual(before);
  });

  it('keeps labels, foreign annotations and every other top-level field', () => {
    const view = defaultView({
      metadata: {
        labels: { a: '1' },
        annotations: { 'plimsoll.dev/x': '1', other: '2', 'plimsoll.development/y': '3' },
      },
      rules: [1],
      type: 'Opaque',
    });
    expect(view).toEqual({
      metadata: { labels: { a: '1' }, annotations: { other: '2', 'plimsoll.development/y': '3' } },
      rules: [1],
      type: 'Opaque',
    });
    expect(defaultView(defaultView(view))).toEqual(view);
  });

  it.each([['text'], [7], [null], [[1, 2]], [undefined]])('of %j is the value itself', (value) => {
    expect(defaultView(value)).toBe(value);
  });

  it('of bytes is the bytes', () => {
    const bytes = new Uint8Array([1]);
    expect(defaultView(bytes)).toBe(bytes);
  });
});

describe('digests', () => {
  it('tell apart absent, null, a view, a sub, and its args', () => {
    const digests = [
      digestOfView(essence, undefined),
      digestOfView(essence, null),
      digestOfView(essence, 'absent'),
      digestOfView(essence, { view: 1, args: 2 }),
      digestOfSub(essence, 1, 2),
      digestOfSub(essence, 1, undefined),
      digestOfSub(essence, undefined, 1),
      digestOfSub(essence, null, 1),
      digestOfSub(essence, undefined, undefined),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });
});

describe('deepFreeze', () => {
  it('freezes to the last leaf, in place, and leaves bytes alone', () => {
    const value = { a: [{ b: 1 }], bytes: new Uint8Array(1) };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.a, value.a[0]].every((part) => Object.isFrozen(part))).toBe(true);
    value.bytes[0] = 1;
  });

  it('refuses bottomless data instead of overflowing the stack', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 2000; depth++) value = [value];
    expect(() => deepFreeze(value)).toThrow(ValueError);
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
