import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DataError } from '../../../src/cli/errors.ts';
import { unpack } from '../../../src/cli/unpack.ts';

const encoder = new TextEncoder();
const TEXT = Array.from({ length: 3000 }, (_, index) => `line ${index * index}\n`).join('');
const PACKED = new Uint8Array(gzipSync(TEXT));

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of unpack(chunks, 'read the stream')) text += decoder.decode(chunk, { stream: true });
  return text;
}

describe('unpack', () => {
  it.each([1, 2, 7, 100_000])('passes plain text in chunks of %d bytes', async (size) => {
    expect(await read(chunked(encoder.encode('plain text'), size))).toBe('plain text');
  });

  it('passes nothing, and a single byte', async () => {
    expect(await read(chunked(new Uint8Array(0), 1))).toBe('');
    expect(await read(chunked(encoder.encode('{'), 1))).toBe('{');
  });

  it.each([1, 1000, 1_000_000])('unpacks gzip in chunks of %d bytes', async (size) => {
    expect(await read(chunked(PACKED, size))).toBe(TEXT);
  });

  it('unpacks several members as one text', async () => {
    const two = new Uint8Array([...gzipSync('one '), ...gzipSync('two')]);
    expect(await read(chunked(two, 5))).toBe('one two');
  });

  it.each([2, 9, 20, PACKED.length - 9, PACKED.length - 8, PACKED.length - 1])(
    'refuses gzip cut off after %d bytes',
    async (length) => {
      const reading = read(chunked(PACKED.subarray(0, length), 512));
      await expect(reading).rejects.toThrow(DataError);
      await expect(reading).rejects.toThrow(
        new RegExp(
          `^Cannot read the stream: the gzip data end too early, after ${length} packed and \\d+ unpacked bytes$`,
        ),
      );
    },
  );

  it.each([
    ['a header', 2],
    ['the data', 5000],
    ['the checksum', PACKED.length - 8],
    ['the length', PACKED.length - 1],
  ])('refuses gzip damaged in %s, and says where that was noticed', async (_what, at) => {
    const damaged = PACKED.slice();
    damaged[at] = (damaged[at] as number) ^ 0xff;
    const fault: unknown = await read(chunked(damaged, 512)).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(DataError);
    const pattern =
      /^Cannot read the stream: the gzip data are damaged \(.+\), noticed in packed bytes (\d+) to (\d+)$/;
    const [, from, to] = pattern.exec((fault as Error).message) ?? [];
    // What inflates nonsense notices it later.
    expect(Number(to)).toBeGreaterThanOrEqual(at);
    expect(Number(from)).toBeLessThanOrEqual(Number(to));
    expect(Number(to)).toBeLessThan(PACKED.length);
  });

  it('refuses what stands behind gzip', async () => {
    await expect(read(chunked(new Uint8Array([...PACKED, 1, 2, 3]), 512))).rejects.toThrow(
      'the gzip data are damaged (',
    );
  });

  it('hands on what goes wrong while reading, and ends the source when the reader leaves', async () => {
    const failing = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield PACKED.subarray(0, 100);
      throw new DataError('read a.gz', 'it is a directory');
    };
    await expect(read(failing())).rejects.toThrow('Cannot read a.gz: it is a directory');
    for await (const chunk of unpack(chunked(PACKED, 100), 'read')) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
  });
});
