import type { BackendCallOptions, BackendLeases } from '../../types/backend.ts';
import { checkInteger } from '../../types/check-integer.ts';
import type { Clock } from '../../types/clock.ts';
import { LeaseExistsError, LeaseNotFoundError, LimitExceededError } from '../../types/errors.ts';
import type { LeaseId } from '../../types/lease.ts';
import { checkLeaseId, generateLeaseId } from '../../types/lease-id.ts';
import { checkTtl } from '../../types/lease-ttl.ts';
import type { Random } from '../../types/random.ts';
import { endLease, type SqliteFile } from './file.ts';
import type { LeaseRow } from './tables.ts';

export interface SqliteLeasesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly leasesMax: number;
}

/**
 * Leases in the file. Their deadlines are in wall-clock time, so that a restart neither lengthens them nor forgets them
 * (store:R45); a clock that is set forward ends them early, one that is set back keeps them longer.
 */
export class SqliteLeases implements BackendLeases {
  readonly #file: SqliteFile;
  readonly #options: SqliteLeasesOptions;

  constructor(file: SqliteFile, options: SqliteLeasesOptions) {
    this.#file = file;
    this.#options = options;
  }

  async grant({ ttlMs, id, signal }: Parameters<BackendLeases['grant']>[0]): ReturnType<BackendLeases['grant']> {
    const action = 'grant a lease';
    checkTtl(ttlMs, action);
    if (id !== undefined) checkLeaseId(id, action);
    const { random, leasesMax } = this.#options;
    return this.#file.write(action, signal, ({ identity, revision }) => {
      const { tables } = this.#file;
      const isTaken = (one: LeaseId) => tables.lease(one) !== undefined;
      if (id !== undefined && isTaken(id)) throw new LeaseExistsError(action, id);
      const actual = tables.leaseCount() + 1;
      if (actual > leasesMax) throw new LimitExceededError(action, { limit: 'leases', max: leasesMax, actual });
      const granted = id ?? generateLeaseId(random, isTaken);
      this.#renew({ id: granted, ttlMs });
      return { identity, revision, id: granted, ttlMs };
    });
  }

  async keepAlive({ id, signal }: Parameters<BackendLeases['keepAlive']>[0]): ReturnType<BackendLeases['keepAlive']> {
    const action = 'renew a lease';
    checkLeaseId(id, action);
    return this.#file.write(action, signal, ({ identity, revision }) => {
      const { ttlMs } = this.#require(id, action);
      this.#renew({ id, ttlMs });
      return { identity, revision, id, ttlMs };
    });
  }

  async revoke({ id, signal }: Parameters<BackendLeases['revoke']>[0]): ReturnType<BackendLeases['revoke']> {
    const action = 'revoke a lease';
    checkLeaseId(id, action);
    return this.#file.write(action, signal, ({ identity }) => {
      this.#require(id, action);
      return { identity, ...endLease(this.#file.tables, id) };
    });
  }

  async timeToLive(request: Parameters<BackendLeases['timeToLive']>[0]): ReturnType<BackendLeases['timeToLive']> {
    const { id, keys = false, signal } = request;
    const action = 'read the time to live of a lease';
    checkLeaseId(id, action);
    return this.#file.read(action, signal, ({ identity, revision }) => {
      const { tables } = this.#file;
      const lease = tables.lease(id);
      if (lease === undefined) return { identity, revision, status: undefined };
      // A clock that was set back does not make it longer than was granted.
      const left = Math.ceil(lease.deadlineMs - this.#options.clock.wallTime());
      const status = { id, grantedTtlMs: lease.ttlMs, remainingMs: Math.min(Math.max(left, 1), lease.ttlMs) };
      return { identity, revision, status: keys ? { ...status, keys: tables.keysOf(id) } : status };
    });
  }

  async list({ signal }: BackendCallOptions): ReturnType<BackendLeases['list']> {
    return this.#file.read('list the leases', signal, ({ identity, revision }) => ({
      identity,
      revision,
      leases: this.#file.tables.leases(),
    }));
  }

  #require(id: LeaseId, action: string): LeaseRow {
    const lease = this.#file.tables.lease(id);
    if (lease === undefined) throw new LeaseNotFoundError(action, id);
    return lease;
  }

  /** Never less than was granted: the clock may have fractions, the column has not. */
  #renew({ id, ttlMs }: { readonly id: LeaseId; readonly ttlMs: number }): void {
    const deadlineMs = Math.ceil(this.#options.clock.wallTime() + ttlMs);
    checkInteger('the deadline', deadlineMs, 'grant a lease');
    this.#file.tables.setLease({ id, ttlMs, deadlineMs });
  }
}
