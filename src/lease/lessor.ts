import type { Clock } from '../types/clock.ts';
import { InvariantError, LeaseExistsError, LeaseNotFoundError, LimitExceededError } from '../types/errors.ts';
import type { LeaseId } from '../types/lease.ts';
import type { LeaseDump } from '../types/lease-dump.ts';
import { checkLeaseId, compareLeaseIds, generateLeaseId } from '../types/lease-id.ts';
import { checkTtl } from '../types/lease-ttl.ts';
import type { Random } from '../types/random.ts';
import { DueTimer } from './due-timer.ts';
import { ExpiryQueue } from './expiry-queue.ts';
import { LeaseWalk } from './lease-walk.ts';

export interface LessorOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly random: Random;
  readonly leasesMax: number;
  /** Called by the timer when a lease is due; commits and removes, before it returns, everything that `next` names. */
  readonly onDue: () => void;
}

/** A lease as long as it is in the books. */
export interface LeaseRecord {
  readonly id: LeaseId;
  /** What was granted. */
  readonly ttlMs: number;
  /** By the clock's `now`. At this instant it is due, not after it (store:R42). */
  readonly deadline: number;
  /** Made for one key by a put with a TTL: it goes when its last key leaves it. */
  readonly keyed: boolean;
}

interface Entry extends LeaseRecord {
  readonly serial: number;
  deadline: number;
  place: number;
  readonly keys: Set<string>;
}

/**
 * The books of an embedded store's leases: which there are, until when, and with which keys.
 *
 * ```text
 *   by id      '7' -> { ttlMs 100, deadline 350, keys { a, b } }       get, attach, detach
 *                        ^
 *   queue      [ 7, 9, 2 ]  by (deadline, id)                          next
 *                ^
 *   timer      at 300: too early, since 7 was renewed after it was set; it looks again at 350
 * ```
 *
 * - It never touches the store, and nothing goes by itself but a keyed lease with its last key. Before each operation the
 *   store asks `next(now)` until there is none, deletes the keys of each in a commit of its own, and removes it (M31).
 * - One timer at most, none without a lease. It is only for those who wait; what a reader sees does not depend on it.
 * - No renewal touches the timer, and none leaves anything behind.
 * - A lease that is due is not kept alive any more, even if nobody has removed it yet (store:R40).
 * - Not promised: that a lease whose deadline has passed is out of the books. `get` and `require` tell what is written
 *   there, so that an operation which began in time does not fail in its middle.
 */
export class Lessor {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #random: Random;
  readonly #leasesMax: number;
  readonly #timer: DueTimer;
  readonly #leases = new Map<LeaseId, Entry>();
  readonly #queue = new ExpiryQueue<Entry>();
  /** Dumps that are being made. */
  readonly #walks = new Set<LeaseWalk<Entry>>();
  #serial = 0;

  constructor(options: LessorOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#leasesMax = options.leasesMax;
    this.#timer = new DueTimer({
      clock: options.clock,
      deadline: () => this.#queue.first()?.deadline,
      onDue: options.onDue,
    });
  }

  get size(): number {
    return this.#leases.size;
  }

  /**
   * Enters a lease, with an id that is free or one made here (store:R39). What is granted is what was asked for. A keyed one is
   * not counted here: its commit may take another one away, so whoever commits judges the number (M41).
   *
   * @throws TypeError and RangeError for a TTL or an id that is none; `LimitExceededError` for a TTL above 9e12 and for one
   *   lease too many; `LeaseExistsError`
   */
  grant(
    ttlMs: number,
    id: LeaseId | undefined,
    action: string,
    { keyed = false }: { readonly keyed?: boolean } = {},
  ): LeaseRecord {
    checkTtl(ttlMs, action);
    if (id !== undefined && this.#leases.has(checkLeaseId(id, action))) throw new LeaseExistsError(action, id);
    if (!keyed && this.size >= this.#leasesMax) {
      throw new LimitExceededError(action, { limit: 'leases', max: this.#leasesMax, actual: this.size + 1 });
    }
    const free = id ?? generateLeaseId(this.#random, (other) => this.#leases.has(other));
    const entry = this.#enter({ id: free, ttlMs, remainingMs: ttlMs, keyed }, this.#clock.now());
    this.#timer.arm();
    return entry;
  }

  get(id: LeaseId): LeaseRecord | undefined {
    return this.#leases.get(id);
  }

  /** @throws `LeaseNotFoundError` */
  require(id: LeaseId, action: string): LeaseRecord {
    return this.#require(id, action);
  }

  /**
   * The lease has its whole TTL again from now on (store:R40).
   *
   * @throws `LeaseNotFoundError` for one that is gone or due
   */
  keepAlive(id: LeaseId, action: string): LeaseRecord {
    const entry = this.#require(id, action);
    const now = this.#clock.now();
    if (entry.deadline <= now) throw new LeaseNotFoundError(action, id);
    this.#changing(entry);
    entry.deadline = now + entry.ttlMs;
    this.#queue.update(entry);
    return entry;
  }

  /** Whole ms until it is due, rounded up; 0 when it is. Never below 0, never above what was granted. */
  remaining(record: LeaseRecord): number {
    return remainingAt(record, this.#clock.now());
  }

  /**
   * The key, as text, is of this lease from now on (store:R16, R44). One of another lease has to be detached from that one, by
   * the same commit and after all were attached: a keyed lease whose last key it deletes may get another one in it.
   */
  attach(id: LeaseId, text: string): void {
    const entry = this.#leases.get(id);
    if (entry === undefined) throw new InvariantError(`a key was attached to lease ${id}, which is not there`);
    entry.keys.add(text);
  }

  /** The key is of this lease no more. Says whether the lease went with it: a keyed one, and this was its last key. */
  detach(id: LeaseId, text: string): boolean {
    const entry = this.#leases.get(id);
    if (entry === undefined || !entry.keys.delete(text)) return false;
    if (!entry.keyed || entry.keys.size > 0) return false;
    this.remove(id);
    return true;
  }

  /** The attached keys, in no particular order. */
  keys(record: LeaseRecord): string[] {
    return [...(this.#leases.get(record.id)?.keys ?? [])];
  }

  /** How many there are. */
  keyCount(record: LeaseRecord): number {
    return this.#leases.get(record.id)?.keys.size ?? 0;
  }

  /** The first lease that is due at `now`, in the order of (deadline, id as a number); it stays until it is removed. */
  next(now: number): LeaseRecord | undefined {
    const first = this.#queue.first();
    return first !== undefined && first.deadline <= now ? first : undefined;
  }

  /** Forgets a lease and which keys it had; one that is gone already is no error. */
  remove(id: LeaseId): void {
    const entry = this.#leases.get(id);
    if (entry === undefined) return;
    this.#changing(entry);
    this.#leases.delete(id);
    this.#queue.remove(entry);
    if (this.size === 0) this.#timer.disarm();
    else this.#timer.arm();
  }

  /** Ascending as numbers. */
  ids(): LeaseId[] {
    return [...this.#leases.keys()].sort(compareLeaseIds);
  }

  /**
   * All leases as they are now, without their keys: each row of a snapshot says which lease it has. They are read one by
   * one, and the books may go on meanwhile; who stops before the end has to call `return`.
   */
  dump(): IterableIterator<LeaseDump> & { return(): unknown } {
    const now = this.#clock.now();
    const walk = new LeaseWalk<Entry>({
      entries: this.#leases.values(),
      end: this.#serial,
      dump: (entry) => dumpAt(entry, now),
      onEnd: () => this.#walks.delete(walk),
    });
    this.#walks.add(walk);
    return walk;
  }

  /**
   * Enters what was dumped, into empty books; each lease has left what it had left then (store:R45). Keys are attached
   * by the caller. More leases than `leasesMax` are taken, but none can be granted until there are fewer.
   *
   * @throws TypeError and RangeError for a dump that none of these books makes; then nothing was entered
   */
  restore(dump: readonly LeaseDump[], action: string): void {
    if (this.size > 0) throw new InvariantError('leases were restored over others');
    checkDump(dump, action);
    const now = this.#clock.now();
    for (const lease of dump) this.#enter(lease, now);
    this.#timer.arm();
  }

  /** Stops the timer for good. The books can still be read. */
  close(): void {
    this.#timer.close();
  }

  #enter({ id, ttlMs, remainingMs, keyed }: LeaseDump, now: number): Entry {
    const serial = this.#serial++;
    const entry = { id, ttlMs, deadline: now + remainingMs, keyed, serial, place: -1, keys: new Set<string>() };
    this.#leases.set(id, entry);
    this.#queue.add(entry);
    return entry;
  }

  #changing(entry: Entry): void {
    for (const walk of this.#walks) walk.keep(entry);
  }

  #require(id: LeaseId, action: string): Entry {
    const entry = this.#leases.get(id);
    if (entry === undefined) throw new LeaseNotFoundError(action, id);
    return entry;
  }
}

function remainingAt(record: LeaseRecord, now: number): number {
  return Math.min(record.ttlMs, Math.max(0, Math.ceil(record.deadline - now)));
}

function dumpAt(entry: Entry, now: number): LeaseDump {
  const { id, ttlMs, keyed } = entry;
  return { id, ttlMs, remainingMs: remainingAt(entry, now), keyed };
}

function checkDump(dump: readonly LeaseDump[], action: string): void {
  const seen = new Set<LeaseId>();
  for (const { id, ttlMs, remainingMs, keyed } of dump) {
    if (seen.has(checkLeaseId(id, action))) throw new RangeError(`Cannot ${action}: lease ${id} is there twice`);
    seen.add(id);
    checkTtl(ttlMs, action);
    if (typeof remainingMs !== 'number' || !(remainingMs >= 0 && remainingMs <= ttlMs)) {
      throw new RangeError(
        `Cannot ${action}: lease ${id} has ${remainingMs} ms left, allowed is 0 to its TTL of ${ttlMs}`,
      );
    }
    if (typeof keyed !== 'boolean') throw new TypeError(`Cannot ${action}: keyed of lease ${id} is not a boolean`);
  }
}
