import type {
  Backend,
  BackendCallOptions,
  BackendKeyValue,
  BackendLeases,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchRequest,
  BackendWatchStream,
} from '../types/backend.ts';
import type { Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import { checkRangeRequest, checkTxnRequest } from './check-request.ts';
import { MemoryBackendLeases } from './memory-backend-leases.ts';
import { MemoryBackendStream } from './memory-backend-stream.ts';
import { type ByteStore, backendKv, keyRange, positionOf, signalOf } from './memory-backend-terms.ts';
import { responseOf, txnOf } from './txn-terms.ts';

/**
 * An embedded store of bytes as a `Backend`: the reference for the contract, and what tests put replicas in front of.
 * Keeps B1-B12; several ranges are one stream by watching everything and filtering (B9). The store stays the
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
 *
 * @throws TypeError for what is no store, and for one whose keys are text
 */
export function createMemoryBackend(store: ByteStore): Backend {
  const action = 'create a memory backend';
  if (typeof store?.range !== 'function' || typeof store.txn !== 'function') {
    throw new TypeError(`Cannot ${action}: ${shown(store)} is no store`);
  }
  if (hasTextKeys(store))
    throw new TypeError(`Cannot ${action}: the keys of the store are text, open it with keys: 'bytes'`);
  return new MemoryBackend(store);
}

/** A closed store, or one that is not ready, says so to whoever uses the backend. */
function hasTextKeys(store: ByteStore): boolean {
  try {
    store.range({ prefix: new Uint8Array(0), countOnly: true });
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}

class MemoryBackend implements Backend {
  readonly capabilities = { progress: true, writable: true, leases: true } as const;
  readonly leases: BackendLeases;
  readonly #store: ByteStore;

  constructor(store: ByteStore) {
    this.#store = store;
    this.leases = new MemoryBackendLeases(store);
  }

  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    checkRangeRequest(request, 'read from a memory backend');
    request.signal?.throwIfAborted();
    const store = this.#store;
    // 0 is the newest, as in a transaction.
    const { revision: asked = 0 } = request;
    const revision = asked > 0 ? asked : store.revision;
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
    return new MemoryBackendStream(this.#store, request);
  }

  async txn(request: BackendTxnRequest): Promise<BackendTxnResponse> {
    checkTxnRequest(request, 'run a transaction');
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
