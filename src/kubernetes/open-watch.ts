import type { Clock } from '../types/clock.ts';
import { onAbort } from '../types/on-abort.ts';
import { raceAborted } from '../types/until-aborted.ts';
import { Silence, untilEnded, withDeadline } from './deadlines.ts';
import { TransportError } from './errors.ts';
import { watchAction } from './resource-path.ts';
import type { KubernetesTransport, WatchLine, WatchRequest, WatchStream } from './transport.ts';

export interface OpenWatchOptions {
  readonly transport: KubernetesTransport;
  readonly request: WatchRequest;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly connectTimeoutMs: number;
  /** How long it may be silent at first: `limitSilence` sets another limit. */
  readonly inactivityMs: number;
  readonly signal: AbortSignal;
}

/**
 * One watch from its request to the end of its connection. Whoever has opened it closes it, whatever happened: the next one is opened only then
 * (IN12). Silence ends it with a TransportError `timeout` (IN21).
 */
export class OpenWatch {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #controller: AbortController;
  readonly #unlisten: () => void;
  readonly #stream: WatchStream;
  readonly #silence: Silence;

  private constructor(
    { clock, request, inactivityMs }: OpenWatchOptions,
    parts: { readonly controller: AbortController; readonly unlisten: () => void; readonly stream: WatchStream },
  ) {
    this.#clock = clock;
    this.#controller = parts.controller;
    this.#unlisten = parts.unlisten;
    this.#stream = parts.stream;
    this.#silence = new Silence(clock, inactivityMs, () => {
      this.end(new TransportError(watchAction(request), 'timeout', 'the server sent nothing for too long'));
    });
  }

  /** @throws as a rejection: what the transport does; TransportError `timeout`; the signal's reason */
  static async open(options: OpenWatchOptions): Promise<OpenWatch> {
    const { transport, request, clock, connectTimeoutMs, signal } = options;
    const controller = new AbortController();
    const unlisten = onAbort(signal, (reason) => controller.abort(reason));
    const late = () => new TransportError(watchAction(request), 'timeout', `no answer within ${connectTimeoutMs} ms`);
    const discard = (stream: WatchStream) => stream.return?.();
    try {
      const stream = await withDeadline(
        { clock, timeoutMs: connectTimeoutMs, controller, late, discard },
        (ofRequest) => transport.watch(request, { signal: ofRequest }),
      );
      return new OpenWatch(options, { controller, unlisten, stream });
    } catch (error) {
      unlisten();
      throw error;
    }
  }

  /** The next group of lines; `undefined`: the server has ended it. Rejects with what ended it otherwise. */
  async next(): Promise<readonly WatchLine[] | undefined> {
    const { signal } = this.#controller;
    signal.throwIfAborted();
    this.#silence.listen();
    try {
      const { value, done } = await raceAborted(this.#stream.next(), [signal]);
      return done === true ? undefined : value;
    } finally {
      this.#silence.heard();
    }
  }

  limitSilence(inactivityMs: number): void {
    this.#silence.limit(inactivityMs);
  }

  /** What `next` rejects with from now on. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#silence.stop();
    this.#unlisten();
    this.#controller.abort(new TransportError('watch', 'cut', 'it was closed'));
    await untilEnded(this.#clock, returned(this.#stream));
  }
}

async function returned(stream: WatchStream): Promise<void> {
  await stream.return?.();
}
