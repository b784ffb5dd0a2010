import type { BackendPosition } from '../../types/backend.ts';
import type { Clock } from '../../types/clock.ts';
import { BackendError, ClosedError } from '../../types/errors.ts';
import type { LeaseId } from '../../types/lease.ts';
import { onAbort } from '../../types/on-abort.ts';
import { untilAborted } from '../../types/until-aborted.ts';
import type { Endpoints } from './endpoints.ts';
import { allFailed, backendError, EtcdRefusal, Silent, TooLarge, Unreadable, wasNotSent } from './errors.ts';
import { Renewals } from './renewals.ts';
import { Tokens, type User } from './tokens.ts';
import type { Destination, Method, Transport, TransportStream } from './transport.ts';
import { positionOf, type WireObject } from './wire.ts';

export interface EtcdClientOptions {
  readonly endpoints: Endpoints;
  readonly transport: Transport;
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
  /** Of a stream: its first message is there. */
  readonly onOpened?: (stream: OpenedStream) => void;
}

/** A stream that a member has answered on. */
export interface OpenedStream {
  readonly endpoint: string;
  readonly send: (request: WireObject) => void;
}

/** Where a message of a stream comes from. */
export interface MessageSource {
  readonly endpoint: string;
  readonly isFirst: boolean;
}

/** One member's try, which has to end when the signal of its destination aborts. */
export type Attempt<T> = (to: Destination) => Promise<T>;

interface Opened<T> extends OpenedStream {
  readonly first: T;
  readonly messages: TransportStream['messages'];
  readonly connection: AbortController;
}

/**
 * Calls of a cluster, over whatever transport: failover, deadlines, tokens.
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
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  readonly #tokens: Tokens;
  readonly #renewals: Renewals;
  readonly #lifetime = new AbortController();

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    const { transport, clock, user } = options;
    this.#renewals = new Renewals(transport, clock);
    this.#tokens = new Tokens(user, ({ name, password }, to) =>
      transport.call('auth/authenticate', { name, password }, to),
    );
  }

  /** Whether a stream takes more than one request. */
  get duplex(): boolean {
    return this.#options.transport.duplex;
  }

  /**
   * One request, one answer, which `read` makes something of: it throws {@link Unreadable} for what cannot be one. Throws
   * {@link EtcdRefusal} for what etcd refuses and has certainly not done, else `BackendError` or the signal's reason.
   */
  call<T>(
    method: Method,
    request: WireObject,
    call: CallOptions,
    read: (answer: WireObject, position: BackendPosition) => T,
  ): Promise<T> {
    return this.attempt(call, async (to) => {
      const answer = await this.#options.transport.call(method, request, to);
      return read(answer, positionOf(answer));
    });
  }

  /** Renews a lease: on a stream that all renewals share, or on one of its own where a stream takes one request only. */
  renew<T>(id: LeaseId, call: CallOptions, read: (answer: WireObject) => T): Promise<T> {
    return this.attempt(call, async (to) => {
      if (this.duplex) return read(await this.#renewals.renew(id, to));
      const { first, messages, connection } = await this.#open('lease/keepalive', { ID: id }, read, to);
      connection.abort(new ClosedError(call.action));
      void Promise.allSettled([messages.return()]);
      return first;
    });
  }

  /** A read of what one member says of itself: no other one is asked. Rejects with whatever went wrong. */
  callMember<T>(
    method: Method,
    request: WireObject,
    { endpoint, signal }: { readonly endpoint: string; readonly signal: AbortSignal | undefined },
    read: (answer: WireObject) => T,
  ): Promise<T> {
    const { clock, timeoutMs, transport } = this.#options;
    const late = new AbortController();
    const cancel = clock.after(timeoutMs, () => late.abort(new Silent(endpoint)));
    const asked = untilAborted(
      (ending) =>
        this.#tokens.use({ endpoint, signal: ending }, async (to) => read(await transport.call(method, request, to))),
      [signal, this.#lifetime.signal, late.signal],
    );
    return asked.finally(cancel);
  }

  /**
   * Messages of a stream, as they come. The first one has to come within the deadline; then it takes its time. Throws as `call`
   * does; a refusal may also come later.
   */
  async *stream<T>(
    method: Method,
    request: WireObject,
    call: CallOptions,
    read: (message: WireObject, source: MessageSource) => T,
  ): AsyncGenerator<T, void, undefined> {
    const { action, signal, isBrief = false } = call;
    const { clock, timeoutMs, endpoints } = this.#options;
    const late = new AbortController();
    const tooLate = new BackendError(action, `etcd has not answered within ${timeoutMs} ms`);
    const cancel = isBrief ? clock.after(timeoutMs, () => late.abort(tooLate)) : () => {};
    const ends = [signal, this.#lifetime.signal, late.signal].filter((one) => one !== undefined);
    try {
      const opened = await this.attempt(call, (to) => this.#open(method, request, read, to));
      const { endpoint, first, messages, connection } = opened;
      const unlisten = ends.map((one) => onAbort(one, (reason) => connection.abort(reason)));
      try {
        call.onOpened?.(opened);
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
    method: Method,
    request: WireObject,
    call: CallOptions,
    read: (message: WireObject, source: MessageSource) => T,
  ): AsyncGenerator<T, void, undefined> {
    try {
      yield* this.stream<T>(method, request, call, read);
    } catch (error) {
      throw error instanceof EtcdRefusal ? backendError(call.action, error.endpoint, error) : error;
    }
  }

  /** What is under way ends with `ClosedError`, and so does what comes later. */
  close(): void {
    const reason = new ClosedError('use an etcd backend');
    this.#lifetime.abort(reason);
    this.#renewals.close(reason);
    this.#options.transport.close();
  }

  /** Asks one member after the other, as long as it makes sense to ask the next. Throws as `call` does. */
  async attempt<T>({ action, signal, isWrite = false }: CallOptions, attempt: Attempt<T>): Promise<T> {
    const { endpoints, clock, timeoutMs } = this.#options;
    const dueAt = clock.now() + timeoutMs;
    const order = endpoints.inOrder();
    const failures: BackendError[] = [];
    for (const [index, endpoint] of order.entries()) {
      const members = order.length - index;
      const leftMs = dueAt - clock.now();
      const share = new AbortController();
      const cancel = clock.after(isWrite ? leftMs : leftMs / members, () => share.abort(new Silent(endpoint)));
      try {
        const answer = await untilAborted(
          (ending) => this.#tokens.use({ endpoint, signal: ending }, attempt),
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
        const failure = backendError(action, endpoint, error, { isWrite });
        // The next one's answer would be as large.
        if (error instanceof TooLarge) throw failure;
        endpoints.failed(endpoint);
        failures.push(failure);
        const isSafe = !isWrite || wasNotSent(error);
        if (!isSafe) break;
      } finally {
        cancel();
      }
    }
    throw allFailed(action, failures, timeoutMs);
  }

  /** A stream counts as opened when its first message is there: headers alone are a proxy's, too. */
  async #open<T>(
    method: Method,
    request: WireObject,
    read: (message: WireObject, source: MessageSource) => T,
    { endpoint, token, signal }: Destination,
  ): Promise<Opened<T>> {
    const connection = new AbortController();
    onAbort(signal, (reason) => connection.abort(reason));
    const to = { endpoint, token, signal: connection.signal };
    let messages: Opened<T>['messages'] | undefined;
    try {
      const stream = this.#options.transport.stream(method, request, to);
      messages = stream.messages;
      const { value, done } = await messages.next();
      if (done === true) throw new Unreadable('a stream that ended before its first message');
      const first = read(value, { endpoint, isFirst: true });
      return { endpoint, first, messages, connection, send: (more) => stream.send(more) };
    } catch (error) {
      connection.abort(error);
      void Promise.allSettled([messages?.return()]);
      throw error;
    }
  }
}
