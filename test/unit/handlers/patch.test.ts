import { describe, expect, it } from 'vitest';
import { applyPatch, applyPatches, checkPatch } from '../../../src/handlers/patch.ts';
import type { JsonPatch, Patch } from '../../../src/types/patch.ts';

describe('merge patches (RFC 7386)', () => {
  it.each<[string, unknown, Patch, unknown]>([
    ['sets', { a: 'b' }, { a: 'c' }, { a: 'c' }],
    ['adds', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    ['removes', { a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    ['removes what is not there', { a: 1 }, { b: null }, { a: 1 }],
    ['replaces arrays', { a: ['b'] }, { a: 'c' }, { a: 'c' }],
    ['replaces by arrays', { a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    ['merges objects', { a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [
      'makes objects of other things, without their nulls',
      { a: 1 },
      { a: { b: { c: null, d: 1 } } },
      { a: { b: { d: 1 } } },
    ],
    ['keeps null in arrays', {}, { a: [null] }, { a: [null] }],
    ['makes an object of an array', ['a'], { b: 1 }, { b: 1 }],
    ['passes over what is undefined', { a: 1 }, { a: undefined }, { a: 1 }],
    ['takes __proto__ for a name', {}, JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])('%s', (_what, object, patch, result) => {
    const before = JSON.stringify(object);
    expect(JSON.stringify(applyPatch(object, patch))).toBe(JSON.stringify(result));
    expect(JSON.stringify(object)).toBe(before);
    expect(Reflect.get({}, 'a')).toBeUndefined();
  });
});

const LIST = { list: ['a', 'b'], 'a/b~c': { '': 1 }, none: null };

describe('JSON patches (RFC 6902)', () => {
  it.each<[string, JsonPatch, unknown]>([
    ['add a member', [{ op: 'add', path: '/x', value: 1 }], { ...LIST, x: 1 }],
    ['add over a member', [{ op: 'add', path: '/list', value: 1 }], { ...LIST, list: 1 }],
    ['add into an array', [{ op: 'add', path: '/list/1', value: 'x' }], { ...LIST, list: ['a', 'x', 'b'] }],
    ['add at the end', [{ op: 'add', path: '/list/-', value: 'x' }], { ...LIST, list: ['a', 'b', 'x'] }],
    ['add behind the last', [{ op: 'add', path: '/list/2', value: 'x' }], { ...LIST, list: ['a', 'b', 'x'] }],
    ['add the whole', [{ op: 'add', path: '', value: [1] }], [1]],
    ['remove a member', [{ op: 'remove', path: '/none' }], { list: LIST.list, 'a/b~c': LIST['a/b~c'] }],
    ['remove an element', [{ op: 'remove', path: '/list/0' }], { ...LIST, list: ['b'] }],
    ['replace an element', [{ op: 'replace', path: '/list/1', value: 'x' }], { ...LIST, list: ['a', 'x'] }],
    ['replace the whole', [{ op: 'replace', path: '', value: 3 }], 3],
    ['escaped and empty names', [{ op: 'replace', path: '/a~1b~0c/', value: 2 }], { ...LIST, 'a/b~c': { '': 2 } }],
    ['move', [{ op: 'move', from: '/list/0', path: '/list/1' }], { ...LIST, list: ['b', 'a'] }],
    ['copy', [{ op: 'copy', from: '/list', path: '/none' }], { ...LIST, none: ['a', 'b'] }],
    [
      'copy into itself, changed before',
      [
        { op: 'add', path: '/none', value: 0 },
        { op: 'copy', from: '', path: '/none' },
      ],
      { ...LIST, none: { ...LIST, none: 0 } },
    ],
    ['test', [{ op: 'test', path: '/a~1b~0c', value: { '': 1 } }], LIST],
    ['test null', [{ op: 'test', path: '/none', value: null }], LIST],
  ])('%s', (_what, patch, result) => {
    const before = JSON.stringify(LIST);
    expect(applyPatch(LIST, patch)).toEqual(result);
    expect(JSON.stringify(LIST)).toBe(before);
  });

  it.each<[string, JsonPatch, string]>([
    ['a test that fails', [{ op: 'test', path: '/list/0', value: 'b' }], '/list/0'],
    ['remove what is not there', [{ op: 'remove', path: '/x' }], '/x'],
    ['replace what is not there', [{ op: 'replace', path: '/x', value: 1 }], '/x'],
    ['add below what is not there', [{ op: 'add', path: '/x/y', value: 1 }], '/x'],
    ['add below what has no members', [{ op: 'add', path: '/none/y', value: 1 }], '/none'],
    ['add too far behind', [{ op: 'add', path: '/list/3', value: 1 }], '/list/3'],
    ['an index with a zero in front', [{ op: 'add', path: '/list/01', value: 1 }], '/list/01'],
    ['read behind the end', [{ op: 'copy', from: '/list/-', path: '/x' }], '/list/-'],
    ['move into itself', [{ op: 'move', from: '/list', path: '/list/0' }], '/list/0'],
    ['remove everything', [{ op: 'remove', path: '' }], ''],
    ['a member of the prototype', [{ op: 'test', path: '/toString', value: 1 }], '/toString'],
  ])('refuses %s', (_what, patch, path) => {
    expect(() => applyPatch(LIST, patch)).toThrow(expect.objectContaining({ code: 'VALUE', path }));
  });

  it('all of it or nothing, one patch after the other', () => {
    const patches: Patch[] = [{ n: 1 }, [{ op: 'test', path: '/n', value: 1 }], { n: null }];
    expect(applyPatches({ n: 0 }, patches)).toEqual({});
    expect(() => applyPatches({ n: 0 }, patches.slice(1))).toThrow('/n');
  });
});

describe('bytes in an object', () => {
  const bytes = new Uint8Array([1, 2]);

  it('are one value: replaced by a merge patch, whole, and no place of a JSON patch', () => {
    expect(applyPatches({ bytes }, [{ bytes: { x: 1 } }])).toEqual({ bytes: { x: 1 } });
    expect(applyPatches(bytes, [{ x: 1 }])).toEqual({ x: 1 });
    expect(applyPatches({ bytes }, [{ y: 1 }])).toEqual({ bytes, y: 1 });
    for (const path of ['/bytes/0', '/bytes/x']) {
      expect(() => applyPatches({ bytes }, [[{ op: 'add', path, value: 1 }]])).toThrow(
        '/bytes is no object and no array',
      );
      expect(() => applyPatches({ bytes }, [[{ op: 'remove', path }]])).toThrow(`${path} is not there`);
    }
  });
});

describe('the form of a patch', () => {
  it.each<[unknown, string]>([
    [null, 'the patch is null'],
    ['text', 'the patch is string'],
    [[1], 'operation 0 is not an object'],
    [[{ op: 'set', path: '' }], 'has the op set, allowed are'],
    [[{ op: 'remove', path: 'a' }], 'has the path a, which is no JSON pointer'],
    [[{ op: 'remove', path: '/~2' }], 'has the path /~2'],
    [[{ op: 'move', path: '/a' }], 'has the from undefined'],
    [[{ op: 'add', path: '/a' }], 'has no value'],
  ])('refuses %j', (patch, message) => {
    expect(() => checkPatch('patch', patch)).toThrow(message);
  });

  it('takes every operation, and null for a value', () => {
    const operations = [
      { op: 'add', path: '/a', value: null },
      { op: 'move', from: '/a', path: '' },
      { op: 'remove', path: '/a~0~1' },
    ];
    expect(() => checkPatch('patch', operations)).not.toThrow();
    expect(() => checkPatch('patch', { a: 1 })).not.toThrow();
  });
});
