import { raceAborted } from '../../types/until-aborted.ts';
import { EtcdRefusal, textOf, Unreadable } from './errors.ts';
import { objectOf, type WireObject } from './wire.ts';

/** Bodies of the gateway, whole or line by line. Whoever stops reading one cancels it: nobody else would. */

/** The answer of a call. Throws {@link EtcdRefusal}, and {@link Unreadable} for what etcd has not written. */
export async function answerOf(response: Response, endpoint: string, signal: AbortSignal): Promise<WireObject> {
  const text = await wholeText(response, signal);
  if (!response.ok) throw refusalOf(endpoint, text, response.status);
  return objectOf(parsed(text), 'the answer');
}

/** Messages of a stream, as they come. Throws the same, and the signal's reason. */
export async function* messagesOf(
  response: Response,
  endpoint: string,
  signal: AbortSignal,
): AsyncGenerator<WireObject, void, undefined> {
  if (!response.ok) throw refusalOf(endpoint, await wholeText(response, signal), response.status);
  let rest = '';
  for await (const text of chunksOf(response, signal)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield messageOf(line, endpoint);
  }
  if (rest.trim() !== '') throw new Unreadable('a stream that ended in the middle of a message');
}

async function wholeText(response: Response, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const chunk of chunksOf(response, signal)) text += chunk;
  return text;
}

async function* chunksOf(response: Response, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done } = await raceAborted(reader.read(), [signal]).catch((cause: unknown) => {
        signal.throwIfAborted();
        // Said so, lest an error of the connection be taken for one of a request that was never sent.
        throw new Unreadable(`an answer that broke off: ${textOf(cause)}`, { cause });
      });
      if (done) break;
      yield decoder.decode(value, { stream: true });
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
