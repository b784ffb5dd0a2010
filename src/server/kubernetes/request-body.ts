import { refuse } from './api-status.ts';

/** That of Kubernetes. */
export const BODY_BYTES_MAX: number = 3 * 1024 * 1024;

/** The body as JSON; `undefined` if there is none. Throws `RequestRefused` above 3 MiB and for what is no JSON. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readText(request);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(400, `the body of the request is no JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

/** The media type without its parameters, in lower case; '' without one. */
export function contentType(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Piece by piece, so that a body that is too long is not read to its end. */
async function readText(request: Request): Promise<string> {
  if (request.body === null) return '';
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let length = 0;
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > BODY_BYTES_MAX) {
      const over = refuse(413, `Request entity too large: limit is ${BODY_BYTES_MAX}`);
      await reader.cancel(over);
      throw over;
    }
    text += decode(decoder, value);
  }
  return text + decode(decoder);
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw refuse(400, 'the body of the request is not UTF-8');
  }
}
