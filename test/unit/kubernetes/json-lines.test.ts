import { describe, expect, it } from 'vitest';
import { JsonLines } from '../../../src/kubernetes/json-lines.ts';

/** IN13: lines, whatever the pieces they come in. */

const bytesOf = (text: string) => new TextEncoder().encode(text);

function read(pieces: readonly Uint8Array[], lineBytesMax = 100): { values: unknown[]; rest: number } {
  const lines = new JsonLines('read', lineBytesMax);
  const values: unknown[] = [];
  for (const piece of pieces) lines.add(piece, (value) => values.push(value));
  return { values, rest: lines.rest };
}

describe('lines of JSON (IN13)', () => {
  const text = '{"a":"ü€😀"}\n\n[1]\r\n{"b":2}\n{"c"';
  const bytes = bytesOf(text);
  const expected = { values: [{ a: 'ü€😀' }, [1], { b: 2 }], rest: 4 };

  it('are the same, cut at any two bytes, in the middle of a character too', () => {
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(read(pieces), `${first}, ${second}`).toEqual(expected);
      }
    }
    expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('may be as long as the bound, and no longer, in one piece or many', () => {
    const line = bytesOf(`"${'x'.repeat(98)}"\n`);
    expect(read([line]).values.length).toBe(1);
    expect(read([...line].map((byte) => Uint8Array.of(byte))).values.length).toBe(1);
    const tooLong = bytesOf(`"${'x'.repeat(99)}"`);
    expect(() => read([tooLong])).toThrow('larger than 100 bytes');
    expect(() => read([...tooLong].map((byte) => Uint8Array.of(byte)))).toThrow('larger than 100 bytes');
  });

  it('that are no JSON, or no UTF-8, are told behind those before them', () => {
    const values: unknown[] = [];
    const add = (piece: Uint8Array) => new JsonLines('read', 100).add(piece, (value) => values.push(value));
    expect(() => add(bytesOf('{"a":1}\n{"a":}\n{"b":2}\n'))).toThrow('Cannot read: a line of 6 bytes is not JSON');
    expect(() => add(Uint8Array.of(0x22, 0xff, 0x22, 0x0a))).toThrow('Cannot read: a line of 3 bytes is not JSON');
    expect(values).toEqual([{ a: 1 }]);
  });
});
