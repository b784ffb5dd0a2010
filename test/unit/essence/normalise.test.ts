import { describe, expect, it } from 'vitest';
import type { EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { CHECKED_FIRST, CHECKED_ONE_OF } from '../../../src/core/essence-normaliser.ts';
import { ValueError } from '../../../src/types/errors.ts';
import { createHasher, utf8 } from './support.ts';

interface Quantity {
  readonly cpu?: string;
}

/** `1000m` is 1. */
function inUnits(object: unknown): unknown {
  const { cpu = '1', ...rest } = object as Quantity;
  return { ...rest, cpu: cpu.endsWith('m') ? String(Number.parseInt(cpu, 10) / 1000) : cpu };
}

/** Each time one more: never the same again. */
function longer(object: unknown): unknown {
  return { ...(object as object), x: `${(object as { x?: string }).x ?? ''}x` };
}

describe('normalise', () => {
  it('makes one digest of two forms, from bytes and values alike', () => {
    const hasher = createHasher({ normalise: inUnits });
    for (const object of [{ cpu: '1000m' }, { cpu: '1' }, {}]) {
      expect(hasher.canonicalize(object)).toBe('{"cpu":"1"}');
      expect(hasher.digest(utf8(JSON.stringify(object)))).toBe(hasher.digest({ cpu: '1' }));
    }
    expect(hasher.digest({ cpu: '2' })).not.toBe(hasher.digest({ cpu: '1' }));
  });

  it('sees the whole object, and what it makes is left without what is excluded', () => {
    const hasher = createHasher({
      normalise: (object) => ({ ...(object as object), status: 'other', seen: Object.keys(object as object) }),
    });
    expect(hasher.canonicalize({ kind: 'D', status: 1, seen: 1 })).toBe('{"seen":["kind","status","seen"]}');
  });

  it('that of a kind comes after the one for all', () => {
    const normalise = (name: string) => (object: unknown) => {
      const { by = [] } = object as { by?: string[] };
      return { ...(object as object), by: by.includes(name) ? by : [...by, name] };
    };
    const hasher = createHasher({
      normalise: normalise('all'),
      kinds: { '*/D': { normalise: normalise('any D') }, 'v1/D': { normalise: normalise('v1/D') } },
    });
    expect(hasher.canonicalize({ apiVersion: 'v1', kind: 'D' })).toBe('{"by":["all","any D","v1/D"]}');
    expect(hasher.canonicalize({ apiVersion: 'v1', kind: 'E' })).toBe('{"by":["all"]}');
  });

  it('takes values that are no JSON, of which it makes some', () => {
    const hasher = createHasher({ normalise: (object) => ({ at: String((object as { at: unknown }).at) }) });
    expect(hasher.canonicalize({ at: 5n })).toBe('{"at":"5"}');
  });

  it('throws what the function throws, and refuses what is no JSON', () => {
    const failing = createHasher({
      normalise: () => {
        throw new RangeError('mine');
      },
    });
    expect(() => failing.digest({})).toThrow(new RangeError('mine'));
    for (const made of [undefined, { a: Number.NaN }, new Map(), Promise.resolve({})]) {
      expect(() => createHasher({ normalise: () => made }).digest({})).toThrow(ValueError);
    }
  });
});

describe('a normalise that is not idempotent (E16)', () => {
  const refusal = (options: EssenceHasherOptions, object: unknown): unknown => {
    try {
      return createHasher(options).digest(object);
    } catch (error) {
      return error;
    }
  };

  it('is refused with the place where the second result is another one', () => {
    const nested = (object: unknown): unknown => ({ a: [0, longer((object as { a?: object[] }).a?.[1] ?? {})], b: 1 });
    const error = refusal({ normalise: nested }, {});
    expect(error).toBeInstanceOf(ValueError);
    expect(error).toMatchObject({ path: '/a/1/x' });
    expect((error as Error).message).toBe(
      'Cannot digest the value: the value at /a/1/x is not the same when normalised twice: normalise is not idempotent',
    );
  });

  it('names a member that is new or gone', () => {
    const grows = (object: unknown): unknown => ({
      ...(object as object),
      [`m${Object.keys(object as object).length}`]: 1,
    });
    expect(refusal({ normalise: grows }, { a: 1 })).toMatchObject({ path: '/m2' });
    const shrinks = (object: unknown): unknown => Object.fromEntries(Object.entries(object as object).slice(1));
    expect(refusal({ normalise: shrinks }, { a: 1, b: 1, c: 1 })).toMatchObject({ path: '/b' });
  });

  it('may be so in what is excluded', () => {
    expect(refusal({ normalise: longer, ignore: ['/x'] }, { a: 1 })).toMatch(/^xxh3-128:/);
  });

  it('is found out also where two functions are, each for itself', () => {
    const set = (value: number) => (object: unknown) => ({ ...(object as object), toggled: value });
    const other = (object: unknown): unknown => {
      const { toggled, ...rest } = object as { toggled: number };
      return { ...rest, toggled: toggled + 1 - ('seen' in rest ? 1 : 0), seen: true };
    };
    const error = refusal(
      { normalise: set(1), kinds: { 'v1/D': { normalise: other } } },
      { apiVersion: 'v1', kind: 'D' },
    );
    expect(error).toMatchObject({ path: '/toggled' });
  });

  it('is checked for the first objects, and for one of many later ones, or for all', () => {
    for (const checkNormalise of ['sampled', 'always'] as const) {
      let calls = 0;
      const normalise = (object: unknown): unknown => {
        calls++;
        return object;
      };
      const hasher = createHasher({ normalise, checkNormalise });
      for (let nth = 0; nth < CHECKED_FIRST; nth++) hasher.digest({ nth });
      expect(calls).toBe(2 * CHECKED_FIRST);
      for (let nth = 0; nth < 10 * CHECKED_ONE_OF; nth++) hasher.digest({ nth });
      const checks = checkNormalise === 'always' ? 10 * CHECKED_ONE_OF : 10;
      expect(calls).toBe(2 * CHECKED_FIRST + 10 * CHECKED_ONE_OF + checks);
    }
  });
});
