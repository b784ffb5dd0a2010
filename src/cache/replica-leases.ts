import { checkOptions, NO_OPTIONS, TTL_NAMES } from '../store/checks.ts';
import type { KeySpace } from '../store/keyspace.ts';
import type { Backend, BackendLeases, BackendPosition } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, LeaseLostError, LeaseNotFoundError, UnsupportedError } from '../types/errors.ts';
import type {
  GrantLeaseOptions,
  Lease,
  LeaseId,
  LeaseStatus,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import type { Logger } from '../types/logger.ts';
import type { Key, Revision } from '../types/revision.ts';
import { checkLeaseAnswer, checkLeasesAnswer, checkRevokeAnswer, checkTimeToLiveAnswer } from './lease-ingress.ts';

export interface ReplicaLeasesOptions {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly keys: KeySpace<Key>;
  readonly logger: Logger;
  /** Runs a call of the backend, ended by the store's close and by the signal. */
  readonly call: <T extends BackendPosition>(
    action: string,
    start: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ) => Promise<T>;
  /** Resolves when the revision is applied here (M3). */
  readonly untilApplied: (revision: Revision, signal: AbortSignal | undefined) => Promise<void>;
}

/** The leases of a replica: the backend has them; here are the handles of those who were granted one. */
export class ReplicaLeases {
  readonly #options: ReplicaLeasesOptions;
  readonly #handles = new Map<LeaseId, ReplicaLease>();

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options;
  }

  async grant({ ttlMs, id }: GrantLeaseOptions, action: string, signal: AbortSignal | undefined): Promise<Lease> {
    const { clock } = this.#options;
    const sentAt = clock.now();
    const granted = await this.#call(action, signal, (leases, aborted) =>
      leases.grant(id === undefined ? { ttlMs, signal: aborted } : { ttlMs, id, signal: aborted }),
    );
    checkLeaseAnswer(granted, { id, ttlMs });
    const handle = new ReplicaLease(granted.id, granted.ttlMs, this, clock);
    handle.renewed(sentAt);
    this.#handles.set(granted.id, handle);
    return handle;
  }

  /** Without a handle: for a put that makes a lease for its key. */
  async grantId(ttlMs: number, action: string, signal: AbortSignal | undefined): Promise<LeaseId> {
    const granted = await this.#call(action, signal, (leases, aborted) => leases.grant({ ttlMs, signal: aborted }));
    checkLeaseAnswer(granted, { ttlMs });
    return granted.id;
  }

  /** Handles of leases that are not known to be gone. */
  get size(): number {
    return this.#handles.size;
  }

  /** Revokes a lease that nobody has heard of. If that fails, it expires by itself. */
  forget(id: LeaseId): void {
    const { logger } = this.#options;
    this.#call('revoke a lease', undefined, (leases, signal) => leases.revoke({ id, signal })).then(
      () => logger.debug('A lease that no key has was revoked', { lease: id }),
      (error: unknown) =>
        logger.warn('A lease that no key has could not be revoked, it will expire', { lease: id, error }),
    );
  }

  async keepAlive(id: LeaseId, action: string, signal: AbortSignal | undefined): Promise<{ readonly ttlMs: number }> {
    const sentAt = this.#options.clock.now();
    try {
      const { ttlMs } = await this.#call(action, signal, (leases, aborted) =>
        leases.keepAlive({ id, signal: aborted }),
      );
      this.#handles.get(id)?.renewed(sentAt);
      return { ttlMs };
    } catch (error) {
      if (error instanceof LeaseNotFoundError) this.#lost(id, 'expired', 0);
      throw error;
    }
  }

  async revoke(id: LeaseId, action: string, signal: AbortSignal | undefined): Promise<RevokeLeaseResult> {
    const answer = await this.#call(action, signal, (leases, aborted) => leases.revoke({ id, signal: aborted }));
    checkRevokeAnswer(answer);
    const { revision, deleted } = answer;
    this.#lost(id, 'revoked', revision);
    await this.#options.untilApplied(revision, signal);
    return { revision, deleted };
  }

  async timeToLive(
    id: LeaseId,
    options: TimeToLiveOptions,
    action: string,
    signal: AbortSignal | undefined,
  ): Promise<LeaseStatus | undefined> {
    const wantsKeys = options.keys === true;
    const answer = await this.#call(action, signal, (leases, aborted) =>
      leases.timeToLive({ id, keys: wantsKeys, signal: aborted }),
    );
    checkTimeToLiveAnswer(answer, { id, keys: wantsKeys });
    const { status } = answer;
    if (status === undefined) return undefined;
    const { keys } = this.#options;
    const { grantedTtlMs, remainingMs } = status;
    if (!wantsKeys) return { id, grantedTtlMs, remainingMs };
    const own = (status.keys ?? []).map((key) => keys.key(keys.textOfBytes(key, action)));
    return { id, grantedTtlMs, remainingMs, keys: own };
  }

  async list(action: string, signal: AbortSignal | undefined): Promise<readonly LeaseId[]> {
    const answer = await this.#call(action, signal, (leases, aborted) => leases.list({ signal: aborted }));
    checkLeasesAnswer(answer);
    return answer.leases;
  }

  /** The handle's own deadline has passed without a renewal, or the backend has said so. */
  expired(id: LeaseId): void {
    this.#lost(id, 'expired', 0);
  }

  /** The data were replaced, and the leases with them (D22), or the store is closed. */
  end(reason: unknown): void {
    for (const handle of this.#handles.values()) handle.lose(reason);
    this.#handles.clear();
  }

  close(): void {
    this.end(new ClosedError('use a lease'));
  }

  #lost(leaseId: LeaseId, end: 'expired' | 'revoked', revision: Revision): void {
    const handle = this.#handles.get(leaseId);
    if (handle === undefined) return;
    this.#handles.delete(leaseId);
    handle.lose(new LeaseLostError({ leaseId, end, revision }));
  }

  #call<T extends BackendPosition>(
    action: string,
    signal: AbortSignal | undefined,
    ask: (leases: BackendLeases, aborted: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { backend, call } = this.#options;
    const { leases } = backend;
    if (leases === undefined) throw new UnsupportedError(action, 'leases');
    return call(action, (aborted) => ask(leases, aborted), signal);
  }
}

/**
 * A lease that a backend granted. Nobody tells when it expires, so the handle keeps the deadline itself, counted from when
 * the last answered renewal was sent: never later than the backend's own.
 */
class ReplicaLease implements Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  readonly #leases: ReplicaLeases;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #deadline = 0;
  #cancel: (() => void) | undefined;
  #loss: { readonly reason: unknown } | undefined;

  constructor(id: LeaseId, ttlMs: number, leases: ReplicaLeases, clock: Clock) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.#leases = leases;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async keepAlive(): Promise<{ readonly ttlMs: number }> {
    const action = 'keep a lease alive';
    this.#require(action);
    return this.#leases.keepAlive(this.id, action, undefined);
  }

  async timeToLive(options: TimeToLiveOptions = NO_OPTIONS): Promise<LeaseStatus | undefined> {
    const action = 'read a lease';
    checkOptions(options, TTL_NAMES, action);
    if (this.#loss?.reason instanceof ClosedError) throw new ClosedError(action);
    return this.#loss !== undefined ? undefined : this.#leases.timeToLive(this.id, options, action, undefined);
  }

  async revoke(): Promise<RevokeLeaseResult> {
    const action = 'revoke a lease';
    this.#require(action);
    return this.#leases.revoke(this.id, action, undefined);
  }

  /** A lease that is gone never revives, also if another one was granted with its id (store:R40). */
  #require(action: string): void {
    if (this.#loss?.reason instanceof ClosedError) throw new ClosedError(action);
    if (this.#loss !== undefined) throw new LeaseNotFoundError(action, this.id);
  }

  renewed(sentAt: number): void {
    this.#deadline = Math.max(this.#deadline, sentAt + this.ttlMs);
    this.#arm();
  }

  lose(reason: unknown): void {
    this.#loss ??= { reason };
    this.#cancel?.();
    this.#cancel = undefined;
    queueMicrotask(() => this.#controller.abort(reason));
  }

  /** One timer; renewals do not set it anew, it looks again when it fires. */
  #arm(): void {
    this.#cancel ??= this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()), () => {
      this.#cancel = undefined;
      if (this.#clock.now() < this.#deadline) this.#arm();
      else this.#leases.expired(this.id);
    });
  }
}
