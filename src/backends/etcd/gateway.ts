import type { Clock } from '../../types/clock.ts';
import { BackendError, ClosedError } from '../../types/errors.ts';
import { raceAborted } from '../../types/until-aborted.ts';
import type { Endpoints } from './endpoints.ts';
import { backendError, EtcdRefusal, wasNotSent } from './errors.ts';

/** `fetch`, or something like it: with a client certificate for instance. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface GatewayOptions {
  readonly endpoints: Endpoints;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** For each call, all its tries together. Of a stream, until its first message. */
  readonly timeoutMs: number;
  readonly user: { readonly name: string; readonly password: string } | undefined;
}

export interface CallOptions {
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** It changes something, so it is sent a second time only if the first one has reached nobody. */
  readonly isWrite?: boolean;
}

/** Calls of the JSON gateway: failover, deadlines, and a token that is renewed when etcd does not know it any more. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #lifetime = new AbortController();
  #token: string | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** One request, one answer. Throws {@link EtcdRefusal} for what etcd refuses, `BackendError`, and the signal's reason. */
  async call<T>(path: string, body: object, call: CallOptions): Promise<T> {
    const { response, endpoint } = await this.#within(call, (deadline) => this.#ask(path, body, call, deadline));
    try {
      return (await this.#within(call, () => response.json())) as T;
    } catch (error) {
      call.signal?.throwIfAborted();
      // What was done is done, and what came of it nobody can read.
      throw backendError(call.action, endpoint, error, { maybeCommitted: call.isWrite === true });
    }
  }

  /**
   * Messages of a stream, as they come. The first one has to come within the deadline; then it takes its time. Ends with the
   * signal's reason, or with what broke it.
   */
  async *stream<T>(path: string, body: object, call: CallOptions): AsyncGenerator<T, void, undefined> {
    const { signal } = call;
    const ending = new AbortController();
    const end = () => ending.abort(signal?.aborted === true ? signal.reason : this.#lifetime.signal.reason);
    for (const one of [signal, this.#lifetime.signal]) one?.addEventListener('abort', end, { once: true });
    try {
      const asked = { ...call, signal: ending.signal };
      const { response, endpoint } = await this.#within(asked, (late) => {
        late.addEventListener('abort', () => ending.abort(late.reason), { once: true });
        return this.#ask(path, body, asked, ending.signal);
      });
      if (response.body === null) throw new BackendError(call.action, `${endpoint} answered a stream without a body`);
      yield* this.#messages<T>(response.body, endpoint, { ...call, signal: ending.signal });
    } finally {
      for (const one of [signal, this.#lifetime.signal]) one?.removeEventListener('abort', end);
      ending.abort(new ClosedError(call.action));
    }
  }

  /** The same for who has nothing to make of a refusal: it is a `BackendError`. */
  async *explainedStream<T>(path: string, body: object, call: CallOptions): AsyncGenerator<T, void, undefined> {
    try {
      yield* this.stream<T>(path, body, call);
    } catch (error) {
      throw error instanceof EtcdRefusal ? backendError(call.action, error.endpoint, error) : error;
    }
  }

  close(): void {
    this.#lifetime.abort(new ClosedError('use an etcd backend'));
  }

  async *#messages<T>(
    body: ReadableStream<Uint8Array>,
    endpoint: string,
    { action, signal }: CallOptions,
  ): AsyncGenerator<T, void, undefined> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for (;;) {
        const { value, done } = await raceAborted(reader.read(), [signal]).catch((error: unknown) => {
          signal?.throwIfAborted();
          throw backendError(action, endpoint, error);
        });
        if (done) break;
        const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.trim() !== '') yield messageOf<T>(line, endpoint, action);
      }
      if (rest.trim() !== '') throw new BackendError(action, `${endpoint} ended a stream in the middle of a message`);
    } finally {
      // What is left of it nobody reads; how that ends, too.
      void Promise.allSettled([reader.cancel()]);
    }
  }

  /** Asks one member after the other, as long as it makes sense to ask the next. */
  async #ask(
    path: string,
    body: object,
    { action, isWrite = false }: CallOptions,
    signal: AbortSignal,
  ): Promise<{ readonly response: Response; readonly endpoint: string }> {
    const { endpoints } = this.#options;
    const order = endpoints.inOrder();
    let last: unknown;
    for (const endpoint of order) {
      try {
        const response = await this.#post(endpoint, path, body, action, signal);
        endpoints.answered(endpoint);
        return { response, endpoint };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof EtcdRefusal && !isUnavailable(error)) throw error;
        endpoints.failed(endpoint);
        last = backendError(action, endpoint, error, { maybeCommitted: isWrite });
        const isSafe = !isWrite || wasNotSent(error);
        if (!isSafe) throw last;
      }
    }
    throw last;
  }

  /** Once more with a new token, if etcd does not know the one there is. */
  async #post(endpoint: string, path: string, body: object, action: string, signal: AbortSignal): Promise<Response> {
    const { user } = this.#options;
    if (user === undefined) return this.#send(endpoint, path, body, undefined, signal);
    this.#token ??= await this.#authenticate(endpoint, user, action, signal);
    try {
      return await this.#send(endpoint, path, body, this.#token, signal);
    } catch (error) {
      if (!(error instanceof EtcdRefusal && error.is('tokenInvalid'))) throw error;
      this.#token = await this.#authenticate(endpoint, user, action, signal);
      return this.#send(endpoint, path, body, this.#token, signal);
    }
  }

  async #authenticate(
    endpoint: string,
    user: { readonly name: string; readonly password: string },
    action: string,
    signal: AbortSignal,
  ): Promise<string> {
    const response = await this.#send(endpoint, 'auth/authenticate', user, undefined, signal);
    const { token } = (await response.json()) as { readonly token?: unknown };
    if (typeof token !== 'string') throw new BackendError(action, `${endpoint} gave no token for ${user.name}`);
    return token;
  }

  async #send(
    endpoint: string,
    path: string,
    body: object,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (token !== undefined) headers.authorization = token;
    const response = await this.#options.fetch(`${endpoint}/v3/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
    });
    if (response.ok) return response;
    throw refusalOf(endpoint, await response.text(), response.status);
  }

  /** With the deadline of a call, its signal, and the backend's own end. */
  async #within<T>(
    { action, signal, isWrite = false }: CallOptions,
    run: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const late = new BackendError(action, `etcd has not answered within ${timeoutMs} ms`, { maybeCommitted: isWrite });
    const cancel = clock.after(timeoutMs, () => deadline.abort(late));
    const onAbort = () => deadline.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await raceAborted(run(deadline.signal), [deadline.signal, this.#lifetime.signal]);
    } finally {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** A member that cannot serve now, where another one may: gRPC's UNAVAILABLE, and answers of proxies. */
function isUnavailable({ code, message }: EtcdRefusal): boolean {
  return code === 14 || /no leader|not capable|unhealthy|502|503|504/.test(message);
}

function refusalOf(endpoint: string, text: string, status: number): EtcdRefusal {
  const told = parsed(text) as { readonly error?: unknown; readonly message?: unknown; readonly code?: unknown };
  const message = [told?.message, told?.error].find((one) => typeof one === 'string');
  return new EtcdRefusal(endpoint, message ?? `status ${status}: ${text.slice(0, 200)}`, Number(told?.code ?? 0));
}

function messageOf<T>(line: string, endpoint: string, action: string): T {
  const message = parsed(line) as {
    readonly result?: T;
    readonly error?: { readonly message?: string; readonly code?: number };
  };
  if (message?.result !== undefined) return message.result;
  if (message?.error !== undefined) {
    throw new EtcdRefusal(endpoint, message.error.message ?? line.slice(0, 200), message.error.code ?? 0);
  }
  throw new BackendError(action, `${endpoint} sent what is no message: ${line.slice(0, 200)}`);
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
