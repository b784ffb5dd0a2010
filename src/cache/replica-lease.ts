import type { KeepAlive } from '../lease/keep-alive.ts';
import { Renewals } from '../lease/renewals.ts';
import { checkFlag, checkOptions, NO_OPTIONS, SIGNAL_NAMES, TTL_NAMES } from '../store/checks.ts';
import type { WriteCall } from '../store/engine.ts';
import { LossSignal } from '../store/loss-signal.ts';
import type { Clock } from '../types/clock.ts';
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
export interface ReplicaLeaseCalls {
  /** Before each call of a handle: throws what a call of the store would. */
  begin(action: string): void;
  keepAlive(id: LeaseId, call: WriteCall): Promise<KeepAliveResult>;
  timeToLive(id: LeaseId, options: TimeToLiveOptions, call: WriteCall): Promise<LeaseStatus | undefined>;
  revoke(id: LeaseId, call: WriteCall): Promise<RevokeLeaseResult>;
  /** The handle's own deadline has passed without a renewal. */
  expired(handle: ReplicaLease): void;
}

/**
 * What a session gives away of its TTL: by so much earlier than the backend may end it, its signal aborts. It pays for clocks
 * that do not run alike and for a timer that comes late.
 */
const MARGIN_SHARE = 0.1;

/**
 * A lease that a backend granted. Nobody tells when it expires, so the handle keeps the deadline itself, counted from when
 * the last answered renewal was sent: never later than the backend's own.
 */
export class ReplicaLease implements Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  readonly #calls: ReplicaLeaseCalls;
  readonly #clock: Clock;
  readonly #loss = new LossSignal();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #deadline = 0;
  #cancel: (() => void) | undefined;
  #isGone = false;
  readonly #renewals = new Renewals();
  #isSession = false;

  constructor(id: LeaseId, ttlMs: number, calls: ReplicaLeaseCalls, clock: Clock) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.#calls = calls;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  async keepAlive(options: SignalOptions = NO_OPTIONS): Promise<KeepAliveResult> {
    const call = this.#call('keep a lease alive', options, SIGNAL_NAMES);
    this.#require(call.action);
    return this.#calls.keepAlive(this.id, call);
  }

  async timeToLive(options: TimeToLiveOptions & SignalOptions = NO_OPTIONS): Promise<LeaseStatus | undefined> {
    const call = this.#call('read a lease', options, TTL_NAMES);
    const keys = checkFlag('keys', options.keys, call.action);
    this.#calls.begin(call.action);
    return this.#isGone ? undefined : this.#calls.timeToLive(this.id, { keys }, call);
  }

  async revoke(options: SignalOptions = NO_OPTIONS): Promise<RevokeLeaseResult> {
    const call = this.#call('revoke a lease', options, SIGNAL_NAMES);
    this.#require(call.action);
    return this.#calls.revoke(this.id, call);
  }

  #call(action: string, options: SignalOptions, names: ReadonlySet<string>): WriteCall {
    this.#calls.begin(action);
    const signal = checkOptions(options, names, action);
    signal?.throwIfAborted();
    // A getter of the options may have closed the store.
    this.#calls.begin(action);
    return { action, signal };
  }

  /** A lease that is gone never revives, also if another one was granted with its id (store:R40). */
  #require(action: string): void {
    if (this.#isGone) throw new LeaseNotFoundError(action, this.id);
  }

  /** From the next answer on it lives by the shorter deadline of a session. */
  beSession(): void {
    this.#isSession = true;
  }

  /** Ends with the lease. One that is gone has none. */
  addRenewals(renewals: KeepAlive): void {
    if (this.#isGone) renewals.stop();
    else this.#renewals.add(renewals);
  }

  /** `ttlMs` is what the answer to the question of `sentAt` said. The answer to a later question may have come before. */
  renewed(sentAt: number, ttlMs: number): void {
    if (this.#isGone || sentAt < this.#renewedAt) return;
    this.#renewedAt = sentAt;
    const deadline = sentAt + ttlMs * (this.#isSession ? 1 - MARGIN_SHARE : 1);
    if (deadline < this.#deadline) this.#disarm();
    this.#deadline = deadline;
    this.#arm();
  }

  /** The calls know it at once; the signal hears of it by {@link lose}. */
  gone(): void {
    this.#isGone = true;
    this.#disarm();
    this.#renewals.stop();
  }

  lose(reason: unknown): void {
    this.#loss.lose(reason);
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** One timer; a renewal that makes the lease last longer does not set it anew, it looks again when it fires. */
  #arm(): void {
    this.#cancel ??= this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()), () => {
      this.#cancel = undefined;
      if (this.#clock.now() < this.#deadline) this.#arm();
      else this.#calls.expired(this);
    });
  }
}
