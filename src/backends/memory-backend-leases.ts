import type { BackendCallOptions, BackendLeases } from '../types/backend.ts';
import { type ByteStore, positionOf, signalOf } from './memory-backend-terms.ts';

/** The store's leases; each answer with the position behind it. */
export class MemoryBackendLeases implements BackendLeases {
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
