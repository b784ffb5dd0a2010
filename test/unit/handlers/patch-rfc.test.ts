import { describe, expect, it } from 'vitest';
import { applyPatch } from '../../../src/handlers/apply-patch.ts';
import { diffJson } from '../../../src/handlers/json-diff.ts';
import { mergePatchOf } from '../../../src/handlers/merge-diff.ts';
import type { JsonPatch, Patch } from '../../../src/types/patch.ts';

/** Facts of RFC 6902, appendix A: section, object, patch, result; none where an error is asked for. */
const JSON_PATCH: readonly (readonly [string, unknown, unknown, unknown?])[] = [
  ['A.1 add a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
  [
    'A.2 add an element',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  ['A.3 remove a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  [
    'A.4 remove an element',
    { foo: ['bar', 'qux', 'baz'] },
    [{ op: 'remove', path: '/foo/1' }],
    { foo: ['bar', 'baz'] },
  ],
  [
    'A.5 replace a value',
    { baz: 'qux', foo: 'bar' },
    [{ op: 'replace', path: '/baz', value: 'boo' }],
    { baz: 'boo', foo: 'bar' },
  ],
  [
    'A.6 move a value',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7 move an element',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.8 a test that holds',
    { baz: 'qux', foo: ['a', 2, 'c'] },
    [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    { baz: 'qux', foo: ['a', 2, 'c'] },
  ],
  ['A.9 a test that fails', { baz: 'qux' }, [{ op: 'test', path: '/baz', value: 'bar' }]],
  [
    'A.10 add an object',
    { foo: 'bar' },
    [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    { foo: 'bar', child: { grandchild: {} } },
  ],
  [
    'A.11 unknown members of an operation',
    { foo: 'bar' },
    [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
    { foo: 'bar', baz: 'qux' },
  ],
  ['A.12 add below what is not there', { foo: 'bar' }, [{ op: 'add', path: '/baz/bat', value: 'qux' }]],
  // A.13 has one member twice, which only a text can: the last one counts, and `remove` of what is not there fails.
  ['A.13 the last of two ops', { foo: 'bar' }, JSON.parse('[{"op":"add","path":"/baz","value":"qux","op":"remove"}]')],
  ['A.14 escapes', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  ['A.15 text is no number', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: '10' }]],
  [
    'A.16 add an array',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    { foo: ['bar', ['abc', 'def']] },
  ],
];

/** Facts of RFC 7386, appendix A: object, patch, result. Patches that are no object replace the whole, and are a JSON patch here. */
const MERGE_PATCH: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('RFC 6902, appendix A', () => {
  it.each(JSON_PATCH)('%s', (_what, object, patch, result) => {
    if (result === undefined) {
      expect(() => applyPatch(object, patch as JsonPatch)).toThrow(expect.objectContaining({ code: 'VALUE' }));
      return;
    }
    expect(applyPatch(object, patch as JsonPatch)).toEqual(result);
    expect(applyPatch(object, diffJson(object, result))).toEqual(result);
  });
});

describe('RFC 7386, appendix A', () => {
  it.each(MERGE_PATCH)('%j and %j', (object, patch, result) => {
    const isObject = typeof patch === 'object' && patch !== null && !Array.isArray(patch);
    const asPatch: Patch = isObject ? (patch as Patch) : [{ op: 'replace', path: '', value: patch }];
    expect(applyPatch(object, asPatch)).toEqual(result);
    const made = mergePatchOf(object, result);
    expect(made === undefined).toBe(!isObject);
    if (made !== undefined) expect(applyPatch(object, made)).toEqual(result);
  });
});
