import { raceAborted } from '../../types/until-aborted.ts';
import { answerOf, messagesOf } from './answers.ts';
import type { Destination, Method, Transport, TransportStream } from './transport.ts';
import { toBase64, type WireObject } from './wire.ts';

/** `fetch`, or something like it: with a client certificate for instance. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface GatewayOptions {
  readonly fetch: Fetch;
  /** Of an answer, and of a message of a stream. */
  readonly answerBytesMax: number;
}

/** The JSON gateway that each member has beside gRPC. Its streams hear one request and no more. */
export class Gateway implements Transport {
  readonly duplex = false;
  readonly #options: GatewayOptions;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  async call(method: Method, request: WireObject, to: Destination): Promise<WireObject> {
    return answerOf(await this.#send(method, request, to), this.#limits(to));
  }

  stream(method: Method, request: WireObject, to: Destination): TransportStream {
    return { messages: this.#messages(method, request, to), send: () => {} };
  }

  /** Connections are the platform's. */
  close(): void {}

  async *#messages(method: Method, request: WireObject, to: Destination): TransportStream['messages'] {
    yield* messagesOf(await this.#send(method, request, to), this.#limits(to));
  }

  #limits({ endpoint, signal }: Destination) {
    return { endpoint, signal, bytesMax: this.#options.answerBytesMax };
  }

  async #send(method: Method, request: WireObject, { endpoint, token, signal }: Destination): Promise<Response> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (token !== undefined) headers.authorization = token;
    const init = { method: 'POST', headers, body: JSON.stringify(request, bytesAsText), signal };
    signal.throwIfAborted();
    const sent = this.#options.fetch(`${endpoint}/v3/${method}`, init);
    try {
      return await raceAborted(sent, [signal]);
    } catch (error) {
      // A `fetch` that does not listen to its signal may still bring a body, which nobody would read.
      void Promise.allSettled([sent.then(({ body: late }) => late?.cancel())]);
      throw error;
    }
  }
}

function bytesAsText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? toBase64(value) : value;
}
