/**
 * Who leads, as the objects `Lease` of Kubernetes' `coordination.k8s.io/v1` say it. The two times are for people: nobody
 * compares them with a clock.
 */
export interface LeaseRecord {
  /** Empty when nobody leads. */
  readonly holderIdentity: string;
  /** How long others wait after the last change that they saw, in whole seconds. */
  readonly leaseDurationSeconds: number;
  /** RFC 3339 with microseconds: `2026-03-01T12:00:00.000000Z`. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often the holder has changed. */
  readonly leaseTransitions: number;
}

/** A record as it is stored. */
export interface StoredLeaseRecord {
  readonly record: LeaseRecord;
  /** Another one after each write, by whomever; opaque. */
  readonly resourceVersion: string;
}

/**
 * One record, wherever it is kept. What somebody else's write has made impossible is an answer, `undefined`; all else that
 * fails rejects, and is tried again. A call may be given up: its signal aborts then, and its outcome is nobody's.
 */
export interface LeaseRecordClient {
  /** `undefined` if there is none yet. */
  get(signal: AbortSignal): Promise<StoredLeaseRecord | undefined>;
  /** `undefined` if there is one already. */
  create(record: LeaseRecord, signal: AbortSignal): Promise<StoredLeaseRecord | undefined>;
  /** `undefined` if the version is not the newest any more, or the record is gone. */
  update(record: LeaseRecord, resourceVersion: string, signal: AbortSignal): Promise<StoredLeaseRecord | undefined>;
}
