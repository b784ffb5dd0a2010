import { KeepAlive } from '../lease/keep-alive.ts';
import { Lessor } from '../lease/lessor.ts';
import type { Change } from '../store/commit.ts';
import type { WriteCall } from '../store/engine.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, LeaseLostError, LimitExceededError, SnapshotError } from '../types/errors.ts';
import type { GrantLeaseOptions, Lease, LeaseId, ResumeLeaseOptions } from '../types/lease.ts';
import type { LeaseDump } from '../types/lease-dump.ts';
import { checkRenewedTtl } from '../types/lease-ttl.ts';
import type { Random } from '../types/random.ts';
import type { Revision } from '../types/revision.ts';
import { type LeaseCalls, MemoryLease } from './memory-lease.ts';

export interface MemoryLeasesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly leasesMax: number;
  /** Commits what is due; called by the timer. */
  readonly onDue: () => void;
}

/**
 * The leases of an embedded store: the books, kept in step with what is committed, and the handles of those who were
 * granted one. What is due it only names; the engine deletes the keys, since it alone commits.
 */
export class MemoryLeases {
  readonly lessor: Lessor;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #leasesMax: number;
  /** Of the write that is under way. */
  #granted: readonly LeaseId[] = [];
  readonly #handles = new Map<LeaseId, MemoryLease>();
  /** The lease whose keys are being deleted. */
  #ending: LeaseId | undefined;

  constructor(options: MemoryLeasesOptions) {
    const { clock, random, leasesMax, onDue } = options;
    this.#clock = clock;
    this.#random = random;
    this.#leasesMax = leasesMax;
    this.lessor = new Lessor({ clock, random, leasesMax, onDue });
  }

  /** The next lease to expire now; its keys in no order. */
  due(): { readonly id: LeaseId; readonly texts: string[] } | undefined {
    if (this.lessor.size === 0) return undefined;
    const record = this.lessor.next(this.#clock.now());
    return record === undefined ? undefined : { id: record.id, texts: this.lessor.keys(record) };
  }

  grant({ ttlMs, id, keepAlive = false }: GrantLeaseOptions, calls: LeaseCalls, call: WriteCall): Lease {
    const record = this.lessor.grant(ttlMs, id, call.action);
    const handle = new MemoryLease(record.id, record.ttlMs, calls);
    this.#handles.set(record.id, handle);
    if (keepAlive) this.#renew(handle, call.signal);
    return handle;
  }

  /** The handle of a lease that is there; it has its whole TTL again. */
  resume(id: LeaseId, { keepAlive = false }: ResumeLeaseOptions, calls: LeaseCalls, call: WriteCall): Lease {
    if (keepAlive) checkRenewedTtl(this.lessor.require(id, call.action).ttlMs, call.action);
    const record = this.lessor.keepAlive(id, call.action);
    const handle = this.#handles.get(id) ?? new MemoryLease(id, record.ttlMs, calls);
    this.#handles.set(id, handle);
    if (keepAlive) this.#renew(handle, call.signal);
    return handle;
  }

  #renew(handle: MemoryLease, signal: AbortSignal | undefined): void {
    const renew = (aborted: AbortSignal) => handle.keepAlive({ signal: aborted });
    handle.addRenewals(new KeepAlive({ clock: this.#clock, random: this.#random, ttlMs: handle.ttlMs, renew, signal }));
  }

  /** Runs a write that may make leases for its keys; if it fails, they go again. Its commit asks `checkRoom`. */
  withOwn<T>(action: string, write: (grantOwn: (ttlMs: number) => LeaseId) => T): T {
    const granted: LeaseId[] = [];
    this.#granted = granted;
    try {
      return write((ttlMs) => {
        const { id } = this.lessor.grant(ttlMs, undefined, action, { keyed: true });
        granted.push(id);
        return id;
      });
    } catch (error) {
      for (const id of granted) this.lessor.remove(id);
      throw error;
    } finally {
      this.#granted = [];
    }
  }

  /**
   * Throws `LimitExceededError` for a commit that adds leases and comes to more than there may be: those that go with it are
   * taken off (M41). Only asked in earnest when the leases it has made are too many, which costs the others one comparison.
   */
  checkRoom(changes: readonly Change[], before: ReadonlyMap<string, LeaseId>, action: string): void {
    const { size } = this.lessor;
    const max = this.#leasesMax;
    if (size <= max || this.#granted.length === 0) return;
    const after = new Map<string, LeaseId>();
    for (const { text, lease } of changes) after.set(text, lease);
    // What the number of keys of each lease that is touched becomes.
    const gained = new Map<LeaseId, number>();
    const add = (id: LeaseId, count: number) => gained.set(id, (gained.get(id) ?? 0) + count);
    for (const id of this.#granted) add(id, 0);
    for (const [text, to] of after) {
      const from = before.get(text) ?? '0';
      if (from === to) continue;
      add(from, -1);
      add(to, 1);
    }
    let actual = size;
    for (const [id, count] of gained) {
      const record = this.lessor.get(id);
      if (record?.keyed === true && this.lessor.keyCount(record) + count === 0) actual--;
    }
    if (actual <= max || actual <= size - this.#granted.length) return;
    throw new LimitExceededError(action, { limit: 'leases', max, actual });
  }

  /** Ends a lease by the function that deletes its keys and says the revision of that. */
  end(id: LeaseId, end: 'expired' | 'revoked', deleteKeys: () => Revision): Revision {
    this.#ending = id;
    try {
      const revision = deleteKeys();
      this.#lost(id, end, revision);
      return revision;
    } finally {
      this.#ending = undefined;
    }
  }

  /** The lease is gone, with its keys, as of a revision. Whoever holds it hears of it in a microtask of its own (M8). */
  #lost(leaseId: LeaseId, end: 'expired' | 'revoked', revision: Revision): void {
    this.lessor.remove(leaseId);
    const handle = this.#handles.get(leaseId);
    if (handle === undefined) return;
    this.#handles.delete(leaseId);
    handle.lose(new LeaseLostError({ leaseId, end, revision }));
  }

  /**
   * Follows a commit that was published: keys to the leases they have now, off those they had. `before` is the lease of a key
   * before the commit. A keyed lease that is left by its last key is revoked.
   */
  follow(changes: readonly Change[], before: ReadonlyMap<string, LeaseId>, revision: Revision): void {
    const after = new Map<string, LeaseId>();
    for (const { text, lease } of changes) after.set(text, lease);
    // First on, then off: a lease goes with its last key, and may have got another one in the same commit.
    for (const [text, to] of after) if (to !== '0') this.lessor.attach(to, text);
    for (const [text, to] of after) {
      const from = before.get(text) ?? '0';
      if (from === '0' || from === to || !this.lessor.detach(from, text)) continue;
      if (from !== this.#ending) this.#lost(from, 'revoked', revision);
    }
    // A lease that was made for a key which the same transaction deleted has none.
    for (const { lease } of changes) {
      const record = lease === '0' ? undefined : this.lessor.get(lease);
      if (record?.keyed === true && this.lessor.keyCount(record) === 0) this.lessor.remove(lease);
    }
  }

  /** Enters the leases of a snapshot, and the keys, as text, that have one. Throws `SnapshotError` for what cannot be. */
  restore(leases: readonly LeaseDump[], attached: ReadonlyMap<string, LeaseId>, action: string): void {
    try {
      this.lessor.restore(leases, action);
    } catch (cause) {
      throw new SnapshotError(action, 'a lease of the snapshot cannot be', { cause });
    }
    for (const [text, id] of attached) {
      if (this.lessor.get(id) === undefined)
        throw new SnapshotError(action, `a key has the lease ${id}, which is not there`);
      this.lessor.attach(id, text);
    }
    // One that was made for a key whose write was under way then.
    for (const record of leases) {
      const entry = record.keyed ? this.lessor.get(record.id) : undefined;
      if (entry !== undefined && this.lessor.keyCount(entry) === 0) this.lessor.remove(entry.id);
    }
  }

  close(): void {
    this.lessor.close();
    const closed = new ClosedError('use a lease');
    for (const handle of this.#handles.values()) handle.lose(closed);
    this.#handles.clear();
  }
}
