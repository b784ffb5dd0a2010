import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAll, splitLines } from '../../../src/cli/line-splitter.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function linesOf(text: string, size: number, lineBytesMax = 1000) {
  const found = [];
  for await (const { bytes, line, offset, isTooLong } of splitLines(
    chunked(encoder.encode(text), size),
    lineBytesMax,
  )) {
    found.push({ text: decoder.decode(bytes), line, offset, isTooLong });
  }
  return found;
}

describe('splitLines', () => {
  it('finds the same lines whatever the size of the chunks', async () => {
    const text = fc.array(fc.string({ maxLength: 12 }), { maxLength: 8 }).map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (whole, size) => {
        const expected = whole.split('\n');
        // A line break at the end ends the last line, it does not begin one.
        if (expected.at(-1) === '') expected.pop();
        let offset = 0;
        const found = await linesOf(whole, size);
        expect(found.map((one) => one.text)).toEqual(expected);
        for (const [index, one] of found.entries()) {
          expect(one).toEqual({ text: expected[index], line: index + 1, offset, isTooLong: false });
          offset += encoder.encode(one.text).length + 1;
        }
      }),
    );
  });

  it('drops a line above the bound and goes on behind it', async () => {
    expect(await linesOf('ok\n12345678\n1234567\nok', 3, 7)).toEqual([
      { text: 'ok', line: 1, offset: 0, isTooLong: false },
      { text: '', line: 2, offset: 3, isTooLong: true },
      { text: '1234567', line: 3, offset: 12, isTooLong: false },
      { text: 'ok', line: 4, offset: 20, isTooLong: false },
    ]);
  });
});

describe('readAll', () => {
  it('joins the chunks, up to the bound', async () => {
    const bytes = encoder.encode('0123456789');
    expect(decoder.decode(await readAll(chunked(bytes, 3), 'read it', 10))).toBe('0123456789');
    await expect(readAll(chunked(bytes, 3), 'read it', 9)).rejects.toThrow('Cannot read it: it is larger than 9 bytes');
  });
});
