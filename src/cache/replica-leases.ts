import { KeepAlive } from '../lease/keep-alive.ts';
import type { WriteCall } from '../store/engine.ts';
import type { KeySpace } from '../store/keyspace.ts';
import type { Backend, BackendLeases, BackendPosition } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import {
  BackendError,
  ClosedError,
  IdentityChangedError,
  LeaseLostError,
  LeaseNotFoundError,
  UnsupportedError,
} from '../types/errors.ts';
import type {
  GrantLeaseOptions,
  KeepAliveResult,
  Lease,
  LeaseId,
  LeaseStatus,
  ResumeLeaseOptions,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import { checkRenewedTtl } from '../types/lease-ttl.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { Key } from '../types/revision.ts';
import { checkLeaseAnswer, checkLeasesAnswer, checkRevokeAnswer, checkTimeToLiveAnswer } from './lease-ingress.ts';
import { ReplicaLease, type ReplicaLeaseCalls } from './replica-lease.ts';
import type { SentWrites } from './sent-writes.ts';

export interface ReplicaLeasesOptions {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: KeySpace<Key>;
  readonly logger: Logger;
  /** Before each call of a handle: throws what a call of the store would. */
  readonly begin: (action: string) => void;
  /** Runs a call of the backend that changes nothing, ended by the store's close and by the signal. */
  readonly call: <T extends BackendPosition>(
    action: string,
    start: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ) => Promise<T>;
  readonly sent: SentWrites;
}

/**
 * The leases of a replica: the backend has them; here are the handles of those who were granted one.
 *
 * Promised: the signal of a lease that is revoked through this replica aborts when the deletes of its keys can be read here.
 * Not promised: the same for one that expires, since nobody tells; its handle goes by its own clock.
 */
export class ReplicaLeases implements ReplicaLeaseCalls {
  readonly #options: ReplicaLeasesOptions;
  readonly #handles = new Map<LeaseId, ReplicaLease>();
  #isClosed = false;

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options;
  }

  async grant({ ttlMs, id, keepAlive = false }: GrantLeaseOptions, call: WriteCall): Promise<Lease> {
    const { clock, sent } = this.#options;
    const leases = this.#backendLeases(call.action);
    const sentAt = clock.now();
    const { epoch } = sent;
    const granted = await sent.send(
      call,
      (signal) => leases.grant(id === undefined ? { ttlMs, signal } : { ttlMs, id, signal }),
      (answer) => {
        checkLeaseAnswer(answer, { id, ttlMs });
        return answer;
      },
    );
    // The handle would hear of neither any more.
    if (epoch !== sent.epoch) throw new IdentityChangedError(call.action, sent.epoch);
    if (this.#isClosed) throw new BackendError(call.action, 'the store was closed', { maybeCommitted: true });
    // Whoever ended the lease that had this id before.
    const before = this.#handles.get(granted.id);
    if (before !== undefined) this.expired(before);
    const handle = new ReplicaLease(granted.id, granted.ttlMs, this, clock);
    this.#handles.set(granted.id, handle);
    if (keepAlive) this.#renew(handle, call.signal);
    handle.renewed(sentAt, granted.ttlMs);
    return handle;
  }

  /** The handle of a lease that was granted elsewhere; it has its whole TTL again. */
  async resume(id: LeaseId, { keepAlive = false }: ResumeLeaseOptions, call: WriteCall): Promise<Lease> {
    const { clock, sent } = this.#options;
    const { epoch } = sent;
    const sentAt = clock.now();
    const { ttlMs } = await this.keepAlive(id, call);
    if (epoch !== sent.epoch) throw new IdentityChangedError(call.action, sent.epoch);
    if (this.#isClosed) throw new ClosedError(call.action);
    if (keepAlive) checkRenewedTtl(ttlMs, call.action);
    const handle = this.#handles.get(id) ?? new ReplicaLease(id, ttlMs, this, clock);
    this.#handles.set(id, handle);
    if (keepAlive) this.#renew(handle, call.signal);
    handle.renewed(sentAt, ttlMs);
    return handle;
  }

  #renew(handle: ReplicaLease, signal: AbortSignal | undefined): void {
    const { clock, random } = this.#options;
    handle.beSession();
    const renew = (aborted: AbortSignal) => handle.keepAlive({ signal: aborted });
    handle.addRenewals(new KeepAlive({ clock, random, ttlMs: handle.ttlMs, renew, signal }));
  }

  /**
   * Without a handle: for a put that makes a lease for its key. Whatever fails here, the put was not sent; a lease that is
   * there all the same expires by itself.
   */
  async grantId(ttlMs: number, action: string, signal: AbortSignal | undefined): Promise<LeaseId> {
    const { sent } = this.#options;
    const leases = this.#backendLeases(action);
    try {
      return await sent.send(
        { action, signal },
        (aborted) => leases.grant({ ttlMs, signal: aborted }),
        (answer) => {
          checkLeaseAnswer(answer, { ttlMs });
          return answer.id;
        },
      );
    } catch (error) {
      if (!(error instanceof BackendError && error.maybeCommitted)) throw error;
      const { permanent } = error;
      throw new BackendError(action, 'its lease could not be granted', { cause: error, permanent });
    }
  }

  begin(action: string): void {
    this.#options.begin(action);
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

  async keepAlive(id: LeaseId, { action, signal }: WriteCall): Promise<KeepAliveResult> {
    const sentAt = this.#options.clock.now();
    // Another lease may be granted with this id meanwhile: the answer is not about that one.
    const handle = this.#handles.get(id);
    try {
      const answer = await this.#call(action, signal, (leases, aborted) => leases.keepAlive({ id, signal: aborted }));
      checkLeaseAnswer(answer, { id });
      const { ttlMs } = answer;
      handle?.renewed(sentAt, ttlMs);
      return { ttlMs };
    } catch (error) {
      if (error instanceof LeaseNotFoundError && handle !== undefined) this.expired(handle);
      throw error;
    }
  }

  async revoke(id: LeaseId, call: WriteCall): Promise<RevokeLeaseResult> {
    const { sent } = this.#options;
    const leases = this.#backendLeases(call.action);
    const { epoch } = sent;
    const handle = this.#handles.get(id);
    const result = await sent.send(
      call,
      (signal) => leases.revoke({ id, signal }),
      (answer): RevokeLeaseResult => {
        checkRevokeAnswer(answer);
        return { revision: answer.revision, deleted: answer.deleted };
      },
    );
    const { revision } = result;
    if (handle !== undefined && this.#remove(handle)) {
      const lost = () => handle.lose(new LeaseLostError({ leaseId: id, end: 'revoked', revision }));
      // A wait of its own: the handle's signal is about the deletes, whatever becomes of the caller's wait for them.
      sent.applied({ action: call.action, signal: undefined }, revision, epoch, result).then(lost, lost);
    }
    await sent.applied(call, revision, epoch, result);
    return result;
  }

  async timeToLive(
    id: LeaseId,
    options: TimeToLiveOptions,
    { action, signal }: WriteCall,
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

  async list({ action, signal }: WriteCall): Promise<readonly LeaseId[]> {
    const answer = await this.#call(action, signal, (leases, aborted) => leases.list({ signal: aborted }));
    checkLeasesAnswer(answer);
    return answer.leases;
  }

  /** The handle's own deadline has passed without a renewal, or the backend has said that it is gone. */
  expired(handle: ReplicaLease): void {
    if (!this.#remove(handle)) return;
    handle.lose(new LeaseLostError({ leaseId: handle.id, end: 'expired', revision: 0 }));
  }

  /** The data were replaced, and the leases with them (D22), or the store is closed. */
  end(reason: unknown): void {
    for (const handle of [...this.#handles.values()]) {
      this.#remove(handle);
      handle.lose(reason);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.end(new ClosedError('use a lease'));
  }

  /** From now on the handle is of no lease. `false` if it was not before. */
  #remove(handle: ReplicaLease): boolean {
    if (this.#handles.get(handle.id) !== handle) return false;
    this.#handles.delete(handle.id);
    handle.gone();
    return true;
  }

  #backendLeases(action: string): BackendLeases {
    const { capabilities, leases } = this.#options.backend;
    if (capabilities.leases !== true || leases === undefined) throw new UnsupportedError(action, 'leases');
    return leases;
  }

  async #call<T extends BackendPosition>(
    action: string,
    signal: AbortSignal | undefined,
    ask: (leases: BackendLeases, aborted: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const leases = this.#backendLeases(action);
    return this.#options.call(action, (aborted) => ask(leases, aborted), signal);
  }
}
