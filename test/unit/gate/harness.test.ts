import { describe, expect, it } from 'vitest';
import { equal, Harness, rejects, throws } from '../../conformance/harness.ts';

describe('equal', () => {
  it.each([
    ['the same primitive', 1, 1],
    ['NaN', Number.NaN, Number.NaN],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    ['nested data', { a: [1, { b: 'c' }] }, { a: [1, { b: 'c' }] }],
    ['objects in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['maps', new Map([['a', Uint8Array.of(1)]]), new Map([['a', Uint8Array.of(1)]])],
    ['sets', new Set([1]), new Set([1])],
  ])('accepts %s', (_, actual, expected) => {
    expect(() => equal(actual, expected)).not.toThrow();
  });

  it.each([
    ['another primitive', 1, 2],
    ['0 and -0', 0, -0],
    ['a number and its text', 1, '1'],
    ['null and an object', null, {}],
    ['bytes that differ', Uint8Array.of(1, 2), Uint8Array.of(1, 3)],
    ['bytes of another length', Uint8Array.of(1), Uint8Array.of(1, 0)],
    ['bytes and an array', Uint8Array.of(1), [1]],
    ['a missing member', { a: 1 }, { a: 1, b: 2 }],
    ['an undefined member', { a: undefined }, { b: undefined }],
    ['a member too many', { a: 1, b: 2 }, { a: 1 }],
    ['an array and an object', [1], { 0: 1 }],
    ['maps that differ', new Map([['a', 1]]), new Map([['a', 2]])],
    ['sets that differ', new Set([1]), new Set([2])],
    ['an error class', new TypeError('a'), new RangeError('a')],
  ])('refuses %s', (_, actual, expected) => {
    expect(() => equal(actual, expected)).toThrow('Not equal');
    expect(() => equal(expected, actual)).toThrow('Not equal');
  });

  it('says where', () => {
    expect(() => equal({ a: [1, { b: 2n }] }, { a: [1, { b: 3n }] })).toThrow('at .a.1.b: got {"a":[1,{"b":"2n"}]}');
  });
});

describe('throws and rejects', () => {
  class CodedError extends Error {
    readonly code = 'CODED';
  }

  it('accept the class and the code, and hand the error out', async () => {
    const error = new CodedError('no');
    const fail = (): never => {
      throw error;
    };
    expect(throws(fail, { class: CodedError, code: 'CODED' })).toBe(error);
    expect(await rejects(Promise.reject(error), { class: Error })).toBe(error);
  });

  it('refuse success, another class and another code', async () => {
    const fail = (): never => {
      throw new CodedError('no');
    };
    expect(() => throws(() => 1, { class: Error })).toThrow('Nothing was thrown');
    expect(() => throws(fail, { class: TypeError })).toThrow('Expected TypeError');
    expect(() => throws(fail, { class: CodedError, code: 'OTHER' })).toThrow('Expected code OTHER');
    await expect(rejects(Promise.resolve(1), { class: Error })).rejects.toThrow('Nothing was rejected');
    await expect(rejects(Promise.reject(1), { class: Error })).rejects.toThrow('Expected Error');
  });
});

describe('run', () => {
  it('counts, goes on after a failure, and keeps the order', async () => {
    const harness = new Harness();
    const order: string[] = [];
    harness.test('a', () => {
      order.push('a');
    });
    harness.test('b', async () => {
      order.push('b');
      await Promise.reject(new Error('broken'));
    });
    harness.test('c', async () => {
      await Promise.resolve();
      order.push('c');
    });
    const result = await harness.run();
    expect(order).toEqual(['a', 'b', 'c']);
    expect([result.passed, result.failed]).toEqual([2, 1]);
    expect(result.failures[0]?.name).toBe('b');
    expect(result.failures[0]?.message).toContain('broken');
  });

  it('tells of each case before it runs, of one that hangs too', async () => {
    const harness = new Harness();
    const order: string[] = [];
    harness.test('a', () => {
      order.push('a runs');
    });
    harness.test('b', () => new Promise(() => {}));
    harness.test('c', () => equal(1, 1));
    const running = harness.run((name) => order.push(`${name} starts`)).then(() => order.push('end'));
    await Promise.race([running, new Promise((resolve) => setImmediate(resolve))]);
    expect(order).toEqual(['a starts', 'a runs', 'b starts']);
  });

  it('refuses two cases of one name', () => {
    const harness = new Harness();
    harness.test('a', () => equal(1, 1));
    expect(() => harness.test('a', () => equal(1, 1))).toThrow('there is one of that name');
  });

  it('of nothing is no success', async () => {
    expect(await new Harness().run()).toEqual({ passed: 0, failed: 0, failures: [] });
  });
});
