import type { Lease, LeaseId, LeaseStatus, RevokeLeaseResult, TimeToLiveOptions } from '../types/lease.ts';

/** What a handle asks its store for. */
export interface LeaseCalls {
  keepAlive(id: LeaseId): Promise<{ readonly ttlMs: number }>;
  timeToLive(id: LeaseId, options: TimeToLiveOptions): Promise<LeaseStatus | undefined>;
  revoke(id: LeaseId): Promise<RevokeLeaseResult>;
}

/** The handle of who was granted a lease. Its signal is made when it is asked for: most leases have none. */
export class MemoryLease implements Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  readonly #calls: LeaseCalls;
  #controller: AbortController | undefined;
  #loss: { readonly reason: unknown } | undefined;

  constructor(id: LeaseId, ttlMs: number, calls: LeaseCalls) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.#calls = calls;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#loss !== undefined) this.#controller.abort(this.#loss.reason);
    }
    return this.#controller.signal;
  }

  keepAlive(): Promise<{ readonly ttlMs: number }> {
    return this.#calls.keepAlive(this.id);
  }

  timeToLive(options: TimeToLiveOptions = {}): Promise<LeaseStatus | undefined> {
    return this.#calls.timeToLive(this.id, options);
  }

  revoke(): Promise<RevokeLeaseResult> {
    return this.#calls.revoke(this.id);
  }

  /** Aborts the signal later, never inside the call that took the lease (M8). */
  lose(reason: unknown): void {
    if (this.#loss !== undefined) return;
    this.#loss = { reason };
    queueMicrotask(() => this.#controller?.abort(reason));
  }
}
