import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls, escapeName } from '../../../src/cli/escape.ts';

const names = fc.string({ unit: fc.constantFrom('a', 'n', 'r', '\\', '\n', '\r', ' ') });

describe('escapeName', () => {
  it.each([
    ['a b.json', 'a b.json'],
    ['a\nb', 'a\\nb'],
    ['a\r\nb', 'a\\r\\nb'],
    ['a\\nb', 'a\\\\nb'],
  ])('makes %j one line', (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
  });

  it('can be undone: no two names come out the same', () => {
    return fc.assert(
      fc.property(names, (name) => {
        const undone = escapeName(name).replace(/\\(.)/g, (_, character: string) =>
          character === 'n' ? '\n' : character === 'r' ? '\r' : character,
        );
        expect(undone).toBe(name);
      }),
    );
  });
});

describe('escapeControls', () => {
  it('leaves text alone, also text that is escaped already', () => {
    expect(escapeControls('Cannot read a\\nb: größer als 1 🚢')).toBe('Cannot read a\\nb: größer als 1 🚢');
  });

  it('leaves nothing that breaks a line or moves a cursor', () => {
    expect(escapeControls('a\nb\rc\td\x1b[2Ke\u007f\u0085\u2028\u2029\0')).toBe(
      'a\\nb\\rc\\td\\x1b[2Ke\\x7f\\x85\\u2028\\u2029\\x00',
    );
  });
});
