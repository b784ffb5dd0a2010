import { describe, expect, it } from 'vitest';
import { deepFreeze, handOut } from '../../../src/handlers/freeze.ts';
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

describe('handOut', () => {
  it('gives everybody the same frozen value where there are no bytes', () => {
    const value = { a: [{ b: 1 }] };
    expect([handOut(value), handOut(value)].every((given) => given === value)).toBe(true);
    expect(Object.isFrozen(value.a[0])).toBe(true);
    expect([handOut(7), handOut(undefined), handOut(null)]).toEqual([7, undefined, null]);
  });

  it.each([
    ['bytes alone', () => Uint8Array.of(1, 2)],
    ['a Buffer', () => Buffer.from([1, 2])],
    ['a part of a larger buffer', () => new Uint8Array(Uint8Array.of(9, 1, 2, 9).buffer, 1, 2)],
    ['a DataView', () => new DataView(Uint8Array.of(1, 2).buffer)],
    ['an ArrayBuffer', () => Uint8Array.of(1, 2).buffer],
  ])('gives everybody bytes of their own: %s', (_name, make) => {
    const shared = { n: 1 };
    for (const wrap of [(bytes: unknown) => bytes, (bytes: unknown) => ({ deep: [{ bytes, shared }], shared })]) {
      const value = wrap(make());
      const [first, second] = [handOut(value), handOut(value)];
      bytesIn(first)[0] = 99;
      expect([...bytesIn(first)]).toEqual([99, 2]);
      expect([...bytesIn(second)]).toEqual([1, 2]);
      expect([...bytesIn(value)]).toEqual([1, 2]);
      expect(second).toEqual(value);
    }
  });

  it('copies containers frozen, also where they contain themselves, and leaves instances of classes as they are', () => {
    const instance = new Map([['a', 1]]);
    const value: { bytes: Uint8Array; instance: object; self?: unknown } = { bytes: Uint8Array.of(1), instance };
    value.self = value;
    const given = handOut(value);
    expect(given).not.toBe(value);
    expect(given.self).toBe(given);
    expect(given.instance).toBe(instance);
    expect(Object.isFrozen(given)).toBe(true);
  });
});

/** The one run of bytes in a value. */
function bytesIn(value: unknown): Uint8Array {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const found = value as { readonly deep: readonly { readonly bytes: unknown }[] };
  return bytesIn(found.deep[0]?.bytes);
}
