import { byteRangeHas } from '../core/key-order.ts';
import type {
  Backend,
  BackendCallOptions,
  BackendCompare,
  BackendEvent,
  BackendKeyValue,
  BackendLeases,
  BackendOperation,
  BackendOperationResponse,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
  ByteRange,
} from '../types/backend.ts';
import type { WatchBatch } from '../types/event.ts';
import type { SignalOptions } from '../types/requests.ts';
import type { KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { Compare, Operation, OperationResult, TxnRequest } from '../types/txn.ts';
import type { Watch } from '../types/watch.ts';

type ByteStore = Store<Uint8Array, Uint8Array>;

/**
 * An embedded store of bytes as a `Backend`: the reference for the contract, and what tests put replicas in front of.
 * Keeps B1-B8 and B10; several ranges are one stream by watching everything and filtering (B9). The store stays the
 * caller's: disposing the backend does not close it.
 *
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { createMemoryBackend } from 'plimsoll/testing';
 *
 * const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
 * const store = await openStore<string>({ backend: createMemoryBackend(data) });
 * await store.put('k', 'v');
 * console.log(data.revision === store.revision); // true
 * await store.close();
 * ```
 */
export function createMemoryBackend(store: ByteStore): Backend {
  return new MemoryBackend(store);
}

class MemoryBackend implements Backend {
  readonly capabilities = { progress: true, writable: true, leases: true } as const;
  readonly leases: BackendLeases;
  readonly #store: ByteStore;

  constructor(store: ByteStore) {
    this.#store = store;
    this.leases = new MemoryLeases(store);
  }

  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    request.signal?.throwIfAborted();
    const store = this.#store;
    const revision = request.revision ?? store.revision;
    let count = 0;
    const kvs: BackendKeyValue[] = [];
    for (const range of request.ranges) {
      const answer = store.range({ ...keyRange(range), revision, keysOnly: request.keysOnly === true });
      count += answer.count;
      if (request.countOnly === true) continue;
      for (const kv of answer.kvs) if (kv.modRevision >= (request.minModRevision ?? 0)) kvs.push(backendKv(kv));
    }
    const limit = request.limit ?? 0;
    return { ...this.#position(), revision, count, kvs: limit > 0 ? kvs.slice(0, limit) : kvs };
  }

  async status(request: BackendCallOptions): Promise<BackendPosition> {
    request.signal?.throwIfAborted();
    return this.#position();
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    return new MemoryWatchStream(this.#store, request);
  }

  async txn(request: BackendTxnRequest): Promise<BackendTxnResponse> {
    const { revision, succeeded, responses } = await this.#store.txn(txnOf(request), signalOf(request));
    return { identity: this.#store.identity, revision, succeeded, responses: responses.map(responseOf) };
  }

  async compact(request: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    await this.#store.compact(request.revision, signalOf(request));
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #position(): BackendPosition {
    return positionOf(this.#store);
  }
}

/** The store's leases; each answer with the position behind it. */
class MemoryLeases implements BackendLeases {
  readonly #store: ByteStore;

  constructor(store: ByteStore) {
    this.#store = store;
  }

  async grant({ ttlMs, id, signal }: Parameters<BackendLeases['grant']>[0]): ReturnType<BackendLeases['grant']> {
    const options = { ttlMs, ...signalOf({ signal }) };
    const lease = await this.#store.grantLease(id === undefined ? options : { ...options, id });
    return { ...positionOf(this.#store), id: lease.id, ttlMs: lease.ttlMs };
  }

  async keepAlive(request: Parameters<BackendLeases['keepAlive']>[0]): ReturnType<BackendLeases['keepAlive']> {
    const { ttlMs } = await this.#store.keepAliveLease(request.id, signalOf(request));
    return { ...positionOf(this.#store), id: request.id, ttlMs };
  }

  async revoke(request: Parameters<BackendLeases['revoke']>[0]): ReturnType<BackendLeases['revoke']> {
    const { revision, deleted } = await this.#store.revokeLease(request.id, signalOf(request));
    return { identity: this.#store.identity, revision, deleted };
  }

  async timeToLive(request: Parameters<BackendLeases['timeToLive']>[0]): ReturnType<BackendLeases['timeToLive']> {
    const options = { keys: request.keys === true, ...signalOf(request) };
    const status = await this.#store.leaseTimeToLive(request.id, options);
    if (status === undefined) return { ...positionOf(this.#store), status };
    const { id, grantedTtlMs, remainingMs } = status;
    const times = { id, grantedTtlMs, remainingMs };
    const keys = status.keys as readonly Uint8Array[] | undefined;
    return { ...positionOf(this.#store), status: keys === undefined ? times : { ...times, keys } };
  }

  async list(request: BackendCallOptions): ReturnType<BackendLeases['list']> {
    const leases = await this.#store.leases(signalOf(request));
    return { ...positionOf(this.#store), leases };
  }
}

/** Turns the batches of one watch over everything into the items of the contract. Pull-based: nothing is queued (B10). */
class MemoryWatchStream implements BackendWatchStream {
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
    const { fromRevision, signal } = this.#request;
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

function keyRange(range: ByteRange): KeyRange<Uint8Array> {
  if (range.end === undefined) return { key: range.start };
  return range.end.length === 0 ? { start: range.start } : { start: range.start, end: range.end };
}

function backendKv(kv: KeyValue<Uint8Array, Uint8Array>): BackendKeyValue {
  const { key, createRevision, modRevision, version, lease } = kv;
  return { key, value: kv.value ?? new Uint8Array(0), createRevision, modRevision, version, lease };
}

function positionOf(store: ByteStore): BackendPosition {
  return { identity: store.identity, revision: store.revision };
}

function signalOf({ signal }: { readonly signal?: AbortSignal | undefined }): SignalOptions {
  return signal === undefined ? {} : { signal };
}

function txnOf(request: Omit<BackendTxnRequest, 'signal'>): TxnRequest<Uint8Array, Uint8Array> {
  return {
    compare: request.compare.map(compareOf),
    then: request.then.map(operationOf),
    else: request.else.map(operationOf),
  };
}

function compareOf({ key, range, ...condition }: BackendCompare): Compare<Uint8Array, Uint8Array> {
  const selected = range === undefined ? { key } : keyRange(range);
  return { ...selected, ...condition } as Compare<Uint8Array, Uint8Array>;
}

function operationOf(operation: BackendOperation): Operation<Uint8Array, Uint8Array> {
  switch (operation.type) {
    case 'put': {
      const { value, ...rest } = operation;
      return operation.ignoreValue === true ? rest : { ...rest, value };
    }
    case 'txn':
      return { type: 'txn', ...txnOf(operation) };
    default: {
      const { range, ...rest } = operation;
      return { ...rest, ...keyRange(range) };
    }
  }
}

function responseOf(response: OperationResult<Uint8Array, Uint8Array>): BackendOperationResponse {
  switch (response.type) {
    case 'range':
      return {
        type: 'range',
        count: response.count,
        kvs: response.kvs.map(backendKv),
        more: response.more,
      };
    case 'put':
      return response.prevKv === undefined ? { type: 'put' } : { type: 'put', prevKv: backendKv(response.prevKv) };
    case 'txn':
      return { type: 'txn', succeeded: response.succeeded, responses: response.responses.map(responseOf) };
    case 'delete': {
      const { deleted, prevKvs } = response;
      if (prevKvs === undefined) return { type: 'delete', deleted };
      return { type: 'delete', deleted, prevKvs: prevKvs.map(backendKv) };
    }
  }
}
