import { checkJsonData } from '../../store/json-data.ts';
import { raceAborted } from '../../types/until-aborted.ts';
import { refuse } from './api-status.ts';

/** That of Kubernetes. */
export const BODY_BYTES_MAX: number = 3 * 1024 * 1024;
export const JSON_TYPES: readonly string[] = ['application/json'];

/** Until when a body is waited for. */
export interface BodySignals {
  /** The client's. */
  readonly signal: AbortSignal;
  /** The server's. */
  readonly closing: AbortSignal | undefined;
}

/**
 * The body as JSON; `undefined` if there is none. Throws `RequestRefused` above 3 MiB, for what is no JSON, and for what no store takes:
 * half of a surrogate pair, more levels than JSON data has here. So nobody behind this meets either.
 */
export async function readJson(request: Request, signals: BodySignals): Promise<unknown> {
  return parsed(await readText(request, signals));
}

/** The same of a body that need not be there: its type counts only if it is. */
export async function readOptions(request: Request, signals: BodySignals): Promise<unknown> {
  const text = await readText(request, signals);
  if (text !== '') checkContentType(request, JSON_TYPES);
  return parsed(text);
}

/** Before a body is read. None is JSON, where that is taken. Throws `RequestRefused` (415). */
export function checkContentType(request: Request, types: readonly string[]): void {
  const type = contentType(request);
  if (types.includes(type) || (type === '' && types === JSON_TYPES)) return;
  const accepted = `accepted media types include: ${types.join(', ')}`;
  throw refuse(415, `the body of the request was in an unknown format - ${accepted}, not ${type}`);
}

/** The media type without its parameters, in lower case; '' without one. */
export function contentType(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw refuse(400, `the body of the request is no JSON: ${error instanceof Error ? error.message : ''}`);
  }
  checkJsonData(body, 'read the body of the request');
  return body;
}

/** Piece by piece, so that a body that is too long is not read to its end. */
async function readText(request: Request, { signal, closing }: BodySignals): Promise<string> {
  if (request.body === null) return '';
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let length = 0;
  let text = '';
  try {
    for (;;) {
      const { value, done } = await raceAborted(reader.read(), [signal, closing]);
      if (done) return text + decode(decoder);
      length += value.byteLength;
      if (length > BODY_BYTES_MAX) throw refuse(413, `Request entity too large: limit is ${BODY_BYTES_MAX}`);
      text += decode(decoder, value);
    }
  } catch (error) {
    // Not to be waited for: a client that stalls does not answer this either. It fails where the body has failed, which is told.
    void Promise.allSettled([reader.cancel(error)]);
    throw error;
  }
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw refuse(400, 'the body of the request is not UTF-8');
  }
}
