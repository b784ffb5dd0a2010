import { Buffer } from 'node:buffer';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { checkMembers } from '../../store/checks.ts';
import { checkInteger } from '../../types/check-integer.ts';
import { checkMethods } from '../../types/check-methods.ts';
import { raceAborted } from '../../types/until-aborted.ts';

/** What answers: a test API server, or anything else with a `fetch` of its own. */
export interface FetchHandler {
  readonly fetch: (input: Request, init?: RequestInit) => Promise<Response>;
}

/** Options of {@link listen}. */
export interface ListenOptions {
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** 0 is a free one. @default 0 */
  readonly port?: number;
  /** HTTPS, with this key and certificate, in PEM. @default none: HTTP */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A socket that is open. */
export interface Listener {
  /** `http://127.0.0.1:40123`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** A kubeconfig for it, with no credentials: text for the file of `kubectl --kubeconfig`. */
  readonly kubeconfig: string;
  /** Requests under way, watches among them. */
  readonly active: number;
  /** Breaks every connection, and resolves when none is left. The server behind it goes on. May be called again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const ACTION = 'listen';
const NAMES: ReadonlySet<string> = new Set<keyof ListenOptions>(['host', 'port', 'tls']);

/**
 * Opens a socket in front of a server, for what does not take a `fetch`: `kubectl`, `@kubernetes/client-node`. A `fetch` that
 * rejects is a connection that breaks, with a reset where the platform can send one.
 *
 * @example
 * ```ts
 * import { openTestApiServer } from 'plimsoll/testing';
 * import { listen } from 'plimsoll/testing/node';
 *
 * const server = await openTestApiServer();
 * const listener = await listen(server);
 * const response = await fetch(`${listener.url}/api/v1/pods`);
 * console.log((await response.json()).kind); // PodList
 * await listener.close();
 * await server.close();
 * ```
 *
 * @throws as a rejection: TypeError for an unknown option, RangeError for a port that is none, the platform's error if the address
 * cannot be had
 */
export async function listen(handler: FetchHandler, options: ListenOptions = {}): Promise<Listener> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { host = '127.0.0.1', port = 0, tls } = options;
  checkInteger('port', port, ACTION, 0, 65_535);
  checkMethods('handler', handler, ACTION, ['fetch']);
  const listener = new NodeListener(handler, tls);
  await listener.open(host, port);
  return listener;
}

class NodeListener implements Listener {
  readonly #handler: FetchHandler;
  readonly #tls: ListenOptions['tls'];
  readonly #server: Server;
  readonly #underWay = new Set<AbortController>();
  #host = '';
  #closed: Promise<void> | undefined;

  constructor(handler: FetchHandler, tls: ListenOptions['tls']) {
    this.#handler = handler;
    this.#tls = tls;
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    // A client that keeps a connection must not find it closed in the moment when it asks again: none is, before `close()`.
    const options = { keepAliveTimeout: 0 };
    this.#server = tls === undefined ? createServer(options, answer) : createTlsServer({ ...options, ...tls }, answer);
  }

  async open(host: string, port: number): Promise<void> {
    this.#host = host.includes(':') ? `[${host}]` : host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#tls === undefined ? 'http' : 'https'}://${this.#host}:${this.port}`;
  }

  get kubeconfig(): string {
    const name = 'plimsoll-test';
    const authority =
      this.#tls === undefined ? {} : { 'certificate-authority-data': Buffer.from(this.#tls.cert).toString('base64') };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server: this.url, ...authority } }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    });
  }

  get active(): number {
    return this.#underWay.size;
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    this.#underWay.add(gone);
    outgoing.once('close', () => {
      this.#underWay.delete(gone);
      gone.abort();
    });
    try {
      const { signal } = gone;
      await send(await this.#handler.fetch(requestOf(incoming, this.url), { signal }), outgoing, signal);
    } catch {
      // It is the connection that says so: there is no other way to tell that an answer will not come.
      breakConnection(outgoing);
    }
  }
}

function requestOf(incoming: IncomingMessage, base: string): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const init: RequestInit & { duplex?: 'half' } = { method, headers: headersOf(headers) };
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (hasBody && method !== 'GET' && method !== 'HEAD') {
    init.body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    init.duplex = 'half';
  }
  return new Request(new URL(url, base), init);
}

function headersOf(headers: IncomingMessage['headers']): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) all.append(name, one);
  }
  return all;
}

/** Reads on when the socket takes more, so that a client that is slow slows down what it reads. */
async function send(response: Response, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined) {
      const { value, done } = await raceAborted(reader.read(), [gone]);
      if (done) break;
      if (!outgoing.write(value)) await drained(outgoing, gone);
    }
    outgoing.end();
  } catch (error) {
    await reader?.cancel(error);
    throw error;
  }
}

function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    outgoing.once('drain', done);
    gone.addEventListener('abort', done, { once: true });
    if (gone.aborted) done();
  });
}

function breakConnection(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  if (socket === null) return;
  // TLS has no reset of its own, and not every platform has one.
  if (!('encrypted' in socket) && typeof socket.resetAndDestroy === 'function') socket.resetAndDestroy();
  else socket.destroy();
}
