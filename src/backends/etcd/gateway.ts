import type { BackendPosition } from '../../types/backend.ts';
import type { Clock } from '../../types/clock.ts';
import { BackendError, ClosedError } from '../../types/errors.ts';
import { onAbort } from '../../types/on-abort.ts';
import { raceAborted, untilAborted } from '../../types/until-aborted.ts';
import { answerOf, messagesOf } from './answers.ts';
import type { Endpoints } from './endpoints.ts';
import { backendError, EtcdRefusal, Unreadable, wasNotSent } from './errors.ts';
import { Tokens, type User } from './tokens.ts';
import { positionOf, type WireObject } from './wire.ts';

/** `fetch`, or something like it: with a client certificate for instance. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface GatewayOptions {
  readonly endpoints: Endpoints;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** For each call, all its tries together. Of a stream, until its first message. */
  readonly timeoutMs: number;
  readonly user: User | undefined;
}

export interface CallOptions {
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** It changes something, so it is sent a second time only if the first one has reached nobody. */
  readonly isWrite?: boolean;
  /** Of a stream: it has to end within the deadline, not only to begin. */
  readonly isBrief?: boolean;
}

/** Where a message of a stream comes from. */
export interface MessageSource {
  readonly endpoint: string;
  readonly isFirst: boolean;
}

/** One member's try, which has to end when the signal aborts. */
type Attempt<T> = (endpoint: string, signal: AbortSignal) => Promise<T>;

interface Opened<T> {
  readonly endpoint: string;
  readonly first: T;
  readonly messages: AsyncGenerator<WireObject, void, undefined>;
  readonly connection: AbortController;
}

/**
 * Calls of the JSON gateway: failover, deadlines, tokens.
 *
 * ```text
 *   call ----- a's share -----x-- b's share --x-- c: all that is left --|      a read: the next one is asked in time
 *   call ----- a: all of it --------------------------------------------|      a write: a may have heard it
 *                                                                       '- the deadline of the call, tokens and bodies too
 * ```
 *
 * A member has answered when its answer was read to the end and is one of etcd's. One that has not, for whatever reason but the
 * caller's own, is asked last for a while (`Endpoints`): so a write fails at most once at a member that is unwell.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #tokens: Tokens;
  readonly #lifetime = new AbortController();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#tokens = new Tokens(options.user, async (endpoint, user, signal) =>
      answerOf(await this.#send(endpoint, 'auth/authenticate', user, undefined, signal), endpoint, signal),
    );
  }

  /**
   * One request, one answer, which `read` makes something of: it throws {@link Unreadable} for what cannot be one. Throws
   * {@link EtcdRefusal} for what etcd refuses and has certainly not done, else `BackendError` or the signal's reason.
   */
  call<T>(
    path: string,
    body: object,
    call: CallOptions,
    read: (answer: WireObject, position: BackendPosition) => T,
  ): Promise<T> {
    return this.#ask(call, (endpoint, signal) =>
      this.#tokens.use(endpoint, signal, async (token) => {
        const response = await this.#send(endpoint, path, body, token, signal);
        const answer = await answerOf(response, endpoint, signal);
        return read(answer, positionOf(answer));
      }),
    );
  }

  /**
   * Messages of a stream, as they come. The first one has to come within the deadline; then it takes its time. Throws as `call`
   * does; a refusal may also come later.
   */
  async *stream<T>(
    path: string,
    body: object,
    call: CallOptions,
    read: (message: WireObject, source: MessageSource) => T,
  ): AsyncGenerator<T, void, undefined> {
    const { action, signal, isBrief = false } = call;
    const { clock, timeoutMs, endpoints } = this.#options;
    const late = new AbortController();
    const cancel = isBrief ? clock.after(timeoutMs, () => late.abort(tooLate(action, timeoutMs))) : () => {};
    const ends = [signal, this.#lifetime.signal, late.signal].filter((one) => one !== undefined);
    try {
      const { endpoint, first, messages, connection } = await this.#ask(call, (member, attempt) =>
        this.#tokens.use(member, attempt, (token) => this.#open(member, { path, body, token, read }, attempt)),
      );
      const unlisten = ends.map((one) => onAbort(one, (reason) => connection.abort(reason)));
      try {
        yield first;
        for await (const message of messages) yield read(message, { endpoint, isFirst: false });
      } catch (error) {
        for (const one of ends) one.throwIfAborted();
        if (error instanceof EtcdRefusal && error.isCertain) throw error;
        endpoints.failed(endpoint);
        throw backendError(action, endpoint, error);
      } finally {
        for (const off of unlisten) off();
        connection.abort(new ClosedError(action));
        // Lets go of the body where it waits for the next one to be asked for.
        void Promise.allSettled([messages.return()]);
      }
    } finally {
      cancel();
    }
  }

  /** The same for who has nothing to make of a refusal: it is a `BackendError`. */
  async *explainedStream<T>(
    path: string,
    body: object,
    call: CallOptions,
    read: (message: WireObject, source: MessageSource) => T,
  ): AsyncGenerator<T, void, undefined> {
    try {
      yield* this.stream<T>(path, body, call, read);
    } catch (error) {
      throw error instanceof EtcdRefusal ? backendError(call.action, error.endpoint, error) : error;
    }
  }

  /** What is under way ends with `ClosedError`, and so does what comes later. */
  close(): void {
    this.#lifetime.abort(new ClosedError('use an etcd backend'));
  }

  /** Asks one member after the other, as long as it makes sense to ask the next. */
  async #ask<T>({ action, signal, isWrite = false }: CallOptions, attempt: Attempt<T>): Promise<T> {
    const { endpoints, clock, timeoutMs } = this.#options;
    const dueAt = clock.now() + timeoutMs;
    const order = endpoints.inOrder();
    let last: unknown;
    for (const [index, endpoint] of order.entries()) {
      const members = order.length - index;
      const leftMs = dueAt - clock.now();
      const share = new AbortController();
      const late = tooLate(action, timeoutMs, { endpoint, isWrite, cause: last });
      const cancel = clock.after(isWrite ? leftMs : leftMs / members, () => share.abort(late));
      try {
        const answer = await untilAborted(
          (ending) => attempt(endpoint, ending),
          [signal, this.#lifetime.signal, share.signal],
        );
        endpoints.answered(endpoint);
        return answer;
      } catch (error) {
        // Whoever asked has left: that says nothing about the member.
        signal?.throwIfAborted();
        this.#lifetime.signal.throwIfAborted();
        if (error instanceof EtcdRefusal && error.isCertain) {
          endpoints.answered(endpoint);
          throw error;
        }
        endpoints.failed(endpoint);
        last = backendError(action, endpoint, error, { isWrite });
        const isSafe = !isWrite || wasNotSent(error);
        if (!isSafe) throw last;
      } finally {
        cancel();
      }
    }
    throw last;
  }

  /** A stream counts as opened when its first message is there: headers alone are a proxy's, too. */
  async #open<T>(
    endpoint: string,
    {
      path,
      body,
      token,
      read,
    }: {
      readonly path: string;
      readonly body: object;
      readonly token: string | undefined;
      readonly read: (message: WireObject, source: MessageSource) => T;
    },
    signal: AbortSignal,
  ): Promise<Opened<T>> {
    const connection = new AbortController();
    onAbort(signal, (reason) => connection.abort(reason));
    let messages: Opened<T>['messages'] | undefined;
    try {
      const response = await this.#send(endpoint, path, body, token, connection.signal);
      messages = messagesOf(response, endpoint, connection.signal);
      const { value, done } = await messages.next();
      if (done === true) throw new Unreadable('a stream that ended before its first message');
      return { endpoint, first: read(value, { endpoint, isFirst: true }), messages, connection };
    } catch (error) {
      connection.abort(error);
      void Promise.allSettled([messages?.return()]);
      throw error;
    }
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
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal };
    signal.throwIfAborted();
    const sent = this.#options.fetch(`${endpoint}/v3/${path}`, init);
    try {
      return await raceAborted(sent, [signal]);
    } catch (error) {
      // A `fetch` that does not listen to its signal may still bring a body, which nobody would read.
      void Promise.allSettled([sent.then(({ body: late }) => late?.cancel())]);
      throw error;
    }
  }
}

function tooLate(
  action: string,
  timeoutMs: number,
  { endpoint, isWrite = false, cause }: { endpoint?: string; isWrite?: boolean; cause?: unknown } = {},
): BackendError {
  const member = endpoint === undefined ? '' : `, ${endpoint} was asked last`;
  return new BackendError(action, `etcd has not answered within ${timeoutMs} ms${member}`, {
    maybeCommitted: isWrite,
    cause,
  });
}
