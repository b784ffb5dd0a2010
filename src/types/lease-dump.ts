import type { LeaseId } from './lease.ts';

/**
 * A lease in a snapshot: times are counted from the moment of the dump, since no clock outlives its process. Its keys say
 * themselves that they are attached to it.
 */
export interface LeaseDump {
  readonly id: LeaseId;
  readonly ttlMs: number;
  readonly remainingMs: number;
  /** Made for one key by a put with a TTL: it goes when its last key leaves it. */
  readonly keyed: boolean;
}
