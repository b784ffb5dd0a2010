import type { KeepAlive } from '../lease/keep-alive.ts';
import { Renewals } from '../lease/renewals.ts';
import { checkFlag, checkOptions, NO_OPTIONS, SIGNAL_NAMES, TTL_NAMES } from '../store/checks.ts';
import { LossSignal } from '../store/loss-signal.ts';
import { LeaseNotFoundError } from '../types/errors.ts';
import type {
  KeepAliveResult,
  Lease,
  LeaseId,
  LeaseStatus,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import type { SignalOptions } from '../types/signal.ts';

/** What a handle asks its store for. */
export interface LeaseCalls {
  /** Before each of the others: throws `ClosedError`, commits what is due (M31), which may be this very lease. */
  begin(action: string): void;
  keepAlive(id: LeaseId): Promise<KeepAliveResult>;
  timeToLive(id: LeaseId, options: TimeToLiveOptions): Promise<LeaseStatus | undefined>;
  revoke(id: LeaseId): Promise<RevokeLeaseResult>;
}

/** The handle of who was granted a lease. */
export class MemoryLease implements Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  readonly #calls: LeaseCalls;
  readonly #lost = new LossSignal();
  readonly #renewals = new Renewals();

  constructor(id: LeaseId, ttlMs: number, calls: LeaseCalls) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.#calls = calls;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  async keepAlive(options: SignalOptions = NO_OPTIONS): Promise<KeepAliveResult> {
    const action = 'keep a lease alive';
    this.#begin(action, options, SIGNAL_NAMES);
    this.#require(action);
    return this.#calls.keepAlive(this.id);
  }

  async timeToLive(options: TimeToLiveOptions & SignalOptions = NO_OPTIONS): Promise<LeaseStatus | undefined> {
    const action = 'read a lease';
    this.#begin(action, options, TTL_NAMES);
    const keys = checkFlag('keys', options.keys, action);
    this.#calls.begin(action);
    return this.#lost.loss === undefined ? this.#calls.timeToLive(this.id, { keys }) : undefined;
  }

  async revoke(options: SignalOptions = NO_OPTIONS): Promise<RevokeLeaseResult> {
    const action = 'revoke a lease';
    this.#begin(action, options, SIGNAL_NAMES);
    this.#require(action);
    return this.#calls.revoke(this.id);
  }

  /** In the order of the store's own calls: the store, the options, the signal. */
  #begin(action: string, options: SignalOptions, names: ReadonlySet<string>): void {
    this.#calls.begin(action);
    checkOptions(options, names, action)?.throwIfAborted();
    // A getter of the options may have closed the store.
    this.#calls.begin(action);
  }

  /** A lease that is gone never revives, also if another one was granted with its id (store:R40). */
  #require(action: string): void {
    if (this.#lost.loss !== undefined) throw new LeaseNotFoundError(action, this.id);
  }

  /** Ends with the lease. One that is gone has none. */
  addRenewals(renewals: KeepAlive): void {
    if (this.#lost.loss === undefined) this.#renewals.add(renewals);
    else renewals.stop();
  }

  /** Aborts the signal later, never inside the call that took the lease (M8). */
  lose(reason: unknown): void {
    this.#lost.lose(reason);
    this.#renewals.stop();
  }
}
