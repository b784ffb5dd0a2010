import type { BackendEvent, BackendWatchItem, BackendWatchStream } from '../types/backend.ts';
import type { Revision } from '../types/revision.ts';

/** Reads a stream in the background, as far as it goes or is allowed to; never leaves a rejection unheard. */
export class BackendReader {
  readonly items: BackendWatchItem[] = [];
  /** How the stream ended, `undefined` while it goes on. */
  end: { readonly error: unknown } | undefined;
  readonly #abort = new AbortController();
  readonly #stream: BackendWatchStream;
  readonly #items: AsyncIterator<BackendWatchItem>;
  #itemsMax: number;
  #isReading = false;

  constructor(open: (signal: AbortSignal) => BackendWatchStream, itemsMax: number) {
    this.#stream = open(this.#abort.signal);
    this.#items = this.#stream[Symbol.asyncIterator]();
    this.#itemsMax = itemsMax;
    this.#read();
  }

  /** Events of the changes so far, with the revision of their item. */
  get changes(): readonly { readonly revision: Revision; readonly events: readonly BackendEvent[] }[] {
    return this.items.filter((item) => item.type === 'change');
  }

  /** Pulls without a bound from now on. */
  resume(): void {
    this.#itemsMax = Number.POSITIVE_INFINITY;
    this.#read();
  }

  requestProgress(): void {
    this.#stream.requestProgress?.();
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Leaves the stream as `break` does; only while no item is asked for. */
  async return(): Promise<void> {
    await this.#items.return?.();
    this.end ??= { error: undefined };
  }

  /** Ends the stream in whatever state it is. */
  async close(): Promise<void> {
    this.abort(new Error('the case is over'));
    if (!this.#isReading && this.end === undefined) await this.return();
  }

  #read(): void {
    if (this.#isReading || this.end !== undefined || this.items.length >= this.#itemsMax) return;
    this.#isReading = true;
    this.#items.next().then(
      (result) => {
        this.#isReading = false;
        if (result.done === true) this.end = { error: undefined };
        else this.items.push(result.value);
        this.#read();
      },
      (error: unknown) => {
        this.#isReading = false;
        this.end = { error };
      },
    );
  }
}
