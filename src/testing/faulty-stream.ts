import type { BackendWatchItem, BackendWatchStream } from '../types/backend.ts';

/** Changes kept for a replay. */
const SENT_MAX = 1000;

type ChangeItem = Extract<BackendWatchItem, { type: 'change' }>;

export interface FaultyStreamOptions {
  readonly open: () => BackendWatchStream;
  /** Before the inner stream is opened: may wait or throw. */
  readonly before: () => Promise<unknown>;
  readonly delay: () => Promise<void> | undefined;
  readonly shouldDrop: () => boolean;
  readonly onStart: () => void;
  readonly onEnd: () => void;
  /** The inner stream failed at being ended. */
  readonly onLateError: (error: unknown) => void;
  readonly isHolding: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * One stream of a faulty backend. At most one item of the inner stream is under way, so that it stays pull-based (B10).
 *
 * ```text
 *   inner stream --pull--> [one item] --drop, delay, hold--> consumer
 *                                  injected, repeated items ----^ first
 * ```
 */
export class FaultyStream implements BackendWatchStream, AsyncIterator<BackendWatchItem> {
  readonly #options: FaultyStreamOptions;
  /** Not bounded: for tests, which say how many. */
  readonly #injected: BackendWatchItem[] = [];
  readonly #sent: ChangeItem[] = [];
  #stream: BackendWatchStream | undefined;
  #items: AsyncIterator<BackendWatchItem> | undefined;
  #pull: { outcome?: () => IteratorResult<BackendWatchItem> } | undefined;
  #isHolding: boolean;
  #wantsProgress = false;
  #end: (() => IteratorResult<BackendWatchItem>) | undefined;
  #wake: () => void = () => {};
  readonly #unlisten: () => void;

  constructor(options: FaultyStreamOptions) {
    this.#options = options;
    this.#isHolding = options.isHolding;
    const { signal } = options;
    const onAbort = () => this.fail(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#unlisten = () => signal?.removeEventListener('abort', onAbort);
  }

  [Symbol.asyncIterator](): AsyncIterator<BackendWatchItem> {
    return this;
  }

  requestProgress(): void {
    if (this.#stream === undefined) this.#wantsProgress = true;
    else this.#stream.requestProgress?.();
  }

  async next(): Promise<IteratorResult<BackendWatchItem>> {
    if (this.#items === undefined && this.#end === undefined) await this.#open();
    for (;;) {
      if (this.#end !== undefined) return this.#end();
      const injected = this.#injected.shift();
      if (injected !== undefined) return { value: injected, done: false };
      this.#pull ??= this.#startPull();
      const { outcome } = this.#pull;
      if (outcome !== undefined && !this.#isHolding) {
        this.#pull = undefined;
        const result = this.#unwrap(outcome);
        if (result.done === true) this.end();
        else if (result.value.type !== 'change') return result;
        else if (!this.#options.shouldDrop()) {
          this.#sent.push(result.value);
          if (this.#sent.length > SENT_MAX) this.#sent.shift();
          return result;
        }
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<BackendWatchItem>> {
    this.end();
    return { value: undefined, done: true };
  }

  /** Ends the stream without an error. */
  end(): void {
    this.#finish(() => ({ value: undefined, done: true }));
  }

  /** Ends the stream with an error, any value, which the consumer gets once. */
  fail(error: unknown): void {
    let isTold = false;
    this.#finish(() => {
      if (isTold) return { value: undefined, done: true };
      isTold = true;
      throw error;
    });
  }

  /** Ends the inner stream too, which nobody reads any more. */
  #finish(end: () => IteratorResult<BackendWatchItem>): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#unlisten();
    this.#options.onEnd();
    this.#wake();
    // What the inner stream still has to say was cut off with the connection.
    this.#items?.return?.().then(undefined, (error: unknown) => this.#options.onLateError(error));
  }

  setHolding(isHolding: boolean): void {
    this.#isHolding = isHolding;
    this.#wake();
  }

  inject(item: BackendWatchItem): void {
    this.#injected.push(item);
    this.#wake();
  }

  /** Sends again what was sent, in the old order; `fromEnd` is 0 for the newest. */
  repeat(select: (item: ChangeItem, fromEnd: number) => boolean): void {
    const { length } = this.#sent;
    for (const item of this.#sent.filter((one, index) => select(one, length - 1 - index))) this.inject(item);
  }

  /** An error of the inner stream ends this one. */
  #unwrap(outcome: () => IteratorResult<BackendWatchItem>): IteratorResult<BackendWatchItem> {
    try {
      return outcome();
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async #open(): Promise<void> {
    this.#options.onStart();
    try {
      await this.#options.before();
      if (this.#end !== undefined) return;
      this.#stream = this.#options.open();
      this.#items = this.#stream[Symbol.asyncIterator]();
      if (this.#wantsProgress) this.#stream.requestProgress?.();
    } catch (error) {
      this.fail(error);
    }
  }

  #startPull(): { outcome?: () => IteratorResult<BackendWatchItem> } {
    const pull: { outcome?: () => IteratorResult<BackendWatchItem> } = {};
    const settle = async () => {
      try {
        const result = await (this.#items as AsyncIterator<BackendWatchItem>).next();
        await this.#options.delay();
        pull.outcome = () => result;
      } catch (error) {
        pull.outcome = () => {
          throw error;
        };
      }
      this.#wake();
    };
    void settle();
    return pull;
  }
}
