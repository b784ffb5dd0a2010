import { compareBytes } from '../../core/key-order.ts';
import type { BackendCallOptions, BackendLeases, BackendPosition } from '../../types/backend.ts';
import { LeaseExistsError, LeaseNotFoundError } from '../../types/errors.ts';
import type { LeaseId } from '../../types/lease.ts';
import { checkLeaseId, compareLeaseIds } from '../../types/lease-id.ts';
import { checkTtl } from '../../types/lease-ttl.ts';
import type { CallOptions, EtcdClient } from './client.ts';
import { type EtcdKind, EtcdRefusal, Unreadable } from './errors.ts';
import type { Method } from './transport.ts';
import { bytesOf, idOf, integerOf, listOf, objectOf, positionOf, positiveOf, type WireObject } from './wire.ts';

/** What the backend does for its leases. */
export interface LeaseChannel {
  readonly client: EtcdClient;
  /** Where the cluster is: what a member says of a lease on its own may be from before what others have acknowledged. */
  readonly position: (signal: AbortSignal | undefined) => Promise<BackendPosition>;
  /** What etcd refused, in the errors of the contract. */
  readonly explain: (error: unknown, action: string) => unknown;
}

/** Leases of etcd, whose TTLs are whole seconds: what is asked for is rounded up, and `ttlMs` says what was granted. */
export class EtcdLeases implements BackendLeases {
  readonly #channel: LeaseChannel;

  constructor(channel: LeaseChannel) {
    this.#channel = channel;
  }

  async grant({ ttlMs, id, signal }: Parameters<BackendLeases['grant']>[0]): ReturnType<BackendLeases['grant']> {
    const action = 'grant a lease';
    checkTtl(ttlMs, action);
    if (id !== undefined) checkLeaseId(id, action);
    const body = { TTL: String(Math.ceil(ttlMs / 1000)), ID: id ?? '0' };
    const call = { action, signal, isWrite: true };
    // It went through the log, so its own header says where: to ask once more could only fail after it was done.
    return this.#call('lease/grant', body, call, { id, refusal: 'leaseExists' }, (answer, position) => {
      const granted = leaseOf(answer, id);
      return { ...position, id: granted, ttlMs: positiveOf(answer.TTL, 'a TTL') * 1000 };
    });
  }

  /** One message of etcd's stream of renewals; a TTL of 0 is its way to say that there is no such lease. */
  async keepAlive({ id, signal }: Parameters<BackendLeases['keepAlive']>[0]): ReturnType<BackendLeases['keepAlive']> {
    const action = 'renew a lease';
    checkLeaseId(id, action);
    const read = (answer: WireObject) => {
      positionOf(answer);
      leaseOf(answer, id);
      return integerOf(answer.TTL, 'a TTL') * 1000;
    };
    let ttlMs: number;
    try {
      ttlMs = await this.#channel.client.renew(id, { action, signal }, read);
    } catch (error) {
      throw this.#channel.explain(error, action);
    }
    if (ttlMs <= 0) throw new LeaseNotFoundError(action, id);
    return { ...(await this.#channel.position(signal)), id, ttlMs };
  }

  /** How many keys went is what was attached a moment before: etcd does not say it. */
  async revoke({ id, signal }: Parameters<BackendLeases['revoke']>[0]): ReturnType<BackendLeases['revoke']> {
    const action = 'revoke a lease';
    checkLeaseId(id, action);
    const { status } = await this.timeToLive(signal === undefined ? { id, keys: true } : { id, keys: true, signal });
    if (status === undefined) throw new LeaseNotFoundError(action, id);
    const call = { action, signal, isWrite: true };
    const { identity, revision } = await this.#call(
      'lease/revoke',
      { ID: id },
      call,
      { id },
      (_, position) => position,
    );
    return { identity, revision, deleted: status.keys?.length ?? 0 };
  }

  async timeToLive(request: Parameters<BackendLeases['timeToLive']>[0]): ReturnType<BackendLeases['timeToLive']> {
    const { id, keys = false, signal } = request;
    const action = 'read the time to live of a lease';
    checkLeaseId(id, action);
    const told = await this.#call('lease/timetolive', { ID: id, keys }, { action, signal }, { id }, (answer) => {
      leaseOf(answer, id);
      return {
        granted: integerOf(answer.grantedTTL, 'a TTL'),
        left: integerOf(answer.TTL, 'a TTL'),
        keys: listOf(answer.keys, 'the keys').map(bytesOf),
      };
    });
    const position = await this.#channel.position(signal);
    if (told.granted <= 0) return { ...position, status: undefined };
    const status = { id, grantedTtlMs: told.granted * 1000, remainingMs: Math.max(1, told.left * 1000) };
    return { ...position, status: keys ? { ...status, keys: told.keys.sort(compareBytes) } : status };
  }

  async list({ signal }: BackendCallOptions): ReturnType<BackendLeases['list']> {
    const action = 'list the leases';
    const ids = await this.#call('lease/leases', {}, { action, signal }, {}, ({ leases }) =>
      listOf(leases, 'the leases').map((one) => leaseOf(objectOf(one, 'a lease'))),
    );
    return { ...(await this.#channel.position(signal)), leases: ids.sort(compareLeaseIds) };
  }

  async #call<T>(
    method: Method,
    request: WireObject,
    call: CallOptions,
    { id, refusal = 'leaseNotFound' }: { readonly id?: LeaseId | undefined; readonly refusal?: EtcdKind },
    read: (answer: WireObject, position: BackendPosition) => T,
  ): Promise<T> {
    try {
      return await this.#channel.client.call(method, request, call, read);
    } catch (error) {
      if (!(error instanceof EtcdRefusal && error.is(refusal)) || id === undefined) {
        throw this.#channel.explain(error, call.action);
      }
      throw refusal === 'leaseExists' ? new LeaseExistsError(call.action, id) : new LeaseNotFoundError(call.action, id);
    }
  }
}

/** Which lease an answer is about. Where one was asked about it has to be that one: without a TTL it would be gone. */
function leaseOf(answer: WireObject, asked?: LeaseId): LeaseId {
  const id = idOf(answer.ID, 'the id of a lease');
  if (id === '0') throw new Unreadable('a lease without an id');
  if (asked !== undefined && compareLeaseIds(id, asked) !== 0) throw new Unreadable(`lease ${id} instead of ${asked}`);
  return id;
}
