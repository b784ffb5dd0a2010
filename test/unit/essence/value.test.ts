import { describe, expect, it } from 'vitest';
import { DEPTH_MAX } from '../../../src/core/canonical-text.ts';
import { LimitExceededError, ValueError } from '../../../src/types/errors.ts';
import { createHasher, PLAIN } from './support.ts';

const hasher = createHasher(PLAIN);

describe('essence of a parsed value', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  it.each([
    // value, where, why
    [undefined, '', 'is of type undefined'],
    [[1, undefined], '/1', 'is of type undefined'],
    [{ a: { 'b/c': [Number.NaN] } }, '/a/b~1c/0', 'is NaN, which JSON does not have'],
    [{ '~': -Infinity }, '/~0', 'is -Infinity, which JSON does not have'],
    [{ a: 1n }, '/a', 'is of type bigint'],
    [{ a: () => 1 }, '/a', 'is of type function'],
    [{ a: Symbol('s') }, '/a', 'is of type symbol'],
    [{ a: '\ud800' }, '/a', 'has half of a surrogate pair'],
    [{ a: '\udc00\ud800' }, '/a', 'has half of a surrogate pair'],
    [{ '\ud800': 1 }, '/\ud800', 'has half of a surrogate pair in its name'],
    [{ when: new Date(0) }, '/when', 'is a Date, not plain data'],
    [{ a: new Map([[1, 2]]) }, '/a', 'is a Map, not plain data'],
    [{ a: Uint8Array.of(1) }, '/a', 'is a Uint8Array, not plain data'],
  ])('refuses %o at "%s"', (value, path, reason) => {
    const digest = (): string => hasher.digest(value);
    expect(digest).toThrow(ValueError);
    expect(digest).toThrow(reason);
    expect(digest).toThrow(expect.objectContaining({ path }));
  });

  it('refuses a value that contains itself, or is as deep as one', () => {
    expect(() => hasher.digest(cyclic)).toThrow('levels deep, or contains itself');
    const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    expect(hasher.canonicalize(nested(DEPTH_MAX))).toHaveLength(2 * DEPTH_MAX);
    expect(() => hasher.canonicalize(nested(DEPTH_MAX + 1))).toThrow(ValueError);
  });

  it('is usable after a refusal', () => {
    expect(() => hasher.digest(cyclic)).toThrow(ValueError);
    expect(hasher.canonicalize({ a: 1 })).toBe('{"a":1}');
  });

  it('does not call toJSON, and takes instances as their own members', () => {
    class Point {
      readonly x = 1;
      readonly #hidden = 2;
      toJSON(): number {
        return this.#hidden;
      }
    }
    expect(hasher.canonicalize(new Point())).toBe('{"x":1}');
    expect(hasher.canonicalize(Object.assign(Object.create(null) as object, { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });

  it('does not look at what is excluded', () => {
    const some = createHasher({ ignore: ['/a'] });
    expect(some.canonicalize({ a: { b: 1n }, status: cyclic, c: 1 })).toBe('{"c":1}');
    class Spec {
      readonly kind = 'x';
    }
    const failing = () => ({
      get a(): never {
        throw new Error('looked at');
      },
      // Makes the digest take the slower way.
      c: new Spec(),
    });
    expect(some.canonicalize(failing())).toBe('{"c":{"kind":"x"}}');
    expect(some.digest(failing())).toBe(some.digest({ c: { kind: 'x' } }));
  });

  it('takes a string as a JSON string, not as JSON text', () => {
    expect(hasher.canonicalize('{"a":1}')).toBe('"{\\"a\\":1}"');
  });

  it('does not unfold shared parts without end', () => {
    let value: unknown = 'leaf';
    for (let level = 0; level < 60; level++) value = [value, value];
    // 2^60 leaves, of which none is written: even the visits alone must come to an end.
    const nothing = createHasher({ ignore: ['/*'.repeat(60)], defaults: false });
    const limit = { name: LimitExceededError.name, limit: 'the number of members and elements', max: 4_194_304 };
    expect(() => nothing.digest(value)).toThrow(expect.objectContaining(limit));
  });
});
