import { checkOptions, NO_OPTIONS, TTL_NAMES } from '../store/checks.ts';
import { LeaseNotFoundError } from '../types/errors.ts';
import type { Lease, LeaseId, LeaseStatus, RevokeLeaseResult, TimeToLiveOptions } from '../types/lease.ts';

/** What a handle asks its store for. */
export interface LeaseCalls {
  /** Before each of the others: throws `ClosedError`, commits what is due (M31), which may be this very lease. */
  begin(action: string): void;
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

  async keepAlive(): Promise<{ readonly ttlMs: number }> {
    this.#require('keep a lease alive');
    return this.#calls.keepAlive(this.id);
  }

  async timeToLive(options: TimeToLiveOptions = NO_OPTIONS): Promise<LeaseStatus | undefined> {
    const action = 'read a lease';
    checkOptions(options, TTL_NAMES, action);
    this.#calls.begin(action);
    return this.#loss === undefined ? this.#calls.timeToLive(this.id, options) : undefined;
  }

  async revoke(): Promise<RevokeLeaseResult> {
    this.#require('revoke a lease');
    return this.#calls.revoke(this.id);
  }

  /** A lease that is gone never revives, also if another one was granted with its id (store:R40). */
  #require(action: string): void {
    this.#calls.begin(action);
    if (this.#loss !== undefined) throw new LeaseNotFoundError(action, this.id);
  }

  /** Aborts the signal later, never inside the call that took the lease (M8). */
  lose(reason: unknown): void {
    if (this.#loss !== undefined) return;
    this.#loss = { reason };
    queueMicrotask(() => this.#controller?.abort(reason));
  }
}
