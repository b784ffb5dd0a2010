import { setTimeout as wait } from 'node:timers/promises';
import { type Gateway, GatewayError, type LeaseResponse, type LeasesResponse } from './gateway.ts';
import type { LeaseNames } from './lease-names.ts';
import { isGenerated } from './lease-names.ts';
import type { LeaseName } from './program.ts';
import { type Answer, type LeaseCall, showBytes } from './subject.ts';

/** etcd looks for leases that are due twice a second; this is for one that never does. */
const EXPIRY_MS_MAX = 5_000;
const POLL_MS = 25;
export const LEASE_NOT_FOUND = 'etcdserver: requested lease not found';
/** A lease without end, for a program: nobody waits for it. */
const LONG_MS = 60_000;

/**
 * The program took so long that a lease may have expired before its turn, so nothing can be said. Run it again.
 */
export class TooLateError extends Error {
  override readonly name = 'TooLateError';
}

/** Leases of a program on etcd, and until when each of them is there for certain. */
export class EtcdLeases {
  readonly #gateway: Gateway;
  readonly #names: LeaseNames;
  readonly #start = performance.now();
  /** By name. From the moment before the request: etcd counts from a later one. */
  readonly #live = new Map<LeaseName, { readonly ttlMs: number; certainUntil: number }>();
  #slept = 0;

  constructor(gateway: Gateway, names: LeaseNames) {
    this.#gateway = gateway;
    this.#names = names;
  }

  /** Revokes what programs before have left. */
  static async revokeAll(gateway: Gateway): Promise<void> {
    for (const id of await idsOf(gateway)) {
      try {
        await gateway.call('lease/revoke', { ID: id });
      } catch (error) {
        // It may have expired since the list.
        if (!(error instanceof GatewayError) || error.message !== LEASE_NOT_FOUND) throw error;
      }
    }
  }

  async perform(call: LeaseCall, revisionOf: (response: LeaseResponse) => number): Promise<Answer> {
    switch (call.op) {
      case 'grant':
        return this.#grant(call.lease, call.ttlMs);
      case 'revoke': {
        // The answer does not tell how many keys there were.
        const { keys = [] } = await this.#timeToLive(call.lease);
        const response = await this.#gateway.call<LeaseResponse>('lease/revoke', { ID: this.#names.id(call.lease) });
        this.#live.delete(call.lease);
        return { revision: revisionOf(response), deleted: keys.length };
      }
      case 'keepAlive':
        return this.#keepAlive(call.lease);
      case 'timeToLive': {
        const { TTL = '0', grantedTTL = '0', keys = [] } = await this.#timeToLive(call.lease);
        if (Number(TTL) < 0) return { lease: 'none' };
        const sorted = keys.map((key) => Buffer.from(key, 'base64')).sort(Buffer.compare);
        return {
          lease: call.lease,
          ...timeAnswer(this.#asked(call.lease, Number(grantedTTL) * 1000), Number(TTL) * 1000),
          keys: call.withKeys ? sorted.map(showBytes) : null,
        };
      }
      case 'leases':
        return { leases: (await idsOf(this.#gateway)).map((id) => this.#names.name(id)).sort() };
    }
  }

  /**
   * Waits until the program's time is `ms` later and etcd has expired what is due, one lease after the other.
   *
   * @throws TooLateError when another lease may have expired too, or first
   */
  async sleep(ms: number, due: readonly LeaseName[]): Promise<void> {
    this.#slept += ms;
    for (const name of due) {
      const id = this.#names.id(name);
      await this.#until(this.#live.get(name)?.certainUntil ?? 0);
      this.#live.delete(name);
      const limit = performance.now() + EXPIRY_MS_MAX;
      while ((await idsOf(this.#gateway)).includes(id) && performance.now() < limit) await wait(POLL_MS);
      this.checkTime();
    }
    await this.#until(this.#start + this.#slept);
    this.checkTime();
  }

  /** @throws TooLateError when a lease may have expired by now that nobody has waited for */
  checkTime(): void {
    const now = performance.now();
    for (const [name, { certainUntil }] of this.#live) {
      if (now < certainUntil) continue;
      throw new TooLateError(
        `Cannot compare expiries: lease ${name} may have expired already, the machine is too slow`,
      );
    }
  }

  async #until(time: number): Promise<void> {
    await wait(Math.max(0, time - performance.now()));
  }

  async #grant(name: LeaseName, ttlMs: number): Promise<Answer> {
    const certainUntil = performance.now() + ttlMs;
    const id = isGenerated(name) ? {} : { ID: name };
    const response = await this.#gateway.call<LeaseResponse>('lease/grant', { TTL: String(ttlMs / 1000), ...id });
    this.#names.made(name, String(response.ID));
    this.#live.set(name, { ttlMs, certainUntil });
    return { lease: name, ttlMs: this.#asked(name, Number(response.TTL) * 1000) };
  }

  async #keepAlive(name: LeaseName): Promise<Answer> {
    const now = performance.now();
    const stop = new AbortController();
    const stream = this.#gateway.stream<LeaseResponse>('lease/keepalive', { ID: this.#names.id(name) }, stop.signal);
    const first = await stream.next();
    stop.abort();
    if (first.done === true) throw new TypeError('Cannot keep a lease alive: etcd sent no answer');
    const { TTL = '0' } = first.value;
    if (Number(TTL) <= 0) return { error: 'lease not found' };
    const lease = this.#live.get(name);
    if (lease !== undefined) lease.certainUntil = now + lease.ttlMs;
    return { ttlMs: this.#asked(name, Number(TTL) * 1000) };
  }

  #timeToLive(name: LeaseName): Promise<LeaseResponse> {
    return this.#gateway.call<LeaseResponse>('lease/timetolive', { ID: this.#names.id(name), keys: true });
  }

  /** etcd may grant more than was asked for (store:R39): that counts as what was asked for. */
  #asked(name: LeaseName, grantedMs: number): number {
    const asked = this.#live.get(name)?.ttlMs ?? grantedMs;
    return Math.min(grantedMs, asked);
  }
}

/** What is left may be anything that can be, near all of it if that is long; etcd rounds down to seconds. */
export function timeAnswer(grantedMs: number, remainingMs: number): Answer {
  const least = grantedMs > LONG_MS ? grantedMs - LONG_MS : 0;
  return { grantedMs, remainingMs: remainingMs >= least && remainingMs <= grantedMs ? 'in time' : remainingMs };
}

async function idsOf(gateway: Gateway): Promise<readonly string[]> {
  const { leases = [] } = await gateway.call<LeasesResponse>('lease/leases', {});
  return leases.map(({ ID }) => ID);
}
