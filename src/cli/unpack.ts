import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DataError } from './errors.ts';

/**
 * The bytes of a stream, unpacked if it begins with the two magic bytes of gzip; several gzip members are one text.
 * Throws `DataError` for a packed stream that ends too early, saying after how many bytes, or is damaged, saying where
 * that was noticed: the damage itself may be further up.
 */
export async function* unpack(
  chunks: AsyncIterable<Uint8Array>,
  action: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await readHead(source);
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => source };
    return;
  }
  yield* gunzip(head, source, action);
}

/** At least two bytes if there are any: a pipe may deliver them one by one. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head = new Uint8Array(0);
  while (head.length < 2) {
    const { value, done } = await source.next();
    if (done === true) break;
    const joined = new Uint8Array(head.length + value.length);
    joined.set(head);
    joined.set(value, head.length);
    head = joined;
  }
  return head;
}

async function* gunzip(
  head: Uint8Array,
  source: AsyncIterator<Uint8Array>,
  action: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let packed = 0;
  let unpacked = 0;
  let sourceFailure: { readonly error: unknown } | undefined;
  const count = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    packed += head.length;
    yield head;
    try {
      for (let item = await source.next(); item.done !== true; item = await source.next()) {
        packed += item.value.length;
        yield item.value;
      }
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  };
  const unzip = createGunzip();
  // A failure of either ends both, and comes out below, where the last one is read.
  pipeline(Readable.from(count(), { objectMode: false }), unzip, (error) => error != null && unzip.destroy(error));
  try {
    for await (const chunk of unzip) {
      unpacked += (chunk as Uint8Array).length;
      yield chunk as Uint8Array;
    }
  } catch (error) {
    if (sourceFailure !== undefined) throw sourceFailure.error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'Z_BUF_ERROR'
        ? `the gzip data end too early, after ${packed} packed and ${unpacked} unpacked bytes`
        : // Known to the piece that was being unpacked, no better.
          `the gzip data are damaged (${message}), noticed in packed bytes ${unzip.bytesWritten} to ${packed - 1}`;
    throw new DataError(action, reason, { cause: error });
  }
}
