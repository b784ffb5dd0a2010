import { describe, expect, it } from 'vitest';
import { strategicMerge } from '../../../src/server/kubernetes/strategic-merge.ts';

const two = [
  { name: 'a', image: 'a:1', ports: [{ containerPort: 80, name: 'http' }] },
  { name: 'b', image: 'b:1' },
];

describe('a strategic merge patch', () => {
  it.each<[string, object, Record<string, unknown>, object]>([
    ['merges objects, and null takes away', { a: { x: 1, y: 2 } }, { a: { x: null, z: 3 } }, { a: { y: 2, z: 3 } }],
    [
      'merges lists by their key',
      { containers: two },
      { containers: [{ name: 'b', image: 'b:2' }] },
      { containers: [two[0], { name: 'b', image: 'b:2' }] },
    ],
    [
      'adds what is not there',
      { containers: two },
      { containers: [{ name: 'c' }] },
      { containers: [...two, { name: 'c' }] },
    ],
    [
      'merges lists within lists',
      { containers: two },
      { containers: [{ name: 'a', ports: [{ containerPort: 81 }] }] },
      { containers: [{ ...two[0], ports: [{ containerPort: 80, name: 'http' }, { containerPort: 81 }] }, two[1]] },
    ],
    [
      'knows ports of a service by their port',
      { ports: [{ port: 1, a: 1 }] },
      { ports: [{ port: 1, b: 2 }] },
      { ports: [{ port: 1, a: 1, b: 2 }] },
    ],
    [
      'deletes an element',
      { containers: two },
      {
        containers: [
          { name: 'a', $patch: 'delete' },
          { name: 'x', $patch: 'delete' },
        ],
      },
      { containers: [two[1]] },
    ],
    [
      'replaces a whole list',
      { containers: two },
      { containers: [{ $patch: 'replace' }, { name: 'c' }] },
      { containers: [{ name: 'c' }] },
    ],
    ['replaces a list without a key', { args: [1, 2] }, { args: [3] }, { args: [3] }],
    ['has lists of any name', { toString: [1] }, { toString: [{ x: 1 }] }, { toString: [{ x: 1 }] }],
    ['unites finalizers', { finalizers: ['a', 'b'] }, { finalizers: ['b', 'c'] }, { finalizers: ['a', 'b', 'c'] }],
    [
      'takes values out of a list',
      { finalizers: ['a', 'b'] },
      { '$deleteFromPrimitiveList/finalizers': ['a'] },
      { finalizers: ['b'] },
    ],
    ['replaces an object', { a: { x: 1 } }, { a: { $patch: 'replace', y: 2 } }, { a: { y: 2 } }],
    ['deletes an object', { a: { x: 1 }, b: 1 }, { a: { $patch: 'delete' } }, { b: 1 }],
    ['keeps no other keys', { a: { x: 1, y: 2 } }, { a: { $retainKeys: ['y', 'z'], z: 3 } }, { a: { y: 2, z: 3 } }],
    [
      'orders elements',
      { containers: two },
      { containers: [{ name: 'c' }], '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }] },
      { containers: [{ name: 'c' }, two[1], two[0]] },
    ],
    [
      'orders values',
      { finalizers: ['a', 'b'] },
      { '$setElementOrder/finalizers': ['b', 'a'] },
      { finalizers: ['b', 'a'] },
    ],
    ['deletes all', { a: 1 }, { $patch: 'delete' }, {}],
  ])('%s', (_title, target, patch, expected) => {
    const before = JSON.stringify([target, patch]);
    expect(strategicMerge(target, patch)).toEqual(expected);
    expect(JSON.stringify([target, patch])).toBe(before);
  });

  it('refuses directives that it does not know', () => {
    expect(() => strategicMerge({}, { $patch: 'twist' })).toThrow('unknown directive $patch');
    expect(() => strategicMerge({}, { $setOrder: 1 })).toThrow('unknown directive $setOrder');
  });

  it.each([[[{ x: 1 }]], [['a']], [[{ name: 'a' }, 'b']], [[{ name: 'a' }, { x: 1 }]]])(
    'refuses elements that lack the key of their list: %j',
    (env) => {
      expect(() => strategicMerge({ env: [{ name: 'a' }] }, { env })).toThrow('merge key: name');
    },
  );

  it('has members of any name', () => {
    const patch = JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>;
    expect(JSON.stringify(strategicMerge({}, patch))).toBe('{"__proto__":{"x":1}}');
  });
});
