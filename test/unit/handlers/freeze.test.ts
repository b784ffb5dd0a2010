import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../src/handlers/freeze.ts';
import { ValueError } from '../../../src/types/errors.ts';

describe('deepFreeze', () => {
  it('freezes to the last leaf, in place, and leaves bytes alone', () => {
    const value = { a: [{ b: 1 }], bytes: new Uint8Array(1) };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.a, value.a[0]].every((part) => Object.isFrozen(part))).toBe(true);
    value.bytes[0] = 1;
  });

  it.each([
    ['at the top', Object.freeze({ spec: { n: 1 } })],
    ['in the middle', { spec: Object.freeze({ n: 1, list: [{ m: 1 }] }) }],
    ['as an array', Object.freeze([{ n: 1 }])],
  ])("looks below what somebody else has frozen %s (I5')", (_where, value) => {
    deepFreeze(value);
    const open: unknown[] = [];
    const visit = (part: unknown): void => {
      if (typeof part !== 'object' || part === null) return;
      if (!Object.isFrozen(part)) open.push(part);
      for (const child of Object.values(part)) visit(child);
    };
    visit(value);
    expect(open).toEqual([]);
  });

  it('visits shared parts once and ends on a value that contains itself', () => {
    let shared: unknown = {};
    for (let level = 0; level < 40; level++) shared = { a: shared, b: shared };
    deepFreeze(shared);
    const ring: { self?: unknown; parts: object[] } = { parts: [{}] };
    ring.self = ring;
    expect(Object.isFrozen(deepFreeze(ring).parts[0])).toBe(true);
    const frozenRing: { self: { back?: unknown } } = Object.freeze({ self: {} });
    frozenRing.self.back = frozenRing;
    expect(Object.isFrozen(deepFreeze(frozenRing).self)).toBe(true);
  });

  it('refuses bottomless data instead of overflowing the stack, each time', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 2000; depth++) value = [value];
    for (let time = 0; time < 2; time++) expect(() => deepFreeze(value)).toThrow(ValueError);
  });
});
