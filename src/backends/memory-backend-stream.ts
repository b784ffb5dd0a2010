import { byteRangeHas } from '../core/key-order.ts';
import type { BackendEvent, BackendWatchItem, BackendWatchRequest, BackendWatchStream } from '../types/backend.ts';
import type { WatchBatch } from '../types/event.ts';
import type { Watch } from '../types/watch.ts';
import { type ByteStore, backendKv } from './memory-backend-terms.ts';

/** Turns the batches of one watch over everything into the items of the contract. Pull-based: nothing is queued (B10). */
export class MemoryBackendStream implements BackendWatchStream {
  readonly #store: ByteStore;
  readonly #request: BackendWatchRequest;
  #wantsProgress = false;
  #wake: () => void = () => {};

  constructor(store: ByteStore, request: BackendWatchRequest) {
    this.#store = store;
    this.#request = request;
  }

  requestProgress(): void {
    this.#wantsProgress = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BackendWatchItem, void, undefined> {
    const { signal } = this.#request;
    // 0 is the oldest revision here, and "from now on" to the store.
    const fromRevision = Math.max(1, this.#request.fromRevision);
    const options = signal === undefined ? { fromRevision } : { fromRevision, signal };
    const watch = this.#store.watch({ prefix: new Uint8Array(0) }, options);
    try {
      // Before the first change, and also for a start in the future (B4).
      yield { type: 'open', identity: this.#store.identity, revision: this.#store.revision };
      yield* this.#items(watch);
    } finally {
      await watch.return();
    }
  }

  async *#items(watch: Watch<Uint8Array, Uint8Array>): AsyncGenerator<BackendWatchItem, void, undefined> {
    const pulled = () => this.#wake();
    let pull = new Pull(watch, pulled);
    for (;;) {
      while (pull.outcome === undefined && !this.#wantsProgress) await this.#sleep();
      // Read before the hop: a batch made before this moment has settled after it, and a later one is above it (B5).
      const progress = watch.progressRevision;
      const isComplete = progress >= this.#store.revision;
      await hop();
      if (pull.outcome !== undefined || !isComplete) {
        while (pull.outcome === undefined) await this.#sleep();
        const batch = pull.batch();
        if (batch === undefined) return;
        yield* this.#batch(batch);
        pull = new Pull(watch, pulled);
      } else {
        this.#wantsProgress = false;
        yield { type: 'progress', revision: progress };
      }
    }
  }

  /** Until a batch is there or progress is wanted. One waiter at a time, so nothing piles up behind a quiet watch. */
  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  *#batch(batch: WatchBatch<Uint8Array, Uint8Array>): Generator<BackendWatchItem, void, undefined> {
    const events: BackendEvent[] = [];
    for (const event of batch.events) {
      if (!this.#request.ranges.some((range) => byteRangeHas(range, event.kv.key))) continue;
      if (event.type === 'put') events.push({ type: 'put', kv: backendKv(event.kv) });
      else events.push({ type: 'delete', key: event.kv.key, modRevision: event.kv.modRevision });
    }
    if (events.length > 0) yield { type: 'change', revision: batch.revision, events };
  }
}

type Pulled = IteratorResult<WatchBatch<Uint8Array, Uint8Array>, undefined>;

/** One `next()` under way, whose failure waits to be asked for instead of becoming an unhandled rejection. */
class Pull {
  outcome: { readonly result: Pulled } | { readonly error: unknown } | undefined;

  constructor(watch: Watch<Uint8Array, Uint8Array>, onSettled: () => void) {
    watch.next().then(
      (result) => {
        this.outcome = { result };
        onSettled();
      },
      (error: unknown) => {
        this.outcome = { error };
        onSettled();
      },
    );
  }

  /** The batch, `undefined` at the end; throws what the watch threw. Only once settled. */
  batch(): WatchBatch<Uint8Array, Uint8Array> | undefined {
    if (this.outcome === undefined) return undefined;
    if ('error' in this.outcome) throw this.outcome.error;
    return this.outcome.result.value;
  }
}

/** Lets promises that are resolved already settle: an async function's answer takes up to three microtasks. */
async function hop(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
}
