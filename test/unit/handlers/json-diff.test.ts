import { describe, expect, it } from 'vitest';
import { applyPatch } from '../../../src/handlers/apply-patch.ts';
import { alignArrays } from '../../../src/handlers/array-alignment.ts';
import { type DiffJsonOptions, diffJson } from '../../../src/handlers/json-diff.ts';
import { mergePatchOf } from '../../../src/handlers/merge-diff.ts';
import { LimitExceededError, ValueError } from '../../../src/types/errors.ts';
import type { JsonPatch } from '../../../src/types/patch.ts';

describe('diffJson', () => {
  it.each<[string, unknown, unknown, JsonPatch]>([
    ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['nothing but the order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['-0 is 0', [0], [-0], []],
    ['undefined is absent', { a: undefined, b: 1 }, { b: 1, c: undefined }, []],
    ['the whole', 1, 'x', [{ op: 'replace', path: '', value: 'x' }]],
    ['an object is no array', {}, [], [{ op: 'replace', path: '', value: [] }]],
    ['null is no object', { a: {} }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
    ['text is no number', { a: 1 }, { a: '1' }, [{ op: 'replace', path: '/a', value: '1' }]],
    ['a member more', {}, { a: null }, [{ op: 'add', path: '/a', value: null }]],
    ['a member less', { a: null, b: 1 }, { b: 1 }, [{ op: 'remove', path: '/a' }]],
    ['escaped names', { 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }, [{ op: 'replace', path: '/a~1b/~0', value: 2 }]],
    ['an element at the start', [2, 3], [1, 2, 3], [{ op: 'add', path: '/0', value: 1 }]],
    ['an element at the end', [1, 2], [1, 2, 3], [{ op: 'add', path: '/2', value: 3 }]],
    [
      'elements gone',
      [1, 2, 3, 4],
      [1, 4],
      [
        { op: 'remove', path: '/1' },
        { op: 'remove', path: '/1' },
      ],
    ],
    ['an element changed', [{ a: 1, b: 1 }, 2], [{ a: 2, b: 1 }, 2], [{ op: 'replace', path: '/0/a', value: 2 }]],
    [
      'some of everything',
      ['a', 'b', 'c', 'd', 'e'],
      ['b', 'x', 'd', 'e', 'f'],
      [
        { op: 'remove', path: '/0' },
        { op: 'replace', path: '/1', value: 'x' },
        { op: 'add', path: '/4', value: 'f' },
      ],
    ],
    ['a name of the prototype', {}, JSON.parse('{"__proto__":1}'), [{ op: 'add', path: '/__proto__', value: 1 }]],
  ])('%s', (_what, before, after, patch) => {
    expect(diffJson(before, after)).toEqual(patch);
    expect(applyPatch(before, patch)).toEqual(JSON.parse(JSON.stringify(after)));
  });

  it.each<[unknown, unknown, JsonPatch]>([
    [{ a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, [{ op: 'add', path: '/c', value: 3 }]],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      [
        { op: 'remove', path: '/a' },
        { op: 'add', path: '/a', value: 1 },
      ],
    ],
    [
      { b: 2 },
      { a: 1, b: 2 },
      [
        { op: 'remove', path: '/b' },
        { op: 'add', path: '/a', value: 1 },
        { op: 'add', path: '/b', value: 2 },
      ],
    ],
    [
      { a: 1, 1: 1 },
      { 0: 1, 1: 2, a: 1 },
      [
        { op: 'add', path: '/0', value: 1 },
        { op: 'replace', path: '/1', value: 2 },
      ],
    ],
    [
      [{ a: 1, b: 2 }],
      [{ b: 2, a: 1 }],
      [
        { op: 'remove', path: '/0/a' },
        { op: 'add', path: '/0/a', value: 1 },
      ],
    ],
  ])('with the exact order of members, from %j to %j', (before, after, patch) => {
    expect(diffJson(before, after, { keyOrder: 'exact' })).toEqual(patch);
    expect(JSON.stringify(applyPatch(before, patch))).toBe(JSON.stringify(after));
  });

  it('is quick and short for large arrays, whatever has happened to them', () => {
    const size = 50_000;
    const before = Array.from({ length: size }, (_, index) => ({ id: index, name: `n${index}` }));
    const few = before
      .filter(({ id }) => id % 5000 !== 7)
      .flatMap((item) => (item.id % 9000 === 3 ? [item, { id: -item.id, name: 'new' }] : [item]));
    expect(diffJson(before, few)).toHaveLength(10 + 6);
    const reversed = [...before].reverse();
    expect(applyPatch(before, diffJson(before, reversed))).toEqual(reversed);
    const repeated = Array.from({ length: size }, (_, index) => index % 3);
    const shifted = Array.from({ length: size }, (_, index) => (index * 7) % 4);
    expect(applyPatch(repeated, diffJson(repeated, shifted))).toEqual(shifted);
  });

  it('is quick for what is nested deep, with much at the bottom', () => {
    const bottom = (last: number): unknown =>
      Array.from({ length: 20_000 }, (_, index) => `element ${index === 19_999 ? last : index}`);
    const nest = (value: unknown): unknown =>
      Array.from({ length: 900 }).reduce<unknown>((inner, _, level) => [level, inner, -level], value);
    const patch = diffJson(nest(bottom(1)), nest(bottom(2)));
    expect(patch).toEqual([{ op: 'replace', path: `${'/1'.repeat(900)}/19999`, value: 'element 2' }]);
  });

  it.each<[unknown, unknown]>([
    [undefined, {}],
    [{}, { a: Number.NaN }],
    [{}, new Map()],
    [new Uint8Array(2), []],
    [{ a: '\ud800' }, {}],
    [[undefined], []],
  ])('refuses %j and %j', (before, after) => {
    expect(() => diffJson(before, after)).toThrow(ValueError);
    expect(() => mergePatchOf(before, after)).toThrow(ValueError);
  });

  it('is bounded for what shares parts without end, and refuses what contains itself', () => {
    let bomb: unknown = [];
    for (let level = 0; level < 40; level++) bomb = [bomb, bomb];
    expect(() => diffJson(bomb, 1)).toThrow(LimitExceededError);
    expect(() => mergePatchOf({}, { bomb })).toThrow(LimitExceededError);
    const ring: unknown[] = [];
    ring.push(ring);
    expect(() => diffJson(ring, 1)).toThrow(ValueError);
  });

  it.each<[unknown, string]>([
    [{ keyOrder: 'sorted' }, 'keyOrder is sorted, allowed are any and exact'],
    [{ order: 'any' }, 'unknown option order'],
  ])('refuses the options %j', (options, message) => {
    expect(() => diffJson(1, 2, options as DiffJsonOptions)).toThrow(TypeError);
    expect(() => diffJson(1, 2, options as DiffJsonOptions)).toThrow(message);
  });
});

describe('alignArrays', () => {
  it('finds what stays among much that moves', () => {
    const a = Array.from({ length: 200 }, (_, index) => index);
    const b = [...a.slice(100), ...a.slice(0, 100)];
    const length = (runs: ReturnType<typeof alignArrays>): number => runs.reduce((sum, run) => sum + run.length, 0);
    expect(length(alignArrays(a, b))).toBe(100);
    expect(length(alignArrays([1, 1, 2, 1], [2, 1, 1, 1]))).toBe(3);
    expect(length(alignArrays([], [1]))).toBe(0);
  });
});

describe('mergePatchOf', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, {}],
    [
      'members set, gone and merged',
      { a: 1, b: 2, c: { d: 3, e: 4 } },
      { a: 9, c: { d: 3 } },
      { b: null, a: 9, c: { e: null } },
    ],
    ['an array is one value', { a: [1, 2] }, { a: [1, 3] }, { a: [1, 3] }],
    ['null in an array', { a: [] }, { a: [null] }, { a: [null] }],
    ['null that stays', { a: { b: null, c: 1 } }, { a: { b: null, c: 2 } }, { a: { c: 2 } }],
    ['null that goes', { a: null }, {}, { a: null }],
    ['an object of something else', { a: [1] }, { a: {} }, { a: {} }],
    ['an object of nothing', 5, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a name of the prototype', {}, JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
    ['undefined is absent', { a: 1, b: undefined }, { a: undefined, c: 2 }, { a: null, c: 2 }],
  ])('%s', (_what, before, after, patch) => {
    expect(JSON.stringify(mergePatchOf(before, after))).toBe(JSON.stringify(patch));
  });

  it.each<[string, unknown, unknown]>([
    ['a member set to null', { a: 1 }, { a: null }],
    ['a new member that is null', {}, { a: null }],
    ['null in an object that is new', { a: 1 }, { a: { b: { c: null } } }],
    ['an array', {}, []],
    ['text', {}, 'x'],
    ['null', {}, null],
  ])('there is none to %s', (_what, before, after) => {
    expect(mergePatchOf(before, after)).toBeUndefined();
  });
});

describe('applyPatch', () => {
  it('keeps the order of members, and changes neither the object nor the patch', () => {
    const object = Object.freeze({ a: 1, b: Object.freeze([1]), c: 3 });
    const patch: JsonPatch = [
      { op: 'replace', path: '/a', value: { x: 1 } },
      { op: 'add', path: '/a/y', value: 2 },
      { op: 'copy', from: '/a', path: '/d' },
      { op: 'add', path: '/d/z', value: 3 },
      { op: 'add', path: '/b/0', value: 0 },
    ];
    const before = JSON.stringify(patch);
    expect(JSON.stringify(applyPatch(object, patch))).toBe(
      '{"a":{"x":1,"y":2},"b":[0,1],"c":3,"d":{"x":1,"y":2,"z":3}}',
    );
    expect(JSON.stringify(patch)).toBe(before);
    expect(JSON.stringify(applyPatch(object, { c: 4, b: null }))).toBe('{"a":1,"c":4}');
  });

  it('is quick for many operations on one object', () => {
    const object = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`m${index}`, index]));
    const patch: JsonPatch = Object.keys(object).map((name) => ({ op: 'replace', path: `/${name}`, value: 0 }));
    expect(Object.values(applyPatch(object, patch) as object).every((value) => value === 0)).toBe(true);
  });

  it('refuses what is no patch, and what is no data in one', () => {
    expect(() => applyPatch({}, 'x' as unknown as JsonPatch)).toThrow(TypeError);
    expect(() => applyPatch({}, [{ op: 'set', path: '' } as never])).toThrow(
      'Cannot apply a patch: operation 0 has the op set',
    );
    expect(() => applyPatch({}, { a: new Date(0) })).toThrow(ValueError);
    expect(() => applyPatch({}, [{ op: 'remove', path: '/a' }])).toThrow('the value at /a is not there');
  });
});
