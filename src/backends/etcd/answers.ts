import { raceAborted } from '../../types/until-aborted.ts';
import { EtcdRefusal, TooLarge, textOf, Unreadable } from './errors.ts';
import { objectOf, type WireObject } from './wire.ts';

/** Bodies of the gateway, whole or line by line. Whoever stops reading one cancels it: nobody else would. */
export interface BodyOptions {
  readonly endpoint: string;
  readonly signal: AbortSignal;
  /** Of a whole body, and of a line of a stream: what is larger is {@link TooLarge}. */
  readonly bytesMax: number;
}

/** The answer of a call. Throws {@link EtcdRefusal}, and {@link Unreadable} for what etcd has not written. */
export async function answerOf(response: Response, options: BodyOptions): Promise<WireObject> {
  const text = await wholeText(response, options);
  if (!response.ok) throw refusalOf(options.endpoint, text, response.status);
  return objectOf(parsed(text), 'the answer');
}

/** Messages of a stream, as they come. Throws the same, and the signal's reason. */
export async function* messagesOf(
  response: Response,
  options: BodyOptions,
): AsyncGenerator<WireObject, void, undefined> {
  const { endpoint } = options;
  if (!response.ok) throw refusalOf(endpoint, await wholeText(response, options), response.status);
  const line = new Text(options.bytesMax);
  for await (const bytes of chunksOf(response, options)) {
    // Only what is new is looked through, or a long line would cost the square of its chunks.
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end));
      start = end + 1;
      const text = line.take();
      if (text.trim() !== '') yield messageOf(text, endpoint);
    }
    line.add(bytes.subarray(start));
  }
  if (line.take().trim() !== '') throw new Unreadable('a stream that ended in the middle of a message');
}

const NEWLINE = 0x0a;

/** Text that comes in pieces of bytes, up to a bound. */
class Text {
  readonly #bytesMax: number;
  readonly #decoder = new TextDecoder();
  readonly #parts: string[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) throw new TooLarge(this.#bytesMax);
    this.#parts.push(this.#decoder.decode(bytes, { stream: true }));
  }

  /** All of it; what is added then is another text. */
  take(): string {
    const text = this.#parts.join('') + this.#decoder.decode();
    this.#parts.length = 0;
    this.#bytes = 0;
    return text;
  }
}

async function wholeText(response: Response, options: BodyOptions): Promise<string> {
  const text = new Text(options.bytesMax);
  for await (const bytes of chunksOf(response, options)) text.add(bytes);
  return text.take();
}

async function* chunksOf(response: Response, { signal }: BodyOptions): AsyncGenerator<Uint8Array, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await raceAborted(reader.read(), [signal]).catch((cause: unknown) => {
        signal.throwIfAborted();
        // Said so, lest an error of the connection be taken for one of a request that was never sent.
        throw new Unreadable(`an answer that broke off: ${textOf(cause)}`, { cause });
      });
      if (done) break;
      yield value;
    }
  } finally {
    // What is left of it nobody reads; how that ends, too.
    void Promise.allSettled([reader.cancel()]);
  }
}

/** Only what has the form of etcd's own refusals is one: a code of gRPC and a sentence. */
function refusalOf(endpoint: string, text: string, status: number): Error {
  const told = parsed(text) as { readonly error?: unknown; readonly message?: unknown; readonly code?: unknown } | null;
  const message = [told?.message, told?.error].find((one) => typeof one === 'string');
  const code = told?.code;
  if (message === undefined || !isCode(code)) return new Unreadable(`status ${status}: ${text.slice(0, 200)}`);
  return new EtcdRefusal(endpoint, message as string, code);
}

function messageOf(line: string, endpoint: string): WireObject {
  const message = parsed(line) as { readonly result?: unknown; readonly error?: unknown } | null;
  if (message?.error !== undefined && message.error !== null) {
    const { message: told, code, grpc_code = code } = objectOf(message.error, 'an error');
    if (typeof told !== 'string') throw new Unreadable(`an error without a message: ${line.slice(0, 200)}`);
    throw new EtcdRefusal(endpoint, told, isCode(grpc_code) ? grpc_code : 0);
  }
  if (message?.result === undefined) throw new Unreadable(`what is no message: ${line.slice(0, 200)}`);
  return objectOf(message.result, 'a message');
}

/** Of gRPC; a status of HTTP is none. */
function isCode(code: unknown): code is number {
  return typeof code === 'number' && code >= 0 && code <= 16;
}

/** `undefined` for what is no JSON: a proxy's page, or half a line. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
