import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataError } from '../../../src/cli/errors.ts';
import { JsonSplitter, type JsonText } from '../../../src/cli/json-splitter.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function split(bytes: Uint8Array, cuts: readonly number[] = [], valueBytesMax?: number): JsonText[] {
  const splitter = new JsonSplitter({ action: 'read', ...(valueBytesMax === undefined ? {} : { valueBytesMax }) });
  const found: JsonText[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    found.push(...splitter.push(bytes.subarray(from, cut)));
    from = cut;
  }
  splitter.end();
  return found;
}

function faultOf(text: string | Uint8Array, valueBytesMax?: number): string {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  try {
    split(bytes, [], valueBytesMax);
  } catch (error) {
    if (error instanceof DataError) return error.message;
    throw error;
  }
  return 'no fault';
}

describe('JsonSplitter', () => {
  it('cuts lines, pretty-printed text and objects without a gap, and knows where each begins', () => {
    const text = '{"a":1}\r\n\n  {\n  "b": [\n    {"c": "}\\"{"}\n  ]\n}{"d":{}}\n';
    const found = split(encoder.encode(text)).map(({ bytes, line, offset }) => ({
      text: decoder.decode(bytes),
      line,
      offset,
    }));
    expect(found).toEqual([
      { text: '{"a":1}', line: 1, offset: 0 },
      { text: '{\n  "b": [\n    {"c": "}\\"{"}\n  ]\n}', line: 3, offset: 12 },
      { text: '{"d":{}}', line: 7, offset: 46 },
    ]);
  });

  it('finds the same objects wherever the chunks are cut', () => {
    const key = fc.string({ unit: 'grapheme', maxLength: 6 });
    const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
    const gap = fc.constantFrom('', ' ', '\n', '\r\n', '\n\n\t');
    const piece = fc.record({ object, gap, indent: fc.constantFrom(0, 2) });
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), cuts, (pieces, fractions) => {
        const texts = pieces.map((one) => JSON.stringify(one.object, null, one.indent));
        const whole = pieces.map((one, index) => one.gap + texts[index]).join('');
        const bytes = encoder.encode(whole);
        const places = fractions.map((fraction) => Math.floor(fraction * bytes.length)).sort((a, b) => a - b);
        const found = split(bytes, places);
        expect(found.map((one) => decoder.decode(one.bytes))).toEqual(texts);
        for (const { offset, line, bytes: own } of found) {
          expect(bytes.subarray(offset, offset + own.length)).toEqual(own);
          expect(line).toBe(decoder.decode(bytes.subarray(0, offset)).split('\n').length);
        }
      }),
    );
  });

  it.each([
    ['text', 'x', 'Cannot read: line 1, byte 0: expected a JSON object, found "x"'],
    ['an array', '{}\n[1]', 'Cannot read: line 2, byte 3: expected a JSON object, found "["'],
    ['a second end', '{}}', 'Cannot read: line 1, byte 2: expected a JSON object, found "}"'],
    ['a number', '{} 7', 'Cannot read: line 1, byte 3: expected a JSON object, found "7"'],
    ['a control character', '\u0000', 'Cannot read: line 1, byte 0: expected a JSON object, found byte 0x00'],
    [
      'a byte order mark',
      '\ufeff{}',
      'Cannot read: line 1, byte 0: expected a JSON object, found byte 0xef (a byte order mark or other text that is not JSON)',
    ],
    ['a string over two lines', '{}\n{"a":"b\n"}', 'Cannot read: line 2, byte 10: a line break inside a string'],
    [
      'an object without an end',
      '{}\n {"a":[1,',
      'Cannot read: line 2, byte 4: the object that begins here has no end',
    ],
    ['an open string at the end', '{"a":"}', 'Cannot read: line 1, byte 0: the object that begins here has no end'],
  ])('refuses %s with its place', (_what, text, message) => {
    expect(faultOf(text)).toBe(message);
  });

  it('holds an object of the bound and refuses one byte more, complete or not', () => {
    const ofSize = (size: number) => `{"a":"${'x'.repeat(size - 8)}"}`;
    expect(faultOf(ofSize(100), 100)).toBe('no fault');
    const message = 'Cannot read: line 1, byte 0: the object that begins here is larger than 100 bytes';
    expect(faultOf(ofSize(101), 100)).toBe(message);
    expect(faultOf(`{"a":"${'x'.repeat(200)}`, 100)).toBe(message);
    expect(faultOf(ofSize(100).repeat(5), 100)).toBe('no fault');
  });
});
