import type { Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';

/**
 * Names a lease: a decimal string from '1' to '9223372036854775807', since etcd's ids are 64-bit (D8). '0' is "none".
 */
export type LeaseId = string;

export interface GrantLeaseOptions {
  /** Milliseconds until it expires unless it is kept alive: an integer from 1 to 9e12 (store:R39). */
  readonly ttlMs: number;
  /** @default one that the store makes */
  readonly id?: LeaseId;
  /**
   * The lease, of 3 ms or more, renews itself: at about a third of its TTL, again and again after failures, until it is revoked or lost, the
   * store closes, or the call's `signal` aborts, which then only ends the renewals. Its timer keeps a process alive. On a
   * replica the handle gives such a lease up when nine tenths of the TTL have passed since the last renewal that was
   * answered was sent: its signal aborts before the backend can let anybody else in, as long as this process runs.
   * @default false
   */
  readonly keepAlive?: boolean;
}

export type ResumeLeaseOptions = Pick<GrantLeaseOptions, 'keepAlive'>;

/**
 * A lease that was granted. Keys are attached to it by puts with its id; when it is revoked or expires they are deleted,
 * all in one commit, in key order (store:R41). Only in a store whose memory is full the deletes of one that expired may come
 * in several commits. A lease
 * keeps itself alive only if it was asked to (`keepAlive`): then it is what etcd calls a session.
 */
export interface Lease {
  readonly id: LeaseId;
  /** What was granted; a backend may grant more than was asked for (store:R39). */
  readonly ttlMs: number;
  /**
   * Aborts when the lease is gone, with a `LeaseLostError` as reason (`ClosedError` when the store closed,
   * `IdentityChangedError` when a replica's data were replaced). In a microtask of its own, after the deletes of its keys can
   * be read (M8). But on a replica nobody tells of an expiry: the signal aborts by the handle's own clock, before the
   * backend's deletes arrive, and the error's `revision` is 0.
   */
  readonly signal: AbortSignal;
  /**
   * The lease has its whole TTL again (store:R40).
   *
   * @throws as `store.keepAliveLease` does: `LeaseNotFoundError` for one that has expired or was revoked, which never revives
   */
  keepAlive(options?: SignalOptions): Promise<KeepAliveResult>;
  /** What is left of it; `undefined` when it is gone (etcd answers a TTL of -1). */
  timeToLive(options?: TimeToLiveOptions & SignalOptions): Promise<LeaseStatus | undefined>;
  /**
   * Deletes its keys and forgets it.
   *
   * @throws as `store.revokeLease` does
   */
  revoke(options?: SignalOptions): Promise<RevokeLeaseResult>;
}

export interface KeepAliveResult {
  /** What the lease has left now: all of it. */
  readonly ttlMs: number;
}

export interface TimeToLiveOptions {
  /** Also list the attached keys. @default false */
  readonly keys?: boolean;
}

/** A lease at one moment (store:R43). */
export interface LeaseStatus {
  readonly id: LeaseId;
  readonly grantedTtlMs: number;
  /** Above 0: what is due is gone. */
  readonly remainingMs: number;
  /** With the option `keys`, ascending. */
  readonly keys?: readonly (string | Uint8Array)[];
}

export interface RevokeLeaseResult {
  /** Of the commit with the deletes, or the present one if no key was attached (M31). */
  readonly revision: Revision;
  readonly deleted: number;
}
