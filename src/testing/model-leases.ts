import { LeaseExistsError, LeaseNotFoundError, LimitExceededError } from '../types/errors.ts';
import type { LeaseId } from '../types/lease.ts';
import type { Revision } from '../types/revision.ts';

/** A lease that the model granted. */
export interface ModelLease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  /** Why and since when it is gone; what a `LeaseLostError` says. */
  readonly lost: { readonly end: 'expired' | 'revoked'; readonly revision: Revision } | undefined;
}

/** A lease, without its keys: those are the ones that name it in the newest state. */
export interface LeaseEntry {
  readonly id: LeaseId;
  readonly ttlMs: number;
  /** Made by a put for its key alone: it goes when no key has it. */
  readonly isKeyed: boolean;
  deadline: number;
  lost: ModelLease['lost'];
}

const TTL_MS_MAX = 9e12;
const LEASE_ID_MAX = 9_223_372_036_854_775_807n;

/** Leases by id. What is due, and in which order, is looked for among all of them. */
export class ModelLeases {
  readonly #entries = new Map<LeaseId, LeaseEntry>();
  readonly #max: number;
  readonly #makeId: (() => LeaseId) | undefined;
  #lastId = 0;

  constructor(max: number, makeId: (() => LeaseId) | undefined) {
    this.#max = max;
    this.#makeId = makeId;
  }

  grant(ttlMs: number, id: LeaseId | undefined, now: number): LeaseEntry {
    checkTtl(ttlMs);
    if (id !== undefined) checkLeaseId(id);
    if (id !== undefined && this.#entries.has(id)) throw new LeaseExistsError('grant', id);
    this.checkRoom(1);
    return this.#add(ttlMs, id ?? this.newId(), false, now);
  }

  /** For the key that a put writes. The room was checked. */
  addKeyed(ttlMs: number, id: LeaseId, now: number): void {
    this.#add(ttlMs, id, true, now);
  }

  newId(): LeaseId {
    if (this.#makeId !== undefined) return this.#makeId();
    do this.#lastId++;
    while (this.#entries.has(String(this.#lastId)));
    return String(this.#lastId);
  }

  checkRoom(wanted: number): void {
    const actual = this.#entries.size + wanted;
    if (actual <= this.#max || wanted === 0) return;
    throw new LimitExceededError('grant', { limit: 'leases', max: this.#max, actual });
  }

  /** The same for a commit: `used` are the leases of all keys after it, and those of single keys that are not among them go. */
  checkCommit(made: number, used: ReadonlySet<LeaseId>): void {
    const gone = [...this.#entries.values()].filter(({ id, isKeyed }) => isKeyed && !used.has(id)).length;
    if (made > gone) this.checkRoom(made - gone);
  }

  has(id: LeaseId): boolean {
    return this.#entries.has(id);
  }

  get(id: LeaseId): LeaseEntry | undefined {
    checkLeaseId(id);
    return this.#entries.get(id);
  }

  require(id: LeaseId): LeaseEntry {
    const entry = this.get(id);
    if (entry === undefined) throw new LeaseNotFoundError('use a lease', id);
    return entry;
  }

  remove(entry: LeaseEntry, lost: ModelLease['lost']): void {
    entry.lost = lost;
    this.#entries.delete(entry.id);
  }

  /** The first one that is due: by deadline, then by id as a number (M31). A deadline of exactly `now` is due. */
  due(now: number): LeaseEntry | undefined {
    const due = [...this.#entries.values()].filter(({ deadline }) => deadline <= now);
    return due.sort((a, b) => a.deadline - b.deadline || compareIds(a.id, b.id))[0];
  }

  /** Forgets the leases of single keys that no key has any more. */
  dropUnused(used: ReadonlySet<LeaseId>): void {
    for (const entry of this.#entries.values()) {
      if (entry.isKeyed && !used.has(entry.id)) this.#entries.delete(entry.id);
    }
  }

  ids(): LeaseId[] {
    return [...this.#entries.keys()].sort(compareIds);
  }

  #add(ttlMs: number, id: LeaseId, isKeyed: boolean, now: number): LeaseEntry {
    const entry: LeaseEntry = { id, ttlMs, isKeyed, deadline: now + ttlMs, lost: undefined };
    this.#entries.set(id, entry);
    return entry;
  }
}

export function checkTtl(ttlMs: number): void {
  if (typeof ttlMs !== 'number') throw new TypeError('ttlMs');
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1) throw new RangeError('ttlMs');
  if (ttlMs > TTL_MS_MAX) {
    throw new LimitExceededError('grant', { limit: 'leaseTtlMs', max: TTL_MS_MAX, actual: ttlMs });
  }
}

/** Decimal text of a number of 63 bits, written in one way only; 0 is none. */
export function checkLeaseId(id: LeaseId): void {
  if (typeof id !== 'string') throw new TypeError('a lease id');
  if (!/^[1-9]\d*$/.test(id) || BigInt(id) > LEASE_ID_MAX) throw new RangeError('a lease id');
}

/** Where '0' says that there is no lease. */
export function checkLeaseIdOrNone(id: LeaseId): void {
  if (id !== '0') checkLeaseId(id);
}

export function compareIds(a: LeaseId, b: LeaseId): number {
  const [left, right] = [BigInt(a), BigInt(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
