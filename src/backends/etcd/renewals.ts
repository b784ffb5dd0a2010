import type { Clock } from '../../types/clock.ts';
import type { LeaseId } from '../../types/lease.ts';
import { onAbort } from '../../types/on-abort.ts';
import { Unreadable } from './errors.ts';
import type { Destination, Transport, TransportStream } from './transport.ts';
import { idOf, type WireObject } from './wire.ts';

/** A stream that nobody has used for so long is ended: it would keep a process alive. In ms. */
const IDLE_MS = 10_000;

/** One renewal that was sent and not answered. One that nobody waits for any more stays: its answer is no other one's. */
interface Waiter {
  readonly resolve: (answer: WireObject) => void;
  readonly reject: (error: unknown) => void;
  unlisten: () => void;
  isLeft: boolean;
}

/**
 * Renewals of all leases on one stream a member, as etcd's own client does it: a stream for each renewal costs both sides more
 * than the renewal.
 *
 * ```text
 *   sent        7  8  7  9            answers come in the order of their questions, each with its id;
 *   answered    7  8                  the first 7 is for who asked first, even if he has left
 *
 *   a renewal that was given up        its stream takes no more, and ends when those on it are answered
 *   idle for 10 s                      it ends
 * ```
 */
export class Renewals {
  readonly #transport: Transport;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #streams = new Map<string, RenewalStream>();

  constructor(transport: Transport, clock: Pick<Clock, 'after'>) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** Its answer. Rejects with the reason of the signal, or what ended the stream. */
  async renew(id: LeaseId, to: Destination): Promise<WireObject> {
    to.signal.throwIfAborted();
    const name = `${to.endpoint} ${to.token ?? ''}`;
    let stream = this.#streams.get(name);
    if (stream === undefined) {
      const forget = (ended: RenewalStream) => {
        if (this.#streams.get(name) === ended) this.#streams.delete(name);
      };
      stream = new RenewalStream({ transport: this.#transport, clock: this.#clock, to, first: id, forget });
      this.#streams.set(name, stream);
      return stream.wait(id, to.signal);
    }
    stream.send(id);
    return stream.wait(id, to.signal);
  }

  close(reason: unknown): void {
    for (const stream of this.#streams.values()) stream.end(reason);
  }
}

interface RenewalStreamOptions {
  readonly transport: Transport;
  readonly clock: Pick<Clock, 'after'>;
  readonly to: Destination;
  readonly first: string;
  /** It takes no more. */
  readonly forget: (stream: RenewalStream) => void;
}

class RenewalStream {
  readonly #options: RenewalStreamOptions;
  readonly #connection = new AbortController();
  readonly #stream: TransportStream;
  readonly #waiters = new Map<string, Waiter[]>();
  #isRetired = false;
  #cancelIdle: () => void = () => {};

  constructor(options: RenewalStreamOptions) {
    this.#options = options;
    const { transport, to, first } = options;
    const { signal } = this.#connection;
    this.#stream = transport.stream('lease/keepalive', { ID: first }, { ...to, signal });
    void this.#read();
  }

  send(id: string): void {
    this.#stream.send({ ID: id });
  }

  wait(id: string, signal: AbortSignal): Promise<WireObject> {
    this.#cancelIdle();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject, unlisten: () => {}, isLeft: false };
      const waiters = this.#waiters.get(id) ?? [];
      waiters.push(waiter);
      this.#waiters.set(id, waiters);
      waiter.unlisten = onAbort(signal, (reason) => {
        waiter.isLeft = true;
        reject(reason);
        this.#retire(reason);
      });
    });
  }

  end(reason: unknown): void {
    this.#isRetired = true;
    this.#cancelIdle();
    this.#options.forget(this);
    const waiting = [...this.#waiters.values()].flat();
    this.#waiters.clear();
    this.#connection.abort(reason);
    for (const { reject, unlisten } of waiting) {
      unlisten();
      reject(reason);
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const answer of this.#stream.messages) this.#answer(answer);
      this.end(new Unreadable('a stream of renewals that ended'));
    } catch (error) {
      this.end(error);
    }
  }

  #answer(answer: WireObject): void {
    const id = idOf(answer.ID, 'the id of a lease');
    const waiters = this.#waiters.get(id);
    const waiter = waiters?.shift();
    if (waiters === undefined || waiter === undefined)
      throw new Unreadable(`a renewal of ${id}, which nobody asked for`);
    if (waiters.length === 0) this.#waiters.delete(id);
    waiter.unlisten();
    waiter.resolve(answer);
    if (this.#isRetired) this.#endIfLeft(new Unreadable('a stream of renewals that nobody waits for'));
    else if (this.#waiters.size === 0) this.#idle();
  }

  /** Whoever gave up may have had reason to: the next renewal gets another stream. */
  #retire(reason: unknown): void {
    this.#isRetired = true;
    this.#options.forget(this);
    this.#endIfLeft(reason);
  }

  #endIfLeft(reason: unknown): void {
    const isWaited = [...this.#waiters.values()].some((waiters) => waiters.some(({ isLeft }) => !isLeft));
    if (!isWaited) this.end(reason);
  }

  #idle(): void {
    this.#cancelIdle = this.#options.clock.after(IDLE_MS, () => this.end(new Unreadable('an idle stream of renewals')));
  }
}
