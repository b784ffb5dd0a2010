import { describe, expect, it } from 'vitest';
import { DEPTH_MAX } from '../../../src/core/canonical-text.ts';
import { checkJsonData, freezePlain, frozenCopy, measuredCopy } from '../../../src/store/json-data.ts';
import { ValueError } from '../../../src/types/errors.ts';

function nested(levels: number, leaf: unknown = 1): unknown {
  let value = leaf;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('depth', () => {
  it('so many containers are the most, for a copy and for a check', () => {
    expect(frozenCopy(nested(DEPTH_MAX), 'put')).toEqual(nested(DEPTH_MAX));
    checkJsonData(nested(DEPTH_MAX), 'put');
    for (const judge of [frozenCopy, measuredCopy, checkJsonData]) {
      expect(() => judge(nested(DEPTH_MAX + 1), 'put')).toThrow(`is nested deeper than ${DEPTH_MAX} levels`);
    }
  });

  it('what is too deep, or is no plain data somewhere, is not frozen and said to be so', () => {
    expect(freezePlain(nested(DEPTH_MAX))).toBe(true);
    expect(freezePlain(nested(DEPTH_MAX + 1))).toBe(false);
    for (const leaf of [new Date(0), new Map(), Uint8Array.of(1), Object.create({ a: 1 }), () => 1, class {}]) {
      const value = nested(3, leaf);
      expect([freezePlain(leaf), freezePlain(value), Object.isFrozen(value)]).toEqual([false, false, false]);
    }
  });

  it('freezes everything below, and takes primitives as they are', () => {
    const value = { a: [{ b: 1 }], c: Object.assign(Object.create(null) as object, { d: null }) };
    expect(freezePlain(value)).toBe(true);
    expect([value, value.a, value.a[0], value.c].map((part) => Object.isFrozen(part))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([1, 'a', true, null, undefined].map((part) => freezePlain(part))).toEqual([true, true, true, true, true]);
  });
});

describe('the bound on the bytes of the JSON text', () => {
  // 24 bytes a number, 6 a unit of text, 1 for what stands behind a part, 2 for brackets and quotes, 1 for a colon.
  it.each([
    [1, 25],
    [true, 25],
    [null, 25],
    ['', 3],
    ['abc', 21],
    [[], 3],
    [{}, 3],
    [[1, 'a'], 3 + 25 + 9],
    [{ ab: 1 }, 3 + 15 + 25],
    [{ a: undefined }, 3],
    [{ a: [{}] }, 3 + 9 + 3 + 3],
  ])('%j: %d', (value, bytes) => {
    expect(measuredCopy(value, 'put').bytesMost).toBe(bytes);
    expect(JSON.stringify(value).length).toBeLessThanOrEqual(bytes);
  });
});

describe('data that are only looked at', () => {
  it('may have members that are undefined, as data that are copied may; elements may not be', () => {
    const data = { a: undefined, b: [1, { c: undefined }] };
    expect(() => checkJsonData(data, 'test')).not.toThrow();
    expect(data).toEqual({ a: undefined, b: [1, { c: undefined }] });
    expect(() => checkJsonData([1, undefined], 'test')).toThrow(ValueError);
    expect(() => checkJsonData(undefined, 'test')).toThrow(ValueError);
  });
});

describe('what is refused, with where it is', () => {
  const hole: unknown[] = [1];
  hole.length = 2;
  it.each([
    [{ a: { b: [1, Number.NaN] } }, '/a/b/1'],
    [{ 'x/y': { '~': () => 1 } }, '/x~1y/~0'],
    [hole, '/1'],
    [[[new Date(0)]], '/0/0'],
    [{ a: '\ud800' }, '/a'],
    [{ a: { '\ud800': 1 } }, '/a'],
    [10n, ''],
    [Symbol('a'), ''],
    [Number.POSITIVE_INFINITY, ''],
  ])('%#', (value, path) => {
    for (const judge of [frozenCopy, checkJsonData]) {
      const call = () => judge(value, 'put a key');
      expect(call).toThrow(ValueError);
      try {
        call();
      } catch (error) {
        expect(error).toMatchObject({ path });
      }
    }
  });
});
