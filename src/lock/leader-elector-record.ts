import type { Clock } from '../types/clock.ts';
import type { LeaseRecord, LeaseRecordClient, StoredLeaseRecord } from '../types/lease-record.ts';
import { untilAborted } from '../types/until-aborted.ts';
import { formatMicroTime } from './lease-record-time.ts';

export interface ElectorRecordOptions {
  readonly client: LeaseRecordClient;
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly clock: Pick<Clock, 'now' | 'wallTime'>;
  /** The record names somebody else than it did. */
  readonly onHolder: (identity: string) => void;
}

/** `sentAt`: when the write that was answered was sent. */
export type Renewal = { readonly type: 'renewed'; readonly sentAt: number } | { readonly type: 'failed' | 'taken' };

/**
 * What one elector knows of the record, and its writes to it.
 *
 * - A foreign record has expired when its own duration has passed since this elector last saw it change, by the monotonic
 *   clock here. Times in records are written and never read, so clocks that differ, or jump, do no harm. Clocks that do not
 *   run alike do.
 * - Any new version counts as a change, whoever made it: better to wait once too often.
 * - Every write names the version that it replaces.
 */
export class ElectorRecord {
  readonly #options: ElectorRecordOptions;
  #seen: StoredLeaseRecord | undefined;
  #seenAt = 0;

  constructor(options: ElectorRecordOptions) {
    this.#options = options;
  }

  /** Who leads, by the newest record seen; empty for nobody. */
  get holder(): string {
    return this.#seen?.record.holderIdentity ?? '';
  }

  get transitions(): number {
    return this.#seen?.record.leaseTransitions ?? 0;
  }

  /** A candidate's attempt. Answers when the write that won was sent; nothing if somebody else leads, or was faster. */
  async tryAcquire(signal: AbortSignal): Promise<number | undefined> {
    const { client, identity } = this.#options;
    const found = await this.#get(signal);
    if (found === undefined) {
      const sentAt = this.#options.clock.now();
      const record = this.#record(0, this.#time());
      return this.#wrote(await untilAborted((aborted) => client.create(record, aborted), [signal]), sentAt);
    }
    const { holderIdentity } = found.record;
    const isForeign = holderIdentity !== '' && holderIdentity !== identity;
    return isForeign && !this.#isExpired(found) ? undefined : this.#update(found, signal);
  }

  /**
   * The leader's renewal. A record that names somebody else in between, or that is gone, ends the leadership: that it could
   * be had again does not say that nobody had it.
   */
  async tryRenew(signal: AbortSignal): Promise<Renewal> {
    const { identity } = this.#options;
    if (this.#seen !== undefined) {
      const sentAt = await this.#update(this.#seen, signal);
      if (sentAt !== undefined) return { type: 'renewed', sentAt };
    }
    // Somebody has written: maybe this elector, in a call whose answer was lost.
    const found = await this.#get(signal);
    if (found?.record.holderIdentity !== identity) return { type: 'taken' };
    const sentAt = await this.#update(found, signal);
    return sentAt === undefined ? { type: 'failed' } : { type: 'renewed', sentAt };
  }

  /** Says that nobody leads, if this elector does. */
  async release(signal: AbortSignal): Promise<void> {
    const seen = this.#seen;
    if (seen !== undefined && (await this.#clear(seen, signal))) return;
    // Somebody has written: maybe this elector, in a renewal whose answer was not waited for.
    const found = await this.#get(signal);
    if (found !== undefined) await this.#clear(found, signal);
  }

  /** `false` if another version is there. */
  async #clear(seen: StoredLeaseRecord, signal: AbortSignal): Promise<boolean> {
    const { client, identity } = this.#options;
    if (seen.record.holderIdentity !== identity) return true;
    const now = this.#time();
    const record: LeaseRecord = {
      ...seen.record,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    };
    const stored = await untilAborted((aborted) => client.update(record, seen.resourceVersion, aborted), [signal]);
    if (stored !== undefined) this.#see(stored);
    return stored !== undefined;
  }

  async #get(signal: AbortSignal): Promise<StoredLeaseRecord | undefined> {
    const { client } = this.#options;
    const found = await untilAborted((aborted) => client.get(aborted), [signal]);
    if (found !== undefined) return this.#see(found);
    this.#seen = undefined;
    return undefined;
  }

  async #update(found: StoredLeaseRecord, signal: AbortSignal): Promise<number | undefined> {
    const { client, identity, clock } = this.#options;
    const { holderIdentity, leaseTransitions, acquireTime } = found.record;
    const record =
      holderIdentity === identity
        ? this.#record(leaseTransitions, acquireTime)
        : this.#record(leaseTransitions + 1, this.#time());
    const sentAt = clock.now();
    const stored = await untilAborted((aborted) => client.update(record, found.resourceVersion, aborted), [signal]);
    return this.#wrote(stored, sentAt);
  }

  #wrote(stored: StoredLeaseRecord | undefined, sentAt: number): number | undefined {
    if (stored === undefined) return undefined;
    this.#see(stored);
    return sentAt;
  }

  #record(leaseTransitions: number, acquireTime: string): LeaseRecord {
    const { identity, leaseDurationMs } = this.#options;
    return {
      holderIdentity: identity,
      // Whole seconds: rather too long for those who wait.
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime,
      renewTime: this.#time(),
      leaseTransitions,
    };
  }

  #see(answer: StoredLeaseRecord): StoredLeaseRecord {
    const stored = { record: readRecord(answer.record), resourceVersion: answer.resourceVersion };
    const { holder } = this;
    if (stored.resourceVersion !== this.#seen?.resourceVersion) this.#seenAt = this.#options.clock.now();
    this.#seen = stored;
    if (this.holder !== holder && this.holder !== '') this.#options.onHolder(this.holder);
    return stored;
  }

  #isExpired({ record }: StoredLeaseRecord): boolean {
    const { clock, leaseDurationMs } = this.#options;
    const foreignMs = record.leaseDurationSeconds * 1000;
    // A record that somebody wrote by hand may say nothing.
    return clock.now() >= this.#seenAt + (foreignMs > 0 ? foreignMs : leaseDurationMs);
  }

  #time(): string {
    return formatMicroTime(this.#options.clock.wallTime());
  }
}

/**
 * A record as others, or people, have written it: what is missing there says nothing. What is no record at all is not to be
 * written over, so it is an error.
 */
function readRecord(record: unknown): LeaseRecord {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new TypeError("Cannot read a leader's record: it is not an object");
  }
  const fields: Partial<Record<keyof LeaseRecord, unknown>> = record;
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = fields;
  return {
    holderIdentity: text(holderIdentity),
    leaseDurationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    acquireTime: text(fields.acquireTime),
    renewTime: text(fields.renewTime),
    leaseTransitions: isCount(leaseTransitions) ? leaseTransitions : 0,
  };
}

function text(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
