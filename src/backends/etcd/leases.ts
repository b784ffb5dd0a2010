import { compareBytes } from '../../core/key-order.ts';
import type { BackendCallOptions, BackendLeases, BackendPosition } from '../../types/backend.ts';
import { BackendError, LeaseExistsError, LeaseNotFoundError } from '../../types/errors.ts';
import type { LeaseId } from '../../types/lease.ts';
import { checkLeaseId, compareLeaseIds } from '../../types/lease-id.ts';
import { checkTtl } from '../../types/lease-ttl.ts';
import { type EtcdKind, EtcdRefusal } from './errors.ts';
import type { CallOptions, Gateway } from './gateway.ts';
import { fromBase64, integerOf } from './wire.ts';

interface WireLeaseAnswer {
  readonly ID?: string;
  readonly TTL?: string;
  readonly grantedTTL?: string;
  readonly keys?: readonly string[];
}

interface WireLeasesAnswer {
  readonly leases?: readonly { readonly ID: string }[];
}

/** What the backend does for its leases. */
export interface LeaseChannel {
  readonly gateway: Gateway;
  /** Where the cluster is: an answer about a lease does not say so on its own. */
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
    const answer = await this.#call('lease/grant', body, { action, signal, isWrite: true }, id, 'leaseExists');
    const granted = integerOf(answer.TTL, 'a TTL') * 1000;
    return { ...(await this.#channel.position(signal)), id: answer.ID ?? id ?? '0', ttlMs: granted };
  }

  /** One message of etcd's stream of renewals; a TTL of 0 is its way to say that there is no such lease. */
  async keepAlive({ id, signal }: Parameters<BackendLeases['keepAlive']>[0]): ReturnType<BackendLeases['keepAlive']> {
    const action = 'renew a lease';
    checkLeaseId(id, action);
    const call: CallOptions = { action, signal };
    for await (const answer of this.#channel.gateway.explainedStream<WireLeaseAnswer>(
      'lease/keepalive',
      { ID: id },
      call,
    )) {
      const ttlMs = integerOf(answer.TTL, 'a TTL') * 1000;
      if (ttlMs <= 0) throw new LeaseNotFoundError(action, id);
      return { ...(await this.#channel.position(signal)), id, ttlMs };
    }
    throw new BackendError(action, 'etcd has answered nothing');
  }

  /** How many keys went is what was attached a moment before: etcd does not say it. */
  async revoke({ id, signal }: Parameters<BackendLeases['revoke']>[0]): ReturnType<BackendLeases['revoke']> {
    const action = 'revoke a lease';
    checkLeaseId(id, action);
    const { status } = await this.timeToLive(signal === undefined ? { id, keys: true } : { id, keys: true, signal });
    if (status === undefined) throw new LeaseNotFoundError(action, id);
    await this.#call('lease/revoke', { ID: id }, { action, signal, isWrite: true }, id, 'leaseNotFound');
    return { ...(await this.#channel.position(signal)), deleted: status.keys?.length ?? 0 };
  }

  async timeToLive(request: Parameters<BackendLeases['timeToLive']>[0]): ReturnType<BackendLeases['timeToLive']> {
    const { id, keys = false, signal } = request;
    const action = 'read the time to live of a lease';
    checkLeaseId(id, action);
    const answer = await this.#call('lease/timetolive', { ID: id, keys }, { action, signal }, id, 'leaseNotFound');
    const position = await this.#channel.position(signal);
    const granted = integerOf(answer.grantedTTL, 'a TTL');
    if (granted <= 0) return { ...position, status: undefined };
    const remainingMs = Math.max(1, integerOf(answer.TTL, 'a TTL') * 1000);
    const status = { id, grantedTtlMs: granted * 1000, remainingMs };
    if (!keys) return { ...position, status };
    return { ...position, status: { ...status, keys: (answer.keys ?? []).map(fromBase64).sort(compareBytes) } };
  }

  async list({ signal }: BackendCallOptions): ReturnType<BackendLeases['list']> {
    const action = 'list the leases';
    const { leases = [] } = await this.#call<WireLeasesAnswer>('lease/leases', {}, { action, signal }, undefined);
    const ids = leases.map(({ ID }) => ID).sort(compareLeaseIds);
    return { ...(await this.#channel.position(signal)), leases: ids };
  }

  async #call<T = WireLeaseAnswer>(
    path: string,
    body: object,
    call: CallOptions,
    id: LeaseId | undefined,
    refusal: EtcdKind = 'leaseNotFound',
  ): Promise<T> {
    try {
      return await this.#channel.gateway.call<T>(path, body, call);
    } catch (error) {
      if (!(error instanceof EtcdRefusal && error.is(refusal)) || id === undefined) {
        throw this.#channel.explain(error, call.action);
      }
      throw refusal === 'leaseExists' ? new LeaseExistsError(call.action, id) : new LeaseNotFoundError(call.action, id);
    }
  }
}
