import { TransportError } from '../../kubernetes/errors.ts';
import type { KubernetesFetch } from '../../kubernetes/fetch-transport.ts';
import { loadModule } from '../load-module.ts';

/** Options of `node:https`' `request`, as far as they are set here; who prepares them adds what it needs. */
export interface NodeRequestOptions {
  method: string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** The part of `node:http` that is used: Deno and Bun have it too. */
interface NodeHttp {
  request(url: string, options: object, callback: (message: NodeMessage) => void): NodeRequest;
}

interface NodeRequest {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'socket', listener: (socket: NodeSocket) => void): unknown;
  end(): void;
}

interface NodeSocket {
  setKeepAlive(isOn: boolean, initialDelayMs: number): unknown;
}

interface NodeMessage extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  destroy(): unknown;
}

export interface NodeFetchOptions {
  /** Adds credentials and certificates, before each request. */
  readonly prepare: (options: NodeRequestOptions) => Promise<void>;
  /** After a 401 it is asked and sent once more: what it adds may have become another. */
  readonly again: boolean;
}

const UNAUTHORIZED = 401;
/** From so long a silence on the system asks whether the other side is there, in ms; the loop's own timer does not depend on it. */
const KEEP_ALIVE_MS = 30_000;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * `fetch` over `node:http` and `node:https`, which take agents and certificates as the platform's `fetch` does not. Bodies are read as they are
 * asked for: `Readable.toWeb` would hold thousands of pieces.
 */
export function createNodeFetch({ prepare, again }: NodeFetchOptions): KubernetesFetch {
  return async (url, init) => {
    const http = await loadHttp(url);
    const response = await send(http, url, init, prepare);
    if (!again || response.status !== UNAUTHORIZED) return response;
    await response.body?.cancel();
    return send(http, url, init, prepare);
  };
}

async function loadHttp(url: string): Promise<NodeHttp> {
  const name = url.startsWith('https:') ? 'node:https' : 'node:http';
  const loaded = await loadModule(name);
  if ('error' in loaded) {
    const why = `${name} cannot be loaded; here a transport over fetch is the one to take`;
    throw new TransportError('send a request', 'unreachable', why, loaded.error);
  }
  return loaded.module as NodeHttp;
}

async function send(
  http: NodeHttp,
  url: string,
  { headers, signal }: RequestInit,
  prepare: NodeFetchOptions['prepare'],
): Promise<Response> {
  const options: NodeRequestOptions = {
    method: 'GET',
    headers: { ...(headers as Record<string, string>) },
    signal: signal ?? new AbortController().signal,
  };
  await prepare(options);
  options.signal.throwIfAborted();
  const message = await new Promise<NodeMessage>((resolve, reject) => {
    const request = http.request(url, options, resolve);
    request.on('error', reject);
    request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
    request.end();
  });
  const status = message.statusCode ?? 0;
  if (WITHOUT_BODY.has(status)) {
    message.destroy();
    return new Response(null, { status });
  }
  return new Response(bodyOf(message), { status, headers: headersOf(message) });
}

function bodyOf(message: NodeMessage): ReadableStream<Uint8Array> {
  const pieces = message[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        message.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function headersOf({ headers }: NodeMessage): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') all.append(name, value);
  }
  return all;
}
