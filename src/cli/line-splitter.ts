import { concatenate } from './concatenate.ts';
import { DataError, type Place } from './errors.ts';

/** One line without its line break, and where it begins. `isTooLong`: its bytes were dropped. */
export interface TextLine extends Place {
  readonly bytes: Uint8Array;
  readonly isTooLong: boolean;
}

/**
 * Cuts a byte stream into lines. One that is longer than the bound comes out empty and marked, once it ends: the lines
 * behind it are still worth reading.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<TextLine, void, undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let line = 1;
  let offset = 0;
  const keep = (part: Uint8Array): void => {
    size += part.length;
    if (size > lineBytesMax) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const take = (): TextLine => {
    const isTooLong = size > lineBytesMax;
    const [first] = parts;
    const bytes = parts.length === 1 && first !== undefined ? first : concatenate(parts, isTooLong ? 0 : size);
    const text = { bytes, line, offset, isTooLong };
    offset += size;
    parts = [];
    size = 0;
    return text;
  };
  for await (const chunk of chunks) {
    let begin = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, begin)) {
      keep(chunk.subarray(begin, end));
      yield take();
      line++;
      offset++;
      begin = end + 1;
    }
    keep(chunk.subarray(begin));
  }
  if (size > 0) yield take();
}

/** All of a stream as one text. Throws `DataError` above the bound. */
export async function readAll(
  chunks: AsyncIterable<Uint8Array>,
  action: string,
  bytesMax: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bytesMax) throw new DataError(action, `it is larger than ${bytesMax} bytes`);
    parts.push(chunk);
  }
  return concatenate(parts, size);
}
